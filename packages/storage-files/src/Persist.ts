/**
 * What happens to an entry before it is written, and how readers get back what was taken out of the line: images and
 * overlong texts are kept as blobs; what mattered only while a reply was streaming is dropped.
 */
import { createHash } from "node:crypto"
import { type BlobHash, BlobStore, Blobs, type Entry, JsonWalk } from "@grove/core"
import { Effect, Option } from "effect"
import { asBuffer } from "./Bytes.ts"

/** A string of more UTF-16 units than this is cut. */
export const LONGEST_STRING = 500_000
/** An image of at least so many base64 characters is kept as a blob. */
export const SHORTEST_IMAGE = 1024
/** How a text that was cut ends; it counts towards the limit. */
export const NOTICE = "\n\n[Session persistence truncated large content]"

const TRANSIENT = new Set(["partialJson", "jsonlEvents"])
/** Providers reject half a signature, so these stay whole. */
const SIGNATURES = new Set(["thinkingSignature", "thoughtSignature", "textSignature"])
/** Others refer to an entry by these, so they stay whole too. */
const ENVELOPE = new Set(["type", "id", "parentId"])

// -------------------------------------------------------------------------------------------------------- texts

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The text within the limit, its last character whole, and the notice. */
const cut = (text: string): string => {
  const end = LONGEST_STRING - NOTICE.length
  const splitsPair = isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))
  return text.slice(0, splitsPair ? end - 1 : end) + NOTICE
}

