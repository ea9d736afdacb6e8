/** The selected entry in full: its text, when it was said, who answered, what its turn cost. */
import { type Entry, isObject, NONE, Preview, type SessionTree, TreeUsage, Usage } from "@grove/core/model"
import * as Row from "./Row.ts"
import * as Sheet from "./Sheet.ts"
import * as TreeRows from "./TreeRows.ts"
import * as TreeState from "./TreeState.ts"
import type { World } from "./View.ts"
import * as Words from "./Words.ts"

/** More rows than any turn of a person has, so that a strange session cannot make the preview slow. */
const MOST_IN_TURN = 1000

/** The replies that answer a prompt, or the replies up to this one that belong to its turn. */
const turnRows = (tree: SessionTree, row: number): ReadonlyArray<number> => {
  const isPrompt = tree.roleAt(row) === "user"
  const step = isPrompt ? (at: number) => tree.onlyChildRow(at) : (at: number) => tree.shownParentRow(at)
  const rows = isPrompt ? [] : [row]
  for (let at = step(row); at !== NONE && rows.length < MOST_IN_TURN; at = step(at)) {
    if (tree.roleAt(at) === "user" || tree.typeAt(at) === "compaction") break
    rows.push(at)
  }
  return rows
}

const modelOf = (entry: Entry.Entry): string | null =>
  isObject(entry.message) && typeof entry.message.model === "string" ? entry.message.model : null

const enterHint = ({ session, lines }: TreeState.State, row: number): string => {
  if (lines.place === "stash") return "Enter: bring it back"
  if (session.tree.roleAt(row) !== "user") return "Enter: go on from here"
  return session.tree.shownParentRow(row) === NONE ? "Enter: edit and start over" : "Enter: edit and resend from here"
}

export const detailsOf = (state: TreeState.State, world: World, row: number): ReadonlyArray<string> => {
  const { tree } = state.session
  const { entry } = TreeRows.knownAt(state.lines, row)
  const turn = tree.entriesAt([...turnRows(tree, row)].sort((a, b) => a - b))
  const requests = turn.flatMap((each) => TreeUsage.ofEntry(each, world.price) ?? [])
  const models = [...new Set(turn.flatMap((each) => modelOf(each) ?? []))]
  const rating = tree.facts.annotations.get(entry.id)?.rating ?? null
  return [
    Words.clock(tree.timeAt(row), world.now),
    models.join(", "),
    requests.length === 0 ? "" : Words.cost(requests.reduce(Usage.add, Usage.zero).costMicros),
    entry.id.slice(-8),
    tree.edits.disabled.has(entry.id) ? "muted" : "",
    rating === null ? "" : `rated ${rating}/5`,
    enterHint(state, row)
  ].filter((fact) => fact !== "")
}

export const previewRows = (state: TreeState.State, columns: number, height: number): ReadonlyArray<Row.Row> => {
  const row = TreeState.selectedRow(state)
  if (row === NONE || height <= 0) return []
  const { entry } = TreeRows.knownAt(state.lines, row)
  const text = Preview.textOfEntry(entry) || `(${entry.type})`
  const { rows, hasMore } = Sheet.paragraph(text, columns, state.scrolled, height)
  return hasMore
    ? [...rows.slice(0, -1), Row.fill(rows.at(-1) ?? Row.empty, columns - 2).concat(Row.span(" …", "dim"))]
    : rows
}
