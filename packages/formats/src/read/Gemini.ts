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
import { objectsIn, stringIn } from "./Values.ts"

const FORMAT = "gemini"

// --------------------------------------------------------------------------------------------------------- parts

const partsOf = (content: unknown): ReadonlyArray<Json> => {
  const parts = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]
  return parts.flatMap((part) => {
    if (typeof part === "string") return part === "" ? [] : [{ text: part }]
    return isObject(part) ? [part] : []
  })
}

const responseIn = ({ functionResponse }: Json): Json | undefined =>
  isObject(functionResponse) ? functionResponse : undefined

const shown = (parts: ReadonlyArray<Json>, line: number, unmapped: Array<Note>): ReadonlyArray<Json> =>
  parts.flatMap((part) => {
    if (typeof part.text === "string") return [Blocks.text(part.text)]
    const { mimeType, data } = isObject(part.inlineData) ? part.inlineData : {}
    if (typeof data === "string" && typeof mimeType === "string" && mimeType.startsWith("image/")) {
      return [{ type: "image", data, mimeType }]
    }
    unmapped.push({ line, kind: `part ${Object.keys(part)[0] ?? "empty"}` })
    return []
  })

const textIn = ({ content }: Json): string => Blocks.textOf(partsOf(content))

// --------------------------------------------------------------------------------------------------------- replies

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

const callsOf = (value: Json): ReadonlyArray<Json> => [
  ...new Map(objectsIn(value.toolCalls).flatMap((one) => (typeof one.id === "string" ? [[one.id, one]] : []))).values()
]

const call = ({ id, name, args }: Json): Json => ({
  ...{ type: "toolCall", id, name: stringIn(name) ?? "unknown", arguments: Blocks.argumentsFrom(args) }
})

const said = (part: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  const { functionCall, thoughtSignature } = part
  if (part.thought === true && typeof part.text === "string") return [{ type: "thinking", thinking: part.text }]
  if (!isObject(functionCall) || typeof functionCall.id !== "string") return shown([part], line, unmapped)
  return [{ ...call(functionCall), ...(typeof thoughtSignature === "string" ? { thoughtSignature } : {}) }]
}

/** A reply that was sent to the model again is listed with its thoughts and calls, which are noted beside it otherwise. */
const reply = ({ value, line, isCopy }: Message, unmapped: Array<Note>): Piece["body"] => {
  const parts = partsOf(value.content).flatMap((part) => said(part, line, unmapped))
  const has = (type: string) => parts.some((block) => block.type === type)
  const listed = new Set(parts.map(({ id }) => id))
  const thoughts = has("thinking") ? [] : objectsIn(value.thoughts).map(thinking)
  const calls = callsOf(value).filter(({ id }) => !listed.has(id))
  const content = [...thoughts, ...parts, ...calls.map(call)]
  const stopReason = calls.length > 0 || has("toolCall") ? "toolUse" : "stop"
  const model = stringIn(value.model) ?? "unknown"
  const usage = usageOf(isCopy ? undefined : value.tokens)
  return { type: "message", message: { role: "assistant", content, provider: "google", model, usage, stopReason } }
}

/** Calls that have not ended have no result yet. */
const isAnswered = ({ status, result }: Json): boolean =>
  (result !== undefined && result !== null) || status === "success" || status === "error" || status === "cancelled"

const outputOf = (part: Json): Json => {
  const { response } = responseIn(part) ?? {}
  if (!isObject(response)) return part
  return { text: stringIn(response.output) ?? stringIn(response.error) ?? JSON.stringify(response) }
}

const result = (called: Json, line: number, unmapped: Array<Note>): Piece["body"] => {
  const { id, name, status, resultDisplay, agentId } = called
  const notes = Object.entries({ resultDisplay, agentId }).filter(([, note]) => note !== undefined)
  const content = shown(partsOf(called.result).map(outputOf), line, unmapped)
  const message = {
    ...{ role: "toolResult", toolCallId: id, toolName: stringIn(name) ?? "unknown" },
    ...{ content, isError: status === "error" || status === "cancelled" },
    ...(notes.length === 0 ? {} : { details: Object.fromEntries(notes) })
  }
  return { type: "message", message }
}

// --------------------------------------------------------------------------------------------------------- prompts

/** What the program tells the model of itself. */
const CONTEXT = /^\s*<(session_context|hook_context)>/

