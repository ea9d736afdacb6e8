/** The rows of the tree on the screen. Bodies are read for what is in sight, and once. */
import { Entry, Preview, TreeLayout, TreeRow, Width } from "@grove/core/model"
import * as Row from "./Row.ts"
import * as TreeLines from "./TreeLines.ts"
import * as TreeSearch from "./TreeSearch.ts"
import * as TreeState from "./TreeState.ts"
import type { World } from "./View.ts"
import * as Words from "./Words.ts"

/** What stands left of a row's own columns: the sign of the selected one. */
const SELECT_COLUMNS = 1
/** The right edge: a time, or where the person is. */
const EDGE_COLUMNS = 8

/** What drawing a row takes from the medium. */
interface Known {
  readonly entry: Entry.Entry
  /** Tools that the turn used. */
  readonly tools: number
}

/** Rows that were drawn already: a body is read once, not with every key. Forgotten with the plan they belong to. */
const known = new WeakMap<TreeLayout.Plan, Map<number, Known>>()
const MOST_KNOWN = 4096

export const knownAt = ({ plan }: TreeLines.TreeLines, row: number): Known => {
  const rows = known.get(plan) ?? new Map<number, Known>()
  const before = rows.get(row)
  if (before !== undefined) return before
  if (rows.size >= MOST_KNOWN) rows.clear()
  const found = { entry: plan.view.tree.entryAt(row), tools: plan.view.toolsOf(row) }
  known.set(plan, rows.set(row, found))
  return found
}

interface Drawing {
  readonly state: TreeState.State
  readonly world: World
  readonly columns: number
  /** Columns of side branches that all rows leave out at the left, so that every row keeps room for its text. */
  readonly shift: number
}

const STYLES: { readonly [Kind in TreeRow.Remark["kind"]]: Row.Style } = {
  label: "accent",
  rating: "dim",
  tools: "dim",
  forked: "accent",
  error: "error",
  size: "dim",
  match: "match",
  here: "accent"
}

const forkedRows = new WeakMap<TreeLines.TreeLines, { readonly of: object; readonly rows: ReadonlySet<number> }>()

/** Whether another session was forked from what a row stands for: an entry, a turn, or a folded branch. */
const isForked = ({ forks, lines, session: { tree } }: TreeState.State, row: number): boolean => {
  if (forks.size === 0) return false
  const before = forkedRows.get(lines)
  if (before?.of === forks) return before.rows.has(row)
  const rows = new Set([...forks].map((id) => TreeLines.drawnOf(lines, TreeLines.standsFor(lines, tree.rowOf(id)))))
  forkedRows.set(lines, { of: forks, rows })
  return rows.has(row)
}

/** What stands before the right edge, as much as there is room for. */
const remarksOf = (drawing: Drawing, row: TreeLayout.LayoutRow, entry: Entry.Entry, room: number): Row.Row => {
  const { state, world } = drawing
  const { tree } = state.session
  const given = {
    tree,
    row,
    entry,
    tools: row.folded ? 0 : knownAt(state.lines, row.row).tools,
    isForked: isForked(state, row.row),
    now: world.now,
    symbols: world.symbols,
    line: Preview.line
  }
  const isHit = state.search?.hits.has(row.row) === true
  const isInside = isHit && !TreeSearch.wordsOf(tree, entry).toLowerCase().includes(TreeSearch.needleOf(state.search!))
  const inside = isInside ? [{ kind: "match", text: "found inside" } as const] : []
  return TreeRow.remarksOf(given, room, ...inside).flatMap(({ kind, text }) => [
    Row.span(" ".repeat(TreeRow.GAP_COLUMNS)),
    Row.span(text, STYLES[kind])
  ])
}

/** A text with what is searched for standing out; moved along if it would not be seen otherwise. */
const withMatch = (
  state: TreeState.State,
  entry: Entry.Entry,
  text: string,
  columns: number,
  style: Row.Style
): Row.Row => {
  const needle = state.search === null ? "" : TreeSearch.needleOf(state.search)
  const shown = Width.cut(text, columns)
  if (needle === "") return Row.row(shown, style)
  const at = shown.toLowerCase().indexOf(needle)
  if (at !== -1) return marked(shown, at, needle.length, style)
  const whole = TreeSearch.wordsOf(state.session.tree, entry)
  const inside = whole.toLowerCase().indexOf(needle)
  if (inside === -1) return Row.row(shown, style)
  const snippet = Preview.line(
    `…${whole.slice(Math.max(0, inside - Math.floor(columns / 3)), inside + columns * 2)}`,
    columns
  )
  const there = snippet.toLowerCase().indexOf(needle)
  return there === -1 ? Row.row(snippet, style) : marked(snippet, there, needle.length, style)
}

