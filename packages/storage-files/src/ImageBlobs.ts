/** Images kept as blobs, put back into the messages that name them. */
import { BlobStore, Blobs } from "@grove/core"
import { Effect } from "effect"

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const imageHash = (block: unknown): Blobs.BlobHash | undefined =>
  isObject(block) && block.type === "image" ? Blobs.hashIn(block.data) : undefined

/** The blobs that the images of a content name, each once. */
export const hashesIn = (content: unknown): ReadonlyArray<Blobs.BlobHash> =>
  Array.isArray(content) ? [...new Set(content.map(imageHash).filter((hash) => hash !== undefined))] : []

/** The message with its images inline. Where a blob is missing or damaged, the reference stays. */
const restoreOne = Effect.fnUntraced(function* (message: Json) {
  const hashes = hashesIn(message.content)
  if (hashes.length === 0) return message
  const blobs = yield* BlobStore
  const found = new Map<Blobs.BlobHash, string>()
  for (const hash of hashes) {
    const bytes = yield* Effect.option(blobs.get(hash))
    if (bytes._tag === "Some") found.set(hash, Buffer.from(bytes.value).toString("base64"))
  }
  const content = (message.content as ReadonlyArray<unknown>).map((block) => {
    const data = found.get(imageHash(block)!)
    return data === undefined ? block : { ...(block as Json), data }
  })
  return { ...message, content }
})

export const restore = (messages: ReadonlyArray<Json>): Effect.Effect<ReadonlyArray<Json>, never, BlobStore> =>
  Effect.forEach(messages, restoreOne)
