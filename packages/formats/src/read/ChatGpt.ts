/**
 * Conversations as ChatGPT exports them: a map of nodes, each with its parent, and the node that is shown last. What a
 * model thinks, says and asks of a tool in one go are nodes in a row there; here they are one reply.
 */
import { extname } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import * as Forest from "./Forest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectIn, stringIn } from "./Values.ts"

const FORMAT = "chatgpt"

interface Node {
  readonly id: string
  readonly parentId: string | null
  readonly message: Json
  /** Its number in the file, from 1. */
  readonly line: number
}

// --------------------------------------------------------------------------------------------------------- pictures

const TYPES: { readonly [extension: string]: string } = {
  ".gif": "image/gif",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp"
}

const ASSET = /^(?:.*:\/\/)?(file[-_][A-Za-z0-9]+)/

/** Pictures lie beside the conversations, in files whose names begin with the names they are known by. */
const picturesOf = (source: Source): ((pointer: unknown) => Json | undefined) => {
  const paths = new Map<string, string>()
  let isListed = false
  const list = () => {
    isListed = true
    for (const folder of [".", "dalle-generations"]) {
      for (const name of source.namesIn(folder)) {
        const [, asset] = ASSET.exec(name) ?? []
        if (asset !== undefined) paths.set(asset, `${folder}/${name}`)
      }
    }
  }
  return (pointer) => {
    if (!isListed) list()
    const path = paths.get(ASSET.exec(String(pointer))?.[1] ?? "")
    const mimeType = TYPES[extname(path ?? "").toLowerCase()]
    const bytes = path === undefined || mimeType === undefined ? undefined : source.beside(path)
    return bytes === undefined ? undefined : { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType }
  }
}

// --------------------------------------------------------------------------------------------------------- contents

/** What the texts of contents are called that are no list of parts. */
const TEXTS = ["text", "result", "user_profile", "user_instructions", "model_set_context"]

/** Reads what messages say, whatever kind of content they have. */
class Contents {
  readonly #picture: (pointer: unknown) => Json | undefined
  readonly #unmapped: Array<Note>

  constructor(source: Source, unmapped: Array<Note>) {
    this.#picture = picturesOf(source)
    this.#unmapped = unmapped
  }

  blocks({ message, line }: Node): ReadonlyArray<Json> {
    const content = objectIn(message.content)
    const { parts, thoughts, content_type } = content
    const { citations } = objectIn(message.metadata)
    if (Array.isArray(citations) && citations.length > 0) this.#unmapped.push({ line, kind: "citations" })
    if (Array.isArray(thoughts)) return thoughts.filter(isObject).map(thinking)
    if (Array.isArray(parts)) return parts.flatMap((part) => this.#part(part, line))
    const texts = TEXTS.flatMap((key) => stringIn(content[key]) ?? [])
    const isEmpty = texts.length === 0 && !TEXTS.some((key) => content[key] === "")
    if (isEmpty && content_type !== undefined) this.#unmapped.push({ line, kind: `content ${String(content_type)}` })
    return texts.map(Blocks.text)
  }

  #part(part: unknown, line: number): ReadonlyArray<Json> {
    if (typeof part === "string") return part === "" ? [] : [Blocks.text(part)]
    const { text, content_type, asset_pointer } = objectIn(part)
    if (typeof text === "string") return [Blocks.text(text)]
    const kind = stringIn(content_type) ?? "part"
    const picture = kind === "image_asset_pointer" ? this.#picture(asset_pointer) : undefined
    if (picture !== undefined) return [picture]
    this.#unmapped.push({ line, kind })
    return [Blocks.text(`[${kind.replace(/_asset_pointer$/, "")}]`)]
  }
}

const thinking = ({ summary, content }: Json): Json => ({
  type: "thinking",
  thinking: [stringIn(summary), stringIn(content)].filter((text) => text !== undefined).join("\n")
})

// --------------------------------------------------------------------------------------------------------- replies

const roleOf = ({ message }: Node): unknown => objectIn(message.author).role

/** A message to a tool is a call of it. */
const isCall = (node: Node): boolean =>
  roleOf(node) === "assistant" && stringIn(node.message.recipient) !== undefined && node.message.recipient !== "all"

/** A reply whose nodes are still coming. */
interface Open {
  readonly first: Node
  readonly parentId: string | null
  readonly content: Array<Json>
  last: Node
}

const callOf = ({ id, message }: Node, blocks: ReadonlyArray<Json>): ReadonlyArray<Json> => [
  ...blocks.filter(({ type }) => type !== "text"),
  { type: "toolCall", id, name: String(message.recipient), arguments: Blocks.argumentsFrom(Blocks.textOf(blocks)) }
]

const stopReasonOf = (node: Node): string => {
  if (isCall(node)) return "toolUse"
  const { type } = objectIn(objectIn(node.message.metadata).finish_details)
  if (type === "max_tokens") return "length"
  return type === "interrupted" || node.message.status === "in_progress" ? "aborted" : "stop"
}

