/** Bytes to entries, leniently and honestly: every line is accounted for, and whatever is wrong is reported by its number. */
import { Result, Schema } from "effect"
import * as Entry from "./Entry.ts"
import * as Header from "./Header.ts"
import * as Migration from "./Migration.ts"
import { isObject, type Json } from "./open.ts"
import type { Problem } from "./Problem.ts"

/** The bytes hold something, but no session header comes before the first entry. */
export class NotASession extends Schema.TaggedError<NotASession>()("NotASession", {
  /** The line that should have been a header. */
  line: Schema.Int,
  problems: Schema.Array(Schema.Struct({ line: Schema.Int, kind: Schema.String, message: Schema.String }))
}) {}

/** A half-open range of bytes: one line, without its line end. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** An entry and where it stands. */
export interface Row extends Span {
  readonly line: number
  readonly entry: Entry.Entry
}

/** `title + header + entry + skipped + blank = total`, always. */
export interface LineCounts {
  readonly total: number
  readonly title: number
  readonly header: number
  /** Lines that are entries, repeated and superseded ones included. */
  readonly entry: number
  readonly skipped: number
  readonly blank: number
}

export interface SessionFile {
  /** As written in the file, before any migration; `null` for an empty file. */
  readonly version: number | null
  /** Brought to the current version; `null` for an empty file. */
  readonly header: Header.Header | null
  readonly title: Header.TitleSlot | null
  /** One row an entry: identical repeats are dropped, and of several with one id the last stays. */
  readonly rows: ReadonlyArray<Row>
  /** The last entry line of the file, repeated or not: it alone decides the leaf. */
  readonly last: Entry.Entry | null
  readonly problems: ReadonlyArray<Problem>
  readonly lines: LineCounts
  /** Where a line without its LF begins, when what is there does not parse: a write under way, or a torn one. */
  readonly tail: Span | null
}

const LF = 10
const CR = 13
const lenient = new TextDecoder("utf-8", { ignoreBOM: true })
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })

const hasBom = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

/** Lines end at LF alone; a CR before it is no part of the line, and U+2028 is text. */
export function* spans(bytes: Uint8Array): Generator<Span & { readonly terminated: boolean }> {
  let start = hasBom(bytes) ? 3 : 0
  while (start < bytes.length) {
    const lf = bytes.indexOf(LF, start)
    const terminated = lf >= 0
    const stop = terminated ? lf : bytes.length
    yield { start, end: stop > start && bytes[stop - 1] === CR ? stop - 1 : stop, terminated }
    start = stop + 1
  }
}

