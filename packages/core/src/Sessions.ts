/** Use case: open, append, branch, fork. Many cursors on one session, one order of events. */
import {
  Clock,
  Context,
  Effect,
  Exit,
  Fiber,
  Layer,
  PubSub,
  Schema,
  type Scope,
  Semaphore,
  Stream,
  type Take
} from "effect"
import { EntryIds } from "./EntryIds.ts"
import * as ContextBuilder from "./model/ContextBuilder.ts"
import type * as Entry from "./model/Entry.ts"
import type { EntryId, SessionId } from "./model/EntryId.ts"
import * as Facts from "./model/Facts.ts"
import { CURRENT_VERSION, type Header } from "./model/Header.ts"
import * as Mark from "./model/Mark.ts"
import type { Json } from "./model/open.ts"
import type { SessionSummary } from "./model/SessionSummary.ts"
import { NONE, SessionTree } from "./model/SessionTree.ts"
import type { Usage } from "./model/Usage.ts"
import type * as Store from "./SessionStore.ts"
import { type ListOptions, type SessionRef, SessionStore, type SessionStoreError } from "./SessionStore.ts"

/**
 * An id that no entry of the session has. Marks are no places to stand on or to name, so theirs count as unknown, and
 * nobody stands in a fragment.
 */
export class UnknownEntry extends Schema.TaggedError<UnknownEntry>()("UnknownEntry", {
  session: Schema.String,
  id: Schema.String
}) {}

/** A cursor went to another branch while something was worked out for the one it stood on. */
export class LeafMoved extends Schema.TaggedError<LeafMoved>()("LeafMoved", {
  session: Schema.String,
  from: Schema.NullOr(Schema.String),
  to: Schema.NullOr(Schema.String)
}) {
  override get message(): string {
    return `the session moved to another branch meanwhile, from ${this.from ?? "nowhere"} to ${this.to ?? "nowhere"}`
  }
}

/** An entry before it has its place: any type with its own fields. The cursor gives it id, parent and time, whatever it had. */
export type NewEntry = Json & { readonly type: string }

export interface Summary {
  readonly summary: string
  readonly details?: unknown
  readonly usage?: Usage
}

export type SessionEvent =
  /** Written and in the tree. `moved` is where the person stands now, if this append moved them. */
  | { readonly _tag: "Appended"; readonly entries: ReadonlyArray<Entry.Entry>; readonly moved?: EntryId | null }
  /** The person went elsewhere; nothing was appended. */
  | { readonly _tag: "Moved"; readonly leaf: EntryId | null }
  /** Another program appended to the session. Nobody's cursor moves. */
  | { readonly _tag: "ForeignEntries"; readonly entries: ReadonlyArray<Entry.Entry> }
  /** What other programs append is no longer seen; only opening the session again helps. */
  | { readonly _tag: "ChangesLost"; readonly error: SessionStoreError }

export type AppendError = SessionStoreError

/**
 * A position that can append. Each append makes one entry under the leaf and moves there; a mark moves nobody. What is
 * asked of the cursors of a session happens in the order in which it was asked, and wholly or not at all: where the
 * medium refuses, no leaf moves.
 */
export interface Cursor {
  readonly leaf: Effect.Effect<EntryId | null>
  readonly append: (entry: NewEntry) => Effect.Effect<Entry.Entry, AppendError>
  /** Under a name that `Session.newId` gave: for entries that are spoken of before they are written. */
  readonly appendAs: (id: EntryId, entry: NewEntry) => Effect.Effect<Entry.Entry, AppendError>
  /** Appends only while the cursor stands at or below `at`: for what was worked out from that path. */
  readonly appendBelow: (at: EntryId | null, entry: NewEntry) => Effect.Effect<Entry.Entry, AppendError | LeafMoved>
  /** Moves to an entry; no entry changes. */
  readonly branch: (id: string) => Effect.Effect<void, UnknownEntry>
  /** Moves to nowhere: the next entry is another root. */
  readonly resetLeaf: Effect.Effect<void>
  /** Moves and appends a summary of what was left behind, in one step. */
  readonly branchWithSummary: (
    id: string | null,
    summary: Summary
  ) => Effect.Effect<Entry.Entry, AppendError | UnknownEntry>
  readonly context: Effect.Effect<ContextBuilder.SessionContext>
}

