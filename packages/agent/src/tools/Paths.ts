/** Where a path leads to in truth, links followed, also when nothing is there yet. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path"

/** The absolute path that a model means by `path`; `~` is the person's home. */
export const absolute = (cwd: string, path: string): string => {
  if (path === "~") return homedir()
  return resolve(cwd, path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)
}

/** As many links as systems follow before they call it a loop. */
const LINKS = 40

const isMissing = (cause: unknown): boolean => {
  const code = (cause as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}

const linkAt = (path: string): string | undefined => {
  try {
    return lstatSync(path).isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : undefined
  } catch {
    return undefined
  }
}

/**
 * The path without links, of what is there or would be made there. `undefined` where that cannot be known: links that
 * lead in a circle, directories that may not be searched.
 */
export const real = (path: string): string | undefined => {
  let at = resolve(path)
  let rest = ""
  for (let links = 0; links <= LINKS; ) {
    try {
      return join(realpathSync(at), rest)
    } catch (cause) {
      if (!isMissing(cause)) return undefined
    }
    // A link that leads nowhere yet: what is written through it is made where it leads.
    const target = linkAt(at)
    if (target !== undefined) {
      at = target
      links++
    } else {
      rest = join(basename(at), rest)
      at = dirname(at)
    }
  }
  return undefined
}

/** Whether `path` is `folder` or within it; both without links. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way))
}

/** How a path is named to people and models: from the working directory where it is inside. */
export const shown = (cwd: string, path: string): string =>
  isInside(cwd, path) && path !== cwd ? relative(cwd, path) : path
