/** Finding words in one session: every word must be in the entry, whatever its case. */
import { type Entry, isObject, type SessionTree } from "@grove/core/model"

const BATCH = 512
const MOST = 2000
/** More of one text than this is not searched. */
const LONGEST = 1_000_000

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/** All the words an entry holds, those in tool calls and results too. A loop, since files nest deeper than calls can. */
const wordsIn = (entry: Entry.Entry): string => {
  const found: Array<string> = []
  let length = 0
  const pending: Array<unknown> = [
    entry.message,
    entry.content,
    entry.summary,
    entry.label,
    entry.name,
    entry.customType
  ]
  for (let next = pending.pop(); pending.length > 0 || next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      found.push(next.slice(0, LONGEST))
      length += next.length
    } else if (Array.isArray(next)) for (const each of next) pending.push(each)
    else if (isObject(next) && next.type !== "image") for (const each of Object.values(next)) pending.push(each)
    if (length > LONGEST) break
  }
  return fold(found.join("\n"))
}

/** Ids of the entries that hold all words, in file order. */
export const find = (tree: SessionTree, query: string): ReadonlyArray<string> => {
  const words = fold(query).split(/\s+/u).filter(Boolean)
  if (words.length === 0) return []
  const rows = tree.rows().filter((row) => !tree.isMarkAt(row))
  const found: Array<string> = []
  for (let from = 0; from < rows.length && found.length < MOST; from += BATCH) {
    for (const entry of tree.entriesAt(rows.slice(from, from + BATCH))) {
      const text = wordsIn(entry)
      if (words.every((word) => text.includes(word))) found.push(entry.id)
    }
  }
  return found
}
