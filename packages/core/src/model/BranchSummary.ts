/** What is left behind by going to another branch, and how much of it a summary can be made from. */
import * as ContextBuilder from "./ContextBuilder.ts"
import type { EntryId } from "./EntryId.ts"
import * as FileLists from "./FileLists.ts"
import type { Json } from "./open.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Tokens from "./Tokens.ts"

/** The window assumed where nobody knows it. */
export const ASSUMED_WINDOW = 128_000

export interface Abandoned {
  /** The deepest entry that both paths share. */
  readonly ancestor: EntryId | null
  /** What lies below it on the way to the old leaf, oldest first, marks included. */
  readonly rows: ReadonlyArray<number>
}

/** What the path to `to` no longer holds of the path to `from`. */
export const abandoned = (tree: SessionTree, from: string | null, to: string | null): Abandoned => {
  if (from === null) return { ancestor: null, rows: [] }
  const ancestor = to === null ? null : tree.commonAncestor(from, to)
  const rows = tree.pathRows(tree.rowOf(from))
  return { ancestor, rows: rows.slice(rows.indexOf(tree.rowOf(ancestor)) + 1) }
}

export interface Gathered {
  /** The newest that fit, oldest first. */
  readonly messages: ReadonlyArray<Json>
  readonly tokens: number
  /** Of everything, also of what did not fit. */
  readonly files: FileLists.FileLists
}

/** A summary of much stands for more than its length: it is taken while a tenth of the budget is left. */
const isSummary = ({ role }: Json): boolean => role === "branchSummary" || role === "compactionSummary"

/** What a summary of those rows is made from. Results are left out: the replies after them say what came of them. */
export const gather = (tree: SessionTree, rows: ReadonlyArray<number>, budget: number): Gathered => {
  const on = rows.filter((row) => !tree.facts.disabled.has(tree.idAt(row)!))
  const { messages } = ContextBuilder.spoken(tree, on)
  const summaries = on.filter((row) => tree.typeAt(row) === "branch_summary" || tree.typeAt(row) === "compaction")
  const files = FileLists.gather(messages, tree.entriesAt(summaries).map(FileLists.detailsOf))
  const candidates = messages.filter(({ role }) => role !== "toolResult" && role !== "system")
  const taken: Array<Json> = []
  let tokens = 0
  for (let i = candidates.length - 1; i >= 0; i--) {
    const message = candidates[i]!
    const cost = Tokens.estimate(message)
    const fits = tokens + cost <= budget
    if (!fits && !(isSummary(message) && tokens < budget * 0.9)) break
    taken.push(message)
    tokens += cost
    if (!fits) break
  }
  return { messages: taken.reverse(), tokens, files }
}
