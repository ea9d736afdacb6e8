/** What a file gains while somebody looks at it, as server-sent events: whole lines, from a byte offset on. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { Entry, Header, Jsonl } from "@grove/core/model"
import { Clock, Effect, Stream } from "effect"
import { slim } from "../wire/Skeleton.ts"
import type { Event } from "../wire/Wire.ts"
import type { Reads } from "./Library.ts"

const LOOK_EVERY = "250 millis"
/** So often at least something is sent, so that both sides notice when the other is gone. */
const HEARTBEAT = 15_000
/** More than this at once is not sent: the page reads the session anew. */
const MOST_BYTES = 16 * 1024 * 1024
const LF = 10

export interface Place {
  readonly generation: string
  readonly offset: number
}

interface Seen {
  readonly event: Event
  readonly offset: number
}

/** The entries of whole lines. */
const entriesIn = (bytes: Uint8Array): Event => {
  const entries: Array<Entry.Entry> = []
  let malformed = 0
  for (const { start, end } of Jsonl.spans(bytes)) {
    const parsed = Jsonl.parseLine(bytes.subarray(start, end))
    if (parsed.is === "blank") continue
    const entry = parsed.is === "value" && !Header.isHeader(parsed.value) ? Entry.fromJson(parsed.value) : undefined
    if (entry === undefined) malformed++
    else entries.push(slim(entry))
  }
  return { type: "entries", entries, malformed }
}

const read = (file: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from)
  let size = 0
  while (size < bytes.length) {
    const more = readSync(file, bytes, size, bytes.length - size, from + size)
    if (more === 0) break
    size += more
  }
  return bytes.subarray(0, size)
}

/** What came since, `undefined` if no line was finished. */
const look = (path: string, { generation, offset }: Place): Seen | undefined => {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { dev, ino, size } = fstatSync(file)
    if (`${dev}-${ino}` !== generation || size < offset || size - offset > MOST_BYTES) {
      return { event: { type: "replaced" }, offset }
    }
    if (size === offset) return undefined
    const bytes = read(file, offset, size)
    const end = bytes.lastIndexOf(LF) + 1
    return end === 0 ? undefined : { event: entriesIn(bytes.subarray(0, end)), offset: offset + end }
  } finally {
    closeSync(file)
  }
}

const encoder = new TextEncoder()
const encode = ({ event, offset }: Seen): Uint8Array =>
  encoder.encode(`id: ${offset}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

/** Entries of old versions get their ids when the whole file is read. */
const asRead = (seen: Seen, isOld: boolean): Seen => (isOld ? { ...seen, event: { type: "replaced" } } : seen)

export const events = (library: Reads, key: string, from: Place, isOld: boolean): Stream.Stream<Uint8Array> => {
  /** A file that is not where it was may have another name: then all are listed again. */
  const lookAgain = (offset: number) =>
    Effect.flatMap(library.find(key), ({ file }) => Effect.try(() => look(file, { ...from, offset }))).pipe(
      Effect.catch(() =>
        Effect.flatMap(library.list, (all) => {
          const listed = all.find((each) => each.key === key)
          return listed === undefined
            ? Effect.succeed<Seen>({ event: { type: "gone" }, offset })
            : Effect.try(() => look(listed.file, { ...from, offset }))
        })
      ),
      Effect.orElseSucceed((): Seen => ({ event: { type: "gone" }, offset }))
    )
  const next = Effect.fnUntraced(function* (offset: number | null) {
    if (offset === null) return undefined
    const begun = yield* Clock.currentTimeMillis
    for (;;) {
      const seen = yield* lookAgain(offset)
      if (seen !== undefined) {
        const told = asRead(seen, isOld)
        return [encode(told), told.event.type === "entries" ? told.offset : null] as const
      }
      yield* Effect.sleep(LOOK_EVERY)
      if ((yield* Clock.currentTimeMillis) - begun > HEARTBEAT)
        return [encoder.encode(": still here\n\n"), offset] as const
    }
  })
  return Stream.concat(
    Stream.make(encoder.encode("retry: 1000\n\n")),
    Stream.unfold(from.offset as number | null, next)
  )
}
