/** The plain tree: a line an entry, without a header; a result belongs to the call it hangs on. */
import { basename } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"

const FORMAT = "simple"
const TYPES = new Set<unknown>(["user", "assistant", "tool_call", "tool_result"])

const stringIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

interface Node extends Lines.Line {
  readonly id: string
  readonly parent: string | null
}

/** Where no line names a parent, each follows the one before. */
const nodesIn = (lines: ReadonlyArray<Lines.Line>, repaired: Array<Note>): ReadonlyArray<Node> => {
  const isLine = lines.every(({ value }) => value.parentId === undefined)
  const taken = new Set<string>()
  let above: string | null = null
  return lines.map(({ line, value }) => {
    const own = typeof value.id === "number" ? String(value.id) : stringIn(value.id)
    if (own === undefined || taken.has(own))
      repaired.push({ line, kind: own === undefined ? "missing-id" : "duplicate-id" })
    const id = own === undefined || taken.has(own) ? digest(FORMAT, own ?? "", line) : own
    taken.add(id)
    const named = typeof value.parentId === "number" ? String(value.parentId) : (stringIn(value.parentId) ?? null)
    const node = { line, value, id, parent: isLine ? above : named }
    above = id
    return node
  })
}

const metadataOf = ({ value }: Node): Json => (isObject(value.metadata) ? value.metadata : {})
const contentOf = ({ value }: Node): string =>
  typeof value.content === "string" ? value.content : (JSON.stringify(value.content) ?? "")

/** A call is told by its metadata, else by the words of its content. */
const callOf = (node: Node): Json => {
  const { tool, name, args, arguments: given, input } = metadataOf(node)
  const [, first = "unknown", rest = ""] = /^(\S+)\s*(.*)$/s.exec(contentOf(node)) ?? []
  const named = stringIn(tool) ?? stringIn(name)
  const known = args ?? given ?? input
  const words = named === undefined ? rest : contentOf(node)
  return { type: "toolCall", id: node.id, name: named ?? first, arguments: Blocks.argumentsFrom(known ?? words) }
}

const reply = (node: Node, content: ReadonlyArray<Json>, stopReason: string): Piece["body"] => {
  const { model, usage } = metadataOf(node)
  const [, provider = "unknown", name = "unknown"] = /^(?:([^/]*)\/)?(.*)$/s.exec(stringIn(model) ?? "unknown") ?? []
  const used = isObject(usage) ? usage : {}
  const counted = Blocks.usage({ input: used.input ?? used.input_tokens, output: used.output ?? used.output_tokens })
  return { type: "message", message: { role: "assistant", content, provider, model: name, usage: counted, stopReason } }
}

const bodyOf = (node: Node, above: Node | undefined): Piece["body"] => {
  const text = contentOf(node)
  switch (node.value.type) {
    case "user":
      return { type: "message", message: { role: "user", content: text } }
    case "assistant":
      return reply(node, text === "" ? [] : [Blocks.text(text)], "stop")
    case "tool_call":
      return reply(node, [callOf(node)], "toolUse")
    default: {
      const call = above?.value.type === "tool_call" ? callOf(above) : { id: "unknown", name: "unknown" }
      const { isError, error } = metadataOf(node)
      const message = {
        ...{ role: "toolResult", toolCallId: call.id, toolName: call.name, content: [Blocks.text(text)] },
        isError: isError === true || (error !== undefined && error !== null && error !== false)
      }
      return { type: "message", message }
    }
  }
}

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const lines = Lines.objects(source.bytes, repaired)
  const known = lines.filter(({ value }) => TYPES.has(value.type))
  for (const { line, value } of lines) {
    if (!TYPES.has(value.type)) unmapped.push({ line, kind: stringIn(value.type) ?? "unknown" })
  }
  const nodes = nodesIn(known, repaired)
  if (nodes.length === 0) return { format: FORMAT, sessions: [], repaired, unmapped } as const
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const pieces = nodes.map((node): Piece => {
    const { id, parent, line, value } = node
    return {
      id,
      parentId: parent,
      line,
      timestamp: value.timestamp,
      entry: id,
      body: bodyOf(node, byId.get(parent ?? ""))
    }
  })
  const name = basename(source.file).replace(/\.jsonl$/, "")
  const session = compose(
    {
      ...{ format: FORMAT, file: source.file, session: null, cwd: "", pieces, timestamp: nodes[0]!.value.timestamp },
      id: Names.session(FORMAT, name, JSON.stringify(nodes[0]!.value)),
      leaf: nodes.at(-1)!.id
    },
    repaired
  )
  return { format: FORMAT, sessions: [session], repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ lines }) =>
    lines.length > 0 &&
    lines
      .slice(0, 5)
      .every(
        ({ type, id, content, message }) =>
          TYPES.has(type) && id !== undefined && content !== undefined && message === undefined
      ),
  read
}
