/** Conversations as LibreChat exports them: messages in a list or inside each other, with the names of their parents. */
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Forest from "./Forest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectIn, stringIn } from "./Values.ts"

const FORMAT = "librechat"

/** The parent of a message that has none. */
const NOBODY = "00000000-0000-0000-0000-000000000000"

interface Message {
  readonly id: string
  readonly parent: string | null
  readonly value: Json
  readonly line: number
}

/** Every message once. */
const messagesIn = (value: Json, repaired: Array<Note>): ReadonlyArray<Message> => {
  const found: Array<Message> = []
  const taken = new Set<string>()
  const pending: Array<{ readonly value: unknown; readonly above: string | null }> = []
  const later = (list: unknown, above: string | null) => {
    if (Array.isArray(list)) for (let i = list.length - 1; i >= 0; i--) pending.push({ value: list[i], above })
  }
  later(value.messages ?? value.messagesTree, null)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!isObject(next.value)) continue
    const line = found.length + 1
    const name = stringIn(next.value.messageId)
    const isTaken = name !== undefined && taken.has(name)
    if (isTaken) repaired.push({ line, kind: "duplicate-id" })
    const id = name === undefined || isTaken ? digest(FORMAT, name ?? "", line) : name
    taken.add(id)
    const parent = stringIn(next.value.parentMessageId) ?? next.above
    found.push({ id, parent: parent === NOBODY ? null : parent, value: next.value, line })
    later(next.value.children, id)
  }
  return found
}

// --------------------------------------------------------------------------------------------------------- parts

type Body = Piece["body"]

/** Newer messages are lists of parts, in which a call and its result are one. */
const partsOf = ({ content, text }: Json): ReadonlyArray<Json> =>
  Array.isArray(content) && content.length > 0 ? content.filter(isObject) : [{ type: "text", text }]

/** A text is given as such or in an object. */
const textIn = (value: unknown): string | undefined => stringIn(value) ?? stringIn(objectIn(value).value)

interface Call {
  readonly id: string
  readonly name: string
  readonly args: unknown
  readonly output: string | undefined
}

const callIn = ({ tool_call }: Json): Call | undefined => {
  const call = objectIn(tool_call)
  const inner = objectIn(call.function)
  if (typeof call.id !== "string") return undefined
  return {
    ...{ id: call.id, name: stringIn(call.name) ?? stringIn(inner.name) ?? "unknown" },
    ...{ args: call.args ?? inner.arguments, output: stringIn(call.output) ?? stringIn(inner.output) }
  }
}

const blocksOf = (part: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  const call = callIn(part)
  if (call !== undefined) {
    return [{ type: "toolCall", id: call.id, name: call.name, arguments: Blocks.argumentsFrom(call.args) }]
  }
  const text = textIn(
    part.type === "error" ? (part.error ?? part.text) : part.type === "think" ? part.think : part.text
  )
  if (part.type === "think") return text === undefined ? [] : [{ type: "thinking", thinking: text }]
  if (part.type === "text" || part.type === "error") return text === undefined ? [] : [Blocks.text(text)]
  const image = Blocks.imageFromUrl(objectIn(part.image_url).url)
  if (image !== undefined) return [image]
  unmapped.push({ line, kind: `part ${stringIn(part.type) ?? "unknown"}` })
  return []
}

// --------------------------------------------------------------------------------------------------------- bodies

/** Files are not in the export, only their names. */
const filesOf = ({ value, line }: Message, unmapped: Array<Note>): ReadonlyArray<Json> => {
  const files = Array.isArray(value.files) ? value.files.filter(isObject) : []
  return files.map(({ filename }) => {
    unmapped.push({ line, kind: "file" })
    return Blocks.text(`[${stringIn(filename) ?? "file"}]`)
  })
}

const prompt = (message: Message, unmapped: Array<Note>): Body => {
  const said = partsOf(message.value).flatMap((part) => blocksOf(part, message.line, unmapped))
  const content = Blocks.content([...filesOf(message, unmapped), ...said])
  return { type: "message", message: { role: "user", content } }
}

const resultOf = ({ id, name, output }: Call): ReadonlyArray<Body> => {
  if (output === undefined) return []
  const answer = { role: "toolResult", toolCallId: id, toolName: name, content: [Blocks.text(output)], isError: false }
  return [{ type: "message", message: answer }]
}

/** What the model was asked for at once, and what the person threw in between. */
const stepsOf = (parts: ReadonlyArray<Json>): ReadonlyArray<ReadonlyArray<Json>> => {
  const steps: Array<Array<Json>> = [[]]
  let isCalling = false
  for (const part of parts) {
    const isCall = callIn(part) !== undefined
    if (part.type === "steer" || steps.at(-1)![0]?.type === "steer" || (isCalling && !isCall)) steps.push([])
    steps.at(-1)!.push(part)
    isCalling = isCall
  }
  return steps.filter((step) => step.length > 0)
}

