/**
 * A session as front ends that draw trees want it: a dictionary of nodes, each with its children. Nodes are the entries
 * that speak to the model; what lies between two of them is left out, and the lower one hangs on the upper.
 */
import {
  type Entry,
  Facts,
  type Header,
  isObject,
  type Json,
  NONE,
  Preview,
  type SessionTree,
  Usage
} from "@grove/core"
import { Schema } from "effect"

const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Unknown
})

export const Metadata = Schema.Struct({
  /** What the entry is in the session: the role of a message, else the type of the entry. */
  type: Schema.String,
  /** `provider/model` */
  model: Schema.optionalKey(Schema.String),
  /** US dollars; absent where no price is known. */
  cost: Schema.optionalKey(Schema.Finite),
  /** Milliseconds. */
  latency: Schema.optionalKey(Schema.Finite),
  /** Of what was sent and what came back. */
  tokenCount: Schema.optionalKey(Schema.Finite),
  rating: Schema.optionalKey(Schema.Finite),
  note: Schema.optionalKey(Schema.String),
  label: Schema.optionalKey(Schema.String),
  /** The model had no room left, or the text was too long to be kept in the session as a whole. */
  isTruncated: Schema.optionalKey(Schema.Boolean),
  error: Schema.optionalKey(Schema.String),
  /** The entries that a summary stands for. */
  summarizedFrom: Schema.optionalKey(Schema.Array(Schema.String)),
  mergedFrom: Schema.optionalKey(Schema.String),
  toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
  /** Replies that were asked for together have the same id in it. */
  group: Schema.optionalKey(Schema.Unknown)
}).annotate({ identifier: "Metadata" })
export type Metadata = typeof Metadata.Type

export const ChatMessageNode = Schema.Struct({
  id: Schema.String,
  parentId: Schema.NullOr(Schema.String),
  childrenIds: Schema.Array(Schema.String),
  content: Schema.String,
  role: Schema.Literals(["user", "assistant", "system"]),
  status: Schema.Literals(["generating", "complete", "error"]),
  /** Left out of every context where it is not. */
  isEnabled: Schema.Boolean,
  timestamp: Schema.String,
  metadata: Metadata
}).annotate({ identifier: "ChatMessageNode" })
export type ChatMessageNode = typeof ChatMessageNode.Type

export const ChatHistoryTree = Schema.Struct({
  sessionId: Schema.String,
  nodes: Schema.Record(Schema.String, ChatMessageNode),
  /** The first root. */
  rootNodeId: Schema.NullOr(Schema.String),
  rootNodeIds: Schema.Array(Schema.String),
  activeLeafId: Schema.NullOr(Schema.String),
  /** The nodes that fragments begin with: they and what follows them are in no context. */
  stash: Schema.Array(Schema.String),
  title: Schema.String,
  createdAt: Schema.String,
  updatedAt: Schema.String,
  /** What has happened up to now; events after it are had with `since`. */
  seq: Schema.Finite
}).annotate({ identifier: "ChatHistoryTree" })
export type ChatHistoryTree = typeof ChatHistoryTree.Type

/** A reply that is not in the session yet. */
export interface Growing {
  readonly id: string
  /** An entry of the session, node or not. */
  readonly parentId: string | null
  readonly model: string
  readonly started: string
  readonly text: string
  readonly group?: unknown
}

// --------------------------------------------------------------------------------------------------------- places

const SPEAKS = new Set(["message", "custom_message", "branch_summary", "compaction"])

export const isNodeAt = (tree: SessionTree, row: number): boolean => SPEAKS.has(tree.typeAt(row))

/** The node at a row or the nearest one above it, `NONE` where there is none. */
export const nodeRow = (tree: SessionTree, row: number): number => {
  let at = row
  while (at !== NONE && (tree.isMarkAt(at) || !isNodeAt(tree, at))) at = tree.shownParentRow(at)
  return at
}

export const nodeId = (tree: SessionTree, id: string | null): string | null => tree.idAt(nodeRow(tree, tree.rowOf(id)))

/** Those rows, where what is no node is replaced by what follows it. */
const nodesAmong = (tree: SessionTree, rows: ReadonlyArray<number>): ReadonlyArray<number> => {
  const found: Array<number> = []
  const pending = rows.toReversed()
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    if (isNodeAt(tree, row)) found.push(row)
    else for (const child of tree.childRows(row).toReversed()) pending.push(child)
  }
  return found
}

