/**
 * Copies of entries, to hang elsewhere in the same session: which are made, under which names, and what in them changes.
 * The originals stay where they are.
 */
import type * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { NONE } from "./EntryTable.ts"
import { isObject, type Json } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"

const COPIED = new Set([
  "message",
  "custom_message",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "mode_change",
  "ttsr_injection",
  "context_edit"
])

export interface Target {
  readonly session: string
  readonly targetId: EntryId
  readonly timestamp: string
  /** A name for each copy, in the order of the sources. */
  readonly ids: ReadonlyArray<EntryId>
}

/** A subtree, a row after its parent, without what edits have cut off inside it. */
export const subtree = (tree: SessionTree, root: number): ReadonlyArray<number> => {
  const rows = [root]
  for (let at = 0; at < rows.length; at++) for (const child of tree.childRows(rows[at]!)) rows.push(child)
  return rows
}

/** Of those rows the ones that a graft copies, in the same order. */
export const sources = (tree: SessionTree, rows: ReadonlyArray<number>): ReadonlyArray<number> => {
  const among = new Set(rows)
  return rows.filter((row) => {
    const type = tree.typeAt(row)
    if (type !== "context_edit") return COPIED.has(type)
    const target = tree.rowOf(String(tree.entryAt(row).targetId))
    return among.has(target) && COPIED.has(tree.typeAt(target))
  })
}

/** Usage was paid for once, by the original; other readers need the field to be there. */
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
}

const messageOf = (entry: Entry.Entry): Json => (isObject(entry.message) ? entry.message : {})

const callIdsOn = (tree: SessionTree, path: ReadonlyArray<number>): ReadonlySet<unknown> => {
  const replies = path.filter((row) => tree.roleAt(row) === "assistant")
  return new Set(tree.entriesAt(replies).flatMap((entry) => toolCallsOf(messageOf(entry).content).map(({ id }) => id)))
}

type Rename = (id: unknown) => unknown

const renameCalls = (content: unknown, rename: Rename): unknown =>
  Array.isArray(content)
    ? content.map((block) =>
        isObject(block) && block.type === "toolCall" ? { ...block, id: rename(block.id) } : block
      )
    : content

const copyMessage = (message: unknown, rename: Rename): unknown => {
  if (!isObject(message)) return message
  if (message.role === "toolResult") return { ...message, toolCallId: rename(message.toolCallId) }
  if (message.role !== "assistant") return message
  return { ...message, content: renameCalls(message.content, rename), usage: NO_USAGE }
}

/** Fields that name entries, at the top of an entry and in the details of a summary. */
const NAMING = ["targetId", "fromId", "abandonedLeaf", "summarizedFrom", "mergedFrom"]

const renameEntries = (fields: Json, rename: Rename): Json => {
  const named = NAMING.filter((key) => Object.hasOwn(fields, key)).map((key) => {
    const value = fields[key]
    return [key, Array.isArray(value) ? value.map(rename) : rename(value)]
  })
  return { ...fields, ...Object.fromEntries(named) }
}

const copyBody = (
  { type: _, id: _id, parentId: _p, timestamp: _t, origin: _o, ...body }: Entry.Entry,
  rename: Rename
) => {
  const renamed = renameEntries(body, rename)
  return {
    ...renamed,
    ...(isObject(body.details) && { details: renameEntries(body.details, rename) }),
    ...(body.usage !== undefined && { usage: NO_USAGE })
  }
}

/** A picked row hangs on the one before it; in a subtree each hangs on the copy of its nearest copied ancestor. */
export type Shape = "chain" | "subtree"

/** The copies of `rows`, which `sources` chose, a parent before its children. */
export const copies = (
  tree: SessionTree,
  rows: ReadonlyArray<number>,
  shape: Shape,
  { session, targetId, timestamp, ids }: Target
): ReadonlyArray<Entry.Entry> => {
  const copyOf = new Map(rows.map((row, at) => [row, ids[at]!]))
  const names = new Map<unknown, EntryId>(rows.map((row, at) => [tree.idAt(row), ids[at]!]))
  const renameEntry: Rename = (id) => names.get(id) ?? id
  const taken = callIdsOn(tree, tree.pathRows(tree.rowOf(targetId)))
  /** The new name of each call on the way down to a copy: an id may be used again further down. */
  const calls = new Map<number, ReadonlyMap<unknown, string>>()

  const above = (row: number, at: number): number => {
    if (shape === "chain") return rows[at - 1] ?? NONE
    let parent = tree.shownParentRow(row)
    while (parent !== NONE && !copyOf.has(parent)) parent = tree.shownParentRow(parent)
    return parent
  }

  return tree.entriesAt(rows).map((entry, at) => {
    const row = rows[at]!
    const parent = above(row, at)
    const inherited = calls.get(parent) ?? new Map<unknown, string>()
    const own = tree.roleAt(row) === "assistant" ? toolCallsOf(messageOf(entry).content) : []
    const clashing = own.map(({ id }) => id).filter((id) => taken.has(id))
    const renamed = own.length === 0 ? inherited : new Map(clashing.map((id, call) => [id, `call_${ids[at]}_${call}`]))
    calls.set(row, renamed)
    const { message } = entry
    const rename: Rename = (id) => renamed.get(id) ?? id
    return {
      type: entry.type,
      id: ids[at]!,
      parentId: copyOf.get(parent) ?? targetId,
      timestamp,
      origin: { session, entry: entry.id },
      ...copyBody(entry, renameEntry),
      ...(message !== undefined && { message: copyMessage(message, rename) })
    } as Entry.Entry
  })
}
