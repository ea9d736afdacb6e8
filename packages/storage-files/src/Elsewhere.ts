/**
 * Session files and folders outside the home whose lines name blobs in it. Nobody can find them by looking, so whoever
 * writes there says so; else their blobs would seem unused.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"
import { Effect } from "effect"
import { appendLines, Disk, makeDirectory } from "./Disk.ts"
import { FileRefused, isMissing, refusedAt } from "./FileRefused.ts"

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

/** Remembers a file or folder; nothing happens for what the home's sessions hold or is known already. */
export const note = Effect.fnUntraced(function* (home: string, path: string) {
  const disk = yield* Disk
  const noted = resolve(path)
  const isFound = noted.startsWith(join(resolve(home), "sessions") + sep)
  const remember = async () => {
    if (isFound || noted.includes("\n")) return
    if (read(home).some((known) => noted === known || noted.startsWith(known + sep))) return
    makeDirectory(disk, home)
    await appendLines(disk, listFile(home), [Buffer.from(noted)])
  }
  yield* Effect.tryPromise({ try: remember, catch: refusedAt(listFile(home)) })
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
