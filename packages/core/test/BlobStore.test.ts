import { assert, it } from "@effect/vitest"
import { BlobHash, BlobStore, hashIn, reference } from "../src/BlobStore.ts"
import { suite } from "../src/testing/BlobStoreContract.ts"

suite("memory", BlobStore.layerMemory)

it.prop("a reference leads back to its hash", [BlobHash], ([hash]) => {
  assert.strictEqual(hashIn(reference(hash)), hash)
})

it("what is not exactly a reference refers to nothing", () => {
  const hash = "0123456789abcdef".repeat(4)
  const others = [hash, `blob:sha256:${hash}0`, `blob:sha256:${hash.slice(1)}`, `blob:sha256:${hash.toUpperCase()}`]
  const texts = [
    ...others,
    ` blob:sha256:${hash}`,
    `blob:sha256:${hash}\n`,
    "blob:sha256:../../etc/passwd",
    "",
    null,
    1
  ]
  for (const text of texts) assert.isUndefined(hashIn(text), String(text))
})
