/**
 * Sessions of Neovate: a forest of messages and a line of settings. A compaction is a new root there; here it follows
 * what it stands for, so that nothing is out of reach.
 */
import { basename, dirname } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectsIn, stringIn } from "./Values.ts"

const FORMAT = "neovate"

/** A message, under a name that no other has. */
interface Record extends Lines.Line {
  readonly id: string
  readonly parent: string | null
}

/** Of several messages with one name the last keeps it, since links mean that one. */
const recordsIn = (lines: ReadonlyArray<Lines.Line>, repaired: Array<Note>): ReadonlyArray<Record> => {
  const last = new Map(lines.map(({ line, value }) => [stringIn(value.uuid), line]))
  return lines.map(({ line, value }) => {
    const uuid = stringIn(value.uuid)
    const isOwn = uuid !== undefined && last.get(uuid) === line
    if (!isOwn) repaired.push({ line, kind: uuid === undefined ? "missing-id" : "duplicate-id" })
    return { line, value, id: isOwn ? uuid : digest(uuid ?? "", line), parent: stringIn(value.parentUuid) ?? null }
  })
}

// --------------------------------------------------------------------------------------------------------- bodies

const image = ({ data, mimeType }: Json): Json | undefined => {
  if (typeof data !== "string") return undefined
  return Blocks.imageFromUrl(data) ?? { type: "image", data, mimeType: stringIn(mimeType) ?? "image/png" }
}

const shown = (content: unknown, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  if (typeof content === "string") return content === "" ? [] : [Blocks.text(content)]
  return objectsIn(content).flatMap((part) => {
    if (part.type === "text" && typeof part.text === "string") return [Blocks.text(part.text)]
    const made = part.type === "image" ? image(part) : undefined
    if (made !== undefined) return [made]
    unmapped.push({ line, kind: `block ${stringIn(part.type) ?? "unknown"}` })
    return []
  })
}

const said = (content: unknown, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  if (typeof content === "string") return shown(content, line, unmapped)
  return objectsIn(content).flatMap((part) => {
    if (part.type === "reasoning") return [{ type: "thinking", thinking: stringIn(part.text) ?? "" }]
    if (part.type !== "tool_use" || typeof part.id !== "string") return shown([part], line, unmapped)
    const { id, name, input, type: _, ...rest } = part
    return [
      { type: "toolCall", id, name: stringIn(name) ?? "unknown", arguments: Blocks.argumentsFrom(input), ...rest }
    ]
  })
}

/** What the program shows of a message instead of its content, and whatever else it notes. */
const beside = ({ uiContent, metadata }: Json): Json => ({
  ...(uiContent === undefined ? {} : { uiContent }),
  ...(metadata === undefined ? {} : { metadata })
})

const reply = ({ line, value }: Record, unmapped: Array<Note>): Piece["body"] => {
  const content = said(value.content, line, unmapped)
  const [, provider = "unknown", model = "unknown"] =
    /^(?:([^/]*)\/)?(.*)$/s.exec(stringIn(value.model) ?? "unknown") ?? []
  const used = isObject(value.usage) ? value.usage : {}
  const usage = Blocks.usage({
    input: used.input_tokens,
    output: used.output_tokens,
    cacheRead: used.cache_read_input_tokens,
    cacheWrite: used.cache_creation_input_tokens
  })
  const stopReason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop"
  return {
    type: "message",
    message: { role: "assistant", content, provider, model, usage, stopReason, ...beside(value) }
  }
}

/** Results were parts of a user's message once, and are parts of a tool's now. */
const isResult = ({ type }: Json): boolean => type === "tool-result" || type === "tool_result"
const resultsOf = ({ value }: Record): ReadonlyArray<Json> => objectsIn(value.content).filter(isResult)
const callOf = (part: Json): string => stringIn(part.toolCallId) ?? stringIn(part.id) ?? "unknown"