/** What an edit is planned on: the session at the moment it is its turn. */
export interface Draft {
  readonly tree: SessionTree
  /** Where the person stands. */
  readonly leaf: EntryId | null
  /** The time of everything that is written. */
  readonly timestamp: string
  /** Names that nothing in the session has. */
  readonly ids: (count: number) => Effect.Effect<ReadonlyArray<EntryId>>
}

/** Entries that are written together or not at all; the last one says where the person stands then. */
export interface Batch {
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly leaf: EntryId | null
}

export interface Session {
  readonly ref: SessionRef
  readonly header: Header | null
  /** Live, and never ahead of the medium. Read it; only the session changes it. */
  readonly tree: SessionTree
  /** Where the person stands. Its moves are written down after a second of rest and when the session is closed. */
  readonly main: Cursor
  /** Another position, for a reply in the background: what it appends never moves the person. */
  readonly cursor: (at: string | null) => Effect.Effect<Cursor, UnknownEntry>
  /**
   * Another position, for a reply the person waits for: it begins where they stand, and what it appends takes them along
   * as long as they stay where it is.
   */
  readonly lead: Effect.Effect<Cursor>
  /** A name for an entry that is yet to be written. Nothing else in the session has it or gets it. */
  readonly newId: Effect.Effect<EntryId>
  /** Names an entry; `null` takes the label away. */
  readonly label: (target: string, label: string | null) => Effect.Effect<Entry.Entry, AppendError | UnknownEntry>
  /** Names the session; `""` takes the name away. */
  readonly name: (name: string) => Effect.Effect<Entry.Entry, AppendError>
  /**
   * Plans in turn with everything else and writes what was planned in one go; nothing is written where the plan fails
   * or is empty. Answers the plan once it is in the tree.
   */
  readonly commit: <Plan extends Batch, E>(
    plan: (draft: Draft) => Effect.Effect<Plan, E>
  ) => Effect.Effect<Plan, AppendError | E>
  /** Removes a draft that never got a reply; does nothing to any other session. For whoever made the draft, on leaving. */
  readonly discardDraft: Effect.Effect<void, SessionStoreError>
  /** Everything that happens from now on, until the session is closed. */
  readonly events: Stream.Stream<SessionEvent>
}

export interface CreateOptions extends Store.CreateOptions {
  readonly cwd: string
  readonly id?: SessionId
  readonly parentSession?: string
}

export interface ForkOptions {
  /** The last entry that is kept; where the source stands if left out. */
  readonly at?: string
  /** Copies every branch. */
  readonly all?: boolean
  readonly cwd?: string
}

/** How long a person must stand still before their move is written down. */
export const REST = "1 second"

const iso = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

export class Sessions extends Context.Service<
  Sessions,
  {
    readonly create: (options: CreateOptions) => Effect.Effect<SessionRef, SessionStoreError>
    /** Until the scope ends; then moves are written down and the session is closed. */
    readonly open: (name: string) => Effect.Effect<Session, SessionStoreError, Scope.Scope>
    /** A new session that holds a path of another under the same ids, with the labels, states and name that concern it. */
    readonly fork: (source: string, options?: ForkOptions) => Effect.Effect<SessionRef, AppendError | UnknownEntry>
    readonly list: (options?: ListOptions) => Effect.Effect<ReadonlyArray<SessionSummary>, SessionStoreError>
  }
