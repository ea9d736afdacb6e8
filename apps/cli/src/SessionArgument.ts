/** `<s>` and entry ids on the command line: names people type, turned into what they mean. */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { type EntryId, Ids, SessionStore, SessionStoreError, Sessions, type SessionTree, Store } from "@grove/core"
import { Breadcrumbs } from "@grove/storage-files"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"
import { Environment } from "./Environment.ts"
import { Paths } from "./Paths.ts"

/** What `-c` would continue. */
const LAST = "@last"

const newestHere = Effect.gen(function* () {
  const { home, terminal, cwd, sessionDirectory } = yield* Environment
  const store = yield* SessionStore
  const path = yield* Breadcrumbs.continueRecent({
    home,
    terminal,
    cwd,
    list: store.list({ cwd }),
    within: sessionDirectory
  })
  if (path === undefined) {
    return yield* new Failure({
      message: `no session in ${cwd} yet, so there is no ${LAST}; grove ls lists all sessions`
    })
  }
  return { id: "", path }
})

const isUnknown = (error: unknown): boolean =>
  error instanceof SessionStoreError && error.reason._tag === "SessionNotFound" && !/[/\\]|\.jsonl$/.test(error.session)

/** Loaded only where a name is none of this home's. */
const foreign = Effect.promise(() => import("./Foreign.ts"))

/** What another program's sessions answer to a name that none of this home's does; the failure itself if none does. */
const elsewhere = Effect.fnUntraced(function* (name: string, unknown: SessionStoreError) {
  const found = yield* Effect.flatMap(foreign, ({ find }) => find(name))
  if (found.length === 0) return yield* unknown
  if (found.length === 1) return found[0]!
  const candidates = found.map(({ id }) => id)
  return yield* new SessionStoreError({ session: name, reason: new Store.SessionAmbiguous({ candidates }) })
})

/** The session a person named, to be written or read. */
export const locate = Effect.fnUntraced(function* (name: string) {
  if (name === LAST) return yield* newestHere
  const store = yield* SessionStore
  const paths = yield* Paths
  return yield* store.find(name).pipe(
    Effect.catchIf(isUnknown, (unknown) =>
      Effect.gen(function* () {
        const { path } = yield* elsewhere(name, unknown)
        const { advice } = yield* foreign
        return yield* new Failure({ message: `session ${name} is another program's; ${advice(paths, path)}` })
      })
    )
  )
})

const isEmptyFile = (name: string): boolean => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size === 0
}

/**
 * The session a person named, to be written to. An empty file becomes a new session, and so does a path where nothing is
 * unless it `mustExist`.
 */
export const locateToWrite = Effect.fnUntraced(function* (name: string, options: { readonly mustExist: boolean }) {
  const isPath = name.includes("/") || name.endsWith(".jsonl")
  const isMissing = isPath && !options.mustExist && !existsSync(name)
  if (existsSync(`${name}.draft`) || !(isMissing || isEmptyFile(name))) return yield* locate(name)
  const { cwd } = yield* Environment
  return yield* Sessions.use((sessions) => sessions.create({ cwd, path: resolve(name) }))
})

/** The session a person named, read without changing it. */
export const read = Effect.fnUntraced(function* (name: string) {
  const store = yield* SessionStore
  return yield* store.read(yield* locate(name))
})

/** As `read`, for commands that only look: sessions of other programs too. */
export const look = Effect.fnUntraced(function* (name: string) {
  const store = yield* SessionStore
  const find =
    name === LAST ? newestHere : Effect.catchIf(store.find(name), isUnknown, (unknown) => elsewhere(name, unknown))
  return yield* store.read(yield* find)
})

const MOST_CANDIDATES = 8

/** Several things answer to what a person typed. */
const ambiguous = (name: string, candidates: ReadonlyArray<string>): string => {
  const others = candidates.length - MOST_CANDIDATES
  const listed = candidates.slice(0, MOST_CANDIDATES).join(", ")
  return `${name} could be ${listed}${others > 0 ? ` or ${others} others` : ""}; name one of them`
}

