/** Which entries of a tree a person sees, and how they hang together once the others are left out. */
import type * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { NONE } from "./EntryTable.ts"
import { isObject } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"

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
  /** The one shown child of a row, `NONE` if there is none or there are several. */
  readonly onlyChildOf: (row: number) => number
  /** The first shown rows of what edits have cut off, and the row at which each was cut off. */
  readonly fragments: ReadonlyArray<{ readonly row: number; readonly root: number }>
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
  const isExecution = role === "bashExecution" || role === "pythonExecution"
  return isExecution && (cancelled === true || (typeof exitCode === "number" && exitCode !== 0))
}

/** What a view needs to know of every row, read once. */
interface Notes {
  /** Replies: one row of a turn may stand for several. */
  readonly isReply: (row: number) => boolean
  /** Entries that begin or stand between turns; all others belong to the run of replies they are in. */
  readonly standsAlone: (row: number) => boolean
  readonly isError: (row: number) => boolean
  readonly toolCalls: (row: number) => number
}

export interface Options {
  /** Whether what passes the filter keeps the forks above it, as a drawing must. */
  readonly forks?: boolean
  /**
   * Reads next to no bodies, so that the largest session is shown at once. Of the replies in the middle of a turn only
   * those that another reply follows without a tool's result are looked at: the ones that failed and were tried again.
   */
  readonly skim?: boolean
  /** Entries that failed, where that is known already: the filter `errors` then reads nothing. */
  readonly errors?: ReadonlySet<EntryId>
}

const CAN_FAIL = new Set(["assistant", "toolResult", "bashExecution", "pythonExecution"])
const BATCH = 1024

const toolCallsIn = (entry: Entry.Entry): number =>
  isObject(entry.message) ? toolCallsOf(entry.message.content).length : 0

/** Reads bodies only where the row alone does not tell, and each of them once. */
const note = (
  tree: SessionTree,
  order: ReadonlyArray<number>,
  reads: (row: number) => boolean,
  failed: ReadonlySet<EntryId> = new Set()
): Notes => {
  const errors = new Uint8Array(tree.rowCount)
  for (const id of failed) if (tree.has(id)) errors[tree.rowOf(id)] = 1
  const silent = new Uint8Array(tree.rowCount)
  const isReply = (row: number) => tree.roleAt(row) === "assistant"
  const wanted = order.filter(reads)
  for (let from = 0; from < wanted.length; from += BATCH) {
    const rows = wanted.slice(from, from + BATCH).sort((a, b) => a - b)
    for (const [i, entry] of tree.entriesAt(rows).entries()) {
      const row = rows[i]!
      errors[row] = isError(entry) ? 1 : 0
      silent[row] = entry.type === "custom_message" && entry.display === false ? 1 : 0
    }
  }
  return {
    isReply,
    standsAlone: (row) => {
      const type = tree.typeAt(row)
      if (type === "message") return !isReply(row) && tree.roleAt(row) !== "toolResult"
      return type === "compaction" || type === "branch_summary" || (type === "custom_message" && silent[row] === 0)
    },
    isError: (row) => errors[row] === 1,
    toolCalls: (row) => (isReply(row) ? toolCallsIn(tree.entryAt(row)) : 0)
  }
}

/** For each row its only child, `NONE` if it has none or several; what edits have cut off is nobody's child. */
const onlyChildren = (tree: SessionTree, order: ReadonlyArray<number>): Int32Array => {
  const { cuts } = tree.edits
  const only = new Int32Array(tree.rowCount).fill(NONE)
  const several = new Uint8Array(tree.rowCount)
  for (const row of order) {
    const parent = tree.shownParentRow(row)
    if (parent === NONE || (cuts.size > 0 && cuts.has(row))) continue
    if (several[parent] === 0 && only[parent] === NONE) only[parent] = row
    else {
      only[parent] = NONE
      several[parent] = 1
    }
  }
  return only
}

/** Which bodies a view must have read before it knows its rows. */
const readsFor = (
  tree: SessionTree,
  filter: Filter,
  onlyChild: Int32Array,
  { skim = false, errors }: Options
): ((row: number) => boolean) => {
  if (filter !== "turns" && (filter !== "errors" || errors !== undefined)) return () => false
  const isNote = (row: number) => tree.typeAt(row) === "custom_message"
  if (!skim || filter === "errors") return (row) => isNote(row) || CAN_FAIL.has(tree.roleAt(row) ?? "")
  const isRetried = (row: number): boolean => {
    const child = onlyChild[row]!
    return child !== NONE && tree.roleAt(child) === "assistant"
  }
  return (row) => isNote(row) || (tree.roleAt(row) === "assistant" && isRetried(row))
}

/** Rows from which nothing but tool results and settings leads to another reply: their turn goes on. */
const goesOn = (tree: SessionTree, order: ReadonlyArray<number>, onlyChild: Int32Array, notes: Notes): Uint8Array => {
  const on = new Uint8Array(tree.rowCount)
  for (let i = order.length - 1; i >= 0; i--) {
    const row = order[i]!
    const child = onlyChild[row]!
    if (child === NONE) continue
    if (notes.isReply(child) || (!notes.standsAlone(child) && on[child] === 1)) on[row] = 1
  }
  return on
}