>()("@grove/core/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const store = yield* SessionStore
      const ids = yield* EntryIds

      const create = Effect.fn("Sessions.create")(function* (options: CreateOptions) {
        const { cwd, parentSession, id = yield* ids.session, ...place } = options
        const lineage = parentSession === undefined ? {} : { parentSession }
        const timestamp = yield* iso
        return yield* store.create({ type: "session", version: CURRENT_VERSION, id, timestamp, cwd, ...lineage }, place)
      })

      const open = Effect.fn("Sessions.open")(function* (name: string) {
        const log = yield* store.open(yield* store.find(name))
        return yield* openSession(log, ids)
      })

      const fork = Effect.fn("Sessions.fork")(function* (source: string, options: ForkOptions = {}) {
        const { ref, header, title, tree } = yield* store.read(yield* store.find(source))
        const asked = options.at ?? tree.leaf
        if (asked !== null && !isPlace(tree, asked)) return yield* new UnknownEntry({ session: ref.path, id: asked })
        const at = copiedFrom(tree, tree.rowOf(asked))
        const kept = copiesOf(tree, options.all === true ? everyBranch(tree) : tree.path(at ?? ""))
        const facts = yield* factsFor(tree, kept, at, Facts.nameOf(tree.facts, title, header))
        const target = yield* create({ cwd: options.cwd ?? header?.cwd ?? "", parentSession: ref.path })
        yield* Effect.flatMap(store.open(target), (log) => log.append([...kept, ...facts]))
        return target
      }, Effect.scoped)

      /** What the copies do not say by themselves: the facts that concern them, and a mark that stands where the fork begins. */
      const factsFor = Effect.fnUntraced(function* (
        tree: SessionTree,
        kept: ReadonlyArray<Entry.Entry>,
        at: EntryId | null,
        name: string | null
      ) {
        const fork = SessionTree.from(kept)
        const facts: Array<NewEntry> = []
        for (const [targetId, label] of tree.facts.labels) {
          if (fork.has(targetId)) facts.push({ type: "label", targetId, label })
        }
        if (fork.facts.name !== name) facts.push({ type: "session_info", name: name ?? "" })
        const disabled = [...tree.facts.disabled].filter((id) => fork.has(id))
        if (disabled.length > 0) {
          facts.push({ type: "custom", customType: "grove.state", data: { targetIds: disabled, enabled: false } })
        }
        if (facts.length > 0 || fork.leaf !== at) facts.push(leafMark(at))
        const timestamp = yield* iso
        let parentId = at
        for (const fact of facts) {
          const isMark = Mark.isMark(fact)
          const entry = yield* placed(fact, isMark ? at : parentId, timestamp, ids, (id) => fork.has(id))
          fork.put(entry)
          if (!isMark) parentId = entry.id
        }
        return fork.entries.slice(kept.length)
      })

      return Sessions.of({ create, open, fork, list: store.list })
    })
  )
}

/** Gives a new entry its place. `type`, `id`, `parentId` and `timestamp` come first, as every writer of the format has it. */
const placed = Effect.fnUntraced(function* (
  entry: NewEntry,
  parentId: EntryId | null,
  timestamp: string,
  ids: EntryIds["Service"],
  isTaken: (id: EntryId) => boolean,
  promised?: EntryId
) {
  let id = promised ?? (yield* ids.entry)
  while (isTaken(id)) id = yield* ids.entry
  const place = { type: entry.type, id, parentId, timestamp }
  return Object.assign(place, entry, { ...place }) as unknown as Entry.Entry
})

const leafMark = (leaf: EntryId | null, background?: ReadonlyArray<EntryId>): NewEntry => ({
  type: "custom",
  customType: "grove.leaf",
  data: background === undefined ? { targetId: leaf } : { targetId: leaf, background }
})

/** Whether an id names an entry that a cursor may stand on. */
const isPlace = (tree: SessionTree, id: string): boolean => {
  const entry = tree.get(id)
  return entry !== undefined && !Mark.isMark(entry)
}

const isAtOrBelow = (tree: SessionTree, leaf: EntryId | null, above: EntryId | null): boolean => {
  const target = tree.rowOf(above)
  let row = tree.rowOf(leaf)
  while (row !== NONE && row !== target) row = tree.parentRow(row)
  return row === target
}
/** All entries but those in fragments, which are no branches. */
const everyBranch = (tree: SessionTree): ReadonlyArray<Entry.Entry> =>
  tree.entriesAt(tree.rows().filter((row) => !tree.isPrunedAt(row)))

/** Labels are made anew at the end and marks belong to the old file, so neither is copied; their children move up. */
const isCopied = (entry: Entry.Entry): boolean => entry.type !== "label" && !Mark.isMark(entry)

/** The nearest entry that is copied, at `row` or above it. */
const copiedFrom = (tree: SessionTree, row: number): EntryId | null => {
  let at = row
  while (at !== NONE && !isCopied(tree.entryAt(at))) at = tree.parentRow(at)
  return tree.idAt(at)
}

