/** Bytes to entries, leniently and honestly: every line is accounted for, and whatever is wrong is reported by its number. */
import { Result, Schema } from "effect"
import * as Entry from "./Entry.ts"
import * as Header from "./Header.ts"
import * as Migration from "./Migration.ts"
import { isObject } from "./open.ts"
import type { Problem, ProblemKind } from "./Problem.ts"

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
  | { readonly is: "not-json"; readonly message: string }

export const parseLine = (bytes: Uint8Array): Parsed => {
  const text = lenient.decode(bytes)
  if (text.trim() === "") return { is: "blank" }
  try {
    const value: unknown = JSON.parse(text)
    return { is: "value", value, damagedText: text.includes("\ufffd") && !isStrictUtf8(bytes) }
  } catch {
    return { is: "not-json", message: "this line is not JSON" }
  }
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
  const skip = (kind: ProblemKind, message: string) => {
    counts.skipped++
    state.problems.push({ line: counts.total, kind, message })
  }
  for (const { start, end, terminated } of spans(bytes)) {
    counts.total++
    const parsed = parseLine(bytes.subarray(start, end))
    if (parsed.is === "blank") {
      counts.blank++
    } else if (parsed.is === "not-json") {
      if (terminated) skip("not-json", parsed.message)
      else {
        state.tail = { start, end }
        skip("torn-tail", "the last line was cut off while it was written")
      }
    } else if (!isObject(parsed.value)) {
      skip("not-object", "this line is JSON, but no object")
    } else if (state.header === null && state.title === null && Header.isTitleSlot(parsed.value)) {
      state.title = parsed.value
      counts.title++
    } else if (Header.isHeader(parsed.value)) {
      if (state.header === null) {
        state.header = parsed.value
        state.headerLine = counts.total
        counts.header++
      } else skip("second-header", "a second session header; it is ignored")
    } else {
      const hasIds = state.header === null || Header.version(state.header) >= 2
      const isEntry = hasIds ? Entry.fromJson(parsed.value) !== undefined : Entry.isTyped(parsed.value)
      if (!isEntry) {
        skip(
          "bad-entry",
          hasIds ? "an entry needs a string type and a non-empty string id" : "an entry needs a string type"
        )
      } else if (state.header === null) {
        state.noHeaderAt = counts.total
        return state
      } else {
        counts.entry++
        state.objects.push({ line: counts.total, start, end, value: parsed.value, damagedText: parsed.damagedText })
      }
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
      problems.push({
        line: row.line,
        kind: "duplicate-id",
        message: `id ${row.entry.id} is already on line ${before.line}; this later line counts`
      })
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
    problems.push({
      line: headerLine,
      kind: "newer-version",
      message: `version ${header.version} is newer than ${Header.CURRENT_VERSION}; the file is opened read-only`
    })
  }
  const migrated = Migration.migrate({ header, objects })
  const found: Array<Row> = []
  for (const [i, { value }] of migrated.objects.entries()) {
    const { line, start, end, damagedText } = objects[i]!
    const entry = Entry.fromJson(value)
    if (entry === undefined) continue
    if (damagedText)
      problems.push({ line, kind: "bad-body", message: `entry ${entry.id} holds bytes that are not UTF-8` })
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

/** An entry or a header as its line, LF included. */
export const encode = (value: object): string => `${JSON.stringify(value)}\n`
