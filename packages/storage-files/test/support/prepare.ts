/** What is written instead of an entry, once every blob it names is kept. */
import { BlobStore, type Entry } from "@grove/core"
import { Effect } from "effect"
import * as Persist from "../../src/Persist.ts"

export const prepare = Effect.fnUntraced(function* (whole: Entry.Entry) {
  const { entry, blobs } = Persist.split(whole)
  yield* BlobStore.use((store) => Effect.forEach(blobs, store.put, { discard: true }))
  return entry
})