/** A compaction that keeps what begins with a line that is not copied keeps it from the next one that is. */
const firstKept = (tree: SessionTree, { id, firstKeptEntryId }: Entry.Entry): unknown => {
  const named = typeof firstKeptEntryId === "string" ? tree.get(firstKeptEntryId) : undefined
  if (named === undefined || isCopied(named)) return firstKeptEntryId
  const path = tree.path(id)
  return path.slice(path.indexOf(named)).find(isCopied)?.id
}

const copiesOf = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Entry.Entry> =>
  entries.filter(isCopied).map((entry) => {
    const parentId = copiedFrom(tree, tree.parentRow(tree.rowOf(entry.id)))
    const copy = parentId === entry.parentId ? entry : { ...entry, parentId }
    if (entry.type !== "compaction") return copy
    const firstKeptEntryId = firstKept(tree, entry)
    return firstKeptEntryId === entry.firstKeptEntryId ? copy : { ...copy, firstKeptEntryId }
  })

const openSession = Effect.fnUntraced(function* (
  log: Effect.Success<ReturnType<SessionStore["Service"]["open"]>>,
  ids: EntryIds["Service"]
) {
  const { ref, header, tree } = log.snapshot
  const scope = yield* Effect.scope
  const events = yield* Effect.acquireRelease(PubSub.unbounded<Take.Take<SessionEvent>>(), (events) =>
    PubSub.end(events, Exit.void)
  )
  const publish = (event: SessionEvent) => PubSub.publish(events, [event])
  const person = { leaf: tree.leaf, unwritten: false }
  let resting: Fiber.Fiber<void, AppendError> | undefined

  /** One thing at a time, so that a mark names where the person stands when it is written; what has begun is finished. */
  const turn = yield* Semaphore.make(1)
  const inTurn = <A, E>(effect: Effect.Effect<A, E>) => turn.withPermit(Effect.uninterruptible(effect))

  const known = (id: string) =>
    Effect.suspend(() =>
      isPlace(tree, id) ? Effect.succeed(id as EntryId) : Effect.fail(new UnknownEntry({ session: ref.path, id }))
    )

  /** A place to stand on: what is cut off is none. */
  const standable = (id: string) =>
    Effect.filterOrFail(
      known(id),
      (found) => !tree.isPrunedAt(tree.rowOf(found)),
      () => new UnknownEntry({ session: ref.path, id })
    )

  /** Names given out for entries that are not written yet. */
  const promises = new Set<EntryId>()
  const newId = Effect.gen(function* () {
    let id = yield* ids.entry
    while (tree.has(id) || promises.has(id)) id = yield* ids.entry
    promises.add(id)
    return id
  })

  const place = Effect.fnUntraced(function* (
    entry: NewEntry,
    parentId: EntryId | null,
    { beside, promised }: { readonly beside?: EntryId; readonly promised?: EntryId | undefined } = {}
  ) {
    const isTaken = (id: EntryId) => id === beside || tree.has(id) || (id !== promised && promises.has(id))
    return yield* placed(entry, parentId, yield* iso, ids, isTaken, promised)
  })

  /** To the medium first, to the tree second: memory is never ahead. */
  const write = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry.Entry>) {
    yield* log.append(entries)
    for (const entry of entries) tree.put(entry)
  })

  /** Writes down where the person went, unless something written since already says so. */
  const settle = inTurn(
    Effect.gen(function* () {
      if (!person.unwritten) return
      if (tree.leaf !== person.leaf) yield* write([yield* place(leafMark(person.leaf), person.leaf)])
      person.unwritten = false
    })
  )

  const settleAfterRest = Effect.gen(function* () {
    person.unwritten = true
    if (resting !== undefined) yield* Fiber.interrupt(resting)
    resting = yield* Effect.forkIn(Effect.delay(settle, REST), scope)
  })

  const makeCursor = (position: { leaf: EntryId | null }, leads = false): Cursor => {
    const isPerson = position === person
    const moveTo = Effect.fnUntraced(function* (leaf: EntryId | null) {
      if (leaf === position.leaf) return
      position.leaf = leaf
      if (!isPerson) return
      yield* publish({ _tag: "Moved", leaf })
      yield* settleAfterRest
    })
    /** What must not move the person ends with a mark that says where they stand, in the same write. */
    const appendUnder = Effect.fnUntraced(function* (parentId: EntryId | null, entry: NewEntry, promised?: EntryId) {
      const movesPerson = isPerson || (leads && person.leaf === position.leaf)
      const appended = yield* place(entry, parentId, { promised })
      const leaf = Mark.isMark(appended) ? parentId : appended.id
      if (movesPerson) yield* write([appended])
      else
        yield* write([
          appended,
          yield* place(leafMark(person.leaf, [appended.id]), person.leaf, { beside: appended.id })
        ])
      promises.delete(appended.id)
      const moved = movesPerson && leaf !== position.leaf ? { moved: leaf } : {}
      position.leaf = leaf
      if (movesPerson) Object.assign(person, { leaf, unwritten: false })
      yield* publish({ _tag: "Appended", entries: [appended], ...moved })
      return appended
    })
    return {
      leaf: Effect.sync(() => position.leaf),
      append: (entry) => inTurn(Effect.suspend(() => appendUnder(position.leaf, entry))),
      appendAs: (id, entry) => inTurn(Effect.suspend(() => appendUnder(position.leaf, entry, id))),
      appendBelow: (at, entry) =>
        inTurn(
          Effect.suspend((): Effect.Effect<Entry.Entry, AppendError | LeafMoved> => {
            const { leaf } = position
            if (!isAtOrBelow(tree, leaf, at)) return new LeafMoved({ session: ref.path, from: at, to: leaf })
            return appendUnder(leaf, entry)
          })
        ),
      branch: (id) => inTurn(Effect.flatMap(standable(id), moveTo)),
      resetLeaf: inTurn(moveTo(null)),
      branchWithSummary: (id, summary) =>
        inTurn(
          Effect.flatMap(id === null ? Effect.succeed(null) : standable(id), (target) =>
            appendUnder(target, { type: "branch_summary", fromId: target ?? "root", ...summary })
          )
        ),
      context: Effect.sync(() => ContextBuilder.build(tree, position.leaf))
    }
  }

  const freshIds = Effect.fnUntraced(function* (count: number) {
    const fresh = new Set<EntryId>()
    while (fresh.size < count) {
      const id = yield* ids.entry
      if (!tree.has(id)) fresh.add(id)
    }
    return [...fresh]
  })

  const commit = <Plan extends Batch, E>(plan: (draft: Draft) => Effect.Effect<Plan, E>) =>
    inTurn(
      Effect.gen(function* () {
        const timestamp = yield* iso
        const planned = yield* plan({ tree, leaf: person.leaf, timestamp, ids: freshIds })
        if (planned.entries.length === 0) return planned
        // A move that is not written down yet is no part of the edit, so that undoing the edit does not undo it.
        const taken = new Set(planned.entries.map(({ id }) => id))
        const isMoved = person.unwritten && tree.leaf !== person.leaf
        const move = placed(leafMark(person.leaf), person.leaf, timestamp, ids, (id) => tree.has(id) || taken.has(id))
        yield* write([...(isMoved ? [yield* move] : []), ...planned.entries])
        const moved = planned.leaf === person.leaf ? {} : { moved: planned.leaf }
        person.leaf = planned.leaf
        person.unwritten = false
        yield* publish({ _tag: "Appended", entries: planned.entries, ...moved })
        return planned
      })
    )

  yield* log.changes.pipe(
    Stream.runForEach((entries) =>
      Effect.gen(function* () {
        for (const entry of entries) tree.put(entry)
        yield* publish({ _tag: "ForeignEntries", entries })
      })
    ),
    Effect.catch((error) => publish({ _tag: "ChangesLost", error })),
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => Effect.ignore(settle))

  const main = makeCursor(person)
  return {
    ref,
    header,
    tree,
    main,
    cursor: (at) => Effect.map(at === null ? Effect.succeed(null) : standable(at), (leaf) => makeCursor({ leaf })),
    lead: Effect.sync(() => makeCursor({ leaf: person.leaf }, true)),
    newId,
    label: (target, label) =>
      Effect.flatMap(known(target), (targetId) =>
        main.append(label === null || label === "" ? { type: "label", targetId } : { type: "label", targetId, label })
      ),
    commit,
    name: (name) => main.append({ type: "session_info", name: name.replace(/\s+/gu, " ").trim() }),
    discardDraft: log.discardDraft,
    events: Stream.fromPubSubTake(events)
  } satisfies Session
})