const reply = ({ first, parentId, content, last }: Open, otherwise: unknown): Piece => {
  const { id, line, message } = first
  const model = stringIn(objectIn(last.message.metadata).model_slug) ?? stringIn(otherwise) ?? "unknown"
  const usage = Blocks.usage({ input: 0, output: 0 })
  const said = { role: "assistant", content, provider: "openai", model, usage, stopReason: stopReasonOf(last) }
  return { id, parentId, line, timestamp: message.create_time, entry: id, body: { type: "message", message: said } }
}

// --------------------------------------------------------------------------------------------------------- others

const result = ({ message }: Node, call: Node, blocks: ReadonlyArray<Json>): Piece["body"] => {
  const isError = message.status === "finished_with_error" || objectIn(message.content).content_type === "system_error"
  const toolName = stringIn(objectIn(message.author).name) ?? String(call.message.recipient)
  return { type: "message", message: { role: "toolResult", toolCallId: call.id, toolName, content: blocks, isError } }
}

const isHidden = ({ message }: Node): boolean =>
  objectIn(message.metadata).is_visually_hidden_from_conversation === true ||
  objectIn(message.content).content_type === "user_editable_context"

const other = (node: Node, blocks: ReadonlyArray<Json>): Piece["body"] => {
  const role = roleOf(node)
  const content = Blocks.content(blocks)
  const isKnown = role === "user" || role === "system"
  if (isKnown && !isHidden(node)) return { type: "message", message: { role, content } }
  const customType = `${FORMAT}.${stringIn(role) ?? "message"}`
  return { type: "custom_message", customType, content, display: !isHidden(node) }
}

// --------------------------------------------------------------------------------------------------------- pieces

/** What is known below a node. */
interface State {
  /** The entry that its children follow. */
  readonly end: string | null
  /** The reply that an only child of the model goes on with. */
  readonly open?: Open | undefined
  /** The call that is waiting for its result. */
  readonly call?: Node | undefined
}

const piecesOf = (nodes: ReadonlyArray<Node>, contents: Contents, model: unknown) => {
  const children = new Map<string | null, number>()
  for (const { parentId } of nodes) children.set(parentId, (children.get(parentId) ?? 0) + 1)
  const states = new Map<string | null, State>([[null, { end: null }]])
  const made: Array<Piece | Open> = []
  const stateAfter = (node: Node, above: State): State => {
    const { id, parentId, line, message } = node
    const said = contents.blocks(node)
    const blocks = isCall(node) ? callOf(node, said) : said
    const goingOn = children.get(parentId) === 1 ? above.open : undefined
    // The root of all, and what holds no words.
    if (blocks.length === 0) return { ...above, open: goingOn }
    if (roleOf(node) === "assistant") {
      const open = goingOn ?? { first: node, parentId: above.end, content: [], last: node }
      if (open !== goingOn) made.push(open)
      open.content.push(...blocks)
      open.last = node
      return isCall(node) ? { end: open.first.id, call: node } : { end: open.first.id, open }
    }
    const body =
      roleOf(node) === "tool" && above.call !== undefined ? result(node, above.call, blocks) : other(node, blocks)
    made.push({ id, parentId: above.end, line, timestamp: message.create_time, entry: id, body })
    return { end: id }
  }
  for (const node of nodes) states.set(node.id, stateAfter(node, states.get(node.parentId) ?? { end: null }))
  return {
    pieces: made.map((one) => ("first" in one ? reply(one, model) : one)),
    endOf: (id: string): string | null => states.get(id)?.end ?? null
  }
}

// --------------------------------------------------------------------------------------------------------- session

const nodesIn = (conversation: Json, before: number): ReadonlyArray<Node> =>
  Object.entries(objectIn(conversation.mapping)).map(([id, node], i) => {
    const { parent, message } = objectIn(node)
    return { id, parentId: stringIn(parent) ?? null, message: objectIn(message), line: before + i + 1 }
  })

const conversationsIn = (value: unknown): ReadonlyArray<Json> =>
  (Array.isArray(value) ? value : [value]).filter((one): one is Json => isObject(one) && isObject(one.mapping))

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const contents = new Contents(source, unmapped)
  let count = 0
  const sessions = conversationsIn(Lines.value(source.bytes)).flatMap((conversation) => {
    const nodes = nodesIn(conversation, count)
    count += nodes.length
    const ordered = Forest.ordered(
      Forest.inOrder(nodes, ({ message }) => message.create_time),
      repaired
    )
    const { pieces, endOf } = piecesOf(ordered, contents, conversation.default_model_slug)
    if (pieces.length === 0) return []
    const own = stringIn(conversation.conversation_id) ?? stringIn(conversation.id)
    const current = stringIn(conversation.current_node)
    const isThere = current !== undefined && nodes.some(({ id }) => id === current)
    return compose(
      {
        ...{ format: FORMAT, file: source.file, session: own ?? null, cwd: "" },
        id: Names.session(FORMAT, own, JSON.stringify([conversation.title, conversation.create_time])),
        ...{ timestamp: conversation.create_time, name: stringIn(conversation.title), pieces },
        leaf: isThere ? endOf(current) : pieces.at(-1)!.id
      },
      repaired
    )
  })
  return { format: FORMAT, sessions, repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ value }) => conversationsIn(value).length > 0,
  read
}
