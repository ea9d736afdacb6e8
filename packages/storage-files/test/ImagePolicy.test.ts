import { assert, it } from "@effect/vitest"
import { BlobStore, Blobs, Capabilities, ContextPolicy } from "@grove/core"
import { Effect, Layer } from "effect"
import * as ImagePolicy from "../src/ImagePolicy.ts"

const layer = Layer.provideMerge(ImagePolicy.layer, BlobStore.layerMemory)
const model = { ...Capabilities.of({ provider: "anthropic", modelId: "m" }), images: true }
const said = (data: string) => ({
  messages: [{ role: "user", content: [{ type: "image", mimeType: "image/png", data }] }]
})

it.effect("a model is sent the image that the session keeps as a blob", () =>
  Effect.gen(function* () {
    const hash = yield* BlobStore.use((blobs) => blobs.put(new TextEncoder().encode("a picture")))
    const policy = yield* ContextPolicy
    const { messages } = yield* policy.apply(said(Blobs.reference(hash)), { model })
    assert.deepStrictEqual(messages[0]!.content, [
      { type: "image", mimeType: "image/png", data: Buffer.from("a picture").toString("base64") }
    ])
  }).pipe(Effect.provide(layer))
)

it.effect("where the blob is gone the model is told, and nothing fails", () =>
  Effect.gen(function* () {
    const policy = yield* ContextPolicy
    const { messages } = yield* policy.apply(said(Blobs.reference(Blobs.hashOf(new Uint8Array(3)))), { model })
    assert.strictEqual(messages[0]!.content[0]!.type, "text")
  }).pipe(Effect.provide(layer))
)
