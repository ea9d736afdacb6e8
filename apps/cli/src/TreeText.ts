/** A tree drawn as text, by the trunk rule, for a terminal of any width. */
import { Entry, Preview, type SessionTree, TreeLayout, TreeView, Width } from "@grove/core/model"
import type { Style } from "./Style.ts"
import * as Words from "./Words.ts"

export interface Options {
  readonly columns: number
  readonly now: number
  readonly style: Style
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

const gutter = (row: TreeLayout.LayoutRow, entry: Entry.Entry, isLastRoot: boolean, { symbols }: Style): string => {
  const columns = `${symbols.line} `.repeat(row.depth)
  if (row.kind === "side") {
    const fork = isLastRoot ? symbols.lastFork : symbols.fork
    return `${columns}${fork}${row.folded ? symbols.folded : symbols.unfolded} `
  }
  if (row.here) return `${columns}${symbols.here} `
  if (entry.type === "compaction" || entry.type === "branch_summary") return `${columns}${symbols.summary} `
  if (Entry.role(entry) !== "user") return `${columns}${symbols.line} `
  return `${columns}${row.onPath ? symbols.userOnPath : symbols.userOffPath} `
}

/** What stands at the right edge: label, tools, failure, size of a folded branch, where the person is. */
const remarks = (row: TreeLayout.LayoutRow, entry: Entry.Entry, view: TreeView.TreeView, options: Options): string => {
  const { style, now } = options
  const label = view.tree.facts.labels.get(entry.id)
  const tools = row.folded ? 0 : view.toolsOf(row.row)
  return [
    label === undefined ? "" : `[${Preview.line(label, 24)}]`,
    tools > 0 ? `${style.symbols.tools}${tools}` : "",
    TreeView.isError(entry) ? style.symbols.error : "",
    row.folded
      ? `${Words.count(row.entries, "entry", "entries")} · ${Words.count(row.leaves, "leaf", "leaves")} · ${Words.age(row.newest, now)}`
      : "",
    row.here ? style.symbols.arrow : ""
  ]
    .filter((remark) => remark !== "")
    .join("  ")
}

const drawRow = (
  row: TreeLayout.LayoutRow,
  isLastRoot: boolean,
  view: TreeView.TreeView,
  options: Options
): ReadonlyArray<string> => {
  const { style, columns } = options
  const entry = view.tree.entryAt(row.row)
  const isOff = view.tree.facts.disabled.has(entry.id)
  const left = `${gutter(row, entry, isLastRoot, style)}${speaker(entry).padEnd(SPEAKER_COLUMNS)}`
  const right = remarks(row, entry, view, options)
  const space = Math.max(columns - Width.of(left) - (right === "" ? 0 : Width.of(right) + 2), 12)
  const text = words(entry, isOff ? space - 2 : space)
  const said = isOff ? style.dim(`${style.symbols.hidden} ${text}`) : text
  const gap = " ".repeat(Math.max(0, columns - Width.of(left) - Width.of(text) - (isOff ? 2 : 0) - Width.of(right)))
  const line = right === "" ? `${left}${said}` : `${left}${said}${gap}${style.dim(right)}`
  const isGap = row.hiddenAbove > 0 && view.filter !== "turns" && row.kind === "trunk"
  const above = isGap
    ? [`${`${style.symbols.line} `.repeat(row.depth)}${style.dim(`${style.symbols.hidden} ${row.hiddenAbove} hidden`)}`]
    : []
  return [...above, line.trimEnd()]
}

export const draw = (
  tree: SessionTree,
  filter: TreeView.Filter,
  layout: Omit<TreeLayout.Options, "unfolded"> & { readonly unfoldAll: boolean },
  options: Options
): { readonly lines: ReadonlyArray<string>; readonly folded: number } => {
  const view = TreeView.make(tree, filter)
  const rows = TreeLayout.layout(view, { leaf: layout.leaf, unfolded: () => layout.unfoldAll })
  const lastRoot = rows.findLast((row) => row.isRoot)
  return {
    lines: rows.flatMap((row) => drawRow(row, row === lastRoot && row.folded, view, options)),
    folded: rows.filter((row) => row.folded).length
  }
}
