/** What every `BlobStore` promises. Nothing is taken for granted about what is already in the store. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { BlobHash, BlobStore, hashOf } from "../BlobStore.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const random = (length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

const same = (actual: Uint8Array, expected: Uint8Array) =>
  assert.deepStrictEqual(Array.from(actual), Array.from(expected))

export const suite = (name: string, layer: Layer.Layer<BlobStore, unknown>) =>
  it.layer(layer, { excludeTestServices: true })(`${name} keeps the BlobStore promises`, (it) => {
    it.effect.prop("whatever bytes are put are the bytes that are got", [Schema.Uint8Array], ([bytes]) =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        same(yield* store.get(yield* store.put(bytes)), bytes)
      })
    )

    it.effect("a large blob comes back whole", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const bytes = random(3_000_001)
        const hash = yield* store.put(bytes)
        const got = yield* store.get(hash)
        assert.strictEqual(got.length, bytes.length)
        assert.strictEqual(hashOf(got), hash)
      })
    )

    it.effect.each([
      ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
      ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
      [
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ]
    ] as const)("the name of %j is its SHA-256", ([text, hash]) =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        assert.strictEqual(yield* store.put(utf8(text)), BlobHash.make(hash))
      })
    )

    it.effect("storing twice is storing once", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const bytes = random(1000)
        const first = yield* store.put(bytes)
        assert.strictEqual(yield* store.put(bytes), first)
        same(yield* store.get(first), bytes)
      })
    )

    it.effect("many may store the same bytes at once", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const bytes = random(100_000)
        const puts = Array.from({ length: 8 }, () => store.put(bytes))
        const hashes = yield* Effect.all(puts, { concurrency: "unbounded" })
        assert.deepStrictEqual(new Set(hashes), new Set([hashOf(bytes)]))
        same(yield* store.get(hashes[0]!), bytes)
      })
    )

    it.effect("what is stored does not change with the array it came from, nor with one it was got in", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const bytes = random(100)
        const original = bytes.slice()
        const hash = yield* store.put(bytes)
        bytes.fill(0)
        ;(yield* store.get(hash)).fill(1)
        same(yield* store.get(hash), original)
      })
    )

    it.effect("a part of a larger array is stored as that part alone", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const whole = random(100)
        const hash = yield* store.put(whole.subarray(10, 20))
        same(yield* store.get(hash), whole.slice(10, 20))
      })
    )

    it.effect("bytes that nobody stored are missing, and the error says which", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const hash = hashOf(random(100))
        const error = yield* Effect.flip(store.get(hash))
        assert.deepStrictEqual([error._tag, error.reason._tag, error.hash], ["BlobStoreError", "BlobMissing", hash])
      })
    )

    it.effect("bytes are looked for when they are asked for, not when the question is put into words", () =>
      Effect.gen(function* () {
        const store = yield* BlobStore
        const bytes = random(100)
        const get = store.get(hashOf(bytes))
        yield* store.put(bytes)
        same(yield* get, bytes)
      })
    )
  })