const marked = (text: string, at: number, length: number, style: Row.Style): Row.Row => [
  Row.span(text.slice(0, at), style),
  Row.span(text.slice(at, at + length), "match"),
  Row.span(text.slice(at + length), style)
]

const lineRow = (drawing: Drawing, line: number): Row.Row => {
  const { state, world, columns } = drawing
  const { lines, session } = state
  const { symbols } = world
  const at = TreeLines.rowAt(lines, line)
  const depth = lines.depths[line]!
  const select = line === state.selected ? symbols.select : " "
  if (TreeLines.isGap(lines, line)) {
    const hidden = lines.plan.view.hiddenAbove(at)
    return Row.row(
      ` ${TreeRow.barsOf(depth, drawing.shift, symbols)}${symbols.hidden} ${Words.count(hidden, "hidden", "hidden")}`,
      "dim"
    )
  }
  const { entry } = knownAt(lines, at)
  const row = TreeLayout.rowOf(lines.plan, at, depth, (head) => !TreeLines.isFolded(lines, head))
  const isLastRoot = row.isRoot && row.folded && line === lines.rows.length - 1
  const speaker = TreeRow.speakerOf(entry)
  const isOff = session.tree.edits.disabled.has(entry.id)
  const isMarked = state.marked.has(entry.id)
  const before: Row.Row = [
    Row.span(select, "accent"),
    Row.span(TreeRow.barsOf(depth, drawing.shift, symbols), "dim"),
    Row.span(TreeRow.signOf(row, entry, isLastRoot, symbols), row.here ? "accent" : "dim"),
    Row.span(speaker === "" ? "" : speaker.padEnd(TreeRow.SPEAKER_COLUMNS), speaker === "you" ? "you" : "ai"),
    ...(isMarked ? [Row.span(`${symbols.done} `, "accent")] : []),
    ...(isOff ? [Row.span(`${symbols.hidden} `, "dim")] : [])
  ]
  const isTimed = Entry.role(entry) === "user" && row.onPath
  const edge = row.here ? symbols.arrow : isTimed ? Words.clock(session.tree.timeAt(at), world.now) : ""
  const edgeColumns = columns < 60 && edge === "" ? 0 : EDGE_COLUMNS
  const room = Math.max(1, columns - Row.width(before) - edgeColumns)
  const words = TreeRow.wordsOf(entry, columns, symbols)
  const remarks = remarksOf(drawing, row, entry, room - Math.min(Width.of(words), TreeRow.textColumns(columns)))
  const text = withMatch(state, entry, words, Math.max(1, room - Row.width(remarks)), isOff ? "dim" : "plain")
  const spread = Row.spread([...before, ...text], remarks, columns - edgeColumns)
  const whole = [
    ...Row.fill(spread, columns - edgeColumns),
    Row.span(edge.padStart(edgeColumns), row.here ? "accent" : "dim")
  ]
  return line === state.selected ? Row.fill(whole, columns, "selected") : Row.fill(whole, columns)
}

/** One for all rows in sight, so that what stands below each other stays so. */
const shiftOf = ({ lines }: TreeState.State, from: number, to: number, columns: number): number => {
  let deepest = 0
  for (let line = from; line < to; line++) deepest = Math.max(deepest, lines.depths[line]!)
  return TreeRow.shiftOf(deepest, columns - SELECT_COLUMNS)
}

export const topOf = ({ lines, selected, top }: TreeState.State, height: number): number => {
  const most = Math.max(0, lines.rows.length - height)
  const least = Math.max(0, selected - height + 1)
  return Math.max(least, Math.min(top, selected, most))
}

/** Why there is nothing to see, and what to do. */
const emptyRows = (state: TreeState.State, columns: number): ReadonlyArray<Row.Row> => {
  const { tree } = state.session
  const why = () => {
    if (tree.size === 0) return "Nothing was said in this session yet. Esc goes back; type a prompt."
    switch (TreeState.filterOf(state)) {
      case "labeled":
        return "No entry has a label: l gives one. Tab shows other entries."
      case "errors":
        return state.session.tokens === null
          ? "Nothing failed as far as this was read; the rest is being read."
          : "Nothing failed here. Tab shows other entries."
      default:
        return "No entry passes this filter. Ctrl+O shows all."
    }
  }
  return Row.wrap(Row.row(why(), "dim"), columns - 2).map((row) => [Row.span(" "), ...row])
}

export const listRows = (
  state: TreeState.State,
  world: World,
  columns: number,
  height: number
): ReadonlyArray<Row.Row> => {
  const { lines } = state
  if (lines.rows.length === 0) return emptyRows(state, columns)
  const from = topOf(state, height)
  const to = Math.min(lines.rows.length, from + height)
  const drawing = { state, world, columns, shift: shiftOf(state, from, to, columns) }
  return Array.from({ length: to - from }, (_, i) => lineRow(drawing, from + i))
}
