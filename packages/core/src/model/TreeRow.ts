/**
 * What a row of a drawn tree says, whoever draws it: who speaks, the words, the signs before them, and the remarks behind
 * them. What it looks like is left to text, terminal and browser.
 */
import * as Entry from "./Entry.ts"
import * as Figures from "./Figures.ts"
import * as Preview from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"
import type { Symbols } from "./Symbols.ts"
import type { LayoutRow } from "./TreeLayout.ts"
import * as TreeView from "./TreeView.ts"
import * as Width from "./Width.ts"

const SPEAKERS: { readonly [role: string]: string } = {
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

const TYPES: { readonly [type: string]: string } = {
  custom_message: "note",
  branch_summary: "was",
  compaction: "",
  model_change: "set",
  thinking_level_change: "set",
  mode_change: "set",
  label: "tag",
  session_info: "name",
  custom: "ext"
}

/** Who speaks in an entry, or what it does; a compaction says so itself. */
export const speakerOf = (entry: Entry.Entry): string => {
  const role = Entry.role(entry)
  return role === null ? (TYPES[entry.type] ?? "?") : (SPEAKERS[role] ?? "?")
}

const compacted = ({ tokensBefore, summary }: Entry.Entry, { becomes }: Symbols): string => {
  const before = typeof tokensBefore === "number" ? Figures.tokens(tokensBefore) : "?"
  const after = typeof summary === "string" ? Figures.tokens(Math.ceil(summary.length / 4)) : "?"
  return `compacted ${before} ${becomes} ${after} tokens`
}

/** What a row says in at most so many columns. */
export const wordsOf = (entry: Entry.Entry, columns: number, symbols: Symbols): string => {
  if (entry.type === "compaction") return Width.cut(compacted(entry, symbols), columns)
  if (!TreeView.isError(entry) || Entry.role(entry) !== "assistant") return Preview.ofEntry(entry, columns)
  const { stopReason } = entry.message as { readonly stopReason?: unknown }
  return Preview.line(`(${String(stopReason)}) ${Preview.textOfEntry(entry)}`, columns)
}

/** What stands before the words: where a branch begins, where the person is, whose row it is. */
export const signOf = (row: LayoutRow, entry: Entry.Entry, isLastRoot: boolean, symbols: Symbols): string => {
  if (row.kind === "side") {
    const fork = isLastRoot ? symbols.lastFork : symbols.fork
    return `${fork}${row.folded ? symbols.folded : symbols.unfolded} `
  }
  if (row.here) return `${symbols.here} `
  if (entry.type === "compaction" || entry.type === "branch_summary") return `${symbols.summary} `
  if (Entry.role(entry) !== "user") return `${symbols.line} `
  return `${row.onPath ? symbols.userOnPath : symbols.userOffPath} `
}

// -------------------------------------------------------------------------------------------------------- columns

export const SPEAKER_COLUMNS = 5
/** The widest sign before the speaker. */
const SIGN_COLUMNS = 3
const LEAST_TEXT_COLUMNS = 24

/** What a row keeps for its words, whatever else there is to draw. */
export const textColumns = (columns: number): number => Math.max(LEAST_TEXT_COLUMNS, Math.floor(columns / 2))

/** How many side branches around a row do not fit beside words that can be read, the sign of that included. */
export const shiftOf = (depth: number, columns: number): number => {
  const most = Math.floor((columns - textColumns(columns) - SPEAKER_COLUMNS - SIGN_COLUMNS) / 2)
  return depth <= most ? 0 : depth - Math.max(0, most - 1)
}

/** The side branches around a row, without the outermost `shift` of them. */
export const barsOf = (depth: number, shift: number, symbols: Symbols): string => {
  if (shift === 0) return `${symbols.line} `.repeat(depth)
  return `${symbols.more.slice(0, 1)} ${`${symbols.line} `.repeat(Math.max(0, depth - shift))}`
}

// -------------------------------------------------------------------------------------------------------- remarks

export interface Remark {
  readonly kind: "label" | "rating" | "tools" | "forked" | "error" | "size" | "match" | "here"
  readonly text: string
}

const LABEL_COLUMNS = 24
const LEAST_LABEL_COLUMNS = 4
/** Between two remarks, and before the first. */
export const GAP_COLUMNS = 2

/** A folded branch in figures. */
export const sizeOf = ({ entries, leaves, newest }: LayoutRow, now: number, { dot }: Symbols): string =>
  [Figures.count(entries, "entry", "entries"), Figures.count(leaves, "leaf", "leaves"), Figures.age(newest, now)].join(
    dot
  )

export interface Remarked {
  readonly tree: SessionTree
  readonly row: LayoutRow
  readonly entry: Entry.Entry
  /** Tools that were used in the turn that the row stands for. */
  readonly tools: number
  /** Whether another session was forked off here. */
  readonly isForked: boolean
  readonly now: number
  readonly symbols: Symbols
  /** A text cut to so many columns. */
  readonly line: (text: string, columns: number) => string
}

const factsOf = ({ tree, row, entry, tools, isForked, now, symbols }: Remarked): ReadonlyArray<Remark> => {
  const rating = tree.facts.annotations.get(entry.id)?.rating ?? null
  const facts: Array<Remark> = []
  if (tools > 0) facts.push({ kind: "tools", text: `${symbols.tools}${tools}` })
  if (rating !== null) facts.push({ kind: "rating", text: `${symbols.rating}${rating}` })
  if (isForked) facts.push({ kind: "forked", text: symbols.forked })
  if (TreeView.isError(entry)) facts.push({ kind: "error", text: symbols.error })
  if (row.kind === "side") facts.push({ kind: "size", text: sizeOf(row, now, symbols) })
  return facts
}

/**
 * What is said behind the words, as much as there is room for: `more` before all else, then the size of a branch, a
 * failure, and so on to the left. A label is cut before it gives way.
 */
export const remarksOf = (given: Remarked, room: number, ...more: ReadonlyArray<Remark>): ReadonlyArray<Remark> => {
  const kept: Array<Remark> = []
  let left = room
  for (const remark of [...factsOf(given), ...more].reverse()) {
    const columns = Width.of(remark.text) + GAP_COLUMNS
    if (columns > left) continue
    left -= columns
    kept.unshift(remark)
  }
  const label = given.tree.facts.labels.get(given.entry.id)
  const columns = Math.min(left - GAP_COLUMNS - "[]".length, LABEL_COLUMNS)
  return label === undefined || columns < LEAST_LABEL_COLUMNS
    ? kept
    : [{ kind: "label", text: `[${given.line(label, columns)}]` }, ...kept]
}
