/**
 * A tree as lines to scroll through: which entries are drawn, in which column, and where the filter left some out. Kept
 * flat, so that a screen takes its window of it and folding a branch replaces only that branch.
 */
import { type EntryId, NONE, TreeLayout, TreeView } from "@grove/core/model"
import type { SessionState } from "./View.ts"

export type Place = "tree" | "stash"

export interface TreeLines {
  readonly plan: TreeLayout.Plan
  readonly place: Place
  /** Heads of side branches that are drawn whole. */
  readonly unfolded: ReadonlySet<EntryId>
  /** The row of each line; a line that tells what is hidden above a row has `gapAbove(row)`. */
  readonly rows: Int32Array
  readonly depths: Uint16Array
}

const gapAbove = (row: number): number => -2 - row
export const isGap = ({ rows }: TreeLines, line: number): boolean => rows[line]! < NONE
/** The row of a line, or the one below a gap. */
export const rowAt = ({ rows }: TreeLines, line: number): number => {
  const row = rows[line] ?? NONE
  return row < NONE ? -2 - row : row
}

const hasGap = ({ view, isSide }: TreeLayout.Plan, row: number): boolean =>
  view.filter !== "turns" && view.hiddenAbove(row) > 0 && !isSide(row)

const rootsOf = ({ view }: TreeLayout.Plan, place: Place): ReadonlyArray<number> =>
  place === "tree" ? view.childrenOf(NONE) : view.fragments.map(({ row }) => row)

const draw = (
  plan: TreeLayout.Plan,
  unfolded: ReadonlySet<EntryId>,
  from: { readonly rows: ReadonlyArray<number>; readonly depth: number }
): Pick<TreeLines, "rows" | "depths"> => {
  const { tree } = plan.view
  const rows: Array<number> = []
  const depths: Array<number> = []
  const isUnfolded = (row: number) => unfolded.has(tree.idAt(row)!)
  TreeLayout.walk(plan, from, isUnfolded, (row, depth) => {
    if (hasGap(plan, row)) {
      rows.push(gapAbove(row))
      depths.push(depth)
    }
    rows.push(row)
    depths.push(depth)
  })
  return { rows: Int32Array.from(rows), depths: Uint16Array.from(depths) }
}

export const make = (
  { tree, leaf, errors }: Pick<SessionState, "tree" | "leaf" | "errors">,
  filter: TreeView.Filter,
  place: Place,
  unfolded: ReadonlySet<EntryId>
): TreeLines =>
  lay(TreeLayout.plan(TreeView.make(tree, filter, { skim: true, forks: true, errors }), leaf), place, unfolded)

/** The same tree with other branches unfolded. */
export const lay = (plan: TreeLayout.Plan, place: Place, unfolded: ReadonlySet<EntryId>): TreeLines => ({
  plan,
  place,
  unfolded,
  ...draw(plan, unfolded, { rows: rootsOf(plan, place), depth: 0 })
})

/** Lines from `from` to `to` replaced by others. */
const splice = (lines: TreeLines, from: number, to: number, by: Pick<TreeLines, "rows" | "depths">) => {
  const length = lines.rows.length - (to - from) + by.rows.length
  const rows = new Int32Array(length)
  const depths = new Uint16Array(length)
  rows.set(lines.rows.subarray(0, from))
  depths.set(lines.depths.subarray(0, from))
  rows.set(by.rows, from)
  depths.set(by.depths, from)
  rows.set(lines.rows.subarray(to), from + by.rows.length)
  depths.set(lines.depths.subarray(to), from + by.rows.length)
  return { rows, depths }
}

export const isHead = ({ plan }: TreeLines, row: number): boolean => plan.isSide(row)

export const isFolded = ({ plan, unfolded }: TreeLines, row: number): boolean =>
  plan.isSide(row) && !unfolded.has(plan.view.tree.idAt(row)!)

/** Where the branch that begins at a line ends: the first line after it. */
const endOf = ({ depths }: TreeLines, line: number): number => {
  let end = line + 1
  while (end < depths.length && depths[end]! > depths[line]!) end++
  return end
}