const shownBy = (
  tree: SessionTree,
  filter: Filter,
  order: ReadonlyArray<number>,
  onlyChild: Int32Array,
  notes: Notes
): ((row: number) => boolean) => {
  const labeled = new Set([...tree.facts.labels.keys()].map((id) => tree.rowOf(id)))
  switch (filter) {
    case "all":
      return () => true
    case "user":
      return (row) => tree.roleAt(row) === "user"
    case "labeled":
      return (row) => labeled.has(row)
    case "errors":
      return notes.isError
    case "turns": {
      const on = goesOn(tree, order, onlyChild, notes)
      return (row) =>
        notes.standsAlone(row) || labeled.has(row) || (notes.isReply(row) && (on[row] === 0 || notes.isError(row)))
    }
  }
}

/** What passes the filter, and the entries at which the ways to that part: without them branches would look like one. */
const withForks = (
  tree: SessionTree,
  order: ReadonlyArray<number>,
  passes: (row: number) => boolean
): ((row: number) => boolean) => {
  const leads = new Uint8Array(tree.rowCount)
  const parts = new Uint8Array(tree.rowCount)
  for (let i = order.length - 1; i >= 0; i--) {
    const row = order[i]!
    if (leads[row] === 0 && !passes(row)) continue
    const above = tree.shownParentRow(row)
    if (above === NONE) continue
    if (leads[above] === 1) parts[above] = 1
    leads[above] = 1
  }
  return (row) => passes(row) || parts[row] === 1
}

export const make = (tree: SessionTree, filter: Filter, options: Options = {}): TreeView => {
  const order = tree.topDownRows()
  const onlyChild = onlyChildren(tree, order)
  const notes = note(tree, order, readsFor(tree, filter, onlyChild, options), options.errors)
  const passes = shownBy(tree, filter, order, onlyChild, notes)
  const isShown = options.forks === true ? withForks(tree, order, passes) : passes
  const shown = new Uint8Array(tree.rowCount)
  const parents = new Int32Array(tree.rowCount).fill(NONE)
  const hidden = new Int32Array(tree.rowCount)
  const { cuts } = tree.edits
  /** The row at which a row is cut off from its shown parent. */
  const cutAt = new Int32Array(tree.rowCount).fill(NONE)
  for (const row of order) {
    const above = tree.shownParentRow(row)
    shown[row] = isShown(row) ? 1 : 0
    if (cuts.size > 0 && cuts.has(row)) cutAt[row] = row
    else if (above !== NONE && shown[above] === 0) cutAt[row] = cutAt[above]!
    if (above === NONE) continue
    parents[row] = shown[above] === 1 ? above : parents[above]!
    if (shown[above] === 0) hidden[row] = hidden[above]! + 1
  }
  const rows: Array<number> = []
  const fragments: Array<{ readonly row: number; readonly root: number }> = []
  /** The child of rows that have one; lists only for those with several, and for the roots. */
  const only = new Int32Array(tree.rowCount).fill(NONE)
  const several = new Map<number, Array<number>>([[NONE, []]])
  for (let row = 0; row < tree.rowCount; row++) {
    if (shown[row] === 0) continue
    rows.push(row)
    const parent = parents[row]!
    if (cutAt[row] !== NONE) fragments.push({ row, root: cutAt[row]! })
    else if (parent === NONE || several.has(parent)) several.get(parent)!.push(row)
    else if (only[parent] === NONE) only[parent] = row
    else {
      several.set(parent, [only[parent]!, row])
      only[parent] = NONE
    }
  }
  for (const [parent, siblings] of several) if (parent !== NONE) sortByTime(tree, siblings)
  /** Tools used before the reply that ends a turn are told with it, but only on the way it took. */
  const toolsBefore = (row: number): number => {
    let count = 0
    let above = tree.shownParentRow(row)
    while (above !== NONE && shown[above] === 0 && onlyChild[above] !== NONE && !notes.standsAlone(above)) {
      count += notes.toolCalls(above)
      above = tree.shownParentRow(above)
    }
    return count
  }
  const onlyChildOf = (row: number): number => (row === NONE ? NONE : (only[row] ?? NONE))
  return {
    tree,
    filter,
    rows,
    fragments,
    parentOf: (row) => parents[row] ?? NONE,
    childrenOf: (row) => {
      const child = onlyChildOf(row)
      return child === NONE ? (several.get(row) ?? []) : [child]
    },
    onlyChildOf,
    hiddenAbove: (row) => hidden[row] ?? 0,
    toolsOf: (row) => (notes.isReply(row) ? notes.toolCalls(row) + (filter === "turns" ? toolsBefore(row) : 0) : 0),
    nearest: (row) => {
      const from = row !== NONE && tree.isMarkAt(row) ? tree.shownParentRow(row) : row
      return from === NONE || shown[from] === 1 ? from : (parents[from] ?? NONE)
    }
  }
}

const sortByTime = (tree: SessionTree, rows: Array<number>): void => {
  if (rows.every((row, i) => i === 0 || tree.timeAt(rows[i - 1]!) <= tree.timeAt(row))) return
  const times = new Map(rows.map((row) => [row, tree.timeAt(row)]))
  rows.sort((a, b) => times.get(a)! - times.get(b)! || a - b)
}
