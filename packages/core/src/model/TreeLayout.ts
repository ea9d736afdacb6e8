/**
 * The trunk rule: of each entry's children one goes on in the same column, the one on the active path, else the
 * largest subtree, else the newest. The others are side branches, one step to the right, drawn at their fork. A step
 * right at least halves what is left, so depth stays below 2 + log2 n however often a person went back.
 */
import type { EntryId } from "./EntryId.ts"
import { NONE } from "./SessionTree.ts"
import type { TreeView } from "./TreeView.ts"

export interface LayoutRow {
  readonly id: EntryId
  /** Position of the entry in the tree, for callers that look it up. */
  readonly row: number
  /** Column: 0 for the trunk, one more for each side branch around the entry. */
  readonly depth: number
  /** `trunk`: goes on in its column. `side`: the head of a side branch, drawn in the column it leaves. */
  readonly kind: "trunk" | "side"
  /** A side branch of which only the head is drawn. */
  readonly folded: boolean
  /** On the path from the root to where the person stands. */
  readonly onPath: boolean
  readonly here: boolean
  /** Entries left out by the filter between this row and the one it hangs on. */
  readonly hiddenAbove: number
  /** Shown entries and ends of branches from here on, this one included, and the newest time among them. */
  readonly entries: number
  readonly leaves: number
  readonly newest: number
  readonly isRoot: boolean
}

export interface Options {
  /** Where the person stands. */
  readonly leaf: EntryId | null
  /** Heads of side branches that are drawn whole. */
  readonly unfolded?: (id: EntryId) => boolean
}

interface Measures {
  readonly entries: Int32Array
  readonly leaves: Int32Array
  readonly newest: Float64Array
}

const topDown = (view: TreeView): ReadonlyArray<number> => {
  const order = [...view.childrenOf(NONE)]
  for (let i = 0; i < order.length; i++) for (const child of view.childrenOf(order[i]!)) order.push(child)
  return order
}

const measure = (view: TreeView): Measures => {
  const size = view.tree.rowCount
  const entries = new Int32Array(size)
  const leaves = new Int32Array(size)
  const newest = new Float64Array(size)
  const order = topDown(view)
  for (let i = order.length - 1; i >= 0; i--) {
    const row = order[i]!
    const children = view.childrenOf(row)
    entries[row] = 1
    leaves[row] = children.length === 0 ? 1 : 0
    newest[row] = view.tree.timeAt(row)
    for (const child of children) {
      entries[row]! += entries[child]!
      leaves[row]! += leaves[child]!
      newest[row] = Math.max(newest[row]!, newest[child]!)
    }
  }
  return { entries, leaves, newest }
}

const pathOf = (view: TreeView, leaf: EntryId | null): { readonly here: number; readonly onPath: Uint8Array } => {
  const onPath = new Uint8Array(view.tree.rowCount)
  const here = view.nearest(view.tree.rowOf(leaf))
  for (let row = here; row !== NONE; row = view.parentOf(row)) onPath[row] = 1
  return { here, onPath }
}

/** The rows from top to bottom. Iterative and linear, for any depth and width. */
export const layout = (view: TreeView, { leaf, unfolded = () => false }: Options): ReadonlyArray<LayoutRow> => {
  const { entries, leaves, newest } = measure(view)
  const { here, onPath } = pathOf(view, leaf)
  const isBetterTrunk = (a: number, b: number): boolean => {
    if (onPath[a] !== onPath[b]) return onPath[a] === 1
    if (entries[a] !== entries[b]) return entries[a]! > entries[b]!
    return newest[a]! > newest[b]!
  }
  const trunkOf = (children: ReadonlyArray<number>): number =>
    children.reduce((best, child) => (best === NONE || isBetterTrunk(child, best) ? child : best), NONE)

  const rows: Array<LayoutRow> = []
  const draw = (row: number, depth: number, kind: "trunk" | "side", folded: boolean) => {
    rows.push({
      id: view.tree.idAt(row)!,
      row,
      depth,
      kind,
      folded,
      onPath: onPath[row] === 1,
      here: row === here,
      hiddenAbove: view.hiddenAbove(row),
      entries: entries[row]!,
      leaves: leaves[row]!,
      newest: newest[row]!,
      isRoot: view.parentOf(row) === NONE
    })
  }

  const roots = view.childrenOf(NONE)
  const mainRoot = trunkOf(roots)
  type Task = { readonly row: number; readonly depth: number; readonly kind: "trunk" | "side" }
  const tasks: Array<Task> = roots
    .map((row): Task => ({ row, depth: 0, kind: row === mainRoot ? "trunk" : "side" }))
    .reverse()
  while (tasks.length > 0) {
    const { row, depth, kind } = tasks.pop()!
    const folded = kind === "side" && !unfolded(view.tree.idAt(row)!)
    draw(row, depth, kind, folded)
    if (folded) continue
    const column = kind === "side" ? depth + 1 : depth
    const children = view.childrenOf(row)
    const trunk = trunkOf(children)
    if (trunk !== NONE) tasks.push({ row: trunk, depth: column, kind: "trunk" })
    for (let i = children.length - 1; i >= 0; i--) {
      if (children[i] !== trunk) tasks.push({ row: children[i]!, depth: column, kind: "side" })
    }
  }
  return rows
}
