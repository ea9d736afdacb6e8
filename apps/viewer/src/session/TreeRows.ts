/** The rows of the tree pane: the same layout as in the terminal, the stash below it. */
import { type EntryId, NONE, type SessionTree, TreeLayout, TreeView } from "@grove/core/model"

export interface TreeRow extends TreeLayout.LayoutRow {
  readonly role: string | null
  readonly type: string
  readonly isFailed: boolean
  readonly tools: number
  /** Its number among its siblings, from 1, and how many those are: what a screen reader says. */
  readonly position: number
  readonly siblings: number
}

export type Line =
  | { readonly is: "row"; readonly row: TreeRow }
  | { readonly is: "gap"; readonly hidden: number; readonly depth: number }
  | { readonly is: "stash"; readonly fragments: number }

export interface Rows {
  readonly lines: ReadonlyArray<Line>
  readonly view: TreeView.TreeView
  readonly plan: TreeLayout.Plan
}

export const make = (
  tree: SessionTree,
  filter: TreeView.Filter,
  leaf: EntryId | null,
  isUnfolded: (id: EntryId) => boolean
): Rows => {
  const view = TreeView.make(tree, filter, { forks: true, skim: true })
  const plan = TreeLayout.plan(view, leaf)
  const unfolded = (row: number) => isUnfolded(tree.idAt(row)!)
  const lines: Array<Line> = []
  const push = (row: number, depth: number) => {
    const laid = TreeLayout.rowOf(plan, row, depth, unfolded)
    if (laid.hiddenAbove > 0 && filter !== "turns") lines.push({ is: "gap", hidden: laid.hiddenAbove, depth })
    const siblings = view.childrenOf(view.parentOf(row))
    lines.push({
      is: "row",
      row: {
        ...laid,
        role: tree.roleAt(row),
        type: tree.typeAt(row),
        isFailed: TreeView.isError(tree.entryAt(row)),
        tools: laid.folded ? 0 : view.toolsOf(row),
        position: Math.max(1, siblings.indexOf(row) + 1),
        siblings: Math.max(1, siblings.length)
      }
    })
  }
  TreeLayout.walk(plan, { rows: view.childrenOf(NONE), depth: 0 }, unfolded, push)
  if (view.fragments.length > 0) {
    lines.push({ is: "stash", fragments: view.fragments.length })
    TreeLayout.walk(plan, { rows: view.fragments.map(({ row }) => row), depth: 0 }, unfolded, push)
  }
  return { lines, view, plan }
}
