/** What clients are told as it happens: frames with a number that goes up, also over restarts of the server. */
import { type Entry, Mark, NONE, type SessionTree } from "@grove/core"
import { Schema } from "effect"
import * as ChatTree from "./ChatTree.ts"

const frame = <const Event extends string, Data extends Schema.Top>(event: Event, data: Data) =>
  Schema.Struct({ seq: Schema.Finite, event: Schema.Literal(event), data })

const State = Schema.Struct({ id: Schema.String, isEnabled: Schema.Boolean })

/** A piece of a growing reply: `contentChunk` goes to the end of its content, and may be empty. */
const Chunk = Schema.Struct({
  id: Schema.String,
  contentChunk: Schema.String,
  thinkingChunk: Schema.optionalKey(Schema.String)
})

const Edited = Schema.Struct({
  /** The mark, label or name that was written. */
  edit: Schema.String,
  op: Schema.String,
  /** Nodes that are other than they were, as they are now. */
  nodes: Schema.Array(ChatTree.ChatMessageNode),
  rootNodeIds: Schema.Array(Schema.String),
  stash: Schema.Array(Schema.String),
  title: Schema.optionalKey(Schema.String)
})

/** Nodes come whole in every event that names one: whoever knows the node replaces it, whoever does not adds it. */
export const Frame = Schema.Union([
  /** A prompt, a result, a copy; or a reply that begins to grow. */
  frame("node.created", ChatTree.ChatMessageNode),
  frame("node.content.updated", Chunk),
  frame("node.completed", ChatTree.ChatMessageNode),
  frame("node.failed", ChatTree.ChatMessageNode),
  frame("node.state.updated", State),
  frame("tree.edited", Edited),
  frame("leaf.changed", Schema.Struct({ activeLeafId: Schema.NullOr(Schema.String) }))
]).annotate({ identifier: "Frame" })
export type Frame = typeof Frame.Type

type WithoutSeq<F> = F extends unknown ? Omit<F, "seq"> : never
/** A frame before it has its number. */
export type Event = WithoutSeq<Frame>

// -------------------------------------------------------------------------------------------------------- numbers

/**
 * A number is a place in the session, and one among what happened at that place: how many entries there are, times a
 * thousand million, plus a count. Places are the file's own, so that they are the same after a restart.
 */
const PLACE = 1e9

export const seqOf = (place: number, count: number): number => place * PLACE + count
export const placeOf = (seq: number): number => Math.floor(seq / PLACE)
export const countOf = (seq: number): number => seq % PLACE
export const isSeq = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

// ---------------------------------------------------------------------------------------------------------- events

const nodesAt = (
  tree: SessionTree,
  ids: Iterable<string>,
  growing: ReadonlyArray<ChatTree.Growing>
): ReadonlyArray<ChatTree.ChatMessageNode> => {
  const rows = new Set<number>()
  for (const id of ids) {
    const row = ChatTree.nodeRow(tree, tree.rowOf(id))
    if (row !== NONE) rows.add(row)
  }
  return [...rows].map((row) => ChatTree.nodeAt(tree, row, growing))
}

/** The edit that an undo, or an undo of an undo, is about. */
const undone = (tree: SessionTree, mark: Entry.Entry): Entry.Entry => {
  const seen = new Set<string>()
  let at = mark
  for (let undo = Mark.undo(at); undo !== undefined && !seen.has(at.id); undo = Mark.undo(at)) {
    seen.add(at.id)
    const target = tree.get(undo.targetId)
    if (target === undefined) return at
    at = target
  }
  return at
}

/** The entries that a mark may have changed the look of. */
const touched = (tree: SessionTree, mark: Entry.Entry): ReadonlyArray<string> => {
  const edit = undone(tree, mark)
  const state = Mark.state(edit)
  if (state !== undefined) return [...state.targetIds, ...(state.summary === undefined ? [] : [state.summary])]
  const prune = Mark.prune(edit)
  if (prune !== undefined) return [prune.targetId, ...prune.roots]
  const graft = Mark.graft(edit)
  if (graft !== undefined) return [graft.targetId, ...(edit === mark ? [] : graft.copies)]
  const annotation = Mark.annotation(edit)
  return annotation === undefined ? [] : [annotation.targetId]
}

/** What an entry that is no node does to those that are; `undefined` if nothing. */
const editOf = (
  tree: SessionTree,
  entry: Entry.Entry
): { readonly op: string; readonly ids: ReadonlyArray<string> } | undefined => {
  if (entry.type === "label") return { op: "label", ids: typeof entry.targetId === "string" ? [entry.targetId] : [] }
  if (entry.type === "session_info") return { op: "name", ids: [] }
  if (Mark.annotation(entry) !== undefined) return { op: "rate", ids: touched(tree, entry) }
  const edit = Mark.edit(entry)
  return edit === undefined ? undefined : { op: edit.op, ids: touched(tree, entry) }
}

const nodeEvent = (tree: SessionTree, row: number, growing: ReadonlyArray<ChatTree.Growing>): Event => {
  const data = ChatTree.nodeAt(tree, row, growing)
  if (data.role !== "assistant" || tree.isCopyAt(row)) return { event: "node.created", data }
  return { event: data.status === "error" ? "node.failed" : "node.completed", data }
}

const stateEvents = (tree: SessionTree, ids: ReadonlyArray<string>): ReadonlyArray<Event> =>
  ids
    .filter((id) => tree.has(id) && ChatTree.isNodeAt(tree, tree.rowOf(id)))
    .map((id) => ({
      event: "node.state.updated",
      data: { id, isEnabled: !tree.facts.disabled.has(id as Entry.Entry["id"]) }
    }))

/**
 * Rows that do not say where the person stands: what was written in the background or made by an edit, whose mark says
 * so in the same write.
 */
export const silentRows = (tree: SessionTree): ReadonlySet<number> => {
  const silent = new Set(tree.edits.background)
  for (const { created } of tree.edits.all) for (const id of created) silent.add(tree.rowOf(id))
  return silent
}

export interface Told {
  readonly events: ReadonlyArray<Event>
  /** The node the person stands on after the row. */
  readonly leaf: string | null
}

/**
 * What a row of the session tells, given the node the person stood on before it. How many events there are depends on
 * the session up to the row alone; what they say of nodes is as it is now.
 */
export const ofRow = (
  tree: SessionTree,
  row: number,
  before: string | null,
  silent: ReadonlySet<number>,
  growing: ReadonlyArray<ChatTree.Growing> = []
): Told => {
  const entry = tree.entryAt(row)
  const events: Array<Event> = []
  if (!tree.isMarkAt(row) && ChatTree.isNodeAt(tree, row)) events.push(nodeEvent(tree, row, growing))
  else {
    const state = Mark.state(entry)
    for (const event of stateEvents(tree, state?.targetIds ?? [])) events.push(event)
    const edit = editOf(tree, entry)
    if (edit !== undefined) {
      const title = edit.op === "name" ? { title: tree.facts.name ?? "" } : {}
      const nodes = nodesAt(tree, edit.ids, growing)
      events.push({
        event: "tree.edited",
        data: { edit: entry.id, op: edit.op, nodes, ...ChatTree.shape(tree, growing), ...title }
      })
    }
  }
  const leaf = silent.has(row) ? before : ChatTree.nodeId(tree, tree.leafAsOf(row))
  if (leaf !== before) events.push({ event: "leaf.changed", data: { activeLeafId: leaf } })
  return { events, leaf }
}
