/** Conversations as ChatGPT exports them: a map of nodes, each with its parent, and the node that is shown last. */
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import * as Forest from "./Forest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"

const FORMAT = "chatgpt"

const stringIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

interface Node {
  readonly id: string
  readonly parent: string | null
  readonly message: Json
  readonly line: number
}

/** What a message says, whatever kind of content it has. */
const blocksOf = ({ content }: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  const { parts, text, thoughts, content_type } = objectIn(content)
  if (typeof text === "string") return text === "" ? [] : [Blocks.text(text)]
  if (Array.isArray(thoughts)) {
    return thoughts.filter(isObject).map((thought) => ({
      type: "thinking",
      thinking: [stringIn(thought.summary), stringIn(thought.content)].filter((one) => one !== undefined).join("\n")
    }))
  }
  if (!Array.isArray(parts)) {
    if (content_type !== undefined) unmapped.push({ line, kind: `content ${String(content_type)}` })
    return []
  }
  return parts.flatMap((part) => {
    if (typeof part === "string") return part === "" ? [] : [Blocks.text(part)]
    if (isObject(part) && typeof part.text === "string") return [Blocks.text(part.text)]
    // Pictures are not in the file, only their names.
    const kind = stringIn(objectIn(part).content_type) ?? "part"
    unmapped.push({ line, kind })
    return [Blocks.text(`[${kind.replace(/_asset_pointer$/, "")}]`)]
  })
}

/** A message to a tool is a call of it. */
const isCall = ({ author, recipient }: Json): boolean =>
  objectIn(author).role === "assistant" && typeof recipient === "string" && recipient !== "all"

const reply = ({ id, message }: Node, blocks: ReadonlyArray<Json>): Piece["body"] => {
  const { model_slug, finish_details } = objectIn(message.metadata)
  const texts = blocks.filter(({ type }) => type === "text")
  const call = {
    type: "toolCall",
    id,
    name: String(message.recipient),
    arguments: Blocks.argumentsFrom(Blocks.textOf(texts))
  }
  const content = isCall(message) ? [...blocks.filter(({ type }) => type !== "text"), call] : blocks
  const wasStopped = objectIn(finish_details).type === "interrupted"
  const stopReason = isCall(message) ? "toolUse" : wasStopped ? "aborted" : "stop"
  const usage = Blocks.usage({ input: 0, output: 0 })
  const model = stringIn(model_slug) ?? "unknown"
  return { type: "message", message: { role: "assistant", content, provider: "openai", model, usage, stopReason } }
}

/** `undefined` for what holds no words: the root, and what the program hides and leaves empty. */
const bodyOf = (node: Node, callAbove: Node | undefined, unmapped: Array<Note>): Piece["body"] | undefined => {
  const { message, line } = node
  const { role, name } = objectIn(message.author)
  const blocks = blocksOf(message, line, unmapped)
  if (blocks.length === 0 && !isCall(message)) return undefined
  if (role === "user") return { type: "message", message: { role, content: Blocks.content(blocks) } }
  if (role === "assistant") return reply(node, blocks)
  if (role === "tool" && callAbove !== undefined) {
    const isError = message.status === "finished_with_error"
    const toolName = stringIn(name) ?? "unknown"
    return {
      type: "message",
      message: { role: "toolResult", toolCallId: callAbove.id, toolName, content: blocks, isError }
    }
  }
  return { type: "custom", customType: `${FORMAT}.${stringIn(role) ?? "message"}`, data: { content: blocks } }
}

const nodesIn = (conversation: Json): ReadonlyArray<Node> =>
  Object.entries(objectIn(conversation.mapping)).map(([id, node], i) => ({
    ...{ id, parent: stringIn(objectIn(node).parent) ?? null, message: objectIn(objectIn(node).message), line: i + 1 }
  }))

const sessionOf = (conversation: Json, source: Source, repaired: Array<Note>, unmapped: Array<Note>) => {
  const nodes = nodesIn(conversation)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const bodies = new Map<string, Piece["body"]>()
  for (const node of nodes) {
    const above = byId.get(node.parent ?? "")
    const body = bodyOf(node, above !== undefined && isCall(above.message) ? above : undefined, unmapped)
    if (body !== undefined) bodies.set(node.id, body)
  }
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]))
  const endOf = Forest.endsOf(parents, (id) => (bodies.has(id) ? id : undefined))
  const pieces = nodes.flatMap(({ id, parent, line, message }): ReadonlyArray<Piece> => {
    const body = bodies.get(id)
    const timestamp = message.create_time ?? conversation.create_time
    return body === undefined ? [] : [{ id, parentId: endOf(parent), line, timestamp, entry: id, body }]
  })
  const own = stringIn(conversation.conversation_id) ?? stringIn(conversation.id)
  const shown = stringIn(conversation.current_node)
  return compose(
    {
      ...{
        format: FORMAT,
        file: source.file,
        session: own ?? null,
        id: Names.session(FORMAT, own, nodes[0]?.id ?? source.file)
      },
      ...{ timestamp: conversation.create_time, cwd: "", name: stringIn(conversation.title), pieces },
      leaf: shown !== undefined && byId.has(shown) ? endOf(shown) : (pieces.at(-1)?.id ?? null)
    },
    repaired
  )
}

const conversationsIn = (value: unknown): ReadonlyArray<Json> =>
  (Array.isArray(value) ? value : [value]).filter((one): one is Json => isObject(one) && isObject(one.mapping))

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
