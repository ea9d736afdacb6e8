/**
 * Session files and folders outside the home whose lines name blobs in it. Nobody can find them by looking, so whoever
 * writes there says so; else their blobs would seem unused.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"
import type { Effect } from "effect"
import { attempt, FileRefused, isMissing } from "./FileRefused.ts"

export const listFile = (home: string): string => join(home, "elsewhere")

const read = (home: string): ReadonlyArray<string> => {
  const path = listFile(home)
  try {
    return [...new Set(readFileSync(path, "utf8").split("\n").filter(isAbsolute))]
  } catch (cause) {
    if (isMissing(cause)) return []
    throw new FileRefused({ path, cause })
  }
}

const append = (path: string, line: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, "a", 0o600)
  try {
    writeSync(file, `${line}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Remembers a file or folder; nothing happens for what the home holds or is known already. */
export const note = (home: string, path: string): Effect.Effect<void, FileRefused> =>
  attempt(listFile(home), () => {
    const noted = resolve(path)
    if (noted.includes("\n") || noted.startsWith(join(resolve(home), "sessions") + sep)) return
    if (!read(home).some((known) => noted === known || noted.startsWith(known + sep))) append(listFile(home), noted)
  })

/**
 * What is remembered and still there. A path whose folder is gone too may be on a disk that is not mounted now, which
 * is refused: taking it for deleted would cost its blobs. Throws `FileRefused`.
 */
export const list = (home: string): ReadonlyArray<string> =>
  read(home).filter((path) => {
    if (existsSync(path)) return true
    if (existsSync(dirname(path))) return false
    const cause = new Error(`its folder is not there; mount it, or take its line out of ${listFile(home)}`)
    throw new FileRefused({ path, cause })
  })
