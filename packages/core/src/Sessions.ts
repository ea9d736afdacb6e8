/** Use case: open, append, branch, fork. Many cursors on one session, one order of events. */
import { Clock, Context, Effect, Fiber, Layer, PubSub, Schema, type Scope, Semaphore, Stream } from "effect"
import { EntryIds } from "./EntryIds.ts"
import * as ContextBuilder from "./model/ContextBuilder.ts"
import type * as Entry from "./model/Entry.ts"
import { EntryId, type SessionId } from "./model/EntryId.ts"
import * as Facts from "./model/Facts.ts"
import { CURRENT_VERSION, type Header } from "./model/Header.ts"
import * as Mark from "./model/Mark.ts"
import type { Json } from "./model/open.ts"
import type { SessionSummary } from "./model/SessionSummary.ts"
import type { MisplacedEntry, SessionTree } from "./model/SessionTree.ts"
import { type ListOptions, type SessionRef, SessionStore, type SessionStoreError } from "./SessionStore.ts"

/** An id that no entry of the session has. */
export class UnknownEntry extends Schema.TaggedError<UnknownEntry>()("UnknownEntry", {
  session: Schema.String,
  id: Schema.String
}) {}

/** An entry before it has its place: any type with its own fields; the cursor gives it id, parent and time. */
export type NewEntry = Json & { readonly type: string }

export interface Summary {
  readonly summary: string
  readonly details?: unknown
}

export type SessionEvent =
  /** Written and in the tree. `moved` is where the person stands now, if this append moved them. */
  | { readonly _tag: "Appended"; readonly entries: ReadonlyArray<Entry.Entry>; readonly moved?: EntryId | null }
  /** The person went elsewhere; nothing was appended. */
  | { readonly _tag: "Moved"; readonly leaf: EntryId | null }
  /** Another program appended to the session. Nobody's cursor moves. */
  | { readonly _tag: "ForeignEntries"; readonly entries: ReadonlyArray<Entry.Entry> }

export type AppendError = SessionStoreError | MisplacedEntry

/** A position that can append. Each append makes one entry under the leaf and moves there. */
export interface Cursor {
  readonly leaf: Effect.Effect<EntryId | null>
  readonly append: (entry: NewEntry) => Effect.Effect<Entry.Entry, AppendError>
  /** Moves to an entry; no entry changes. */
  readonly branch: (id: string) => Effect.Effect<void, UnknownEntry>
  /** Moves to nowhere: the next entry is another root. */
  readonly resetLeaf: Effect.Effect<void>
  /** Moves, then appends a summary of what was left behind. */
  readonly branchWithSummary: (id: string | null, summary: Summary) => Effect.Effect<Entry.Entry, AppendError | UnknownEntry>
  readonly context: Effect.Effect<ContextBuilder.SessionContext>
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
  /** Names an entry; `null` takes the label away. */
  readonly label: (target: string, label: string | null) => Effect.Effect<Entry.Entry, AppendError | UnknownEntry>
  /** Names the session; `""` takes the name away. */
  readonly name: (name: string) => Effect.Effect<Entry.Entry, AppendError>
  /** Everything that happens from now on. */
  readonly events: Stream.Stream<SessionEvent>
}

export interface CreateOptions {
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
    readonly fork: (
      source: string,
      options?: ForkOptions
    ) => Effect.Effect<SessionRef, AppendError | UnknownEntry>
    readonly list: (options?: ListOptions) => Effect.Effect<ReadonlyArray<SessionSummary>, SessionStoreError>
  }