const countLines = (text: string): number => {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

const LONE_SURROGATE = /([\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/

/** UTF-8, in which a surrogate without its other half becomes three bytes of its own instead of being lost. */
const bytesOf = (text: string): Uint8Array => {
  if (!LONE_SURROGATE.test(text)) return Buffer.from(text)
  // Split at a pattern in parentheses keeps what it matched: every second part is a lone surrogate.
  const parts = text.split(LONE_SURROGATE).map((part, i) => {
    const unit = part.charCodeAt(0)
    return i % 2 === 0 ? Buffer.from(part) : Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
  })
  return Buffer.concat(parts)
}

/** The inverse. `ED` followed by `A0` or more does not occur in UTF-8, so it can only be such a surrogate. */
const textOf = (bytes: Uint8Array): string => {
  const buffer = asBuffer(bytes)
  const parts: Array<string> = []
  let from = 0
  for (let at = buffer.indexOf(0xed); at >= 0; at = buffer.indexOf(0xed, at + 1)) {
    const [, second = 0, third = 0] = buffer.subarray(at, at + 3)
    if (second < 0xa0) continue
    parts.push(buffer.toString("utf8", from, at), String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (third & 0x3f)))
    from = at + 3
  }
  return parts.join("") + buffer.toString("utf8", from)
}

// ------------------------------------------------------------------------------------------------------- writing

const isImage = ({ node }: JsonWalk.Frame): boolean => !Array.isArray(node) && node.type === "image"

/** An image block in an array that is somebody's `content`. */
const isContentImage = (frame: JsonWalk.Frame): boolean =>
  isImage(frame) && frame.above?.key === "content" && Array.isArray(frame.above.node)

const isInImage = (frame: JsonWalk.Frame): boolean => {
  for (let at: JsonWalk.Frame | undefined = frame; at !== undefined; at = at.above) if (isImage(at)) return true
  return false
}

const mayBeCut = (frame: JsonWalk.Frame, key: string): boolean =>
  !SIGNATURES.has(key) && !(frame.above === undefined && ENVELOPE.has(key)) && !isInImage(frame)

type FullText = { readonly [pointer: string]: unknown }

/** Where the entry says its whole texts are; `undefined` if the field means something else to whoever wrote it. */
const fullTextOf = ({ fullText = {} }: Entry.Entry): FullText | undefined =>
  JsonWalk.isContainer(fullText) && !Array.isArray(fullText) ? fullText : undefined

/** The bytes of an image, if exactly this text can be made of them again. */
const imageBytes = (data: string): Uint8Array | undefined => {
  const bytes = Buffer.from(data, "base64")
  return bytes.toString("base64") === data ? bytes : undefined
}

/** An entry as it is written, and what must be durable before that. */
export interface Split {
  readonly entry: Entry.Entry
  readonly blobs: ReadonlyArray<Uint8Array>
}

/** The same object comes back where nothing has to change. What could not be restored exactly is left as it is. */
export const split = (entry: Entry.Entry): Split => {
  const blobs: Array<Uint8Array> = []
  const keep = (bytes: Uint8Array): string => {
    blobs.push(bytes)
    return Blobs.reference(createHash("sha256").update(bytes).digest("hex") as BlobHash)
  }
  const known = fullTextOf(entry)
  const fullText: { [pointer: string]: string } = {}
  const changed = JsonWalk.walk(entry, (frame, key, value) => {
    if (TRANSIENT.has(key)) {
      delete JsonWalk.writable(frame)[key]
      return false
    }
    if (typeof value !== "string" || value.length < SHORTEST_IMAGE) return true
    if (key === "data" && isContentImage(frame)) {
      const bytes = imageBytes(value)
      if (bytes !== undefined) JsonWalk.writable(frame).data = keep(bytes)
    } else if (value.length > LONGEST_STRING && known !== undefined && mayBeCut(frame, key)) {
      const node = JsonWalk.writable(frame)
      const text = cut(value)
      node[key] = text
      if (key === "content" && typeof node.lineCount === "number") node.lineCount = countLines(text)
      fullText[JsonWalk.pointer(frame, key)] = keep(bytesOf(value))
    }
    return false
  })
  const isCut = Object.keys(fullText).length > 0
  return { entry: isCut ? { ...changed, fullText: { ...known, ...fullText } } : changed, blobs }
}

/** Several entries as they are written, and what must be durable before that. */
export const splitAll = (entries: ReadonlyArray<Entry.Entry>) => {
  const all = entries.map(split)
  return { entries: all.map(({ entry }) => entry), blobs: all.flatMap(({ blobs }) => blobs) }
}

// ------------------------------------------------------------------------------------------------------- reading

/** The blobs that can be had, by hash. */
const fetch = Effect.fnUntraced(function* (hashes: Iterable<BlobHash>) {
  const store = yield* BlobStore
  const found = new Map<BlobHash, Uint8Array>()
  for (const hash of new Set(hashes)) {
    const bytes = yield* Effect.option(store.get(hash))
    if (Option.isSome(bytes)) found.set(hash, bytes.value)
  }
  return found
})

const putBackTexts = (
  entry: Entry.Entry,
  fullText: FullText,
  blobs: ReadonlyMap<BlobHash, Uint8Array>
): Entry.Entry => {
  const left: { [pointer: string]: unknown } = { ...fullText }
  const restored = JsonWalk.walk(entry, (frame, key, value) => {
    if (typeof value !== "string") return true
    if (!value.endsWith(NOTICE)) return false
    const pointer = JsonWalk.pointer(frame, key)
    const hash = Object.hasOwn(left, pointer) ? Blobs.hashIn(left[pointer]) : undefined
    const bytes = hash === undefined ? undefined : blobs.get(hash)
    if (bytes === undefined) return false
    const text = textOf(bytes)
    const node = JsonWalk.writable(frame)
    node[key] = text
    if (key === "content" && typeof node.lineCount === "number") node.lineCount = countLines(text)
    delete left[pointer]
    return false
  })
  if (restored === entry) return entry
  const { fullText: _, ...rest } = restored
  return (Object.keys(left).length === 0 ? rest : { ...rest, fullText: left }) as Entry.Entry
}

/** Shows `use` every image that names a blob, at any depth. */
const eachImage = <Value extends object>(value: Value, use: (frame: JsonWalk.Frame, hash: BlobHash) => void): Value =>
  JsonWalk.walk(value, (frame, key, data) => {
    const hash = key === "data" && isContentImage(frame) ? Blobs.hashIn(data) : undefined
    if (hash !== undefined) use(frame, hash)
    return true
  })

const imagesIn = (value: object): ReadonlyArray<BlobHash> => {
  const hashes: Array<BlobHash> = []
  eachImage(value, (_, hash) => hashes.push(hash))
  return hashes
}

const textsIn = (entry: Entry.Entry): ReadonlyArray<BlobHash> =>
  Object.values(fullTextOf(entry) ?? {})
    .map(Blobs.hashIn)
    .filter((hash) => hash !== undefined)

/** The blobs that reading an entry asks for, each once. */
export const hashesIn = (entry: Entry.Entry): ReadonlySet<BlobHash> => new Set([...imagesIn(entry), ...textsIn(entry)])

/** The entry with its texts whole again. Where a blob is missing or damaged, the text stays cut and says so. */
export const restoreFullText = (entry: Entry.Entry): Effect.Effect<Entry.Entry, never, BlobStore> => {
  const fullText = entry.fullText === undefined ? undefined : fullTextOf(entry)
  if (fullText === undefined) return Effect.succeed(entry)
  return Effect.map(fetch(textsIn(entry)), (blobs) => putBackTexts(entry, fullText, blobs))
}

/** The value with its images inline again, at any depth. Where a blob is missing or damaged, the reference stays. */
export const restoreImages = <Value extends object>(value: Value): Effect.Effect<Value, never, BlobStore> =>
  Effect.suspend(() => {
    const hashes = imagesIn(value)
    if (hashes.length === 0) return Effect.succeed(value)
    return Effect.map(fetch(hashes), (blobs) =>
      eachImage(value, (frame, hash) => {
        const bytes = blobs.get(hash)
        if (bytes !== undefined) JsonWalk.writable(frame).data = Buffer.from(bytes).toString("base64")
      })
    )
  })

const mayNameBlobs = (entry: Entry.Entry): boolean => entry.fullText !== undefined || imagesIn(entry).length > 0

/** Entries with texts whole and images inline, as far as a store has them; for whoever passes many on. */
export const restorer =
  (store: BlobStore["Service"]) =>
  (entries: ReadonlyArray<Entry.Entry>): Effect.Effect<ReadonlyArray<Entry.Entry>> => {
    if (!entries.some(mayNameBlobs)) return Effect.succeed(entries)
    const restored = Effect.forEach(entries, (entry) =>
      mayNameBlobs(entry) ? Effect.flatMap(restoreFullText(entry), restoreImages) : Effect.succeed(entry)
    )
    return Effect.provideService(restored, BlobStore, store)
  }