/** The head of a side branch at a line, drawn whole or folded. */
export const fold = (lines: TreeLines, line: number, folds: boolean): TreeLines => {
  const row = rowAt(lines, line)
  if (isGap(lines, line) || !isHead(lines, row) || isFolded(lines, row) === folds) return lines
  const id = lines.plan.view.tree.idAt(row)!
  const unfolded = new Set(lines.unfolded)
  if (folds) unfolded.delete(id)
  else unfolded.add(id)
  const branch = draw(lines.plan, unfolded, { rows: [row], depth: lines.depths[line]! })
  return { ...lines, unfolded, ...splice(lines, line, endOf(lines, line), branch) }
}

/** The line of a row, -1 if it is not drawn. */
export const lineOf = ({ rows }: TreeLines, row: number): number => (row === NONE ? -1 : rows.indexOf(row))

/** A row is drawn unless one above it is folded: the topmost of those is what is drawn instead. */
export const drawnOf = (lines: TreeLines, row: number): number => {
  const { view } = lines.plan
  let drawn = row
  for (let at = row; at !== NONE; at = view.parentOf(at)) if (isFolded(lines, at)) drawn = at
  return drawn
}

/** The line of a row, or of the nearest row above it that is drawn; 0 if none is. */
export const nearestLine = (lines: TreeLines, row: number): number => Math.max(0, lineOf(lines, drawnOf(lines, row)))

/** With every branch unfolded that a row is in. */
export const reveal = (lines: TreeLines, row: number): TreeLines => {
  const heads: Array<EntryId> = []
  const { view } = lines.plan
  for (let at = view.parentOf(row); at !== NONE; at = view.parentOf(at)) {
    if (isFolded(lines, at)) heads.push(view.tree.idAt(at)!)
  }
  return heads.length === 0 ? lines : lay(lines.plan, lines.place, new Set([...lines.unfolded, ...heads]))
}

/** A turn has seldom more entries; in a longer one what is hidden is told with the prompt. */
const MOST_IN_TURN = 1000

/** The shown row that tells of a row: itself, the reply that ends its turn, or the nearest one above. */
export const standsFor = ({ plan: { view } }: TreeLines, row: number): number => {
  const above = view.nearest(row)
  if (above === row || view.filter !== "turns") return above
  let at = row
  for (let steps = 0; steps < MOST_IN_TURN && at !== NONE && view.nearest(at) !== at; steps++) {
    at = view.tree.onlyChildRow(at)
  }
  return at !== NONE && view.nearest(at) === at && view.tree.roleAt(at) === "assistant" ? at : above
}

const positions = new WeakMap<TreeLayout.Plan, { readonly [P in Place]?: Int32Array }>()

/** Where each row would stand if nothing were folded, -1 for what is not in this place: the order in which matches are found. */
export const orderOf = ({ plan, place }: TreeLines): Int32Array => {
  const known = positions.get(plan)?.[place]
  if (known !== undefined) return known
  const order = new Int32Array(plan.view.tree.rowCount).fill(-1)
  let next = 0
  TreeLayout.walk(
    plan,
    { rows: rootsOf(plan, place), depth: 0 },
    () => true,
    (row) => {
      order[row] = next++
    }
  )
  positions.set(plan, { ...positions.get(plan), [place]: order })
  return order
}

/** The nearest row, itself included, that others stand beside; with them in order. */
export const siblingsOf = (
  { plan: { view }, place }: TreeLines,
  row: number
): { readonly rows: ReadonlyArray<number>; readonly index: number } | undefined => {
  for (let at = row; at !== NONE; at = view.parentOf(at)) {
    const rows = place === "stash" && view.parentOf(at) === NONE ? [] : view.childrenOf(view.parentOf(at))
    if (rows.length > 1 && rows.includes(at)) return { rows, index: rows.indexOf(at) }
  }
  return undefined
}

export const isFork = ({ plan: { view } }: TreeLines, row: number): boolean =>
  view.onlyChildOf(row) === NONE && view.childrenOf(row).length > 1

/** Where the trunk of what follows a row ends. */
export const endBelow = ({ plan: { view, isSide } }: TreeLines, row: number): number => {
  let end = row
  for (let next = row; next !== NONE; ) {
    end = next
    const only = view.onlyChildOf(next)
    next = only === NONE ? (view.childrenOf(next).find((child) => !isSide(child)) ?? NONE) : only
  }
  return end
}

/** The head of the side branch that a row is in, or the fork above it; `NONE` if there is neither. */
export const forkAbove = (lines: TreeLines, row: number): number => {
  const { view } = lines.plan
  let at = view.parentOf(row)
  while (at !== NONE && !isHead(lines, at) && !isFork(lines, at)) at = view.parentOf(at)
  return at
}
