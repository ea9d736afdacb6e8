/** Searching the full text of a tree: a piece at a time, so that a key never waits for a long session. */
import { type Entry, type EntryId, isObject, NONE, Preview, type SessionTree } from "@grove/core/model"
import * as Field from "./Field.ts"
import * as TreeLines from "./TreeLines.ts"

export interface TreeSearch {
  readonly field: Field.Field
  readonly isTyping: boolean
  /** How far the session has been read, as a row. */
  readonly at: number
  /** Shown rows that hold the text, or stand for an entry that does, as far as it has been read. */
  readonly hits: ReadonlySet<number>
  /** What was unfolded and selected before, to be restored. */
  readonly unfolded: ReadonlySet<EntryId>
  readonly from: number
}

/** Entries read at a time: well below what a person notices. */
export const STEP = 1000

export const begin = (lines: TreeLines.TreeLines, from: number): TreeSearch => ({
  field: Field.empty,
  isTyping: true,
  at: 0,
  hits: new Set(),
  unfolded: lines.unfolded,
  from
})

export const needleOf = ({ field }: TreeSearch): string => Field.textOf(field).trim().toLowerCase()

/** Another text to look for, from the beginning. */
export const typed = (search: TreeSearch, field: Field.Field): TreeSearch => {
  const next = { ...search, field }
  return needleOf(next) === needleOf(search) ? next : { ...next, at: 0, hits: new Set() }
}

/** All words of an entry: what was said, its label, what tools were called with. */
export const wordsOf = (tree: SessionTree, entry: Entry.Entry): string => {
  const calls = isObject(entry.message) ? Preview.toolCallsOf(entry.message.content) : []
  const called = calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given) ?? ""}`)
  return [Preview.textOfEntry(entry), tree.facts.labels.get(entry.id) ?? "", ...called].join("\n")
}

export const isDone = (search: TreeSearch, { plan }: TreeLines.TreeLines): boolean =>
  needleOf(search) === "" || search.at >= plan.view.tree.rowCount

/** Reads on for a while. */
export const proceed = (search: TreeSearch, lines: TreeLines.TreeLines): TreeSearch => {
  if (isDone(search, lines)) return search
  const { tree } = lines.plan.view
  const needle = needleOf(search)
  const order = TreeLines.orderOf(lines)
  const end = Math.min(search.at + STEP, tree.rowCount)
  const rows: Array<number> = []
  for (let row = search.at; row < end; row++) if (tree.isThere(row) && !tree.isMarkAt(row)) rows.push(row)
  const hits = new Set(search.hits)
  for (const [i, entry] of tree.entriesAt(rows).entries()) {
    if (!wordsOf(tree, entry).toLowerCase().includes(needle)) continue
    const shown = TreeLines.standsFor(lines, rows[i]!)
    if (shown !== NONE && order[shown] !== -1) hits.add(shown)
  }
  return { ...search, at: end, hits }
}

/** The match after or before a row, around the end if need be; with `orHere` the row itself counts. `NONE` without any. */
export const next = (
  search: TreeSearch,
  lines: TreeLines.TreeLines,
  row: number,
  by: -1 | 1,
  orHere = false
): number => {
  const order = TreeLines.orderOf(lines)
  const here = order[row] ?? -1
  const size = order.length
  // How far it is to a match in the direction asked for.
  const distance = (hit: number): number => {
    const steps = ((order[hit]! - here) * by + size) % size
    return steps === 0 && !orHere ? size : steps
  }
  let best = NONE
  for (const hit of search.hits) if (best === NONE || distance(hit) < distance(best)) best = hit
  return best
}