>()("@grove/core/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const store = yield* SessionStore
      const ids = yield* EntryIds

      const create = Effect.fn("Sessions.create")(function* (options: CreateOptions) {
        const { cwd, parentSession } = options
        const id = options.id ?? (yield* ids.session)
        const lineage = parentSession === undefined ? {} : { parentSession }
        return yield* store.create({ type: "session", version: CURRENT_VERSION, id, timestamp: yield* iso, cwd, ...lineage })
      })

      const open = Effect.fn("Sessions.open")(function* (name: string) {
        const log = yield* store.open(yield* store.find(name))
        return yield* openSession(log, ids)
      })

      const fork = Effect.fn("Sessions.fork")(function* (source: string, options: ForkOptions = {}) {
        const { ref, header, title, tree } = yield* store.read(yield* store.find(source))
        const at = options.at ?? tree.leaf
        if (at !== null && !tree.has(at)) return yield* new UnknownEntry({ session: ref.path, id: at })
        const cwd = options.cwd ?? header?.cwd ?? ""
        const target = yield* create({ cwd, parentSession: ref.path })
        const kept = options.all === true ? keptAll(tree) : keptPath(tree, at)
        const facts = yield* factsFor(tree, kept, at as EntryId | null, Facts.nameOf(tree.facts, title, header))
        yield* Effect.scoped(
          Effect.flatMap(store.open(target), (log) => log.append([...kept, ...facts]))
        )
        return target
      })

      /** The facts of kept entries, appended anew, then a mark that stands where the fork begins. */
      const factsFor = Effect.fnUntraced(function* (
        tree: SessionTree,
        kept: ReadonlyArray<Entry.Entry>,
        at: EntryId | null,
        name: string | null
      ) {
        const keptIds = new Set(kept.map(({ id }) => id))
        const facts: Array<NewEntry> = []
        for (const [targetId, label] of tree.facts.labels) {
          if (keptIds.has(targetId)) facts.push({ type: "label", targetId, label })
        }
        if (name !== null) facts.push({ type: "session_info", name })
        const disabled = [...tree.facts.disabled].filter((id) => keptIds.has(id))
        if (disabled.length > 0) {
          facts.push({ type: "custom", customType: "grove.state", data: { targetIds: disabled, enabled: false } })
        }
        if (facts.length > 0) facts.push({ type: "custom", customType: "grove.leaf", data: { targetId: at } })
        const timestamp = yield* iso
        const entries: Array<Entry.Entry> = []
        for (const fact of facts) entries.push(yield* placed(fact, at, timestamp, ids, (id) => keptIds.has(id)))
        return entries
      })

      return Sessions.of({ create, open, fork, list: store.list })
    })
  )
}

/** Gives a new entry its place. `type`, `id`, `parentId` and `timestamp` come first, as every writer of the format has it. */
const placed = Effect.fnUntraced(function* (
  { type, ...body }: NewEntry,
  parentId: EntryId | null,
  timestamp: string,
  ids: EntryIds["Service"],
  isTaken: (id: EntryId) => boolean
) {
  let id = yield* ids.entry
  while (isTaken(id)) id = yield* ids.entry
  return { type, id, parentId, timestamp, ...body } as Entry.Entry
})

/** Labels are made anew at the end and marks belong to the old file, so neither is copied; their children move up. */
const isCopied = (entry: Entry.Entry): boolean => entry.type !== "label" && !Mark.isMark(entry)

const keptWhere = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Entry.Entry> =>
  entries.filter(isCopied).map((entry) => {
    let row = tree.parentRow(tree.rowOf(entry.id))
    while (tree.idAt(row) !== null && !isCopied(tree.entryAt(row))) row = tree.parentRow(row)
    const parentId = tree.idAt(row)
    return parentId === entry.parentId ? entry : { ...entry, parentId }
  })

const keptPath = (tree: SessionTree, at: string | null): ReadonlyArray<Entry.Entry> =>
  keptWhere(tree, at === null ? [] : tree.path(at))

const keptAll = (tree: SessionTree): ReadonlyArray<Entry.Entry> => keptWhere(tree, tree.entries)

