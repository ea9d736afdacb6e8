/** Sessions as JSONL files: found by path, id or abbreviation, read leniently, appended to so that nothing is lost. */
import { existsSync, statSync } from "node:fs"
import { resolve, sep } from "node:path"
import {
  BlobStore,
  Entry,
  Header,
  Ids,
  Jsonl,
  SessionId,
  SessionStore,
  SessionStoreError,
  SessionSummary,
  Store
} from "@grove/core"
import { Effect, Fiber, Layer, Queue, Result, Schedule, Schema, Semaphore, Stream } from "effect"
import { type Answer, AppendFile, type Durability } from "./AppendFile.ts"
import * as Catalogue from "./Catalogue.ts"
import { Disk, isMissing } from "./Disk.ts"
import * as Elsewhere from "./Elsewhere.ts"
import * as Persist from "./Persist.ts"
import * as SessionFiles from "./SessionFiles.ts"
import * as SessionPaths from "./SessionPaths.ts"

export interface Options {
  readonly paths: SessionPaths.SessionPaths
  /** `always` unless said otherwise. */
  readonly durability?: Durability
  /** Told of the first of a row of write failures. */
  readonly onFailure?: (path: string, cause: unknown) => void
}

/** How soon at the latest what others append is seen. */
const LOOK_AROUND = "400 millis"

const fail = (session: string, reason: SessionStoreError["reason"]) => new SessionStoreError({ session, reason })

const refusal = (session: string) => (cause: unknown) => {
  if (cause instanceof Jsonl.NotASession) return fail(session, new Store.NotASession({ line: cause.line }))
  return fail(session, isMissing(cause) ? new Store.SessionNotFound() : new Store.StoreRefused({ cause }))
}

const attempt = <A>(session: string, run: () => A) => Effect.try({ try: run, catch: refusal(session) })
/** Runs what may fail in the ways of file systems, and says so in the words of the port. */
export const attemptAsync = <A>(session: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: refusal(session) })

/** The bytes of a session file, given by its path. */
export const readBytes = (path: string) => attempt(resolve(path), () => SessionFiles.readRegular(path))

const namesFile = (name: string): boolean => {
  if (name.includes("/") || name.endsWith(Catalogue.EXTENSION)) return true
  try {
    return statSync(name).isFile()
  } catch {
    return false
  }
}

const draftOf = (path: string): string => `${path}.draft`

/** The file itself, or its draft while it has no reply. */
export const existing = (path: string): string =>
  !existsSync(path) && existsSync(draftOf(path)) ? draftOf(path) : path

const isReply = (entry: Entry.Entry): boolean => Entry.role(entry) === "assistant"

const hasReply = (snapshot: Store.Snapshot): boolean => {
  for (const row of snapshot.tree.rows()) if (snapshot.tree.roleAt(row) === "assistant") return true
  return false
}

/** Reads what is there under either name; a draft may get its final one between looking and opening. */
const readExisting = (ref: Store.SessionRef, cache: string): SessionFiles.Opened => {
  const read = () => Result.getOrThrow(SessionFiles.open(ref, existing(ref.path), { cache }))
  try {
    return read()
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    return read()
  }
}

const isSessionId = Schema.is(SessionId)

/** Ids become part of file names, so only those that are safe there are taken. */
export class UnsafeId extends Error {
  constructor() {
    super("an id holds letters, digits, dots, dashes and underscores, and neither begins nor ends with a dot or a dash")
  }
}

/** Of several entries with one id the last, in its place. */
const latest = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<Entry.Entry> => {
  const byId = new Map<string, Entry.Entry>()
  for (const entry of entries) {
    byId.delete(entry.id)
    byId.set(entry.id, entry)
  }
  return [...byId.values()]
}

/** What is nested too deeply to be compared counts as different. */
const sameEntry = (a: Entry.Entry, b: Entry.Entry): boolean => {
  try {
    return JSON.stringify(a) === JSON.stringify(b)
  } catch {
    return false
  }
}