const prompt = (value: Json, parts: ReadonlyArray<Json>, line: number, unmapped: Array<Note>): Piece["body"] => {
  const content = Blocks.content(shown(parts, line, unmapped))
  if (CONTEXT.test(textIn(value)))
    return { type: "custom_message", customType: `${FORMAT}.context`, content, display: false }
  const display = Blocks.textOf(partsOf(value.displayContent))
  return { type: "message", message: { role: "user", content, ...(display === "" ? {} : { uiContent: display }) } }
}

/** Results are sent to the model in the person's name; those that are noted with their calls are there already. */
const prompts = ({ value, line }: Message, before: Message | undefined, unmapped: Array<Note>): ReadonlyArray<Made> => {
  const parts = partsOf(value.content)
  const known = new Set<unknown>(before === undefined ? [] : resultsOf(before.value).map(({ id }) => id))
  const results = parts.flatMap((part): ReadonlyArray<Made> => {
    const { id, name, response } = responseIn(part) ?? {}
    if (typeof id !== "string" || known.has(id)) return []
    known.add(id)
    const status = isObject(response) && response.error !== undefined ? "error" : "success"
    return [{ key: id, body: result({ id, name, status, result: [part] }, line, unmapped) }]
  })
  const rest = parts.filter((part) => responseIn(part) === undefined)
  const isPrompt = rest.length > 0 || rest.length === parts.length
  return isPrompt ? [...results, { key: "", body: prompt(value, rest, line, unmapped) }] : results
}

const resultsOf = (value: Json): ReadonlyArray<Json> => callsOf(value).filter(isAnswered)

/** What people are told beside the conversation. Pictures that a tool found come this way too, and the model sees them. */
const note = ({ value, line }: Message, unmapped: Array<Note>): Piece["body"] => {
  const customType = `${FORMAT}.${stringIn(value.type) ?? "message"}`
  const parts = partsOf(value.content)
  return parts.some(({ inlineData }) => isObject(inlineData))
    ? { type: "custom_message", customType, content: Blocks.content(shown(parts, line, unmapped)), display: true }
    : { type: "custom", customType, data: { content: value.content } }
}

/** A body, and what tells it from others of the same message; the first has no need of it. */
interface Made {
  readonly key: string
  readonly body: Piece["body"]
}

/** `before` is what was said last above it. */
const madeOf = (message: Message, before: Message | undefined, unmapped: Array<Note>): ReadonlyArray<Made> => {
  const { value, line } = message
  const alone = (body: Piece["body"]): ReadonlyArray<Made> => [{ key: "", body }]
  if (message.isCompaction) return alone({ type: "compaction", summary: textIn(value), tokensBefore: 0 })
  if (value.type === "user") return prompts(message, before, unmapped)
  if (value.type !== "gemini") return alone(note(message, unmapped))
  const results = resultsOf(value).map((called) => ({ key: String(called.id), body: result(called, line, unmapped) }))
  return [...alone(reply(message, unmapped)), ...results]
}

// --------------------------------------------------------------------------------------------------------- chat

interface Message {
  /** Its name, unless another message had it before. */
  readonly id: string
  readonly name: string
  readonly line: number
  parent: Message | undefined
  /** The last of its forms. */
  value: Json
  isCompaction: boolean
  /** Of a message that was there before under the same name, and has been counted. */
  readonly isCopy: boolean
}

const isNote = ({ type }: Json): boolean => type !== "user" && type !== "gemini"

const SNAPSHOT = "<state_snapshot>"

/** What the program leaves out when it takes up a chat again: commands to itself, its own context, results, nothing at all. */
const PASSED_OVER = /^\s*(\/|\?|<(session_context|hook_context)>)/

const isSpoken = (value: Json): boolean => {
  const parts = partsOf(value.content).filter((part) => responseIn(part) === undefined)
  if (value.type === "gemini")
    return parts.length > 0 || callsOf(value).length > 0 || objectsIn(value.thoughts).length > 0
  return value.type === "user" && parts.length > 0 && !PASSED_OVER.test(Blocks.textOf(parts))
}

/** The messages that there ever were, each under the one that it was said after. */
class Chat {
  readonly all: Array<Message> = []
  readonly #taken = new Set<string>()
  /** The list as it is now, and where in it each message is. */
  #now: Array<Message> = []
  #places = new Map<string, number>()

  get last(): Message | undefined {
    return this.#now.at(-1)
  }

  say(line: number, value: Json, parent = this.last, isCompaction = false): void {
    const name = String(value.id)
    const place = this.#places.get(name)
    if (place !== undefined) {
      this.#now[place]!.value = value
      return
    }
    const isCopy = this.#taken.has(name)
    const id = isCopy ? digest(name, line, this.all.length) : name
    this.#taken.add(id)
    const message: Message = { id, name, line, parent, value, isCompaction, isCopy }
    this.all.push(message)
    this.#places.set(name, this.#now.push(message) - 1)
  }