const result = (part: Json, line: number, unmapped: Array<Note>): Piece["body"] => {
  const given: Json = isObject(part.result) ? part.result : { llmContent: String(part.result ?? "") }
  const { returnDisplay, metadata, isError } = given
  const notes = { returnDisplay, metadata, agentId: part.agentId, agentType: part.agentType }
  const details = Object.fromEntries(Object.entries(notes).filter(([, note]) => note !== undefined))
  return {
    type: "message",
    message: {
      ...{
        role: "toolResult",
        toolCallId: callOf(part),
        toolName: stringIn(part.toolName) ?? stringIn(part.name) ?? "unknown"
      },
      ...{ content: shown(given.llmContent, line, unmapped), isError: isError === true },
      ...(Object.keys(details).length === 0 ? {} : { details })
    }
  }
}

const COMPACTED = "Chat history compacted successfully."

const isCompaction = ({ value, parent }: Record): boolean =>
  parent === null && value.role === "user" && value.uiContent === COMPACTED

const body = (record: Record, content: ReadonlyArray<Json>, unmapped: Array<Note>): Piece["body"] => {
  const { line, value } = record
  switch (value.role) {
    case "assistant":
      return reply(record, unmapped)
    case "user":
      return value.hidden === true
        ? { type: "custom_message", customType: "neovate.hidden", content: Blocks.content(content), display: false }
        : { type: "message", message: { role: "user", content: Blocks.content(content), ...beside(value) } }
    case "system":
      return { type: "message", message: { role: "system", content: Blocks.content(content) } }
    default:
      unmapped.push({ line, kind: `role ${stringIn(value.role) ?? "none"}` })
      return { type: "custom", customType: "neovate.message", data: value }
  }
}

// --------------------------------------------------------------------------------------------------------- pieces

const piecesOf = (records: ReadonlyArray<Record>, unmapped: Array<Note>) => {
  const pieces: Array<Piece> = []
  const ids = new Set(records.map(({ id }) => id))
  /** The entry below which what follows a message hangs. */
  const ends = new Map<string, string>()
  /** Calls of a reply that were answered one by one, when it was cancelled: all of that stands on one path. */
  const answered = new Map<string, { readonly calls: Set<string>; readonly members: Array<string>; tail: string }>()
  const make = (record: Record, parentId: string | null, made: Piece["body"]): string => {
    const before = ends.get(record.id)
    const id = before === undefined ? record.id : digest(record.id, before)
    const entry = stringIn(record.value.uuid)
    const { line, value } = record
    pieces.push({
      id,
      parentId,
      line,
      timestamp: value.timestamp,
      ...(entry === undefined ? {} : { entry }),
      body: made
    })
    ends.set(record.id, id)
    return id
  }
  for (const [at, record] of records.entries()) {
    const previous = records[at - 1]
    const results = resultsOf(record)
    if (isCompaction(record) && previous !== undefined) {
      const summary = Blocks.textOf(record.value.content)
      // A prompt that the summary came in between is still to be answered.
      const kept = previous.value.role === "user" ? { firstKeptEntryId: previous.id } : {}
      make(record, previous.id, {
        type: "compaction",
        summary,
        tokensBefore: 0,
        ...kept,
        details: { uiContent: COMPACTED }
      })
      continue
    }
    const isAstray =
      record.parent === null && record.value.role === "assistant" && previous !== undefined && isCompaction(previous)
    let parent = isAstray ? previous.id : record.parent
    if (results.length > 0 && parent !== null && ids.has(parent)) {
      const group = answered.get(parent) ?? { calls: new Set<string>(), members: [], tail: parent }
      if (results.every((part) => !group.calls.has(callOf(part)))) {
        answered.set(parent, group)
        parent = group.tail
        for (const part of results) group.calls.add(callOf(part))
        group.members.push(record.id)
        group.tail = record.id
      }
    }
    const start = parent
    for (const part of results) parent = make(record, parent, result(part, record.line, unmapped))
    const rest = record.value.role === "assistant" ? [] : shown(restOf(record), record.line, unmapped)
    if (results.length === 0 || rest.length > 0)
      make(record, results.length === 0 ? start : parent, body(record, rest, unmapped))
  }
  for (const { members, tail } of answered.values())
    for (const member of members) ends.set(member, ends.get(tail) ?? tail)
  return { pieces: pieces.map((piece) => settled(piece, ids, ends)), ends }
}

