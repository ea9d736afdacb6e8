/**
 * The trunk rule: of each entry's children one goes on in the same column, the one on the active path, else the
 * largest subtree, else the newest. The others are side branches, one step to the right, drawn at their fork. A step
 * right at least halves what is left, so depth stays below 2 + log2 n however often a person went back.
 */
import type { EntryId } from "./EntryId.ts"
import { NONE } from "./EntryTable.ts"
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

/** What a view comes to once it is measured: all that drawing any part of it needs. */
export interface Plan {
  readonly view: TreeView
  /** Where the person stands, or the nearest shown row above. */
  readonly here: number
  readonly isOnPath: (row: number) => boolean
  /** The head of a side branch; fragments are some, for whoever draws the stash. */
  readonly isSide: (row: number) => boolean
  /** Shown entries and ends of branches from a row on, itself included, and the newest time among them. */
  readonly sizeOf: (row: number) => Pick<LayoutRow, "entries" | "leaves" | "newest">
}

const parentsFirst = (view: TreeView): Int32Array => {
  const order = new Int32Array(view.rows.length)
  let count = 0
  for (const root of view.childrenOf(NONE)) order[count++] = root
  for (const { row } of view.fragments) order[count++] = row
  for (let i = 0; i < count; i++) {
    const only = view.onlyChildOf(order[i]!)
    if (only !== NONE) order[count++] = only
    else for (const child of view.childrenOf(order[i]!)) order[count++] = child
  }
  return order.subarray(0, count)
}

/** Measures a view. Iterative and linear, for any depth and width. */
export const plan = (view: TreeView, leaf: EntryId | null): Plan => {
  const size = view.tree.rowCount
  const entries = new Int32Array(size)
  const leaves = new Int32Array(size)
  const newest = new Float64Array(size)
  const sides = new Uint8Array(size)
  const onPath = new Uint8Array(size)
  const here = view.nearest(view.tree.rowOf(leaf))
  for (let row = here; row !== NONE; row = view.parentOf(row)) onPath[row] = 1
  const isBetterTrunk = (a: number, b: number): boolean => {
    if (onPath[a] !== onPath[b]) return onPath[a] === 1
    if (entries[a] !== entries[b]) return entries[a]! > entries[b]!
    return newest[a]! > newest[b]!
  }
  const chooseTrunk = (siblings: ReadonlyArray<number>): void => {
    let trunk = NONE
    for (const row of siblings) {
      sides[row] = 1
      if (trunk === NONE || isBetterTrunk(row, trunk)) trunk = row
    }
    if (trunk !== NONE) sides[trunk] = 0
  }
  const order = parentsFirst(view)
  const take = (row: number, child: number): void => {
    entries[row]! += entries[child]!
    leaves[row]! += leaves[child]!
    if (newest[child]! > newest[row]!) newest[row] = newest[child]!
  }
  for (let i = order.length - 1; i >= 0; i--) {
    const row = order[i]!
    entries[row] = 1
    newest[row] = view.tree.timeAt(row)
    const only = view.onlyChildOf(row)
    if (only !== NONE) {
      take(row, only)
      continue
    }
    const children = view.childrenOf(row)
    if (children.length === 0) leaves[row] = 1
    for (const child of children) take(row, child)
    chooseTrunk(children)
  }
  chooseTrunk(view.childrenOf(NONE))
  for (const { row } of view.fragments) sides[row] = 1
  return {
    view,
    here,
    isOnPath: (row) => onPath[row] === 1,
    isSide: (row) => sides[row] === 1,
    sizeOf: (row) => ({ entries: entries[row]!, leaves: leaves[row]!, newest: newest[row]! })
  }
}

/** Visits what is drawn of some rows of one column and of all that follows them, from top to bottom. */
export const walk = (
  { view, isSide }: Plan,
  from: { readonly rows: ReadonlyArray<number>; readonly depth: number },
  isUnfolded: (row: number) => boolean,
  visit: (row: number, depth: number) => void
): void => {
  const rows: Array<number> = []
  const depths: Array<number> = []
  /** What is pushed last is drawn first, so the trunk goes in before its side branches. */
  const push = (siblings: ReadonlyArray<number>, depth: number): void => {
    for (const wantsSide of [false, true]) {
      for (let i = siblings.length - 1; i >= 0; i--) {
        if (isSide(siblings[i]!) !== wantsSide) continue
        rows.push(siblings[i]!)
        depths.push(depth)
      }
    }
  }
  for (let i = from.rows.length - 1; i >= 0; i--) {
    rows.push(from.rows[i]!)
    depths.push(from.depth)
  }
  while (rows.length > 0) {
    const row = rows.pop()!
    const depth = depths.pop()!
    visit(row, depth)
    const isHead = isSide(row)
    if (isHead && !isUnfolded(row)) continue
    const column = isHead ? depth + 1 : depth
    const only = view.onlyChildOf(row)
    if (only === NONE) push(view.childrenOf(row), column)
    else {
      rows.push(only)
      depths.push(column)
    }
  }
}

/** A row as it is drawn in a column. */
export const rowOf = (planned: Plan, row: number, depth: number, isUnfolded: (row: number) => boolean): LayoutRow => {
  const { view } = planned
  const isSide = planned.isSide(row)
  return {
    id: view.tree.idAt(row)!,
    row,
    depth,
    kind: isSide ? "side" : "trunk",
    folded: isSide && !isUnfolded(row),
    onPath: planned.isOnPath(row),
    here: row === planned.here,
    hiddenAbove: view.hiddenAbove(row),
    ...planned.sizeOf(row),
    isRoot: view.parentOf(row) === NONE
  }
}

/** The rows from top to bottom. */
export const layout = (view: TreeView, { leaf, unfolded = () => false }: Options): ReadonlyArray<LayoutRow> => {
  const planned = plan(view, leaf)
  const isUnfolded = (row: number) => unfolded(view.tree.idAt(row)!)
  const rows: Array<LayoutRow> = []
  walk(planned, { rows: view.childrenOf(NONE), depth: 0 }, isUnfolded, (row, depth) =>
    rows.push(rowOf(planned, row, depth, isUnfolded))
  )
  return rows
}
