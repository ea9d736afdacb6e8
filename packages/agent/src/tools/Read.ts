/** The tool `read`: lines of a text file, or an image. */
import type { FileHandle } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { failed, succeeded, type Tool, type ToolOutcome, type ToolPlace } from "../Tool.ts"
import { openRegular, outcome } from "./Files.ts"
import * as Paths from "./Paths.ts"
import * as TypedTool from "./TypedTool.ts"

const MOST_LINES = 2_000
const MOST_BYTES = 50 * 1024
/** As large as providers take; in base64 it is a third larger. */
const LARGEST_IMAGE = 3_750_000
const CHUNK = 64 * 1024

const Line = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1))
const parameters = Schema.Struct({
  path: Schema.String.annotate({ description: "The file; a relative path is taken from the working directory" }),
  offset: Schema.optionalKey(Line.annotate({ description: "The first line to read, counted from 1" })),
  limit: Schema.optionalKey(Line.annotate({ description: "How many lines to read" }))
})
type Args = typeof parameters.Type

const startsWith = (bytes: Uint8Array, at: number, text: string): boolean =>
  Buffer.from(bytes.subarray(at, at + text.length)).toString("latin1") === text

/** By its first bytes; names lie. */
const imageType = (bytes: Uint8Array): string | undefined => {
  if (startsWith(bytes, 0, "\x89PNG\r\n\x1a\n")) return "image/png"
  if (startsWith(bytes, 0, "\xff\xd8\xff")) return "image/jpeg"
  if (startsWith(bytes, 0, "GIF87a") || startsWith(bytes, 0, "GIF89a")) return "image/gif"
  return startsWith(bytes, 0, "RIFF") && startsWith(bytes, 8, "WEBP") ? "image/webp" : undefined
}

const readImage = async (file: FileHandle, shown: string, mimeType: string): Promise<ToolOutcome> => {
  const { size } = await file.stat()
  if (size > LARGEST_IMAGE) {
    return failed(`${shown} is an image of ${size} bytes; at most ${LARGEST_IMAGE} can be shown. Scale it down first.`)
  }
  const data = (await file.readFile()).toString("base64")
  return {
    content: [
      { type: "text", text: `${shown} (${mimeType})` },
      { type: "image", data, mimeType }
    ],
    isError: false
  }
}

/** Collects the wanted lines of what it is fed, and no more than fit. */
class LineWindow {
  readonly #first: number
  readonly #last: number
  readonly #taken: Array<Uint8Array> = []
  /** The line that the next byte belongs to. */
  #line = 1
  #bytes = 0
  /** Of the line now being taken. */
  #lineBytes = 0
  #isCut = false

  constructor(first: number, last: number) {
    this.#first = first
    this.#last = last
  }

  /** The line the file has got to. */
  get line(): number {
    return this.#line
  }
  /** Whether the one line that was wanted first is longer than all that may be shown. */
  get isCut(): boolean {
    return this.#isCut
  }
  get text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#taken))
  }

  /** Whether there is room for more. */
  feed(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#line > this.#last) return false
      const end = bytes.indexOf(0x0a, at)
      const next = end < 0 ? bytes.length : end + 1
      if (this.#line >= this.#first && !this.#take(bytes.subarray(at, next))) return false
      at = next
      if (end >= 0) {
        this.#line++
        this.#lineBytes = 0
      }
    }
    return true
  }

  #take(piece: Uint8Array): boolean {
    const room = MOST_BYTES - this.#bytes
    const fits = piece.length <= room
    if (!fits && this.#line > this.#first) {
      // Lines are shown whole: what of this one was taken is put back.
      this.#drop(this.#lineBytes)
      return false
    }
    // Copied: the buffer it is in is read into again.
    const taken = Uint8Array.from(fits ? piece : piece.subarray(0, room))
    this.#taken.push(taken)
    this.#bytes += taken.length
    this.#lineBytes += taken.length
    this.#isCut = !fits
    return fits
  }

  #drop(bytes: number): void {
    for (let left = bytes; left > 0; ) left -= this.#taken.pop()!.length
  }
}

const readLines = async (file: FileHandle, { offset = 1, limit }: Args, shown: string): Promise<ToolOutcome> => {
  const first = Math.floor(offset)
  const lines = new LineWindow(first, first + Math.min(Math.floor(limit ?? MOST_LINES), MOST_LINES) - 1)
  const buffer = Buffer.alloc(CHUNK)
  let position = 0
  let last = 0
  let hasMore = false
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position)
    if (bytesRead === 0) break
    position += bytesRead
    last = buffer[bytesRead - 1]!
    if (!lines.feed(buffer.subarray(0, bytesRead))) {
      hasMore = true
      break
    }
  }
  if (position === 0) return succeeded(`(${shown} is empty)`)
  const { text, line } = lines
  if (text === "") {
    return failed(`${shown} has only ${last === 0x0a ? line - 1 : line} lines; offset ${first} is beyond its end`)
  }
  if (lines.isCut) {
    return succeeded(
      `${text}\n[line ${first} goes on: it is too long to be shown whole; the next one is offset ${first + 1}]`
    )
  }
  const hint = `[more lines follow: go on with offset ${line}]`
  return succeeded(hasMore ? `${text}${text.endsWith("\n") ? "" : "\n"}${hint}` : text)
}

const run = (args: Args, { cwd }: ToolPlace): Effect.Effect<ToolOutcome> => {
  const path = Paths.absolute(cwd, args.path)
  const shown = Paths.shown(cwd, path)
  return outcome(shown, async () => {
    const file = await openRegular(path, shown)
    try {
      const head = Buffer.alloc(8 * 1024)
      const { bytesRead } = await file.read(head, 0, head.length, 0)
      const mimeType = imageType(head)
      if (mimeType !== undefined) return await readImage(file, shown, mimeType)
      if (head.subarray(0, bytesRead).includes(0)) {
        return failed(`${shown} is binary (${(await file.stat()).size} bytes); look at it with bash, for example xxd`)
      }
      return await readLines(file, args, shown)
    } finally {
      await file.close()
    }
  })
}

export const read: Tool = TypedTool.make({
  name: "read",
  description: `Reads a text file, at most ${MOST_LINES} lines or ${MOST_BYTES / 1024} KB at a time (offset and limit choose which), or shows an image (PNG, JPEG, GIF, WebP).`,
  kind: "read",
  parameters,
  describe: ({ path, offset }, { cwd }) => {
    const whole = Paths.absolute(cwd, path)
    const from = offset === undefined ? "" : ` from line ${offset}`
    return Effect.succeed({ line: `read ${Paths.shown(cwd, whole)}${from}`, paths: [whole] })
  },
  run
})
