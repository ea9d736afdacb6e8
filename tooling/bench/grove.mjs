/** Grove as an application puts it together: the file store behind its port. */
import { SessionStore } from "@grove/core"
import { FileBlobStore, JsonlSessionStore } from "@grove/storage-files"
import { Effect, Layer } from "effect"

/**
 * @param {{ readonly home: string, readonly cache?: string, readonly durability?: "always" | "never" }} options
 */
export const layer = ({ home, cache = `${home}/cache`, durability = "always" }) => {
  const paths = { home, sessions: `${home}/sessions`, blobs: `${home}/blobs`, cache, isFlat: false }
  return JsonlSessionStore.layer({ paths, durability }).pipe(
    Layer.provide(FileBlobStore.layer({ directory: paths.blobs }))
  )
}

/**
 * The store, made and ready, so that only its use is measured.
 *
 * @param {Parameters<typeof layer>[0]} options
 */
export const store = (options) => Effect.runPromise(Effect.provide(SessionStore, layer(options)))