const idsAt = (tree: SessionTree, rows: ReadonlyArray<number>): ReadonlyArray<string> =>
  rows.map((row) => tree.idAt(row)!)

const rootRows = (tree: SessionTree): ReadonlyArray<number> => nodesAmong(tree, tree.childRows(NONE))

const stashRows = (tree: SessionTree): ReadonlyArray<number> =>
  nodesAmong(
    tree,
    tree.edits.stash.map(({ root }) => tree.rowOf(root))
  )

// ---------------------------------------------------------------------------------------------------------- nodes

const messageOf = (entry: Entry.Entry): Json => (isObject(entry.message) ? entry.message : {})

/** The true type: what the seed of a node is. */
const typeOf = (entry: Entry.Entry): string => {
  const { role } = messageOf(entry)
  return entry.type === "message" && typeof role === "string" ? role : entry.type
}

const SYSTEM = new Set(["system", "developer", "compaction", "branch_summary", "compactionSummary", "branchSummary"])

const roleOf = (type: string): ChatMessageNode["role"] =>
  type === "assistant" ? "assistant" : SYSTEM.has(type) ? "system" : "user"

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const contentOf = (entry: Entry.Entry, type: string): string => {
  const message = messageOf(entry)
  switch (type) {
    case "bashExecution":
      return [`$ ${text(message.command)}`, text(message.output)].filter(Boolean).join("\n")
    case "pythonExecution":
      return [text(message.code), text(message.output)].filter(Boolean).join("\n")
    case "fileMention":
    case "compaction":
    case "branch_summary":
      return Preview.textOfEntry(entry)
    case "custom_message":
      return Preview.textOf(entry.content)
    default:
      return Preview.textOf(message.content)
  }
}

const BROKEN_OFF = new Set<unknown>(["error", "aborted"])

const errorOf = ({ stopReason, errorMessage }: Json): string | undefined =>
  BROKEN_OFF.has(stopReason) ? text(errorMessage) || String(stopReason) : undefined

const usageOf = (entry: Entry.Entry): { readonly tokenCount?: number; readonly cost?: number } => {
  const used = Usage.fromStored(messageOf(entry).usage ?? entry.usage)
  if (used === undefined) return {}
  const tokenCount = used.input + used.output + used.cacheRead + used.cacheWrite
  // What a file says may be no number that JSON knows.
  const finite = (value: number | null) => value !== null && Number.isFinite(value)
  return {
    ...(finite(tokenCount) && { tokenCount }),
    ...(finite(used.costMicros) && { cost: used.costMicros! / 1e6 })
  }
}

const toolCallsOf = (content: unknown) =>
  Preview.toolCallsOf(content).map((call) => ({
    id: text(call.id),
    name: text(call.name),
    arguments: call.arguments ?? null
  }))

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : []

const metadataOf = (entry: Entry.Entry, type: string, { labels, annotations }: Facts.Facts): Metadata => {
  const message = messageOf(entry)
  const details = isObject(entry.details) ? entry.details : {}
  const error = errorOf(message)
  const toolCalls = toolCallsOf(message.content)
  const summarizedFrom = strings(details.summarizedFrom)
  const { rating, note } = annotations.get(entry.id) ?? { rating: null, note: null }
  const label = labels.get(entry.id)
  return {
    type,
    ...(text(message.model) !== "" && { model: [text(message.provider), message.model].filter(Boolean).join("/") }),
    ...usageOf(entry),
    ...(typeof message.latencyMs === "number" && { latency: message.latencyMs }),
    ...(rating !== null && { rating }),
    ...(note !== null && { note }),
    ...(label !== undefined && { label }),
    ...((message.stopReason === "length" || isObject(entry.fullText)) && { isTruncated: true }),
    ...(error !== undefined && { error }),
    ...(summarizedFrom.length > 0 && { summarizedFrom }),
    ...(typeof details.mergedFrom === "string" && { mergedFrom: details.mergedFrom }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(entry.group !== undefined && { group: entry.group })
  }
}

const nodeFrom = (
  tree: SessionTree,
  row: number,
  entry: Entry.Entry,
  growing: ReadonlyArray<string>
): ChatMessageNode => {
  const type = typeOf(entry)
  const metadata = metadataOf(entry, type, tree.facts)
  return {
    id: entry.id,
    parentId: tree.idAt(nodeRow(tree, tree.shownParentRow(row))),
    childrenIds: [...idsAt(tree, nodesAmong(tree, tree.childRows(row))), ...growing],
    content: contentOf(entry, type),
    role: roleOf(type),
    status: metadata.error === undefined ? "complete" : "error",
    isEnabled: !tree.facts.disabled.has(entry.id),
    timestamp: entry.timestamp,
    metadata
  }
}

/** Replies that grow under a node, in the order in which they began. */
const growingUnder = (
  tree: SessionTree,
  growing: ReadonlyArray<Growing>
): ReadonlyMap<string | null, Array<string>> => {
  const under = new Map<string | null, Array<string>>()
  for (const { id, parentId } of growing) {
    const parent = nodeId(tree, parentId)
    const others = under.get(parent)
    if (others === undefined) under.set(parent, [id])
    else others.push(id)
  }
  return under
}

/** The node at a row as it is now. */
export const nodeAt = (tree: SessionTree, row: number, growing: ReadonlyArray<Growing> = []): ChatMessageNode =>
  nodeFrom(tree, row, tree.entryAt(row), growingUnder(tree, growing).get(tree.idAt(row)) ?? [])

export const growingNode = (
  tree: SessionTree,
  { id, parentId, model, started, text, group }: Growing
): ChatMessageNode => ({
  id,
  parentId: nodeId(tree, parentId),
  childrenIds: [],
  content: text,
  role: "assistant",
  status: "generating",
  isEnabled: true,
  timestamp: started,
  metadata: { type: "assistant", model, ...(group !== undefined && { group }) }
})

// ----------------------------------------------------------------------------------------------------------- tree

/** What a change of the tree's shape changes for the tree as a whole. */
export const shape = (tree: SessionTree, growing: ReadonlyArray<Growing> = []) => ({
  rootNodeIds: [...idsAt(tree, rootRows(tree)), ...(growingUnder(tree, growing).get(null) ?? [])],
  stash: idsAt(tree, stashRows(tree))
})

const TITLE_COLUMNS = 60

/** The name, else how the first prompt begins. */
const titleOf = (tree: SessionTree, header: Header.Header | null): string => {
  const name = Facts.nameOf(tree.facts, null, header)
  if (name !== null) return name
  const first = tree.rows().find((row) => tree.roleAt(row) === "user")
  return first === undefined ? "" : Preview.ofEntry(tree.entryAt(first), TITLE_COLUMNS)
}

const updatedAt = (tree: SessionTree, rows: Iterable<number>, createdAt: string): string => {
  let newest = Date.parse(createdAt) || 0
  for (const row of rows) newest = Math.max(newest, tree.spokenAt(row))
  return newest > 0 && newest <= 8.64e15 ? new Date(newest).toISOString() : createdAt
}

export interface Source {
  readonly sessionId: string
  readonly header: Header.Header | null
  readonly tree: SessionTree
  readonly growing?: ReadonlyArray<Growing>
  readonly seq: number
}

/** Everything that hangs on a root or waits in the stash. Linear, whatever the shape. */
export const of = ({ sessionId, header, tree, growing = [], seq }: Source): ChatHistoryTree => {
  const { rootNodeIds, stash } = shape(tree, growing)
  const rows = [...rootRows(tree), ...stashRows(tree)]
  for (let at = 0; at < rows.length; at++)
    for (const child of nodesAmong(tree, tree.childRows(rows[at]!))) rows.push(child)
  rows.sort((a, b) => a - b)
  const under = growingUnder(tree, growing)
  // Any text may be an id, also one that means something to objects.
  const nodes: Record<string, ChatMessageNode> = Object.create(null)
  for (const [at, entry] of tree.entriesAt(rows).entries()) {
    nodes[entry.id] = nodeFrom(tree, rows[at]!, entry, under.get(entry.id) ?? [])
  }
  for (const each of growing) nodes[each.id] = growingNode(tree, each)
  const createdAt = text(header?.timestamp)
  return {
    sessionId,
    nodes,
    rootNodeId: rootNodeIds[0] ?? null,
    rootNodeIds,
    activeLeafId: nodeId(tree, tree.leaf),
    stash,
    title: titleOf(tree, header),
    createdAt,
    updatedAt: updatedAt(tree, rows, createdAt),
    seq
  }
}