  /** Drops a message and all that follow it; one that is not there drops all. */
  rewind(name: string): void {
    const count = this.#places.get(name) ?? 0
    while (this.#now.length > count) this.#places.delete(this.#now.pop()!.name)
  }

  #list(now: Array<Message>): void {
    this.#now = now
    this.#places = new Map(now.map(({ name }, place) => [name, place]))
  }

  /**
   * The list as the model is to have it: without an end that was given up, with more at its end, or from some message on
   * another. What is no longer in it stays a branch, and a summary is a compaction of all that came before. Messages that
   * stay keep the form they were written in, since here tools' outputs may be cut.
   */
  replace(line: number, messages: ReadonlyArray<Json>): void {
    const spoken = this.#now.filter(({ value }) => isSpoken(value))
    const listed = messages.filter(isSpoken)
    let same = 0
    while (same < listed.length && spoken[same]?.name === listed[same]!.id) same++
    const [parted, next] = [spoken[same], listed[same]]
    if (spoken.length === 0) {
      for (const value of messages) this.say(line, value)
      return
    }
    if (next === undefined) {
      if (parted !== undefined) this.rewind(parted.name)
      return
    }
    const [, ...rest] = messages.slice(messages.indexOf(next))
    // What is new in the list may have been written before, message by message.
    const tail = spoken.slice(same).slice(same - listed.length)
    const isWritten = listed.slice(same).every(({ id }, i) => tail[i]?.name === id)
    const count = spoken.length - (isWritten ? tail.length : 0)
    const isReplaced = same === 0 && (!isWritten || listed.length < count)
    const isSummary = parted !== undefined && (isReplaced || textIn(next).includes(SNAPSHOT))
    const [first] = tail
    const kept = parted === undefined ? this.#now : this.#now.slice(0, this.#places.get(parted.name))
    if (isWritten && first !== undefined) {
      first.isCompaction = isSummary
      if (!isSummary) first.parent = kept.at(-1)
      this.#list([...kept, ...this.#now.slice(this.#places.get(first.name))])
    } else {
      const parent = isSummary ? this.last : kept.at(-1)
      this.#list(kept)
      this.say(line, next, parent, isSummary)
      for (const value of rest) this.say(line, value)
    }
  }
}

const chatIn = (lines: ReadonlyArray<Lines.Line>, unmapped: Array<Note>): Chat => {
  const chat = new Chat()
  for (const { line, value } of lines) {
    if (stringIn(value.id) !== undefined) chat.say(line, value)
    else if (typeof value.$rewindTo === "string") chat.rewind(value.$rewindTo)
    else if (isObject(value.$set)) {
      const { messages } = value.$set
      if (Array.isArray(messages))
        chat.replace(
          line,
          objectsIn(messages).filter(({ id }) => stringIn(id) !== undefined)
        )
    } else if (!("sessionId" in value)) unmapped.push({ line, kind: "unknown" })
  }
  return chat
}

const piecesOf = (messages: ReadonlyArray<Message>, unmapped: Array<Note>) => {
  const ends = new Map<Message | undefined, string | null>()
  /** For each message, itself or what was said last above it. */
  const spoken = new Map<Message | undefined, Message | undefined>()
  const pieces = messages.flatMap((message) => {
    const { id, name, line, value, parent } = message
    const before = spoken.get(parent)
    spoken.set(message, isNote(value) ? before : message)
    let above = ends.get(parent) ?? null
    const made = madeOf(message, before, unmapped).map(({ key, body }, i): Piece => {
      const own = i === 0 ? id : digest(id, "result", key)
      const piece = { id: own, parentId: above, line, timestamp: value.timestamp, entry: name, body }
      above = own
      return piece
    })
    ends.set(message, above)
    return made
  })
  return { pieces, endOf: (message: Message | undefined) => ends.get(message) ?? null }
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
  const whole = Lines.value(source.bytes)
  if (!isObject(whole) || !Array.isArray(whole.messages)) return Lines.objects(source.bytes, repaired)
  const { messages, ...metadata } = whole
  return [{ line: 1, value: metadata }, ...objectsIn(messages).map((value, i) => ({ line: i + 1, value }))]
}

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const lines = linesIn(source, repaired)
  const metadata = metadataOf(lines)
  const chat = chatIn(lines, unmapped)
  const { all } = chat
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
      leaf: endOf(chat.last)
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
