/** The context policy where images are kept as blobs: they are put back before any step looks at them. */
import { BlobStore, ContextPolicy, type PolicyStep } from "@grove/core"
import { Effect, Layer } from "effect"
import * as Persist from "./Persist.ts"

export const step = (store: BlobStore["Service"]): PolicyStep => ({
  name: "blobs",
  apply: (draft) =>
    Effect.map(Effect.provideService(Persist.restoreImages(draft.said), BlobStore, store), (said) => ({
      ...draft,
      said
    }))
})

export const layer: Layer.Layer<ContextPolicy, never, BlobStore> = Layer.unwrap(
  Effect.map(BlobStore, (store) => ContextPolicy.layerSteps((steps) => [step(store), ...steps]))
)
