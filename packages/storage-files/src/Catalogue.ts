/**
 * The list of all sessions, kept in the cache by file: a second list only looks at the files' states. A cache, safe to
 * delete: what is missing or stale is read again.
 */
import { createHash } from "node:crypto"
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import { SessionSummary } from "@grove/core"
import { Result } from "effect"
import * as CacheFile from "./CacheFile.ts"
import type { SessionPaths } from "./SessionPaths.ts"
import * as SessionReader from "./SessionReader.ts"

export const EXTENSION = ".jsonl"
export const DRAFT_EXTENSION = ".jsonl.draft"

/** One session file, as it was when it was last read. `summary` is `null` for what is no session. */
export interface Listed {
  readonly path: string
  readonly state: string
  readonly isSubAgent: boolean
  readonly summary: SessionSummary.SessionSummary | null
}

interface Found {
  readonly path: string
  readonly isSubAgent: boolean
}

/** What cannot be read is left out, save the folder that was asked for. */
const listDirectory = (directory: string, isTop: boolean): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (!isTop || (cause as NodeJS.ErrnoException).code === "ENOENT") return []
    throw cause
  }
}

/**
 * Session files and drafts below the folder; symbolic links and whatever is no regular file are passed over. Folders
 * that only sub-agents have files in are not even opened unless they are asked for.
 */
export const discover = ({ sessions, isFlat }: SessionPaths, subAgents: boolean): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const pending = [{ directory: sessions, depth: 0 }]
  const ownDepth = isFlat ? 0 : 1
  while (pending.length > 0) {
    const { directory, depth } = pending.pop()!
    for (const item of listDirectory(directory, depth === 0)) {
      const path = `${directory}/${item.name}`
      if (item.isDirectory()) {
        if (subAgents || depth < ownDepth) pending.push({ directory: path, depth: depth + 1 })
      } else if (item.isFile() && (item.name.endsWith(EXTENSION) || item.name.endsWith(DRAFT_EXTENSION))) {
        found.push({ path, isSubAgent: depth > ownDepth })
      }
    }
  }
  return found
}

/** The name a session has once it has a reply: what is stored and printed. */
export const finalName = (path: string): string =>
  path.endsWith(DRAFT_EXTENSION) ? path.slice(0, -".draft".length) : path

const stateOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

const VERSION = 1

interface Stored {
  readonly version: number
  readonly files: ReadonlyArray<Listed>
}

export const pathFor = (cache: string, sessions: string): string =>
  join(cache, `catalogue-${createHash("sha256").update(sessions).digest("hex").slice(0, 16)}.json`)

const load = (path: string): ReadonlyMap<string, Listed> => {
  try {
    const stored = JSON.parse(readFileSync(path, "utf8")) as Stored
    if (stored.version !== VERSION) return new Map()
    return new Map(stored.files.map((listed) => [listed.path, listed]))
  } catch {
    return new Map()
  }
}

const save = (path: string, files: ReadonlyArray<Listed>): void =>
  CacheFile.write(path, JSON.stringify({ version: VERSION, files } satisfies Stored))

const summarise = ({ path, isSubAgent }: Found, state: string, cache: string): Listed => {
  const final = finalName(path)
  const opened = SessionReader.open({ id: "", path: final }, path, { cache, parsedWhole: 0 })
  if (Result.isFailure(opened)) return { path, state, isSubAgent, summary: null }
  const { snapshot, close } = opened.success
  try {
    const { header, title, tree } = snapshot
    const place = { path: final, source: "grove", draft: final !== path }
    const summary = header === null ? null : SessionSummary.of(header, title, tree, place)
    const isTask = tree.size > 0 && tree.typeAt(0) === "session_init"
    return { path, state, isSubAgent: isSubAgent || isTask, summary }
  } finally {
    close()
  }
}

/** A file that is gone since it was found, or not ours to read, is left out; whatever else goes wrong is told. */
const UNREADABLE = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "EISDIR", "EINVAL", "EIO"])

/** Every session file below the folder, read only where the cache does not know it as it is. */
export const list = (paths: SessionPaths, subAgents: boolean): ReadonlyArray<Listed> => {
  const cached = pathFor(paths.cache, paths.sessions)
  const known = load(cached)
  const files: Array<Listed> = []
  let isChanged = false
  for (const found of discover(paths, subAgents)) {
    try {
      const state = stateOf(statSync(found.path))
      const before = known.get(found.path)
      const listed = before?.state === state ? before : summarise(found, state, paths.cache)
      if (listed !== before) isChanged = true
      files.push(listed)
    } catch (cause) {
      if (!UNREADABLE.has((cause as NodeJS.ErrnoException).code ?? "")) throw cause
    }
  }
  if (isChanged || (subAgents && files.length !== known.size)) save(cached, files)
  return files
}
