/** How much a model is shown, so that people see what an edit did to it. What a row takes is read once, and then known. */
import * as ContextBuilder from "./ContextBuilder.ts"
import type * as Entry from "./Entry.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Tokens from "./Tokens.ts"

export interface ContextSize {
  readonly messages: number
  /** Estimated. */
  readonly tokens: number
}

/** Tokens by row; `SILENT` for a row that says nothing. A row never comes to mean another entry. */
const known = new WeakMap<SessionTree, Map<number, number>>()
const SILENT = -1

const knownOf = (tree: SessionTree): Map<number, number> => {
  const rows = known.get(tree) ?? new Map<number, number>()
  known.set(tree, rows)
  return rows
}

/** For whoever has read an entry: sizes that need it are then told without reading it again. */
export const note = (tree: SessionTree, row: number, entry: Entry.Entry): void => {
  const message = ContextBuilder.messageFor(entry)
  knownOf(tree).set(row, message === undefined ? SILENT : Tokens.estimate(message))
}

const sizeOf = (tree: SessionTree, { compaction, rows, edits }: ContextBuilder.ContextPlan): ContextSize => {
  const tokens = knownOf(tree)
  const unread = rows.filter((row) => !tokens.has(row))
  for (const [i, entry] of tree.entriesAt(unread).entries()) note(tree, unread[i]!, entry)
  const reworded = edits.size === 0 ? [] : rows.filter((row) => edits.has(tree.idAt(row)))
  const isReworded = new Set(reworded)
  const others = [
    ...(compaction === undefined ? [] : ContextBuilder.headOf(compaction)),
    ...ContextBuilder.spoken(tree, reworded, edits).messages
  ]
  let messages = others.length
  let sum = Tokens.estimateAll(others)
  for (const row of rows) {
    const size = tokens.get(row) ?? SILENT
    if (size === SILENT || isReworded.has(row)) continue
    messages++
    sum += size
  }
  return { messages, tokens: sum }
}

export const at = (tree: SessionTree, leaf: string | null): ContextSize => {
  for (;;) {
    const { revision } = tree
    const size = sizeOf(tree, ContextBuilder.plan(tree, leaf))
    if (tree.revision === revision) return size
  }
}
