/** A tree drawn as text, by the trunk rule, for a terminal of any width. */
import { Ids, Preview, type SessionTree, TreeLayout, TreeRow, TreeView, Width } from "@grove/core/model"
import type { Style } from "./Style.ts"

export interface Options {
  readonly columns: number
  readonly now: number
  readonly style: Style
  /** Each row begins with what an entry is named by. */
  readonly ids?: boolean
}

const ID_COLUMNS = 8
const GAP = " ".repeat(TreeRow.GAP_COLUMNS)

/** The side branches around a row. Of more than fit, the nearest are drawn. */
const bars = (depth: number, { columns, style: { symbols } }: Options): string =>
  TreeRow.barsOf(depth, TreeRow.shiftOf(depth, columns), symbols)

/** What stands at the right edge, as much as there is room for. */
const remarks = (
  row: TreeLayout.LayoutRow,
  view: TreeView.TreeView,
  { now, style: { symbols, line } }: Options,
  room: number
): string => {
  const { tree } = view
  const tools = row.folded ? 0 : view.toolsOf(row.row)
  const given = { tree, row, entry: tree.entryAt(row.row), tools, isForked: false, now, symbols, line }
  const here = row.here ? [{ kind: "here", text: symbols.arrow } as const] : []
  return TreeRow.remarksOf(given, room, ...here)
    .map(({ text }) => text)
    .join(GAP)
}

const drawRow = (
  row: TreeLayout.LayoutRow,
  isLastRoot: boolean,
  view: TreeView.TreeView,
  given: Options
): ReadonlyArray<string> => {
  const { style } = given
  const { symbols } = style
  const entry = view.tree.entryAt(row.row)
  const name = given.ids === true ? `${Width.pad(Preview.line(Ids.short(entry.id), ID_COLUMNS), ID_COLUMNS)}  ` : ""
  const columns = given.columns - name.length
  const options = { ...given, columns }
  const isOff = view.tree.facts.disabled.has(entry.id)
  const speaker = TreeRow.speakerOf(entry)
  const before = `${bars(row.depth, options)}${TreeRow.signOf(row, entry, isLastRoot, symbols)}`
  const left = `${before}${speaker === "" ? "" : speaker.padEnd(TreeRow.SPEAKER_COLUMNS)}`
  const sign = isOff ? `${symbols.hidden} ` : ""
  const room = columns - Width.of(left) - Width.of(sign)
  const full = TreeRow.wordsOf(entry, columns, symbols)
  const right = remarks(row, view, options, room - Math.min(Width.of(full), TreeRow.textColumns(columns)))
  const text = style.line(full, right === "" ? room : room - Width.of(right) - GAP.length)
  const said = isOff ? style.dim(`${sign}${text}`) : text
  const gap = " ".repeat(room - Width.of(text) - Width.of(right))
  const line = right === "" ? `${left}${said}` : `${left}${said}${gap}${style.dim(right)}`
  const isGap = row.hiddenAbove > 0 && view.filter !== "turns" && row.kind === "trunk"
  const above = isGap
    ? [
        `${" ".repeat(name.length)}${bars(row.depth, options)}${style.dim(`${symbols.hidden} ${row.hiddenAbove} hidden`)}`
      ]
    : []
  return [...above, `${style.dim(name)}${line}`.trimEnd()]
}

export const draw = (
  tree: SessionTree,
  filter: TreeView.Filter,
  layout: Omit<TreeLayout.Options, "unfolded"> & { readonly unfoldAll: boolean },
  options: Options
): { readonly lines: ReadonlyArray<string>; readonly folded: number } => {
  const view = TreeView.make(tree, filter, { forks: filter !== "turns" })
  const rows = TreeLayout.layout(view, { leaf: layout.leaf, unfolded: () => layout.unfoldAll })
  const lastRoot = rows.findLast((row) => row.isRoot)
  return {
    lines: rows.flatMap((row) => drawRow(row, row === lastRoot && row.folded, view, options)),
    folded: rows.filter((row) => row.folded).length
  }
}