const stopReasons: { readonly [reason: string]: string } = {
  length: "length",
  max_tokens: "length",
  incomplete: "aborted"
}

const stopReasonOf = ({ value }: Message): string => {
  if (value.error === true) return "error"
  return value.unfinished === true ? "aborted" : (stopReasons[String(value.finish_reason)] ?? "stop")
}

const PROVIDERS: { readonly [endpoint: string]: string } = { openAI: "openai", azureOpenAI: "azure" }

const replies = (message: Message, options: Json, unmapped: Array<Note>): ReadonlyArray<Body> => {
  const { value, line } = message
  const endpoint = stringIn(value.endpoint) ?? stringIn(options.endpoint) ?? "unknown"
  const provider = PROVIDERS[endpoint] ?? endpoint
  const model = stringIn(value.model) ?? stringIn(options.model) ?? "unknown"
  const steps = stepsOf(partsOf(value))
  const last = steps.findLastIndex(([first]) => first?.type !== "steer")
  return (steps.length === 0 ? [[]] : steps).flatMap((step, i): ReadonlyArray<Body> => {
    const steer = step[0]?.type === "steer" ? (textIn(step[0].steer) ?? "") : undefined
    if (steer !== undefined) return [{ type: "message", message: { role: "user", content: steer } }]
    const isLast = i >= last
    const calls = step.flatMap((part) => callIn(part) ?? [])
    const content = step.flatMap((part) => blocksOf(part, line, unmapped))
    const used = isLast ? { input: value.promptTokens, output: value.tokenCount } : { input: 0, output: 0 }
    const stopReason = calls.length > 0 ? "toolUse" : stopReasonOf(message)
    const reply = {
      ...{ role: "assistant", content, provider, model, usage: Blocks.usage(used), stopReason },
      ...(isLast && value.error === true ? { errorMessage: Blocks.textOf(content) } : {})
    }
    return [{ type: "message", message: reply }, ...calls.flatMap(resultOf)]
  })
}

// --------------------------------------------------------------------------------------------------------- session

/** What the model was told before all, which every beginning of the conversation follows. */
const instructions = (conversation: string, { promptPrefix }: Json): ReadonlyArray<Piece> => {
  const content = stringIn(promptPrefix)
  if (content === undefined) return []
  const id = digest(conversation, "instructions")
  const body = { type: "message", message: { role: "system", content } }
  return [{ id, parentId: null, line: 1, timestamp: undefined, body }]
}

const sessionOf = (value: Json, source: Source, repaired: Array<Note>, unmapped: Array<Note>) => {
  const messages = Forest.inOrder(messagesIn(value, repaired), ({ value: { createdAt } }) => createdAt)
  const own = stringIn(value.conversationId)
  const id = Names.session(FORMAT, own, messages[0]?.id ?? source.file)
  const options = { endpoint: value.endpoint, ...objectIn(value.options) }
  const told = instructions(id, options)
  const ends = new Map<string, string>()
  const made = messages.map((message) => {
    const isPrompt = message.value.isCreatedByUser === true
    const bodies = isPrompt ? [prompt(message, unmapped)] : replies(message, options, unmapped)
    const ids = bodies.map((_, i) => (i === 0 ? message.id : digest(message.id, i)))
    ends.set(message.id, ids.at(-1)!)
    return { message, bodies, ids }
  })
  const pieces = made.flatMap(({ message: { id: entry, parent, line, value: said }, bodies, ids }) => {
    const above = parent === null ? (told[0]?.id ?? null) : (ends.get(parent) ?? parent)
    return bodies.map((body, i): Piece => {
      return { id: ids[i]!, parentId: i === 0 ? above : ids[i - 1]!, line, timestamp: said.createdAt, entry, body }
    })
  })
  const last = messages.at(-1)
  return compose(
    {
      ...{ format: FORMAT, file: source.file, session: own ?? null, id, cwd: "" },
      ...{ timestamp: messages[0]?.value.createdAt, name: stringIn(value.title), pieces: [...told, ...pieces] },
      leaf: last === undefined ? (told[0]?.id ?? null) : ends.get(last.id)!
    },
    repaired
  )
}

const conversationsIn = (value: unknown): ReadonlyArray<Json> =>
  (Array.isArray(value) ? value : [value]).filter(
    (one): one is Json =>
      isObject(one) && "conversationId" in one && (Array.isArray(one.messages) || Array.isArray(one.messagesTree))
  )

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const conversations = conversationsIn(Lines.value(source.bytes))
  const sessions = conversations.map((one) => sessionOf(one, source, repaired, unmapped))
  return { format: FORMAT, sessions, repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ value }) => conversationsIn(value).length > 0,
  read
}
