/** All sessions that can be looked at, found by key and never by path, and the few of them that are open. */
import { createHash } from "node:crypto"
import { lstatSync, realpathSync, type Stats } from "node:fs"
import { sep } from "node:path"
import { Entry, Ids, type Jsonl, SessionSummary, type Usage } from "@grove/core/model"
import { Catalogue, type SessionPaths, SessionReader } from "@grove/storage-files/read"
import { Context, Effect, Layer, Result, Schema } from "effect"

/** A folder of sessions, and whose it is: sessions of other programs are translated into a folder of their own. */
export interface Root {
  readonly source: string
  readonly paths: SessionPaths.SessionPaths
}

export interface Options {
  /** Asked again for each list, since stores may appear while one looks. */
  readonly roots: () => ReadonlyArray<Root>
  readonly price?: Usage.Pricer | undefined
}

/** A session that is there. */
export interface Listed {
  readonly key: string
  readonly root: Root
  /** The file as it is called now, draft or not. */
  readonly file: string
  readonly isSubAgent: boolean
  readonly summary: SessionSummary.SessionSummary
}

/** No session answers to that key. */
export class UnknownSession extends Schema.TaggedError<UnknownSession>()("UnknownSession", {}) {}
/** The file is there and cannot be read, or is no session after all; `code` is the system's word for it. */
export class UnreadableSession extends Schema.TaggedError<UnreadableSession>()("UnreadableSession", {
  code: Schema.String
}) {}
export type LibraryError = UnknownSession | UnreadableSession

export interface Open {
  readonly listed: Listed
  readonly opened: SessionReader.Opened
  readonly generation: string
  /** Bodies are in the file, not in memory. */
  readonly isLarge: boolean
}

export interface Reads {
  readonly roots: () => ReadonlyArray<Root>
  readonly price: Usage.Pricer | undefined
  /** Newest first. */
  readonly list: Effect.Effect<ReadonlyArray<Listed>, UnreadableSession>
  /** By key, or by an id or an unambiguous piece of one. */
  readonly find: (name: string) => Effect.Effect<Listed, LibraryError>
  /**
   * As the file is now. It stays open for as long as nothing else needs the room, so what is asked of it must be asked
   * at once: an effect that waits in between must ask again.
   */
  readonly open: (listed: Listed) => Effect.Effect<Open, LibraryError>
}

export class Library extends Context.Service<Library, Reads>()("@grove/viewer/Library") {
  static readonly layer = (options: Options) => Layer.effect(Library, make(options))
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8)

/** A copied file has the id of its original; then a piece of the path's hash tells them apart. */
const keyed = (found: ReadonlyArray<Omit<Listed, "key">>): ReadonlyArray<Listed> => {
  const counts = new Map<string, number>()
  const idOf = ({ summary, file }: Omit<Listed, "key">) => summary.id ?? shortHash(file)
  for (const each of found) counts.set(idOf(each), (counts.get(idOf(each)) ?? 0) + 1)
  return found.map((each) => {
    const id = idOf(each)
    return { ...each, key: counts.get(id) === 1 ? id : `${id}~${shortHash(each.file)}` }
  })
}

const listRoot = (root: Root): ReadonlyArray<Omit<Listed, "key">> =>
  Catalogue.list(root.paths, true).flatMap(({ path, isSubAgent, summary }) =>
    summary === null ? [] : [{ root, file: path, isSubAgent, summary: { ...summary, source: root.source } }]
  )

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? "EIO"

const isGone = (cause: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(cause))

/** Only a regular file below its root is opened: what was listed may be a link by now. */
const stateOf = ({ file, root }: Listed): Stats => {
  const stats = lstatSync(file)
  const top = realpathSync(root.paths.sessions)
  if (!stats.isFile() || !realpathSync(file).startsWith(top + sep)) {
    throw Object.assign(new Error("it is no regular file of the store"), { code: "ENOENT" })
  }
  return stats
}

/** Sessions that are kept open, and how many bytes of them at most are kept in memory. */
const MOST_OPEN = 8
const MOST_BYTES = 64 * 1024 * 1024

interface Kept extends Open {
  readonly state: string
  readonly bytes: number
}

/** Those that were looked at last; the others are closed. */
class Shelf {
  readonly #kept = new Map<string, Kept>()

  take(file: string): Kept | undefined {
    const kept = this.#kept.get(file)
    if (kept === undefined) return undefined
    this.#kept.delete(file)
    this.#kept.set(file, kept)
    return kept
  }

  put(kept: Kept): void {
    this.drop(kept.listed.file)
    this.#kept.set(kept.listed.file, kept)
    const bytes = () => [...this.#kept.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    while (this.#kept.size > 1 && (this.#kept.size > MOST_OPEN || bytes() > MOST_BYTES)) {
      this.drop(this.#kept.keys().next().value!)
    }
  }

  drop(file: string): void {
    this.#kept.get(file)?.opened.close()
    this.#kept.delete(file)
  }

  clear(): void {
    for (const file of [...this.#kept.keys()]) this.drop(file)
  }
}

const make = Effect.fnUntraced(function* ({ roots, price }: Options) {
  let known = new Map<string, Listed>()
  const shelf = new Shelf()
  yield* Effect.addFinalizer(() => Effect.sync(() => shelf.clear()))

  const list = Effect.try({
    try: () => {
      const found = keyed(roots().flatMap(listRoot)).toSorted((a, b) => SessionSummary.byModified(a.summary, b.summary))
      known = new Map(found.map((listed) => [listed.key, listed]))
      return found
    },
    catch: (cause) => new UnreadableSession({ code: codeOf(cause) })
  })

  const find = Effect.fnUntraced(function* (name: string) {
    const listed = known.get(name)
    if (listed !== undefined) return listed
    yield* list
    const [key, ...others] = Ids.candidates(name, known.keys())
    if (key === undefined || others.length > 0) return yield* new UnknownSession()
    return known.get(key)!
  })

  const read = (listed: Listed): Open => {
    const stats = stateOf(listed)
    const state = [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(" ")
    const kept = shelf.take(listed.file)
    if (kept?.state === state) return kept
    shelf.drop(listed.file)
    const ref = { id: listed.summary.id ?? "", path: listed.file }
    const opened = Result.getOrThrow(SessionReader.open(ref, listed.file, { cache: listed.root.paths.cache }))
    const isLarge = stats.size > SessionReader.PARSED_WHOLE
    const generation = `${stats.dev}-${stats.ino}`
    const open = { listed, opened, generation, isLarge, state, bytes: isLarge ? 0 : stats.size }
    shelf.put(open)
    return open
  }

  const open = Effect.fnUntraced(function* (listed: Listed) {
    const attempt = (each: Listed) =>
      Effect.try({
        try: () => read(each),
        catch: (cause) => {
          if ((cause as Jsonl.NotASession)._tag === "NotASession") return new UnreadableSession({ code: "NotASession" })
          return isGone(cause) ? new UnknownSession() : new UnreadableSession({ code: codeOf(cause) })
        }
      })
    return yield* attempt(listed).pipe(
      // A draft gets another name with its first reply: what is gone is sought once more.
      Effect.catchTag("UnknownSession", () => {
        known.delete(listed.key)
        return Effect.flatMap(find(listed.key), attempt)
      })
    )
  })

  return Library.of({ roots, price, list, find, open })
})

const ACTIVE = 60_000

/** Whether something was said in the last minute. */
export const isActive = ({ summary }: Listed, now: number): boolean => now - Entry.time(summary.modified ?? "") < ACTIVE
