/** Blobs read from files named by their hash. Changes nothing. */
import { readFile, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Blobs } from "@grove/core"

/** `blobs/` beside each of a file's three nearest parent directories: where other programs keep theirs. */
export const beside = (file: string): ReadonlyArray<string> => {
  const parents = [dirname(resolve(file))]
  while (parents.length < 3) parents.push(dirname(parents.at(-1)!))
  return [...new Set(parents.map((parent) => join(dirname(parent), "blobs")))]
}

const isMissing = (cause: unknown): boolean => {
  const code = (cause as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}

/** Only regular files are read: a pipe or a device that lies where a blob is sought would hang or never end. */
export const readRegular = async (path: string): Promise<Uint8Array | undefined> => {
  try {
    return (await stat(path)).isFile() ? await readFile(path) : undefined
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw cause
  }
}

/** The blob from the first place that has it whole; a damaged copy only if there is no other. */
export const readBest = async (paths: ReadonlyArray<string>, hash: Blobs.BlobHash): Promise<Uint8Array | undefined> => {
  let damaged: Uint8Array | undefined
  for (const path of paths) {
    const bytes = await readRegular(path)
    if (bytes === undefined) continue
    if (Blobs.hashOf(bytes) === hash) return bytes
    damaged ??= bytes
  }
  return damaged
}
