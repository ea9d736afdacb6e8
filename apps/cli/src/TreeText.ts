/** A tree drawn as text, by the trunk rule, for a terminal of any width. */
import { Entry, Ids, Preview, type SessionTree, TreeLayout, TreeView, Width } from "@grove/core/model"
import type { Style } from "./Style.ts"
import * as Words from "./Words.ts"

export interface Options {
  readonly columns: number
  readonly now: number
  readonly style: Style
  /** Each row begins with what an entry is named by. */
  readonly ids?: boolean
}

const speakers: { readonly [role: string]: string } = {
  user: "you",
  assistant: "ai",
  toolResult: "tool",
  bashExecution: "run",
  pythonExecution: "run",
  custom: "note",
  system: "sys",
  developer: "sys",
  fileMention: "file"
}

const types: { readonly [type: string]: string } = {
  custom_message: "note",
  branch_summary: "was",
  compaction: "cut",
  model_change: "set",
  thinking_level_change: "set",
  mode_change: "set",
  label: "tag",
  session_info: "name",
  custom: "ext"
}

const SPEAKER_COLUMNS = 5
/** The widest sign between the columns of a row and its speaker. */
const SIGN_COLUMNS = 3
const GAP_COLUMNS = 2
const LEAST_TEXT_COLUMNS = 24
const LABEL_COLUMNS = 24
const ID_COLUMNS = 8
const LEAST_LABEL_COLUMNS = 4

/** What a row keeps for its text, whatever else there is to draw. */
const textColumns = (columns: number): number => Math.max(LEAST_TEXT_COLUMNS, Math.floor(columns / 2))

const speaker = (entry: Entry.Entry): string => {
  const role = Entry.role(entry)
  return role === null ? (types[entry.type] ?? "?") : (speakers[role] ?? "?")
}

const words = (entry: Entry.Entry, columns: number): string => {
  const text = Preview.ofEntry(entry, columns)
  if (!TreeView.isError(entry) || Entry.role(entry) !== "assistant") return text
  const { stopReason } = entry.message as { readonly stopReason?: unknown }
  return Preview.line(`(${String(stopReason)}) ${Preview.textOfEntry(entry)}`, columns)
}

/** The side branches around a row. Of more than fit, the nearest are drawn. */
const bars = (depth: number, { columns, style: { symbols } }: Options): string => {
  const most = Math.floor((columns - textColumns(columns) - SPEAKER_COLUMNS - SIGN_COLUMNS) / 2)
  if (depth <= most) return `${symbols.line} `.repeat(depth)
  return symbols.more.slice(0, 2).padEnd(2) + `${symbols.line} `.repeat(most - 1)
}

const gutter = (row: TreeLayout.LayoutRow, entry: Entry.Entry, isLastRoot: boolean, options: Options): string => {
  const { symbols } = options.style
  const columns = bars(row.depth, options)
  if (row.kind === "side") {
    const fork = isLastRoot ? symbols.lastFork : symbols.fork
    return `${columns}${fork}${row.folded ? symbols.folded : symbols.unfolded} `
  }
  if (row.here) return `${columns}${symbols.here} `
  if (entry.type === "compaction" || entry.type === "branch_summary") return `${columns}${symbols.summary} `
  if (Entry.role(entry) !== "user") return `${columns}${symbols.line} `
  return `${columns}${row.onPath ? symbols.userOnPath : symbols.userOffPath} `
}

const sizeOf = (row: TreeLayout.LayoutRow, { style, now }: Options): string =>
  [
    Words.count(row.entries, "entry", "entries"),
    Words.count(row.leaves, "leaf", "leaves"),
    Words.age(row.newest, now)
  ].join(style.symbols.dot)

/**
 * What stands at the right edge: label, tools, rating, failure, size of a folded branch, where the person is. As much as
 * there is room for, the last of these first.
 */
const remarks = (
  row: TreeLayout.LayoutRow,
  entry: Entry.Entry,
  view: TreeView.TreeView,
  options: Options,
  room: number
): string => {
  const { symbols, line } = options.style
  const kept: Array<string> = []
  let left = room
  const add = (remark: string) => {
    const columns = Width.of(remark) + GAP_COLUMNS
    if (columns > left) return
    left -= columns
    kept.unshift(remark)
  }
  const tools = row.folded ? 0 : view.toolsOf(row.row)
  const label = view.tree.facts.labels.get(entry.id)
  if (row.here) add(symbols.arrow)
  if (row.folded) add(sizeOf(row, options))
  if (TreeView.isError(entry)) add(symbols.error)
  const rating = view.tree.facts.annotations.get(entry.id)?.rating ?? null
  if (rating !== null) add(`${symbols.rating}${rating}`)
  if (tools > 0) add(`${symbols.tools}${tools}`)
  const labelRoom = Math.min(left - GAP_COLUMNS - "[]".length, LABEL_COLUMNS)
  if (label !== undefined && labelRoom >= LEAST_LABEL_COLUMNS) add(`[${line(label, labelRoom)}]`)
  return kept.join(" ".repeat(GAP_COLUMNS))
}

const drawRow = (
  row: TreeLayout.LayoutRow,
  isLastRoot: boolean,
  view: TreeView.TreeView,
  given: Options
): ReadonlyArray<string> => {
  const { style } = given
  const entry = view.tree.entryAt(row.row)
  const name = given.ids === true ? `${Width.pad(Preview.line(Ids.short(entry.id), ID_COLUMNS), ID_COLUMNS)}  ` : ""
  const columns = given.columns - name.length
  const options = { ...given, columns }
  const isOff = view.tree.facts.disabled.has(entry.id)
  const left = `${gutter(row, entry, isLastRoot, options)}${speaker(entry).padEnd(SPEAKER_COLUMNS)}`
  const sign = isOff ? `${style.symbols.hidden} ` : ""
  const room = columns - Width.of(left) - Width.of(sign)
  const full = words(entry, columns)
  const right = remarks(row, entry, view, options, room - Math.min(Width.of(full), textColumns(columns)))
  const text = style.line(full, right === "" ? room : room - Width.of(right) - GAP_COLUMNS)
  const said = isOff ? style.dim(`${sign}${text}`) : text
  const gap = " ".repeat(room - Width.of(text) - Width.of(right))
  const line = right === "" ? `${left}${said}` : `${left}${said}${gap}${style.dim(right)}`
  const isGap = row.hiddenAbove > 0 && view.filter !== "turns" && row.kind === "trunk"
  const above = isGap
    ? [
        `${" ".repeat(name.length)}${bars(row.depth, options)}${style.dim(`${style.symbols.hidden} ${row.hiddenAbove} hidden`)}`
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
