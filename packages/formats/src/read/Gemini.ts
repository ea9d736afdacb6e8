/**
 * Chats of Gemini CLI. Messages have names and no links; one that comes again replaces itself, a rewind drops the end of
 * the list, and a compression replaces the whole of it. Nothing of that is lost here: it makes branches and compactions.
 */
import { basename, dirname } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { asTask, compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"

const FORMAT = "gemini"

const stringIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const objectsIn = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isObject) : [])

// --------------------------------------------------------------------------------------------------------- bodies

const shown = (content: unknown, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  if (typeof content === "string") return content === "" ? [] : [Blocks.text(content)]
  const parts = isObject(content) ? [content] : Array.isArray(content) ? content : []
  return parts.flatMap((part) => {
    if (typeof part === "string") return [Blocks.text(part)]
    if (isObject(part) && typeof part.text === "string") return [Blocks.text(part.text)]
    const { mimeType, data } = isObject(part) && isObject(part.inlineData) ? part.inlineData : {}
    if (typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")) {
      return [{ type: "image", data, mimeType }]
    }
    unmapped.push({ line, kind: `part ${isObject(part) ? (Object.keys(part)[0] ?? "empty") : typeof part}` })
    return []
  })
}

const usageOf = (tokens: unknown): Json => {
  const used = isObject(tokens) ? tokens : {}
  const number = (key: string): number => (typeof used[key] === "number" ? Number(used[key]) : 0)
  return Blocks.usage({
    input: number("input") + number("tool") - number("cached"),
    output: number("output") + number("thoughts"),
    cacheRead: used.cached,
    reasoning: used.thoughts
  })
}

const thinking = ({ subject, description }: Json): Json => ({
  type: "thinking",
  thinking: [stringIn(subject), stringIn(description)].filter((text) => text !== undefined).join("\n")
})

const callsOf = (value: Json): ReadonlyArray<Json> =>
  objectsIn(value.toolCalls).filter(({ id }) => typeof id === "string")

const reply = (value: Json, line: number, unmapped: Array<Note>): Piece["body"] => {
  const calls = callsOf(value).map(({ id, name, args }) => ({
    ...{ type: "toolCall", id, name: stringIn(name) ?? "unknown", arguments: Blocks.argumentsFrom(args) }
  }))
  const content = [...objectsIn(value.thoughts).map(thinking), ...shown(value.content, line, unmapped), ...calls]
  const stopReason = calls.length > 0 ? "toolUse" : "stop"
  const model = stringIn(value.model) ?? "unknown"
  const usage = usageOf(value.tokens)
  return { type: "message", message: { role: "assistant", content, provider: "google", model, usage, stopReason } }
}

/** Calls that have not ended have no result yet. */
const isAnswered = ({ status, result }: Json): boolean =>
  result !== undefined || status === "success" || status === "error" || status === "cancelled"

const outputOf = (result: unknown): unknown => {
  const parts = Array.isArray(result) ? result : [result]
  return parts.flatMap((part) => {
    const response = isObject(part) && isObject(part.functionResponse) ? part.functionResponse.response : undefined
    if (!isObject(response)) return part === undefined || part === null ? [] : [part]
    const text = stringIn(response.output) ?? stringIn(response.error)
    return [{ text: text ?? JSON.stringify(response) }]
  })
}

const result = (call: Json, line: number, unmapped: Array<Note>): Piece["body"] => {
  const { id, name, status, resultDisplay, agentId } = call
  const notes = Object.entries({ resultDisplay, agentId }).filter(([, note]) => note !== undefined)
  const message = {
    ...{ role: "toolResult", toolCallId: id, toolName: stringIn(name) ?? "unknown" },
    ...{ content: shown(outputOf(call.result), line, unmapped), isError: status === "error" || status === "cancelled" },
    ...(notes.length === 0 ? {} : { details: Object.fromEntries(notes) })
  }
  return { type: "message", message }
}

const prompt = (value: Json, line: number, unmapped: Array<Note>): Piece["body"] => {
  const display = Blocks.textOf(value.displayContent)
  const content = Blocks.content(shown(value.content, line, unmapped))
  return { type: "message", message: { role: "user", content, ...(display === "" ? {} : { uiContent: display }) } }
}