const isStrictUtf8 = (bytes: Uint8Array): boolean => {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

/** What one line says, before anything is known about its neighbours. */
export type Parsed =
  | { readonly is: "blank" }
  | { readonly is: "value"; readonly value: unknown; readonly damagedText: boolean }
  | { readonly is: "not-json" }

export const parseLine = (bytes: Uint8Array): Parsed => {
  try {
    // A line longer than any string can be is no line that anybody could have parsed.
    const text = lenient.decode(bytes)
    if (text.trim() === "") return { is: "blank" }
    const value: unknown = JSON.parse(text)
    return { is: "value", value, damagedText: text.includes("\ufffd") && !isStrictUtf8(bytes) }
  } catch {
    return { is: "not-json" }
  }
}

/** Why a line is left out, in words. */
export const messages = {
  "not-json": "this line is not JSON",
  "torn-tail": "the last line was cut off while it was written",
  "not-object": "this line is JSON, but no object",
  "second-header": "a second session header; it is ignored",
  "bad-entry": "an entry needs a string type and a non-empty string id"
} as const

/** What a parsed line is, given the header and the title slot that came before it. */
export const kindOf = (
  value: unknown,
  header: Header.Header | null,
  title: Header.TitleSlot | null
): "title" | "header" | "entry" | "not-object" | "second-header" | "bad-entry" => {
  if (!isObject(value)) return "not-object"
  if (header === null && title === null && Header.isTitleSlot(value)) return "title"
  if (Header.isHeader(value)) return header === null ? "header" : "second-header"
  const hasIds = header === null || Header.version(header) >= 2
  const isEntry = hasIds ? Entry.fromJson(value) !== undefined : Entry.isTyped(value)
  return isEntry ? "entry" : "bad-entry"
}

export const duplicateId = (id: string, line: number, before: number): Problem => ({
  line,
  kind: "duplicate-id",
  message: `id ${id} is already on line ${before}; this later line counts`
})

export const newerVersion = (header: Header.Header, line: number): Problem => ({
  line,
  kind: "newer-version",
  message:
    typeof header.version === "number" && header.version > Header.CURRENT_VERSION
      ? `version ${header.version} is newer than ${Header.CURRENT_VERSION}; the file is opened read-only`
      : `version ${JSON.stringify(header.version).slice(0, 40)} is none; the file is opened read-only, as if it were newer`
})

export const damagedText = (id: string, line: number): Problem => ({
  line,
  kind: "bad-body",
  message: `entry ${id} holds bytes that are not UTF-8`
})

/** What stands in place of a parent or a time that cannot be read; the entry itself counts. */
export const bentEnvelope = (value: Json, id: string, line: number): Problem | undefined => {
  const problem = Entry.envelopeProblem(value)
  return problem === undefined ? undefined : { line, kind: "bad-body", message: `entry ${id} ${problem}` }
}

const sameBytes = (bytes: Uint8Array, a: Span, b: Span): boolean => {
  if (a.end - a.start !== b.end - b.start) return false
  for (let i = 0; i < a.end - a.start; i++) if (bytes[a.start + i] !== bytes[b.start + i]) return false
  return true
}

interface Candidate extends Span, Migration.NumberedObject {
  readonly damagedText: boolean
}

interface Scan {
  header: Header.Header | null
  headerLine: number
  title: Header.TitleSlot | null
  readonly objects: Array<Candidate>
  readonly problems: Array<Problem>
  readonly counts: { total: number; title: number; header: number; entry: number; skipped: number; blank: number }
  tail: Span | null
  noHeaderAt: number | null
}

/** Sorts the lines into title, header, objects and problems. Stops at the first entry if no header came before it. */
const scan = (bytes: Uint8Array): Scan => {
  const counts = { total: 0, title: 0, header: 0, entry: 0, skipped: 0, blank: 0 }
  const state: Scan = {
    header: null,
    headerLine: 0,
    title: null,
    objects: [],
    problems: [],
    counts,
    tail: null,
    noHeaderAt: null
  }
  const skip = (kind: keyof typeof messages) => {
    counts.skipped++
    state.problems.push({ line: counts.total, kind, message: messages[kind] })
  }
  for (const { start, end, terminated } of spans(bytes)) {
    counts.total++
    const parsed = parseLine(bytes.subarray(start, end))
    if (parsed.is === "blank") {
      counts.blank++
      continue
    }
    if (parsed.is === "not-json") {
      if (!terminated) state.tail = { start, end }
      skip(terminated ? "not-json" : "torn-tail")
      continue
    }
    const { value, damagedText } = parsed
    const kind = kindOf(value, state.header, state.title)
    if (kind === "title") {
      state.title = value as Header.TitleSlot
      counts.title++
    } else if (kind === "header") {
      state.header = value as Header.Header
      state.headerLine = counts.total
      counts.header++
    } else if (kind !== "entry") {
      skip(kind)
    } else if (state.header === null) {
      state.noHeaderAt = counts.total
      return state
    } else {
      counts.entry++
      state.objects.push({ line: counts.total, start, end, value: value as Json, damagedText })
    }
  }
  return state
}

/** Entries by id: an identical line again is the same entry, another line with the same id replaces it. */
const distinct = (bytes: Uint8Array, found: ReadonlyArray<Row>, problems: Array<Problem>): ReadonlyArray<Row> => {
  const rows = new Map<string, Row>()
  for (const row of found) {
    const before = rows.get(row.entry.id)
    if (before !== undefined) {
      if (sameBytes(bytes, before, row)) continue
      problems.push(duplicateId(row.entry.id, row.line, before.line))
      rows.delete(row.entry.id)
    }
    rows.set(row.entry.id, row)
  }
  return [...rows.values()]
}

const noHeader = (line: number, before: ReadonlyArray<Problem>) =>
  new NotASession({
    line,
    problems: [...before, { line, kind: "no-header", message: "no session header comes before the first entry" }]
  })

/**
 * Reads a whole session file and migrates it in memory. Never throws, whatever the bytes are; a file of nothing but
 * white space is an empty session.
 */
export const read = (bytes: Uint8Array): Result.Result<SessionFile, NotASession> => {
  const { header, headerLine, title, objects, problems, counts, tail, noHeaderAt } = scan(bytes)
  if (header === null) {
    if (noHeaderAt !== null) return Result.fail(noHeader(noHeaderAt, problems))
    if (counts.total > counts.blank) return Result.fail(noHeader(problems[0]?.line ?? 1, problems))
    return Result.succeed({ version: null, header, title, rows: [], last: null, problems, lines: counts, tail })
  }
  const version = Header.version(header)
  if (version > Header.CURRENT_VERSION) {
    problems.push(newerVersion(header, headerLine))
  }
  const migrated = Migration.migrate({ header, objects })
  const found: Array<Row> = []
  for (const [i, { value }] of migrated.objects.entries()) {
    const { line, start, end, damagedText: isDamaged } = objects[i]!
    const entry = Entry.fromJson(value)
    if (entry === undefined) continue
    const bent = bentEnvelope(value, entry.id, line)
    if (bent !== undefined) problems.push(bent)
    if (isDamaged) problems.push(damagedText(entry.id, line))
    found.push({ line, start, end, entry })
  }
  return Result.succeed({
    version,
    header: migrated.header,
    title,
    rows: distinct(bytes, found, problems),
    last: found.at(-1)?.entry ?? null,
    problems: problems.sort((a, b) => a.line - b.line),
    lines: counts,
    tail
  })
}

/** A file brought to the current version, line by line. */
export interface Upgraded {
  readonly from: number
  readonly to: number
  /** `undefined` if the file needs no change. */
  readonly text: Uint8Array | undefined
}

/** Lines that need no change, unreadable ones included, are carried over byte for byte. */
export const upgrade = (bytes: Uint8Array): Result.Result<Upgraded, NotASession> => {
  const { header, headerLine, objects, problems, noHeaderAt } = scan(bytes)
  if (header === null) return Result.fail(noHeader(noHeaderAt ?? 1, problems))
  const from = Header.version(header)
  if (from >= Header.CURRENT_VERSION) return Result.succeed({ from, to: from, text: undefined })
  const migrated = Migration.migrate({ header, objects })
  const changed = new Map<number, string>([[headerLine, encode(migrated.header)]])
  for (const [i, { line, value }] of migrated.objects.entries()) {
    if (value !== objects[i]!.value) changed.set(line, encode(value))
  }
  const parts: Array<Uint8Array> = []
  let line = 0
  for (const { start, end } of spans(bytes)) {
    line++
    const text = changed.get(line)
    if (text !== undefined) parts.push(encoder.encode(text))
    else parts.push(bytes.subarray(start, end), LINE_END)
  }
  return Result.succeed({ from, to: Header.CURRENT_VERSION, text: joined(parts) })
}

const encoder = new TextEncoder()
const LINE_END = Uint8Array.of(LF)

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Readable lines apart from the others, for whoever mends a file. */
export interface Sorted {
  /** Title, header and entries, each id once. */
  readonly readable: Uint8Array
  readonly entries: number
  /** All other lines as they were: unreadable ones, and entries that a later line with their id replaced. */
  readonly rejected: ReadonlyArray<Uint8Array>
}

/** Where no header is left, `makeHeader` gives one. */
export const sort = (bytes: Uint8Array, makeHeader: () => Header.Header): Sorted => {
  const found = read(bytes)
  const headed = Result.isSuccess(found) ? bytes : joined([encoder.encode(encode(makeHeader())), bytes])
  const file = Result.isSuccess(found) ? found.success : Result.getOrThrow(read(headed))
  const entryLines = new Set(file.rows.map(({ line }) => line))
  const isBad = new Set(file.problems.filter(({ kind }) => kind in messages).map(({ line }) => line))
  const readable: Array<Uint8Array> = []
  const rejected: Array<Uint8Array> = []
  let line = 0
  for (const { start, end } of spans(headed)) {
    line++
    const text = headed.subarray(start, end)
    if (entryLines.has(line) || (!isBad.has(line) && isHeading(text))) readable.push(text, LINE_END)
    else if (parseLine(text).is !== "blank") rejected.push(text)
  }
  return { readable: joined(readable), entries: file.rows.length, rejected }
}

const isHeading = (bytes: Uint8Array): boolean => {
  const parsed = parseLine(bytes)
  return parsed.is === "value" && (Header.isHeader(parsed.value) || Header.isTitleSlot(parsed.value))
}

/** An entry or a header as its line, LF included. */
export const encode = (value: object): string => `${JSON.stringify(value)}\n`
