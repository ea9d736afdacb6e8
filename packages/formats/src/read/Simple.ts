/**
 * The plain tree: a line an entry, without a header; a result belongs to the call it hangs on. What the model says and
 * the calls that it makes at once are lines of their own there; here they are one reply, with all results on its path.
 */
import { basename } from "node:path"
import type { Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Forest from "./Forest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectIn, stringIn } from "./Values.ts"

const FORMAT = "simple"
const TYPES = new Set<unknown>(["user", "assistant", "tool_call", "tool_result"])

interface Node extends Lines.Line {
  readonly id: string
  readonly parentId: string | null
}

const nameIn = (value: unknown): string | undefined => (typeof value === "number" ? String(value) : stringIn(value))

/** Where no line names a parent, each follows the one before, and results answer the calls in the order of those. */
const nodesIn = (lines: ReadonlyArray<Lines.Line>, repaired: Array<Note>): ReadonlyArray<Node> => {
  const isRow = lines.every(({ value }) => value.parentId === undefined)
  const taken = new Set<string>()
  const calls: Array<string> = []
  let answered = 0
  let above: string | null = null
  return lines.map(({ line, value }) => {
    const own = nameIn(value.id)
    const isFree = own !== undefined && !taken.has(own)
    if (!isFree) repaired.push({ line, kind: own === undefined ? "missing-id" : "duplicate-id" })
    const id = isFree ? own : digest(FORMAT, own ?? "", line)
    taken.add(id)
    const call = value.type === "tool_result" ? calls[answered++] : undefined
    const parentId = isRow ? (call ?? above) : (nameIn(value.parentId) ?? null)
    if (value.type === "tool_call") calls.push(id)
    above = id
    return { line, value, id, parentId }
  })
}

// --------------------------------------------------------------------------------------------------------- bodies

const contentOf = ({ value: { content } }: Node): string =>
  typeof content === "string" ? content : Blocks.textOf(content) || (JSON.stringify(content) ?? "")

const metadataOf = ({ value }: Node): Json => objectIn(value.metadata)

/** What the source notes beside the words. */
const beside = (node: Node, name: string): Json => {
  const metadata = metadataOf(node)
  return Object.keys(metadata).length === 0 ? {} : { [name]: metadata }
}

/** A call is told beside its words, or its first word is the tool. */
const callOf = (node: Node): Json => {
  const { tool, toolName, name, args, arguments: given, input } = metadataOf(node)
  const [, first = "unknown", rest = ""] = /^\s*([\w.-]+)\s*(.*)$/s.exec(contentOf(node)) ?? []
  const named = stringIn(tool) ?? stringIn(toolName) ?? stringIn(name)
  const known = args ?? given ?? input ?? (named === undefined ? rest : contentOf(node))
  return {
    ...{ type: "toolCall", id: node.id, name: named ?? first, arguments: Blocks.argumentsFrom(known) },
    ...beside(node, "metadata")
  }
}

const result = (node: Node, call: Json): Piece["body"] => {
  const { isError, error } = metadataOf(node)
  const message = {
    ...{ role: "toolResult", toolCallId: call.id, toolName: call.name, content: [Blocks.text(contentOf(node))] },
    isError: isError === true || (error !== undefined && error !== null && error !== false),
    ...beside(node, "details")
  }
  return { type: "message", message }
}

const other = (node: Node): Piece["body"] => {
  const { type } = node.value
  if (type === "user")
    return { type: "message", message: { role: "user", content: contentOf(node), ...beside(node, "metadata") } }
  const customType = `${FORMAT}.${stringIn(type) ?? "unknown"}`
  return type === "tool_result"
    ? { type: "custom_message", customType, content: contentOf(node), display: true, ...beside(node, "details") }
    : { type: "custom", customType, data: node.value }
}

// --------------------------------------------------------------------------------------------------------- replies

/** A reply and the results of its calls, which no branch goes through. */
interface Unit {
  readonly nodes: Array<Node>
  readonly calls: Map<string, Json>
  /** Below which entry each result stands. */
  readonly answers: Map<string, string>
  /** The last of its entries. */
  tail: string
}

const usageOf = (nodes: ReadonlyArray<Node>): Json => {
  const sum = (...keys: ReadonlyArray<string>): number => {
    const counts = nodes.map((node) => Number(keys.map((key) => objectIn(metadataOf(node).usage)[key]).find(Boolean)))
    return counts.filter((count) => count > 0).reduce((a, b) => a + b, 0)
  }
  return Blocks.usage({
    ...{ input: sum("input", "input_tokens"), output: sum("output", "output_tokens") },
    ...{
      cacheRead: sum("cacheRead", "cache_read_input_tokens"),
      cacheWrite: sum("cacheWrite", "cache_creation_input_tokens")
    }
  })
}

const reply = ({ nodes, calls }: Unit): Piece["body"] => {
  const spoken = nodes.filter(({ value }) => value.type === "assistant")
  const words = spoken.map(contentOf).filter((text) => text !== "")
  const named = nodes.map((node) => stringIn(metadataOf(node).model)).find((model) => model !== undefined)
  const [, provider = "unknown", model = "unknown"] = /^(?:([^/]*)\/)?(.*)$/s.exec(named ?? "unknown") ?? []
  const message = {
    ...{
      role: "assistant",
      content: [...words.map(Blocks.text), ...calls.values()],
      provider,
      model
    },
    ...{ usage: usageOf(nodes), stopReason: calls.size > 0 ? "toolUse" : "stop" },
    ...Object.assign({}, ...spoken.map((node) => beside(node, "metadata")))
  }
  return { type: "message", message }
}

/** Replies after which nothing came but their own calls. */
const callingIn = (nodes: ReadonlyArray<Node>): ReadonlySet<string> => {
  const calling = new Set(nodes.filter(({ value }) => value.type === "assistant").map(({ id }) => id))
  for (const { parentId, value } of nodes) if (value.type !== "tool_call") calling.delete(parentId ?? "")
  return calling
}

const piecesOf = (nodes: ReadonlyArray<Node>, repaired: Array<Note>) => {
  const calling = callingIn(nodes)
  const units = new Map<string | null, Unit>()
  const made: Array<{ readonly node: Node; readonly below?: string | undefined; readonly body: () => Piece["body"] }> =
    []
  for (const node of Forest.ordered(nodes, repaired)) {
    const { id, parentId, line, value } = node
    const above = units.get(parentId)
    const call = above?.calls.get(parentId ?? "")
    if (value.type === "tool_result" && above !== undefined && call !== undefined) {
      // A call that was run again has its results side by side.
      const before = above.answers.get(String(call.id))
      made.push({ node, below: before ?? above.tail, body: () => result(node, call) })
      if (before !== undefined) continue
      above.answers.set(String(call.id), above.tail)
      above.tail = id
      units.set(id, above)
    } else if (value.type === "assistant" || value.type === "tool_call") {
      const isPart = value.type === "tool_call" && (call !== undefined || calling.has(parentId ?? ""))
      const unit: Unit = isPart ? above! : { nodes: [], calls: new Map(), answers: new Map(), tail: id }
      unit.nodes.push(node)
      if (value.type === "tool_call") unit.calls.set(id, callOf(node))
      units.set(id, unit)
      if (!isPart) made.push({ node, body: () => reply(unit) })
    } else {
      if (value.type === "tool_result") repaired.push({ line, kind: "orphan-result" })
      made.push({ node, body: () => other(node) })
    }
  }
  const endOf = (id: string | null): string | null => units.get(id)?.tail ?? id
  const pieces = made.map(({ node: { id, parentId, line, value }, below, body }): Piece => {
    return { id, parentId: below ?? endOf(parentId), line, timestamp: value.timestamp, entry: id, body: body() }
  })
  return { pieces, endOf }
}

// --------------------------------------------------------------------------------------------------------- session

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const nodes = nodesIn(Lines.objects(source.bytes, repaired), repaired)
  const [first] = nodes
  if (!nodes.some(({ value }) => TYPES.has(value.type)))
    return { format: FORMAT, sessions: [], repaired, unmapped } as const
  const { pieces, endOf } = piecesOf(nodes, repaired)
  const name = basename(source.file).replace(/\.jsonl$/, "")
  const session = compose(
    {
      ...{ format: FORMAT, file: source.file, session: null, cwd: "", pieces, timestamp: first!.value.timestamp },
      id: Names.session(FORMAT, name, JSON.stringify(first!.value)),
      leaf: endOf(nodes.at(-1)!.id)
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
