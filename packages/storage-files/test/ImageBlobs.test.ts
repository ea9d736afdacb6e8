/** Images come back into the messages that name them. */
import { assert, it } from "@effect/vitest"
import { BlobStore, Blobs } from "@grove/core"
import { Effect } from "effect"
import * as ImageBlobs from "../src/ImageBlobs.ts"
import { image, type Json, utf8 } from "./support.ts"

const restored = (messages: ReadonlyArray<Json>, ...stored: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    const blobs = yield* BlobStore
    yield* Effect.forEach(stored, blobs.put)
    return yield* ImageBlobs.restore(messages)
  }).pipe(Effect.provide(BlobStore.layerMemory))

const picture = utf8("\u0000 not really a picture")
const hash = Blobs.hashOf(picture)
const inline = { type: "image", mimeType: "image/png", data: Buffer.from(picture).toString("base64") }
const text = { type: "text", text: `blob:sha256:${hash}` }

it.effect("a blob is put back as base64 wherever an image names it, and every other field stays", () =>
  Effect.gen(function* () {
    const before = [
      { role: "user", content: [text, image(hash), { ...image(hash), extra: 1 }], timestamp: 7 },
      { role: "toolResult", content: [image(hash)], details: { data: `blob:sha256:${hash}` } }
    ]
    assert.deepStrictEqual(yield* restored(before, picture), [
      { role: "user", content: [text, inline, { ...inline, extra: 1 }], timestamp: 7 },
      { role: "toolResult", content: [inline], details: { data: `blob:sha256:${hash}` } }
    ])
  })
)

it.effect("a reference whose blob is missing stays as it is, beside one that is found", () =>
  Effect.gen(function* () {
    const lost = image("0".repeat(64))
    assert.deepStrictEqual(yield* restored([{ role: "user", content: [lost, image(hash)] }], picture), [
      { role: "user", content: [lost, inline] }
    ])
  })
)

it.effect("messages without images come back as they are, whatever their content", () =>
  Effect.gen(function* () {
    const messages = [
      { role: "user", content: "text" },
      { role: "user", content: null },
      { role: "user" },
      { role: "user", content: [null, 1, "x", [image(hash)], { type: "image" }, { type: "image", data: 7 }] },
      { role: "compactionSummary", summary: "s" }
    ]
    const after = yield* restored(messages, picture)
    for (const [i, message] of messages.entries()) assert.strictEqual(after[i], message)
  })
)

it("the blobs that a content names are told once each", () => {
  const other = "1".repeat(64)
  assert.deepStrictEqual(ImageBlobs.hashesIn([image(hash), text, image(other), image(hash)]), [
    hash,
    other as Blobs.BlobHash
  ])
  for (const content of [undefined, null, "text", `blob:sha256:${hash}`, { ...image(hash) }]) {
    assert.deepStrictEqual(ImageBlobs.hashesIn(content), [])
  }
})
