/** Sessions as JSONL files: found by path, id or abbreviation, read leniently, appended to so that nothing is lost. */
import { existsSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import {
  BlobStore,
  Entry,
  Header,
  Ids,
  Jsonl,
  SessionStore,
  SessionStoreError,
  SessionSummary,
  Store
} from "@grove/core"
import { Effect, Layer, Queue, Result, Schedule, Stream } from "effect"
import { AppendFile, type Durability } from "./AppendFile.ts"
import * as Catalogue from "./Catalogue.ts"
import { Disk } from "./Disk.ts"
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
  const missing = (cause as NodeJS.ErrnoException).code === "ENOENT"
  return fail(session, missing ? new Store.SessionNotFound() : new Store.StoreRefused({ cause }))
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

/** The file was replaced by one that lacks entries which were in it; whoever wrote on would lose their place. */
export class EntriesGone extends Error {
  constructor() {
    super("the file was replaced by one without entries that were in it; open the session again")
  }
}

export const make = Effect.fnUntraced(function* ({ paths, durability = "always", onFailure = () => {} }: Options) {
  const disk = yield* Disk
  const blobs = yield* BlobStore

  const find = Effect.fn("JsonlSessionStore.find")(function* (name: string) {
    if (namesFile(name)) {
      const path = Catalogue.finalName(resolve(name))
      yield* attempt(name, () => statSync(existing(path)))
      return { id: "", path }
    }
    const byId = new Map<string, string>()
    for (const { summary } of yield* attempt(paths.sessions, () => Catalogue.list(paths, true))) {
      if (summary?.id != null) byId.set(summary.id, summary.path)
    }
    const candidates = Ids.candidates(name, byId.keys())
    if (candidates.length > 1) return yield* fail(name, new Store.SessionAmbiguous({ candidates }))
    const id = candidates[0]
    if (id === undefined) return yield* fail(name, new Store.SessionNotFound())
    return { id, path: byId.get(id)! }
  })

  const list = Effect.fn("JsonlSessionStore.list")(function* ({ cwd, subAgents = false }: Store.ListOptions = {}) {
    const files = yield* attempt(paths.sessions, () => Catalogue.list(paths, subAgents))
    const summaries = files.flatMap(({ summary, isSubAgent }) =>
      summary === null || (isSubAgent && !subAgents) || (cwd !== undefined && summary.cwd !== cwd) ? [] : [summary]
    )
    return summaries.sort(SessionSummary.byModified)
  })

  const opened = (ref: Store.SessionRef) =>
    Effect.acquireRelease(
      attempt(ref.path, () => Result.getOrThrow(SessionFiles.open(ref, existing(ref.path), { cache: paths.cache }))),
      ({ close }) => Effect.sync(close)
    )

  const create = Effect.fn("JsonlSessionStore.create")(function* (
    header: Parameters<SessionStore["Service"]["create"]>[0],
    options: Store.CreateOptions = {}
  ) {
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

  /** Under its own name from the first byte, and durable, directory included. A file that is there and empty may be filled. */
  const createFile = async (path: string, isDraft: boolean, header: string): Promise<void> => {
    const directory = dirname(path)
    disk.makeDirectory(directory)
    if (!isDraft && existsSync(draftOf(path))) throw Object.assign(new Error("a draft is there"), { code: "EEXIST" })
    const name = isDraft ? draftOf(path) : path
    const isEmpty = existsSync(path) && statSync(path).size === 0
    if (isDraft && existsSync(path)) throw Object.assign(new Error("the session is there"), { code: "EEXIST" })
    const file = disk.open(name, isEmpty ? "append" : "create")
    try {
      disk.write(file, Buffer.from(header))
      await disk.sync(file)
    } finally {
      disk.close(file)
    }
    disk.syncDirectory(directory)
  }

  const open = Effect.fn("JsonlSessionStore.open")(function* (ref: Store.SessionRef) {
    const { path } = ref
    const { version } = (yield* Effect.scoped(opened(ref))).snapshot
    if (version !== null && version < 3) yield* attemptAsync(path, () => SessionFiles.migrate(disk, existing(path)))
    const { snapshot, inode, end } = yield* opened(ref)
    const { tree } = snapshot
    const foreign = yield* Queue.unbounded<ReadonlyArray<Entry.Entry>>()
    /** After a replacement: the ids that the new file was seen to hold. */
    let inNewFile: Set<string> | undefined

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
              const news = entries.filter((entry) => !isKnown(entry))
              if (news.length > 0) Queue.offerUnsafe(foreign, news)
            },
            beforeWrite: () => {
              if (inNewFile === undefined) return
              for (const id of tree.ids()) if (!inNewFile.has(id)) throw new EntriesGone()
              inNewFile = undefined
            },
            onFailure
          })
      ),
      (file) => Effect.ignore(Effect.promise(() => file.close()))
    )
    const isKnown = (entry: Entry.Entry): boolean => {
      const before = tree.get(entry.id)
      return before !== undefined && JSON.stringify(before) === JSON.stringify(entry)
    }
    const promote = Effect.suspend(() => (file.path === path ? Effect.void : attempt(path, () => file.promote(path))))
    if (hasReply(snapshot)) yield* promote
    yield* Effect.forkScoped(
      Effect.repeat(Effect.ignore(attempt(path, () => file.poll())), Schedule.spaced(LOOK_AROUND))
    )

    const append = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry.Entry>) {
      if (snapshot.readOnly) return yield* fail(path, new Store.SessionReadOnly())
      if (entries.length === 0) return
      const prepared = yield* Effect.forEach(entries, Persist.prepare).pipe(
        Effect.provideService(BlobStore, blobs),
        Effect.mapError((cause) => fail(path, new Store.StoreRefused({ cause })))
      )
      const lines = Buffer.from(prepared.map(Jsonl.encode).join(""))
      yield* attemptAsync(path, () => file.append(lines))
      if (entries.some(isReply)) yield* promote
    }, Effect.uninterruptible)

    const discardDraft = Effect.suspend(() => {
      if (file.path === path || hasReply(snapshot)) return Effect.void
      return Effect.andThen(
        attemptAsync(path, () => file.close()),
        attempt(path, () => disk.remove(draftOf(path)))
      )
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
