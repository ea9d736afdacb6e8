/** The files below a folder, found without missing any: what cannot be looked into is an error, not an omission. */
import { type Dirent, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { FileRefused, isMissing } from "./FileRefused.ts"

export interface Found {
  readonly path: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modified: number
  /** Which file it is, whatever its name. */
  readonly identity: string
}

/** What is there at a path, links followed; `undefined` if nothing is. */
const look = (path: string) => {
  try {
    return statSync(path)
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new FileRefused({ path, cause })
  }
}

const entriesOf = (folder: string): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    if (isMissing(cause)) return []
    throw new FileRefused({ path: folder, cause })
  }
}

/** Which file a path leads to; `undefined` if to none. */
export const identityOf = (path: string): string | undefined => {
  const stats = look(path)
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}

/**
 * Regular files below `root`, or `root` itself if it is one, whose names are accepted; none if it is not there. Links
 * are followed, each folder is entered once. Throws `FileRefused`.
 */
export const list = (root: string, accepts: (name: string) => boolean = () => true): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const entered = new Set<string>()
  const pending = [{ path: root, isWanted: true }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, isWanted } = next
    const stats = look(path)
    if (stats === undefined) continue
    const identity = `${stats.dev}:${stats.ino}`
    if (stats.isFile() && isWanted) found.push({ path, size: stats.size, modified: stats.mtimeMs, identity })
    if (!stats.isDirectory() || entered.has(identity)) continue
    entered.add(identity)
    for (const entry of entriesOf(path)) {
      const isWanted = accepts(entry.name)
      if (isWanted || !entry.isFile()) pending.push({ path: join(path, entry.name), isWanted })
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}