/** Ids of what a person may name: marks are no places. */
function* places(tree: SessionTree): Generator<EntryId> {
  for (const row of tree.rows()) if (!tree.isMarkAt(row)) yield tree.idAt(row)!
}

const isPlace = (tree: SessionTree, id: string): boolean => tree.has(id) && !tree.isMarkAt(tree.rowOf(id))

export const candidates = (tree: SessionTree, name: string): ReadonlyArray<EntryId> =>
  isPlace(tree, name) ? [name as EntryId] : Ids.candidates(name, places(tree))

/** The one thing that was found; of several, none. */
export const only = <A extends string>(name: string, found: ReadonlyArray<A>): Effect.Effect<A, Failure> =>
  found.length === 1 ? Effect.succeed(found[0]!) : Effect.fail(new Failure({ message: ambiguous(name, found) }))

/** The entry a person named, by id or by an unambiguous prefix or suffix. */
export const entry = (tree: SessionTree, name: string): Effect.Effect<EntryId, Failure> => {
  const found = candidates(tree, name)
  if (found.length > 0) return only(`entry ${name}`, found)
  return Effect.fail(new Failure({ message: `no entry ${name} in this session; grove tree --ids shows its entries` }))
}

/** `--leaf`: an entry, `none` for no leaf, or where the session stands. */
export const leaf = (tree: SessionTree, name: string | boolean | undefined): Effect.Effect<EntryId | null, Failure> => {
  if (typeof name !== "string") return Effect.succeed(tree.leaf)
  return name === "none" && !tree.has(name) ? Effect.succeed(null) : entry(tree, name)
}

/** What went wrong, and what to do. */
const causes: { readonly [code: string]: string } = {
  EACCES: "permission denied; see its owner and mode with ls -l",
  EPERM: "permission denied; see its owner and mode with ls -l",
  EISDIR: "it is a directory, not a session file; name a file in it",
  ENOTDIR: "part of the path is not a directory; check how it is spelled",
  ENAMETOOLONG: "the name is too long; use a shorter one",
  ELOOP: "too many symbolic links; name the file itself",
  EINVAL: "it is not a regular file; name a session file",
  EIO: "the disk reported an error; copy what can be read, and check the disk",
  ENOENT: "the file is gone; grove ls lists what is there",
  ENOSPC: "the disk is full; free some space and try again",
  EDQUOT: "your quota on this disk is used up; free some space and try again",
  EROFS: "the file system is read-only; copy the session to another place",
  EMFILE: "too many files are open; close some programs and try again",
  ENFILE: "too many files are open; close some programs and try again",
  ERR_FS_FILE_TOO_LARGE: "the file is too large to be read at once"
}

const causeOf = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  return (code === undefined ? undefined : causes[code]) ?? message ?? String(cause)
}

/** One line: what, where, and what to do. */
export const explain = ({ session, reason }: SessionStoreError): string => {
  switch (reason._tag) {
    case "SessionNotFound":
      return session.includes("/") || session.endsWith(".jsonl")
        ? `no such session file: ${session}; grove ls lists what is there`
        : `no session ${session}; grove ls lists them`
    case "SessionAmbiguous":
      return ambiguous(`session ${session}`, reason.candidates)
    case "NotASession":
      return `${session} is not a session: no session header before line ${reason.line}; the file was not changed, and grove repair can give it one`
    case "SessionExists":
      return `session ${session} exists already; choose another id`
    case "SessionReadOnly":
      return /[/\\]cache[/\\]foreign[/\\]/.test(session)
        ? `${session} is a copy of another program's session; import it first: grove import`
        : `${session} was written by a newer program and can only be read; a newer grove can write it`
    case "StoreRefused":
      return `cannot use ${session}: ${causeOf(reason.cause)}`
  }
}
