/** Sessions of Pi, versions 1 to 3, and of programs that keep Pi's format. */
import { basename } from "node:path"
import { Entry, type EntryId, type Header, isObject, type Json, Jsonl, SessionTree } from "@grove/core"
import { Result } from "effect"
import type { Format } from "../Format.ts"
import * as Forest from "./Forest.ts"
import * as Images from "./Images.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note, TranslatedSession, Translation } from "./Translation.ts"

/** A file whose header is lost still has the time and the id in its name. */
const headerFrom = (file: string): Header.Header => {
  const [, date, hours, minutes, seconds, millis, id] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z_(.+)\.jsonl$/.exec(basename(file)) ?? []
  const timestamp = date === undefined ? Names.NO_TIME : `${date}T${hours}:${minutes}:${seconds}.${millis}Z`
  return { type: "session", version: 3, id: id ?? "none", timestamp, cwd: "" }
}

interface Read {
  readonly file: Jsonl.SessionFile
  /** How many lines were put before those of the source: one where it has no header. */
  readonly added: number
}

const readLeniently = ({ bytes, file }: Source, repaired: Array<Note>): Read => {
  const read = Jsonl.read(bytes)
  if (Result.isSuccess(read)) return { file: read.success, added: 0 }
  repaired.push({ line: read.failure.line, kind: "no-header" })
  const header = Buffer.from(Jsonl.encode(headerFrom(file)))
  return { file: Result.getOrThrow(Jsonl.read(Buffer.concat([header, bytes]))), added: 1 }
}

/** An entry with a time that can be read and a word on where it came from; copies keep theirs, which means more. */
const imported = (entry: Entry.Entry, origin: Json, otherwise: string): Entry.Entry => {
  const timestamp = Entry.isTimestamp(entry.timestamp) ? entry.timestamp : otherwise
  return (isObject(entry.origin) ? { ...entry, timestamp } : { ...entry, timestamp, origin }) as Entry.Entry
}

const headerOf = (source: Source, format: Format, file: Jsonl.SessionFile, found: Header.Header): Header.Header => {
  const first = file.rows[0]?.entry
  const title = file.title?.title
  return {
    ...found,
    version: 3,
    id: Names.session(format, found.id, first?.id ?? source.file),
    timestamp: Names.timeOf(found.timestamp) ?? Names.timeOf(first?.timestamp) ?? Names.NO_TIME,
    cwd: typeof found.cwd === "string" ? found.cwd : "",
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    origin: { format, file: source.file }
  }
}

/** Grove's own format but for what lies outside of the lines. */
export const translate = (format: Format, source: Source): Translation => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const { file, added } = readLeniently(source, repaired)
  const { header: found, rows, problems } = file
  if (found === null) return { format, sessions: [], repaired, unmapped }
  for (const { line, kind } of problems) {
    if (line > added) (kind === "newer-version" ? unmapped : repaired).push({ line: line - added, kind })
  }
  const nodes = rows.map(({ entry, line }) => ({ id: entry.id, parentId: entry.parentId, line: line - added, entry }))
  const header = headerOf(source, format, file, found)
  let timestamp = header.timestamp!
  const entries = Forest.ordered(nodes, repaired).map(({ entry, line, parentId }) => {
    const origin = { format, file: source.file, line, session: found.id, entry: entry.id }
    const made = imported({ ...entry, parentId: parentId as EntryId | null } as Entry.Entry, origin, timestamp)
    timestamp = made.timestamp
    return Images.inline(source, made, line, unmapped)
  })
  const tree = SessionTree.from(entries, file.last, header.id)
  const session: TranslatedSession = { header, entries, leaf: tree.leaf }
  return { format, sessions: [session], repaired, unmapped }
}

const OMP_TYPES = new Set([
  "ttsr_injection",
  "session_init",
  "mode_change",
  "service_tier_change",
  "mcp_tool_selection"
])

/** What only oh-my-pi and xcsh write. */
export const isOmp = (lines: ReadonlyArray<Json>): boolean =>
  lines.some(
    (line, i) =>
      (i === 0 && line.type === "title") ||
      OMP_TYPES.has(String(line.type)) ||
      (line.type === "model_change" && typeof line.model === "string") ||
      (line.type === "session" && typeof line.titleSource === "string")
  )

/** Whether one of the first lines is a session header. */
export const isSession = (lines: ReadonlyArray<Json>): boolean =>
  lines.slice(0, 2).some((line) => line.type === "session" && "id" in line && !("uuid" in line))

export const reader: Reader = {
  format: "pi",
  recognises: ({ lines }) => isSession(lines) && !isOmp(lines),
  read: (source) => translate("pi", source)
}
