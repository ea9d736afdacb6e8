/** The tree on the screen: its lines, which one is selected, what is marked and asked; and getting from one to another. */
import { type EntryId, NONE, type TreeView } from "@grove/core/model"
import type * as Dialog from "./Dialog.ts"
import type * as Sheet from "./Sheet.ts"
import * as TreeLines from "./TreeLines.ts"
import type * as TreeSearch from "./TreeSearch.ts"
import type { Notice, SessionState, World } from "./View.ts"

/** What an answer is for. */
export type Purpose =
  | { readonly _tag: "Label"; readonly ids: ReadonlyArray<EntryId> }
  | { readonly _tag: "Leave"; readonly row: number }
  | { readonly _tag: "Instruct"; readonly row: number }
  | { readonly _tag: "Merge"; readonly branch: EntryId; readonly picked: ReadonlyArray<EntryId> }

export interface State {
  readonly session: SessionState
  readonly lines: TreeLines.TreeLines
  /** The selected line. */
  readonly selected: number
  /** The first line on the screen, unless the selected one would not be on it then. */
  readonly top: number
  readonly branches: number
  /** Entries from which other sessions were forked, as far as they are known. */
  readonly forks: ReadonlySet<EntryId>
  readonly marked: ReadonlySet<EntryId>
  readonly search: TreeSearch.TreeSearch | null
  readonly preview: "beside" | "whole" | "off"
  /** Rows of the preview that are scrolled past. */
  readonly scrolled: number
  readonly dialog: { readonly ask: Dialog.Dialog; readonly purpose: Purpose } | null
  readonly notice: Notice | null
  /** An edit was asked for, and it was not told yet what came of it. */
  readonly isEditing: boolean
  readonly showsKeys: boolean
}

export type Step = Sheet.Step<State>

export const open = ({ session }: World): State => {
  const lines = TreeLines.make(session, "turns", "tree", new Set())
  return {
    session,
    lines,
    selected: TreeLines.nearestLine(lines, lines.plan.here),
    top: Number.MAX_SAFE_INTEGER,
    branches: branchesOf(lines),
    forks: new Set(),
    marked: new Set(),
    search: null,
    preview: "beside",
    scrolled: 0,
    dialog: null,
    notice: null,
    isEditing: false,
    showsKeys: false
  }
}

const branchesOf = ({ plan }: TreeLines.TreeLines): number =>
  plan.view.childrenOf(NONE).reduce((sum, row) => sum + plan.sizeOf(row).leaves, 0)

export const selectedRow = ({ lines, selected }: State): number => TreeLines.rowAt(lines, selected)
export const filterOf = ({ lines }: State): TreeView.Filter => lines.plan.view.filter
export const idAt = ({ session }: State, row: number): EntryId => session.tree.idAt(row)!

/** To a line, past what only tells of a gap. */
export const toLine = (state: State, line: number, by: -1 | 1 = 1): State => {
  const { lines } = state
  let at = Math.max(0, Math.min(line, lines.rows.length - 1))
  while (at > 0 && at < lines.rows.length - 1 && TreeLines.isGap(lines, at)) at += by
  if (lines.rows.length > 0 && TreeLines.isGap(lines, at)) at += 1
  return at === state.selected ? state : { ...state, selected: at, scrolled: 0 }
}

/** Other lines, with the same row selected or the nearest one above it that is drawn. */
export const withLines = (state: State, lines: TreeLines.TreeLines, row = selectedRow(state)): State => {
  if (lines === state.lines) return state
  const shown = lines.plan === state.lines.plan ? row : TreeLines.standsFor(lines, row)
  return toLine({ ...state, lines }, TreeLines.nearestLine(lines, shown))
}

export const toRow = (state: State, row: number): State =>
  row === NONE ? state : toLine(state, TreeLines.nearestLine(state.lines, row))

/** To a row wherever it is, unfolding what it is in. */
export const reveal = (state: State, row: number): State => {
  const lines = TreeLines.reveal(state.lines, row)
  return toLine({ ...state, lines }, TreeLines.lineOf(lines, row))
}

export const remade = (
  state: State,
  {
    filter = filterOf(state),
    place = state.lines.place,
    session = state.session
  }: {
    readonly filter?: TreeView.Filter
    readonly place?: TreeLines.Place
    readonly session?: SessionState
  }
): State => {
  // Rows are those of a tree: in another one, of another session or in linear mode, the same entry has another.
  const row = session.tree.rowOf(state.session.tree.idAt(selectedRow(state)))
  const made = TreeLines.make(session, filter, place, state.lines.unfolded)
  const isBare = place === "stash" && made.plan.view.fragments.length === 0
  const lines = isBare ? TreeLines.lay(made.plan, "tree", made.unfolded) : made
  const search = state.search === null ? null : { ...state.search, at: 0, hits: new Set<number>() }
  const marked = new Set([...state.marked].filter((id) => session.tree.has(id)))
  const isOther = session !== state.session
  const next = { ...state, session, search, marked, ...(isOther ? { branches: branchesOf(lines) } : {}) }
  return withLines(next, lines, row)
}

export const filtered = (state: State, filter: TreeView.Filter): State =>
  filter === filterOf(state) ? state : remade(state, { filter })

export const stay = (state: State): Step => ({ state })
export const told = (state: State, text: string): State => ({ ...state, notice: { kind: "info", text } })