const openSession = Effect.fnUntraced(function* (
  log: Effect.Success<ReturnType<SessionStore["Service"]["open"]>>,
  ids: EntryIds["Service"]
) {
  const { ref, header, tree } = log.snapshot
  const events = yield* PubSub.unbounded<SessionEvent>()
  const publish = (event: SessionEvent) => PubSub.publish(events, event)
  /** One append at a time, so that a mark always names where the person stands when it is written. */
  const writing = yield* Semaphore.make(1)
  const person = { leaf: tree.leaf, unwritten: false }
  let resting: Fiber.Fiber<void, AppendError> | undefined

  const known = (id: string) =>
    tree.has(id) ? Effect.succeed(id as EntryId) : Effect.fail(new UnknownEntry({ session: ref.path, id }))

  const place = Effect.fnUntraced(function* (entry: NewEntry, parentId: EntryId | null) {
    return yield* placed(entry, parentId, yield* iso, ids, (id) => tree.has(id))
  })

  const leafMark = (leaf: EntryId | null) =>
    place({ type: "custom", customType: "grove.leaf", data: { targetId: leaf } }, leaf)

  /** To the medium first, to the tree second: memory is never ahead. */
  const write = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry.Entry>, moved?: EntryId | null) {
    yield* log.append(entries)
    for (const entry of entries) yield* Effect.fromResult(tree.append(entry))
    const shown = entries.filter((entry) => !Mark.isMark(entry))
    if (shown.length > 0) {
      yield* publish({ _tag: "Appended", entries: shown, ...(moved === undefined ? {} : { moved }) })
    }
  }, Effect.uninterruptible)

  /** Writes down where the person went, unless something they appended since already says so. */
  const settle = writing.withPermit(
    Effect.gen(function* () {
      if (!person.unwritten) return
      if (tree.leaf !== person.leaf) yield* write([yield* leafMark(person.leaf)])
      person.unwritten = false
    })
  )

  const scope = yield* Effect.scope
  const movePerson = Effect.fnUntraced(function* (leaf: EntryId | null) {
    if (leaf === person.leaf) return
    person.leaf = leaf
    person.unwritten = true
    yield* publish({ _tag: "Moved", leaf })
    if (resting !== undefined) yield* Fiber.interrupt(resting)
    resting = yield* Effect.forkIn(Effect.delay(settle, REST), scope)
  })

  const makeCursor = (position: { leaf: EntryId | null }): Cursor => {
    const isPerson = position === person
    const append = (entry: NewEntry) =>
      writing.withPermit(
        Effect.gen(function* () {
          const appended = yield* place(entry, position.leaf)
          if (isPerson) {
            yield* write([appended], appended.id)
            person.unwritten = false
          } else {
            yield* write([appended, yield* leafMark(person.leaf)])
          }
          position.leaf = appended.id
          return appended
        })
      )
    const moveTo = (leaf: EntryId | null) =>
      isPerson ? movePerson(leaf) : Effect.sync(() => void (position.leaf = leaf))
    const branchWithSummary = Effect.fnUntraced(function* (id: string | null, summary: Summary) {
      yield* moveTo(id === null ? null : yield* known(id))
      return yield* append({ type: "branch_summary", fromId: id ?? "root", ...summary })
    })
    return {
      leaf: Effect.sync(() => position.leaf),
      append,
      branch: (id) => Effect.flatMap(known(id), moveTo),
      resetLeaf: moveTo(null),
      branchWithSummary,
      context: Effect.sync(() => ContextBuilder.build(tree, position.leaf))
    }
  }

  yield* log.changes.pipe(
    Stream.runForEach((entries) =>
      Effect.gen(function* () {
        for (const entry of entries) tree.put(entry)
        yield* publish({ _tag: "ForeignEntries", entries })
      })
    ),
    Effect.ignore,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => Effect.ignore(settle))

  const main = makeCursor(person)
  return {
    ref,
    header,
    tree,
    main,
    cursor: (at) => Effect.map(at === null ? Effect.succeed(null) : known(at), (leaf) => makeCursor({ leaf })),
    label: (target, label) =>
      Effect.flatMap(known(target), (targetId) =>
        main.append(label === null || label === "" ? { type: "label", targetId } : { type: "label", targetId, label })
      ),
    name: (name) => main.append({ type: "session_info", name: name.replace(/\s+/gu, " ").trim() }),
    events: Stream.fromPubSub(events)
  } satisfies Session
})