/** What a message is made into: a prompt, a reply with the results of its calls, or a note that no model sees. */
const bodiesOf = (value: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Piece["body"]> => {
  if (value.type === "user") return [prompt(value, line, unmapped)]
  if (value.type !== "gemini") {
    return [
      { type: "custom", customType: `${FORMAT}.${stringIn(value.type) ?? "message"}`, data: { content: value.content } }
    ]
  }
  const results = callsOf(value).filter(isAnswered)
  return [reply(value, line, unmapped), ...results.map((call) => result(call, line, unmapped))]
}

// --------------------------------------------------------------------------------------------------------- chat

interface Message {
  /** Its name, unless another message had it before. */
  readonly id: string
  readonly name: string
  readonly line: number
  readonly parent: Message | undefined
  /** The last of its forms. */
  value: Json
  readonly isCompaction: boolean
}

/** The messages that there ever were, each under the one that it was said after. */
const messagesIn = (lines: ReadonlyArray<Lines.Line>, unmapped: Array<Note>) => {
  const all: Array<Message> = []
  const taken = new Set<string>()
  const now: Array<Message> = []
  /** Where each message is in the list, by name; those from before a compression are out of reach. */
  const places = new Map<string, number>()
  const add = (line: number, value: Json, isCompaction = false): void => {
    const name = String(value.id)
    const place = places.get(name)
    if (place !== undefined) {
      now[place]!.value = value
      return
    }
    const id = taken.has(name) ? digest(name, line, all.length) : name
    taken.add(id)
    const message: Message = { id, name, line, parent: now.at(-1), value, isCompaction }
    all.push(message)
    places.set(name, now.push(message) - 1)
  }
  const keep = (count: number): void => {
    while (now.length > count) {
      const { name } = now.pop()!
      if (places.get(name) === now.length) places.delete(name)
    }
  }
  /** Messages that are there already only lose their end; others stand for all that came before. */
  const replace = (line: number, messages: ReadonlyArray<Json>): void => {
    const isKnown = messages.every(({ id }, i) => now[i]?.name === String(id))
    if (isKnown) keep(messages.length)
    else places.clear()
    for (const [i, value] of messages.entries()) add(line, value, !isKnown && i === 0)
  }
  for (const { line, value } of lines) {
    if (typeof value.id === "string" && value.id !== "") add(line, value)
    else if (typeof value.$rewindTo === "string") {
      keep(places.get(value.$rewindTo) ?? 0)
    } else if (isObject(value.$set) && Array.isArray(value.$set.messages)) {
      replace(
        line,
        objectsIn(value.$set.messages).filter(({ id }) => typeof id === "string" && id !== "")
      )
    } else if (!isObject(value.$set) && !("sessionId" in value)) unmapped.push({ line, kind: "unknown" })
  }
  return { all, leaf: now.at(-1) }
}

const piecesOf = (messages: ReadonlyArray<Message>, unmapped: Array<Note>) => {
  const ends = new Map<Message, string>()
  const pieces = messages.flatMap((message) => {
    const { id, name, line, value, parent } = message
    const bodies = message.isCompaction
      ? [{ type: "compaction", summary: Blocks.textOf(shown(value.content, line, unmapped)), tokensBefore: 0 }]
      : bodiesOf(value, line, unmapped)
    let above = parent === undefined ? null : (ends.get(parent) ?? null)
    return bodies.map((body, i): Piece => {
      const own = i === 0 ? id : digest(id, "result", i)
      const piece = { id: own, parentId: above, line, timestamp: value.timestamp, entry: name, body }
      above = own
      ends.set(message, own)
      return piece
    })
  })
  return {
    pieces,
    endOf: (message: Message | undefined) => (message === undefined ? null : (ends.get(message) ?? null))
  }
}

// --------------------------------------------------------------------------------------------------------- session

/** What is known of the chat as a whole; later lines win. */
const metadataOf = (lines: ReadonlyArray<Lines.Line>): Json => {
  let metadata: Json = {}
  for (const { value } of lines) {
    if ("sessionId" in value && !("id" in value)) metadata = { ...value, ...metadata }
    else if (isObject(value.$set)) metadata = { ...metadata, ...value.$set }
  }
  return metadata
}

const decoder = new TextDecoder()

/** Chats lie in a folder that is named for the project; the project is noted beside, by its path. */
const cwdOf = (source: Source, { directories }: Json): string => {
  const [first] = Array.isArray(directories) ? directories : []
  if (typeof first === "string") return first
  for (const [up, folder] of [
    ["..", dirname(dirname(source.file))],
    ["../..", dirname(dirname(dirname(source.file)))]
  ] as const) {
    const noted = source.beside(`${up}/.project_root`)
    if (noted !== undefined) return decoder.decode(noted).trim()
    const list = source.beside(`${up}/../../projects.json`)
    const projects = list === undefined ? undefined : Lines.value(list)
    const entries = isObject(projects) && isObject(projects.projects) ? Object.entries(projects.projects) : []
    const found = entries.find(([, name]) => name === basename(folder))
    if (found !== undefined) return found[0]
  }
  return ""
}

/** Before early 2026 a chat was one object; its messages are numbered as lines are. */
const linesIn = (source: Source, repaired: Array<Note>): ReadonlyArray<Lines.Line> => {
  const whole = source.file.endsWith(".json") ? Lines.value(source.bytes) : undefined
  if (!isObject(whole) || !Array.isArray(whole.messages)) return Lines.objects(source.bytes, repaired)
  const { messages, ...metadata } = whole
  return [{ line: 1, value: metadata }, ...objectsIn(messages).map((value, i) => ({ line: i + 1, value }))]
}

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const lines = linesIn(source, repaired)
  const metadata = metadataOf(lines)
  const { all, leaf } = messagesIn(lines, unmapped)
  if (all.length === 0) return { format: FORMAT, sessions: [], repaired, unmapped } as const
  const { pieces, endOf } = piecesOf(all, unmapped)
  const own = stringIn(metadata.sessionId)
  const id = Names.session(FORMAT, own, all[0]!.name)
  const isAgent = metadata.kind === "subagent"
  const parent = basename(dirname(source.file))
  const session = compose(
    {
      ...{ format: FORMAT, file: source.file, session: own ?? null, id, timestamp: metadata.startTime },
      cwd: cwdOf(source, metadata),
      parentSession: isAgent && Names.isPlain(parent) && parent !== "chats" ? parent : undefined,
      name: stringIn(metadata.summary),
      pieces: isAgent ? asTask(pieces, id) : pieces,
      leaf: endOf(leaf)
    },
    repaired
  )
  return { format: FORMAT, sessions: [session], repaired, unmapped } as const
}

const isChat = (value: unknown): boolean =>
  isObject(value) && typeof value.sessionId === "string" && "projectHash" in value

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ lines, value }) => isChat(lines[0]) || isChat(value),
  read
}
