/** Blobs as files named by their hash, so storing twice is storing once and no name is ever taken from a line. */

import { randomBytes } from "node:crypto"
import { utimes } from "node:fs/promises"
import { join } from "node:path"
import { BlobStore, BlobStoreError, Blobs } from "@grove/core"
import { Effect, Layer } from "effect"
import { readBest, readRegular } from "./BlobFiles.ts"
import { Disk, makeDirectory, removeIfThere, writeWhole } from "./Disk.ts"

export { beside } from "./BlobFiles.ts"

export interface Options {
  /** Where blobs are written and sought first. */
  readonly directory: string
  /** Where they are sought after that. */
  readonly fallbacks?: ReadonlyArray<string>
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
