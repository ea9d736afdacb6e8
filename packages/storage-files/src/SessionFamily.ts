/** All files that belong to one session: itself, its draft, what was kept of it, and what was derived from it. */
import { existsSync, readdirSync, realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Breadcrumbs from "./Breadcrumbs.ts"
import { FileRefused, isMissing } from "./FileRefused.ts"
import * as FileTree from "./FileTree.ts"
import * as IndexFile from "./IndexFile.ts"
import type { SessionPaths } from "./SessionPaths.ts"

export interface SessionFamily {
  /** The session's final name. */
  readonly path: string
  /** The session and its draft, as far as they are there; at least one is. */
  readonly logs: ReadonlyArray<string>
  /** Older versions, and lines that were set apart. */
  readonly backups: ReadonlyArray<string>
  /** What a rewrite that was killed left behind. */
  readonly temporary: ReadonlyArray<string>
  /** Line indexes in the cache. */
  readonly indexes: ReadonlyArray<string>
}

/** Names that Grove gives: the time and the id make one the only one of its kind. */
const OWN_NAME = /^\d{4}-\d\d-\d\dT[\d-]+Z?_.+\.jsonl$/
const BACKUP = /\.(bak|rejected)(\.\d+)?$/
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/

const namesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch (cause) {
    if (isMissing(cause)) return []
    throw new FileRefused({ path: folder, cause })
  }
}

/** Where a link leads; the path itself where nothing is. */
export const resolved = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * The files of the session with this final name. A session that was moved to another folder has left its backup in the
 * old one, so backups are looked for in every folder that has no session of that name. Throws `FileRefused`.
 */
export const of = (paths: SessionPaths, path: string): SessionFamily => {
  const folder = dirname(path)
  const name = basename(path)
  const beside = namesIn(folder)
  const belongs = (other: string) => other.startsWith(`${name}.`) && BACKUP.test(other)
  const leftBehind = (OWN_NAME.test(name) ? FileTree.list(paths.sessions, belongs) : [])
    .map((found) => found.path)
    .filter((found) => dirname(found) !== folder && !existsSync(join(dirname(found), name)))
  const logs = [name, `${name}.draft`].filter((other) => beside.includes(other)).map((other) => join(folder, other))
  return {
    path,
    logs,
    backups: [...beside.filter(belongs).map((other) => join(folder, other)), ...leftBehind],
    temporary: beside
      .filter((other) => other.startsWith(`.${name}.`) && TEMPORARY.test(other))
      .map((other) => join(folder, other)),
    indexes: [path, ...logs]
      .map((log) => IndexFile.pathFor(paths.cache, log))
      .filter((index, i, all) => all.indexOf(index) === i && existsSync(index))
  }
}

/** Replies being generated for a session: all, or the one with that entry id. Throws `FileRefused`. */
export const running = (
  home: string,
  session: string
): ReadonlyArray<{ readonly path: string; readonly entry: string }> => {
  const folder = join(home, "running")
  return namesIn(folder).flatMap((name) => {
    // Entry ids that Grove makes have no dot, session ids may.
    const entry = name.startsWith(`${session}.`)
      ? /^([^.]+)\.json$/.exec(name.slice(session.length + 1))?.[1]
      : undefined
    return entry === undefined ? [] : [{ path: join(folder, name), entry }]
  })
}

/** Breadcrumbs that lead to a session. */
export const breadcrumbs = (home: string, path: string): ReadonlyArray<string> =>
  Breadcrumbs.all(home)
    .filter(({ file }) => resolved(file) === path)
    .map((crumb) => crumb.path)
