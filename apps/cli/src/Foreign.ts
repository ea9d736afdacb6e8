/** Sessions of other programs as this command shows them, without importing them. */
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Ids, type Prompts, type SessionSummary, type Store } from "@grove/core"
import { ForeignSessions, Stores } from "@grove/formats"
import { Catalogue, type SessionPaths } from "@grove/storage-files"
import { PromptSources } from "@grove/storage-sqlite"
import { Effect } from "effect"
import { Environment } from "./Environment.ts"
import * as ForeignDatabases from "./ForeignDatabases.ts"
import { Paths } from "./Paths.ts"
import * as Progress from "./Progress.ts"
import * as Settings from "./Settings.ts"

/** The stores that are shown: those a person has named, else whatever is in the usual places. */
const stores = Effect.gen(function* () {
  const { userHome, variables, home } = yield* Environment
  const { roots } = yield* Settings.read
  if (roots === false) return []
  if (roots === undefined) return Stores.find(userHome, variables)
  return roots.map(({ format, folder }) => ({ format, folder: resolve(home, folder.replace(/^~(?=\/|$)/, userHome)) }))
})

const idIn = (path: string): string => /_([^/\\]*)\.jsonl(?:\.draft)?$/.exec(path)?.[1] ?? ""

/** A format, and the folders of this home with the copies of that format in place of its sessions. */
export interface Root {
  readonly source: string
  readonly paths: SessionPaths.SessionPaths
}

/** Where the copies are, brought up to date. A folder of sessions that a person named stands for itself. */
export const roots = Effect.scoped(
  Effect.gen(function* () {
    const paths = yield* Paths
    const found = paths.isFlat ? [] : yield* stores
    if (found.length === 0) return []
    const own = new Set(Catalogue.discover(paths, true).map(({ path }) => idIn(path)))
    const progress = yield* Progress.files("Reading file")
    const refreshed = ForeignSessions.refresh({ cache: paths.cache, stores: found, own, onFile: progress.onFile })
    const made = yield* Effect.provide(refreshed, ForeignDatabases.layer)
    return made.map(
      ({ format, folder }): Root => ({ source: format, paths: { ...paths, sessions: folder, isFlat: true } })
    )
  })
)

/** The files of all sessions that are not in this home. */
export const files = Effect.gen(function* () {
  const found = yield* roots
  return found.flatMap(({ paths }) => Catalogue.discover(paths, true).map(({ path }) => path))
})

/** All of them, each with its format for a source. */
export const list = Effect.gen(function* () {
  const found = yield* roots
  return found.flatMap(({ source, paths }) =>
    Catalogue.list(paths, true).flatMap(
      ({ summary }): ReadonlyArray<SessionSummary.SessionSummary> => (summary === null ? [] : [{ ...summary, source }])
    )
  )
})

/** Those that a person may have meant by an id or a part of one. */
export const find = Effect.fnUntraced(function* (name: string) {
  const all = new Map((yield* list).map(({ id, path }) => [id ?? "", path]))
  return Ids.candidates(name, all.keys()).map((id): Store.SessionRef => ({ id, path: all.get(id)! }))
})

/** Whether a file is such a copy, which nobody writes to. */
export const isCopy = ({ cache }: SessionPaths.SessionPaths, path: string): boolean =>
  resolve(path).startsWith(join(ForeignSessions.folderIn(cache), "/"))

/** What to do about a session that can only be read. */
export const advice = (paths: SessionPaths.SessionPaths, path: string): string => {
  const source = ForeignSessions.sourceOf(paths.cache, path)
  return `import it first: grove import${source === undefined ? "" : ` ${source}`}`
}

// ------------------------------------------------------------------------------------------------------- prompts

const seenIn = ({ cache }: SessionPaths.SessionPaths): string => join(ForeignSessions.folderIn(cache), "prompts.json")

const statesSeen = (paths: SessionPaths.SessionPaths): { readonly [path: string]: number } => {
  try {
    return JSON.parse(readFileSync(seenIn(paths), "utf8"))
  } catch {
    return {}
  }
}

function* promptsIn(path: string): Generator<Prompts.PromptUse> {
  const text = readFileSync(path, "utf8")
  const isSubAgent = text.slice(text.indexOf("\n") + 1).startsWith('{"type":"session_init"')
  for (const use of PromptSources.read(text, "grove")?.uses ?? []) yield isSubAgent ? { ...use, author: "agent" } : use
}

/** Prompts in sessions that have changed since they were last looked at; `seen` is to be run when they are kept. */
export const newPrompts = Effect.gen(function* () {
  const paths = yield* Paths
  const before = statesSeen(paths)
  const now = (yield* files).map((path) => [path, statSync(path).mtimeMs] as const)
  const changed = now.filter(([path, at]) => before[path] !== at)
  return {
    uses: changed.flatMap(([path]) => [...promptsIn(path)]),
    seen: Effect.sync(() => {
      if (changed.length > 0) writeFileSync(seenIn(paths), JSON.stringify(Object.fromEntries(now)), { mode: 0o600 })
    })
  }
})
