/** Port: bytes in, hash out. Where images and overlong texts are kept, outside the lines that name them. */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex } from "@noble/hashes/utils.js"
import { Context, Effect, Layer, Schema } from "effect"

/** SHA-256 of the bytes, as 64 lower-case hex digits. Nothing else is ever looked up. */
export const BlobHash = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(Schema.brand("BlobHash"))
export type BlobHash = typeof BlobHash.Type

const REFERENCE = /^blob:sha256:([0-9a-f]{64})$/

/** How a line names a blob. */
export const reference = (hash: BlobHash): string => `blob:sha256:${hash}`

/** The hash a text refers to; `undefined` for everything else, malformed references included. */
export const hashIn = (text: unknown): BlobHash | undefined =>
  typeof text === "string" ? (REFERENCE.exec(text)?.[1] as BlobHash | undefined) : undefined

export const hashOf = (bytes: Uint8Array): BlobHash => bytesToHex(sha256(bytes)) as BlobHash

/** No store has these bytes. */
export class BlobMissing extends Schema.TaggedError<BlobMissing>()("BlobMissing", {}) {}
/** What is kept under the hash is something else; it is not handed out. */
export class BlobDamaged extends Schema.TaggedError<BlobDamaged>()("BlobDamaged", {}) {}
/** The medium refused; trying again may help. */
export class BlobRefused extends Schema.TaggedError<BlobRefused>()("BlobRefused", { cause: Schema.Defect() }) {}
export class BlobStoreError extends Schema.TaggedError<BlobStoreError>()("BlobStoreError", {
  hash: BlobHash,
  reason: Schema.Union([BlobMissing, BlobDamaged, BlobRefused])
}) {}

const makeMemory = () => {
  const blobs = new Map<BlobHash, Uint8Array>()
  return BlobStore.of({
    put: (bytes) =>
      Effect.sync(() => {
        const hash = hashOf(bytes)
        blobs.set(hash, bytes.slice())
        return hash
      }),
    get: (hash) =>
      Effect.suspend(() => {
        const bytes = blobs.get(hash)
        if (bytes === undefined) return Effect.fail(new BlobStoreError({ hash, reason: new BlobMissing() }))
        return Effect.succeed(bytes.slice())
      })
  })
}

export class BlobStore extends Context.Service<
  BlobStore,
  {
    /** Succeeds once the bytes are durable, so that a line naming them may be written. Storing twice is storing once. */
    readonly put: (bytes: Uint8Array) => Effect.Effect<BlobHash, BlobStoreError>
    /** Exactly the bytes that were put: the hash is verified, damaged bytes are an error. */
    readonly get: (hash: BlobHash) => Effect.Effect<Uint8Array, BlobStoreError>
  }
>()("@grove/core/BlobStore") {
  static readonly layerMemory = Layer.sync(BlobStore, makeMemory)
}
