/** Conversations as LibreChat exports them: messages in a list or inside each other, with the names of their parents. */
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"

const FORMAT = "librechat"

const stringIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

/** The parent of a message that has none. */
const NOBODY = "00000000-0000-0000-0000-000000000000"

interface Message {
  readonly id: string
  readonly parent: string | null
  readonly value: Json
  readonly line: number
}

/** Every message once, parents first. */
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

/** Newer replies are lists of parts, in which a call and its result are one. */
const partsOf = ({ content, text }: Json): ReadonlyArray<Json> =>
  Array.isArray(content) && content.length > 0
    ? content.filter(isObject)
    : [{ type: "text", text: stringIn(text) ?? "" }]

const blockOf = (part: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  const text = stringIn(part.text) ?? stringIn(objectIn(part.text).value)
  if (part.type === "text") return text === undefined ? [] : [Blocks.text(text)]
  if (part.type === "think") return [{ type: "thinking", thinking: stringIn(part.think) ?? "" }]
  const call = objectIn(part.tool_call)
  if (typeof call.id === "string") {
    return [
      {
        type: "toolCall",
        id: call.id,
        name: stringIn(call.name) ?? "unknown",
        arguments: Blocks.argumentsFrom(call.args)
      }
    ]
  }
  const image = Blocks.imageFromUrl(objectIn(part.image_url).url)
  if (image !== undefined) return [image]
  unmapped.push({ line, kind: `part ${stringIn(part.type) ?? "unknown"}` })
  return []
}

const resultsOf = (parts: ReadonlyArray<Json>): ReadonlyArray<Piece["body"]> =>
  parts.flatMap((part) => {
    const { id, name, output } = objectIn(part.tool_call)
    if (typeof id !== "string" || typeof output !== "string") return []
    const content = [Blocks.text(output)]
    const toolName = stringIn(name) ?? "unknown"
    return [{ type: "message", message: { role: "toolResult", toolCallId: id, toolName, content, isError: false } }]
  })

const bodiesOf = ({ value, line }: Message, endpoint: string, unmapped: Array<Note>): ReadonlyArray<Piece["body"]> => {
  const parts = partsOf(value)
  const content = parts.flatMap((part) => blockOf(part, line, unmapped))
  if (value.isCreatedByUser === true) {
    return [{ type: "message", message: { role: "user", content: Blocks.content(content) } }]
  }
  const hasCalls = content.some(({ type }) => type === "toolCall")
  const isCut = value.unfinished === true || value.finish_reason === "incomplete"
  const stopReason = value.error === true ? "error" : isCut ? "aborted" : hasCalls ? "toolUse" : "stop"
  const reply = {
    ...{ role: "assistant", content, provider: stringIn(value.endpoint) ?? endpoint },
    ...{
      model: stringIn(value.model) ?? "unknown",
      usage: Blocks.usage({ input: 0, output: value.tokenCount }),
      stopReason
    },
    ...(value.error === true ? { errorMessage: Blocks.textOf(content) } : {})
  }
  return [{ type: "message", message: reply }, ...resultsOf(parts)]
}

/** The message that was said last, wherever it stands. */
const newest = (messages: ReadonlyArray<Message>): Message | undefined =>
  messages.reduce<Message | undefined>(
    (last, one) => (last === undefined || !(timeOf(one) < timeOf(last)) ? one : last),
    undefined
  )

const timeOf = ({ value }: Message): number => Date.parse(Names.timeOf(value.createdAt) ?? Names.NO_TIME)

const sessionOf = (value: Json, source: Source, repaired: Array<Note>, unmapped: Array<Note>) => {
  const messages = messagesIn(value, repaired)
  const endpoint = stringIn(value.endpoint) ?? "unknown"
  const ends = new Map<string, string>()
  const made = messages.map((message) => {
    const bodies = bodiesOf(message, endpoint, unmapped)
    const ids = bodies.map((_, i) => (i === 0 ? message.id : digest(message.id, i)))
    ends.set(message.id, ids.at(-1)!)
    return { message, bodies, ids }
  })
  const pieces = made.flatMap(({ message: { id: entry, parent, line, value: own }, bodies, ids }) =>
    bodies.map((body, i): Piece => {
      const parentId = i > 0 ? ids[i - 1]! : parent === null ? null : (ends.get(parent) ?? parent)
      return { id: ids[i]!, parentId, line, timestamp: own.createdAt, entry, body }
    })
  )
  const own = stringIn(value.conversationId)
  const last = newest(messages)
  return compose(
    {
      ...{ format: FORMAT, file: source.file, session: own ?? null, cwd: "", pieces },
      id: Names.session(FORMAT, own, messages[0]?.id ?? source.file),
      timestamp: messages[0]?.value.createdAt,
      name: stringIn(value.title),
      leaf: last === undefined ? null : (ends.get(last.id) ?? null)
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
