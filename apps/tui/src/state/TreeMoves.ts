/** Moving in a tree by its shape: along it, to forks and siblings, into branches and out of them. */
import { NONE } from "@grove/core/model"
import * as TreeLines from "./TreeLines.ts"
import * as TreeState from "./TreeState.ts"

export const nextFork = (state: TreeState.State, by: -1 | 1): TreeState.State => {
  const { lines } = state
  for (let line = state.selected + by; line >= 0 && line < lines.rows.length; line += by) {
    if (!TreeLines.isGap(lines, line) && TreeLines.isFork(lines, TreeLines.rowAt(lines, line))) {
      return TreeState.toLine(state, line)
    }
  }
  return TreeState.told(state, by === 1 ? "no fork further down" : "no fork further up")
}

export const nextSibling = (state: TreeState.State, by: -1 | 1): TreeState.State => {
  const found = TreeLines.siblingsOf(state.lines, TreeState.selectedRow(state))
  if (found === undefined) return TreeState.told(state, "there is only one way here")
  return TreeState.toRow(state, found.rows[(found.index + by + found.rows.length) % found.rows.length]!)
}

export const left = (state: TreeState.State): TreeState.State => {
  const row = TreeState.selectedRow(state)
  const { lines } = state
  if (TreeLines.isHead(lines, row) && !TreeLines.isFolded(lines, row)) {
    return { ...state, lines: TreeLines.fold(lines, state.selected, true) }
  }
  const above = TreeLines.forkAbove(lines, row)
  return above === NONE ? TreeState.toLine(state, 0) : TreeState.toRow(state, above)
}

export const right = (state: TreeState.State): TreeState.State => {
  const row = TreeState.selectedRow(state)
  const { lines } = state
  if (TreeLines.isFolded(lines, row)) return { ...state, lines: TreeLines.fold(lines, state.selected, false) }
  return TreeLines.isHead(lines, row) ? TreeState.toLine(state, state.selected + 1) : state
}

export const move = (state: TreeState.State, by: number): TreeState.State =>
  TreeState.toLine(state, state.selected + by, by < 0 ? -1 : 1)