export const make = Effect.fnUntraced(function* ({ paths, durability = "always", onFailure = () => {} }: Options) {
  const disk = yield* Disk
  const blobStore = yield* BlobStore

  const find = Effect.fn("JsonlSessionStore.find")(function* (name: string) {
    if (namesFile(name)) {
      const path = Catalogue.finalName(resolve(name))
      yield* attempt(name, () => statSync(existing(path)))
      return { id: "", path }
    }
    const byId = new Map<string, ReadonlyArray<string>>()
    for (const { summary } of yield* attempt(paths.sessions, () => Catalogue.list(paths, true))) {
      if (summary?.id != null) byId.set(summary.id, [...(byId.get(summary.id) ?? []), summary.path])
    }
    const [id, ...others] = Ids.candidates(name, byId.keys())
    if (id === undefined) return yield* fail(name, new Store.SessionNotFound())
    const [path, ...copies] = byId.get(id)!
    // A copied file has the id of its original; then only the path tells which is meant.
    const candidates = others.length > 0 ? [id, ...others] : [path!, ...copies]
    if (candidates.length > 1) return yield* fail(name, new Store.SessionAmbiguous({ candidates }))
    return { id, path: path! }
  })

  const list = Effect.fn("JsonlSessionStore.list")(function* ({ cwd, subAgents = false }: Store.ListOptions = {}) {
    const files = yield* attempt(paths.sessions, () => Catalogue.list(paths, subAgents))
    const summaries = files.flatMap(({ summary, isSubAgent }) =>
      summary === null || (isSubAgent && !subAgents) || (cwd !== undefined && summary.cwd !== cwd) ? [] : [summary]
    )
    return summaries.sort(SessionSummary.byModified)
  })

  /** The cache holds only what can be made again; what somebody added to it would be lost. */
  const isCopy = (path: string): boolean => resolve(path).startsWith(resolve(paths.cache) + sep)

  const opened = (ref: Store.SessionRef) =>
    Effect.acquireRelease(
      attempt(ref.path, () => readExisting(ref, paths.cache)),
      ({ close }) => Effect.sync(close)
    ).pipe(
      Effect.map((found) => (isCopy(ref.path) ? { ...found, snapshot: { ...found.snapshot, readOnly: true } } : found))
    )

  const create = Effect.fn("JsonlSessionStore.create")(function* (
    header: Parameters<SessionStore["Service"]["create"]>[0],
    options: Store.CreateOptions = {}
  ) {
    if (!isSessionId(header.id)) return yield* fail(header.id, new Store.StoreRefused({ cause: new UnsafeId() }))
    const place = { cwd: header.cwd ?? "", timestamp: header.timestamp ?? "", id: header.id }
    const path = options.path === undefined ? SessionPaths.pathFor(paths, place) : resolve(options.path)
    const taken = yield* attempt(paths.sessions, () => Catalogue.discover(paths, true))
    const ending = `_${header.id}${Catalogue.EXTENSION}`
    if (taken.some((found) => Catalogue.finalName(found.path).endsWith(ending))) {
      return yield* fail(header.id, new Store.SessionExists())
    }
    yield* attemptAsync(path, () => createFile(path, options.draft === true, Jsonl.encode(header))).pipe(
      Effect.mapError((error) => (isTaken(error) ? fail(header.id, new Store.SessionExists()) : error))
    )
    return { id: header.id, path }
  })

  const createFile = async (path: string, isDraft: boolean, header: string): Promise<void> => {
    const [name, other] = isDraft ? [draftOf(path), path] : [path, draftOf(path)]
    if (existsSync(other)) throw Object.assign(new Error(`${other} is there`), { code: "EEXIST" })
    await SessionFiles.create(disk, name, Buffer.from(header))
  }

  const open = Effect.fn("JsonlSessionStore.open")(function* (ref: Store.SessionRef) {
    const { path } = ref
    const { version } = (yield* Effect.scoped(opened(ref))).snapshot
    if (version !== null && version < 3) yield* attemptAsync(path, () => SessionFiles.migrate(disk, existing(path)))
    const { snapshot, inode, end } = yield* opened(ref)
    const { tree } = snapshot
    const foreign = yield* Queue.unbounded<ReadonlyArray<Entry.Entry>>()
    /** Entries on their way to the file, and those that came there after the snapshot: none of them is ever news again. */
    const beingWritten = new Map<string, Entry.Entry>()
    const since = new Map<string, Entry.Entry>()
    let isShared = false
    /** After a replacement: the ids that the new file was seen to hold. */
    let inNewFile: Set<string> | undefined

    const isKnown = (entry: Entry.Entry): boolean => {
      const before = beingWritten.get(entry.id) ?? since.get(entry.id) ?? tree.get(entry.id)
      return before !== undefined && sameEntry(before, entry)
    }
    const tell = (entries: ReadonlyArray<Entry.Entry>): void => {
      const news = latest(entries).filter((entry) => !isKnown(entry))
      if (news.length === 0) return
      isShared = true
      for (const entry of news) since.set(entry.id, entry)
      Queue.offerUnsafe(foreign, news)
    }

    const file = yield* Effect.acquireRelease(
      attempt(
        path,
        () =>
          new AppendFile({
            disk,
            names: [path, draftOf(path)],
            durability,
            from: { inode, end },
            onReplaced: () => {
              inNewFile = new Set()
            },
            onForeign: (lines) => {
              const entries = lines.flatMap(entryIn)
              for (const { id } of entries) inNewFile?.add(id)
              tell(entries)
            },
            isWhole: (unfinished) => {
              if (inNewFile === undefined) return true
              const held = new Set([...inNewFile, ...entryIn(unfinished()).map(({ id }) => id)])
              for (const id of tree.ids()) if (!held.has(id)) return false
              for (const id of since.keys()) if (!held.has(id)) return false
              inNewFile = undefined
              return true
            },
            onFailure
          })
      ),
      // Whoever appended was told of every failure.
      (file) => Effect.promise(() => file.close().catch(() => {}))
    )
    const refused = (cause: unknown) => Effect.fail(refusal(path)(cause))
    const promote = Effect.suspend(() => (file.path === path ? Effect.void : attempt(path, () => file.promote(path))))
    if (hasReply(snapshot)) yield* promote
    yield* Effect.forkScoped(
      Effect.repeat(Effect.ignore(attempt(path, () => file.poll())), Schedule.spaced(LOOK_AROUND))
    )

    /** Blobs are kept at home, so whoever sweeps them there must know of sessions elsewhere that name them. */
    const noteElsewhere = Elsewhere.note(paths.home, path)

    /** Starts the write. What is on its way to the file is not news, however soon it is read there. */
    const write = (entries: ReadonlyArray<Entry.Entry>, answer: Answer): void => {
      const lines = entries.map((entry) => JSON.stringify(entry))
      for (const entry of entries) beingWritten.set(entry.id, entry)
      file.write(lines, (failure) => {
        // What failed may be in the file all the same; where it is, it is news like anybody else's.
        for (const { id } of entries) beingWritten.delete(id)
        answer(failure)
      })
    }

    const written = (entries: ReadonlyArray<Entry.Entry>): Effect.Effect<void, SessionStoreError> =>
      Effect.callback((resume) =>
        write(entries, (failure) => resume(failure === undefined ? Effect.void : refused(failure.cause)))
      )

    const preparing = yield* Semaphore.make(1)
    let waiting = 0
    /** Blobs first, then the line; a later append does not overtake one that waits for its blobs. */
    const writtenAfterBlobs = (entries: ReadonlyArray<Entry.Entry>, blobs: ReadonlyArray<Uint8Array>) => {
      waiting++
      return Effect.forEach(blobs, blobStore.put, { discard: true }).pipe(
        Effect.andThen(blobs.length > 0 ? noteElsewhere : Effect.void),
        Effect.mapError((cause) => fail(path, new Store.StoreRefused({ cause }))),
        // The turn ends when the write has begun, so that it can share its sync with others.
        Effect.flatMap(() => Effect.forkChild(written(entries), { startImmediately: true })),
        preparing.withPermit,
        Effect.ensuring(Effect.sync(() => waiting--)),
        Effect.flatMap(Fiber.join)
      )
    }

    const finish = (entries: ReadonlyArray<Entry.Entry>): Effect.Effect<void, SessionStoreError> => {
      const isPromoted = file.path !== path && (entries.some(isReply) || hasReply(snapshot))
      if (isPromoted) {
        return Effect.andThen(
          Effect.tapError(promote, () => Effect.sync(() => tell(entries))),
          Effect.suspend(() => finish(entries))
        )
      }
      for (const entry of entries) since.set(entry.id, entry)
      // Whoever listens takes first what stands before ours, and so sees both in the order of the file.
      return Queue.sizeUnsafe(foreign) > 0 ? Effect.yieldNow : Effect.void
    }

    const append = (entries: ReadonlyArray<Entry.Entry>): Effect.Effect<void, SessionStoreError> =>
      Effect.suspend(() => {
        if (snapshot.readOnly) return fail(path, new Store.SessionReadOnly())
        if (snapshot.header === null) return fail(path, new Store.NotASession({ line: 1 }))
        if (entries.length === 0) return Effect.void
        const { entries: prepared, blobs } = Persist.splitAll(entries)
        const isReady = blobs.length === 0 && waiting === 0
        const kept = isReady ? written(prepared) : writtenAfterBlobs(prepared, blobs)
        return Effect.uninterruptible(Effect.flatMap(kept, () => finish(prepared)))
      })

    /** A draft that somebody else wrote to is theirs too, and stays. */
    const discardDraft = Effect.gen(function* () {
      yield* Effect.ignore(attempt(path, () => file.poll()))
      if (file.path === path || hasReply(snapshot) || isShared) return
      yield* attemptAsync(path, () => file.close())
      yield* attempt(path, () => disk.remove(draftOf(path)))
    })

    return {
      snapshot,
      append,
      changes: Stream.fromQueue(foreign),
      flush: attemptAsync(path, () => file.flush()),
      discardDraft
    }
  })

  return SessionStore.of({
    find,
    list,
    create,
    open,
    read: Effect.fn("JsonlSessionStore.read")(function* (ref) {
      return (yield* opened(ref)).snapshot
    })
  })
})

const isTaken = ({ reason }: SessionStoreError): boolean =>
  reason._tag === "StoreRefused" && (reason.cause as NodeJS.ErrnoException).code === "EEXIST"

const entryIn = (line: Uint8Array): ReadonlyArray<Entry.Entry> => {
  const parsed = Jsonl.parseLine(line)
  const isEntry = parsed.is === "value" && !Header.isHeader(parsed.value)
  const entry = isEntry ? Entry.fromJson(parsed.value) : undefined
  return entry === undefined ? [] : [entry]
}

export const layer = (options: Options) => Layer.effect(SessionStore, make(options))
