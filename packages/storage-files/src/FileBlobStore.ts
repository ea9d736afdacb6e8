/** Blobs as files named by their hash, so storing twice is storing once and no name is ever taken from a line. */

import { randomBytes } from "node:crypto"
import { readFile, stat, utimes } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { BlobStore, BlobStoreError, Blobs } from "@grove/core"
import { Effect, Layer } from "effect"
import { Disk, makeDirectory, removeIfThere, writeWhole } from "./Disk.ts"

export interface Options {
  /** Where blobs are written and sought first. */
  readonly directory: string
  /** Where they are sought after that. */
  readonly fallbacks?: ReadonlyArray<string>
}

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
const readRegular = async (path: string): Promise<Uint8Array | undefined> => {
  try {
    return (await stat(path)).isFile() ? await readFile(path) : undefined
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw cause
  }
}

/** The blob from the first place that has it whole; a damaged copy only if there is no other. */
const readBest = async (paths: ReadonlyArray<string>, hash: Blobs.BlobHash): Promise<Uint8Array | undefined> => {
  let damaged: Uint8Array | undefined
  for (const path of paths) {
    const bytes = await readRegular(path)
    if (bytes === undefined) continue
    if (Blobs.hashOf(bytes) === hash) return bytes
    damaged ??= bytes
  }
  return damaged
}

/** Whether the blob is there already. It is made young again, so that nobody sweeps it before the line naming it is written. */
const isKept = async (path: string, hash: Blobs.BlobHash): Promise<boolean> => {
  try {
    const bytes = await readRegular(path)
    if (bytes === undefined || Blobs.hashOf(bytes) !== hash) return false
    const now = new Date()
    await utimes(path, now, now)
    return true
  } catch {
    return false
  }
}

/** Temporary file, sync, rename, sync of the directory: the whole blob is there or none of it. */
const writeDurably = async (disk: Disk, directory: string, name: Blobs.BlobHash, bytes: Uint8Array): Promise<void> => {
  const target = join(directory, name)
  if (!(await isKept(target, name))) {
    makeDirectory(disk, directory)
    const temporary = join(directory, `.${name}.${randomBytes(6).toString("hex")}.tmp`)
    const file = disk.open(temporary, "create")
    try {
      writeWhole(disk, file, bytes)
      await disk.sync(file)
      disk.rename(temporary, target)
    } catch (cause) {
      removeIfThere(disk, temporary)
      throw cause
    } finally {
      disk.close(file)
    }
  }
  // Also for a blob that was there: whoever wrote it may not have come to this yet.
  disk.syncDirectory(directory)
}

export const make = ({ directory, fallbacks = [] }: Options) => {
  const refused = (hash: Blobs.BlobHash) => (cause: unknown) =>
    new BlobStoreError({ hash, reason: new Blobs.BlobRefused({ cause }) })
  return BlobStore.of({
    put: Effect.fn("FileBlobStore.put")(function* (bytes) {
      const hash = Blobs.hashOf(bytes)
      const disk = yield* Disk
      yield* Effect.tryPromise({ try: () => writeDurably(disk, directory, hash, bytes), catch: refused(hash) })
      return hash
    }),
    get: Effect.fn("FileBlobStore.get")(function* (hash) {
      const places = [directory, ...fallbacks].map((place) => join(place, hash))
      const bytes = yield* Effect.tryPromise({ try: () => readBest(places, hash), catch: refused(hash) })
      if (bytes === undefined) return yield* new BlobStoreError({ hash, reason: new Blobs.BlobMissing() })
      if (Blobs.hashOf(bytes) !== hash) return yield* new BlobStoreError({ hash, reason: new Blobs.BlobDamaged() })
      return bytes
    })
  })
}

export const layer = (options: Options) => Layer.sync(BlobStore, () => make(options))
