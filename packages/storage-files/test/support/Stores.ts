/** Sessions on real files, over a disk that can be made to fail. */
import { EntryIds, Sessions } from "@grove/core"
import { Layer } from "effect"
import type { Durability } from "../../src/AppendFile.ts"
import { Disk, real } from "../../src/Disk.ts"
import * as FileBlobStore from "../../src/FileBlobStore.ts"
import * as JsonlSessionStore from "../../src/JsonlSessionStore.ts"
import * as SessionPaths from "../../src/SessionPaths.ts"

export interface StoreOptions {
  readonly disk?: Disk
  readonly durability?: Durability
  readonly onFailure?: (path: string, cause: unknown) => void
}

export const storeLayer = (home: string, { disk = real, ...options }: StoreOptions = {}) => {
  const paths = SessionPaths.make({ home })
  return JsonlSessionStore.layer({ paths, ...options }).pipe(
    Layer.provideMerge(FileBlobStore.layer({ directory: paths.blobs })),
    Layer.provide(Layer.succeed(Disk, disk))
  )
}

/** A store and the use case over it. */
export const sessionsLayer = (home: string, options: StoreOptions = {}) =>
  Sessions.layer.pipe(Layer.provideMerge(storeLayer(home, options)), Layer.provideMerge(EntryIds.layer))
