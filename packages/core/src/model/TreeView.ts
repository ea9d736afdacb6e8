/** Which entries of a tree a person sees, and how they hang together once the others are left out. */
import * as Entry from "./Entry.ts"
import { isObject } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"
import { NONE, type SessionTree } from "./SessionTree.ts"

/**
 * `turns`: one row a turn, so prompts, and of each run of replies and tool results the last reply.
 * `user`, `labeled`, `errors`: only those. `all`: every entry but marks.
 */
export const filters = ["turns", "user", "labeled", "errors", "all"] as const
export type Filter = (typeof filters)[number]

export interface TreeView {
  readonly tree: SessionTree
  readonly filter: Filter
  /** Shown rows in file order. */
  readonly rows: ReadonlyArray<number>
  /** The nearest shown ancestor, `NONE` for a root of the view. */
  readonly parentOf: (row: number) => number
  /** Shown children by time, then file order; of `NONE`, the roots of the view. */
  readonly childrenOf: (row: number) => ReadonlyArray<number>
  /** How many entries were left out between a row and its shown parent. */
  readonly hiddenAbove: (row: number) => number
  /** Tool calls made in the turn that a row stands for. */
  readonly toolsOf: (row: number) => number
  /** The row itself if it is shown, else its nearest shown ancestor. */
  readonly nearest: (row: number) => number
}

/** A reply that failed or was stopped, or a tool or command that failed. */
export const isError = (entry: Entry.Entry): boolean => {
  if (entry.type !== "message" || !isObject(entry.message)) return false
  const { role, stopReason, isError, exitCode, cancelled } = entry.message
  if (role === "assistant") return stopReason === "error" || stopReason === "aborted"
  if (role === "toolResult") return isError === true
  return role === "bashExecution" && (cancelled === true || (typeof exitCode === "number" && exitCode !== 0))
}

const isReply = (entry: Entry.Entry): boolean => Entry.role(entry) === "assistant"

/** Entries that begin or stand between turns; all others belong to the run of replies they are in. */
const standsAlone = (entry: Entry.Entry): boolean => {
  switch (entry.type) {
    case "compaction":
    case "branch_summary":
      return true
    case "custom_message":
      return entry.display !== false
    case "message":
      return !isReply(entry) && Entry.role(entry) !== "toolResult"
    default:
      return false
  }
}

/** Rows so that parents come before their children, whatever their order in the file. */
export const topDown = (tree: SessionTree): ReadonlyArray<number> => {
  const order = [...tree.childRows(NONE)]
  for (let i = 0; i < order.length; i++) for (const child of tree.childRows(order[i]!)) order.push(child)
  return order
}

/** Replies whose turn goes on: nothing but tool results and settings leads to another reply. */
const goesOn = (tree: SessionTree, order: ReadonlyArray<number>): Uint8Array => {
  const on = new Uint8Array(tree.rowCount)
  for (let i = order.length - 1; i >= 0; i--) {
    const row = order[i]!
    const children = tree.childRows(row)
    if (children.length !== 1) continue
    const child = children[0]!
    const entry = tree.entryAt(child)
    if (isReply(entry) || (!standsAlone(entry) && on[child] === 1)) on[row] = 1
  }
  return on
}

const shownBy = (tree: SessionTree, filter: Filter, order: ReadonlyArray<number>): ((row: number) => boolean) => {
  const { labels } = tree.facts
  const isLabeled = (row: number) => labels.has(tree.entryAt(row).id)
  switch (filter) {
    case "all":
      return () => true
    case "user":
      return (row) => Entry.role(tree.entryAt(row)) === "user"
    case "labeled":
      return isLabeled
    case "errors":
      return (row) => isError(tree.entryAt(row))
    case "turns": {
      const on = goesOn(tree, order)
      return (row) => {
        const entry = tree.entryAt(row)
        if (standsAlone(entry) || isLabeled(row)) return true
        return isReply(entry) && (on[row] === 0 || isError(entry))
      }
    }
  }
}

const toolCalls = (entry: Entry.Entry): number =>
  isReply(entry) && isObject(entry.message) ? toolCallsOf(entry.message.content).length : 0

export const make = (tree: SessionTree, filter: Filter): TreeView => {
  const order = topDown(tree)
  const isShown = shownBy(tree, filter, order)
  const shown = new Uint8Array(tree.rowCount)
  const parents = new Int32Array(tree.rowCount).fill(NONE)
  const hidden = new Int32Array(tree.rowCount)
  const tools = new Int32Array(tree.rowCount)
  for (const row of order) {
    const above = tree.shownParentRow(row)
    shown[row] = isShown(row) ? 1 : 0
    tools[row] = toolCalls(tree.entryAt(row))
    if (above === NONE) continue
    parents[row] = shown[above] === 1 ? above : parents[above]!
    if (shown[above] === 1) continue
    hidden[row] = hidden[above]! + 1
    // Tools used before the reply that ends the turn are told with it, but only on the way it took.
    if (tree.childRows(above).length === 1 && !standsAlone(tree.entryAt(above))) tools[row]! += tools[above]!
  }
  const rows: Array<number> = []
  const children = new Map<number, Array<number>>([[NONE, []]])
  for (const row of tree.rows()) {
    if (shown[row] === 0) continue
    rows.push(row)
    const siblings = children.get(parents[row]!)
    if (siblings === undefined) children.set(parents[row]!, [row])
    else siblings.push(row)
  }
  for (const [parent, siblings] of children) if (parent !== NONE && siblings.length > 1) sortByTime(tree, siblings)
  return {
    tree,
    filter,
    rows,
    parentOf: (row) => parents[row] ?? NONE,
    childrenOf: (row) => children.get(row) ?? [],
    hiddenAbove: (row) => hidden[row] ?? 0,
    toolsOf: (row) => (isReply(tree.entryAt(row)) ? (tools[row] ?? 0) : 0),
    nearest: (row) => {
      const from = row !== NONE && tree.isMarkAt(row) ? tree.shownParentRow(row) : row
      return from === NONE || shown[from] === 1 ? from : (parents[from] ?? NONE)
    }
  }
}

const sortByTime = (tree: SessionTree, rows: Array<number>): void => {
  const times = new Map(rows.map((row) => [row, Entry.time(tree.entryAt(row).timestamp)]))
  rows.sort((a, b) => times.get(a)! - times.get(b)! || a - b)
}