const restOf = ({ value: { content } }: Record): unknown =>
  Array.isArray(content) ? content.filter((part) => !(isObject(part) && isResult(part))) : content

/** Below a message means below all that it was made into. */
const settled = (piece: Piece, records: ReadonlySet<string>, ends: ReadonlyMap<string, string>): Piece => {
  const { parentId } = piece
  if (parentId === null || !records.has(parentId)) return piece
  const end = ends.get(parentId) ?? parentId
  return end === piece.id || end === parentId ? piece : { ...piece, parentId: end }
}

// --------------------------------------------------------------------------------------------------------- session

/** Settings as a record; the first line counts. */
const configPiece = (lines: ReadonlyArray<Lines.Line>, session: string): ReadonlyArray<Piece> => {
  const found = lines.find(({ value }) => value.type === "config" && isObject(value.config))
  if (found === undefined) return []
  const config = found.value.config as Json
  const keep: { readonly [key: string]: (value: unknown) => boolean } = {
    approvalMode: (value) => typeof value === "string",
    approvalTools: (value) => Array.isArray(value) && value.every((tool) => typeof tool === "string"),
    summary: (value) => typeof value === "string",
    pastedTextMap: isObject,
    pastedImageMap: isObject
  }
  const data = Object.fromEntries(Object.entries(config).filter(([key, value]) => keep[key]?.(value) ?? true))
  const id = digest(session, "config", JSON.stringify(data))
  const body = { type: "custom", customType: "grove.config", data }
  return [{ id, parentId: null, line: found.line, timestamp: undefined, body }]
}

/** How the program names the folder of a project. */
const slug = (cwd: string): string =>
  cwd
    .replace(/[^a-zA-Z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase()

/** The folder in which it was said: not in the file, but prompts are kept by it, and only one may have this name. */
const cwdOf = (source: Source): string => {
  const bytes = source.beside("../../data.json")
  const data = bytes === undefined ? undefined : Lines.value(bytes)
  const projects = isObject(data) && isObject(data.projects) ? Object.keys(data.projects) : []
  const found = projects.filter((cwd) => slug(cwd) === basename(dirname(source.file)))
  return found.length === 1 ? found[0]! : ""
}

const isMessage = ({ value }: Lines.Line): boolean => value.type === "message" && typeof value.role === "string"

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const lines = Lines.objects(source.bytes, repaired)
  const messages = lines.filter(isMessage)
  for (const line of lines) {
    if (!isMessage(line) && line.value.type !== "config") {
      unmapped.push({ line: line.line, kind: stringIn(line.value.type) ?? "unknown" })
    }
  }
  const records = recordsIn(messages, repaired)
  const named = basename(source.file).replace(/\.jsonl$/, "")
  const own = stringIn(records.at(-1)?.value.sessionId) ?? named
  const id = Names.session(FORMAT, /^[0-9a-f]{8}$/.test(named) ? named : own, records[0]?.id ?? source.file)
  const config = configPiece(lines, id)
  const { pieces, ends } = piecesOf(records, unmapped)
  if (pieces.length + config.length === 0) return { format: FORMAT, sessions: [], repaired, unmapped } as const
  const last = records.at(-1)?.id
  const session = compose(
    {
      ...{ format: FORMAT, file: source.file, session: own, id, timestamp: records[0]?.value.timestamp },
      ...{ cwd: cwdOf(source), pieces: [...config, ...pieces] },
      leaf: last === undefined ? null : (ends.get(last) ?? last)
    },
    repaired
  )
  return { format: FORMAT, sessions: [session], repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ lines }) =>
    lines.some(
      ({ type, uuid, role, config }) =>
        (type === "message" && typeof uuid === "string" && typeof role === "string") ||
        (type === "config" && isObject(config))
    ),
  read
}
