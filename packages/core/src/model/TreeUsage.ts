/** What a session cost, told three ways: this path, the whole tree, and the branches that were abandoned. */
import type * as Entry from "./Entry.ts"
import { isObject } from "./open.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Usage from "./Usage.ts"

export interface TreeUsage {
  readonly path: Usage.UsageSum
  readonly tree: Usage.UsageSum
  /** `tree` without `path`: what the dead ends cost. */
  readonly abandoned: Usage.UsageSum
}

/** The request an entry records, if it records one. */
export const ofEntry = (entry: Entry.Entry, price?: Usage.Pricer): Usage.UsageSum | undefined =>
  entry.type === "message" && isObject(entry.message)
    ? Usage.fromStored(entry.message.usage, price, entry.message)
    : Usage.fromStored(entry.usage, price)

/** Entries that never record a request, whatever they hold. */
const isSilent = (tree: SessionTree, row: number): boolean => {
  const type = tree.typeAt(row)
  if (type === "message") return tree.roleAt(row) === "user"
  return type === "custom" || type === "label" || type === "session_info"
}

const BATCH = 1024

/** Every entry that records a request, in file order, with what it used. */
export function* requests(
  tree: SessionTree,
  price?: Usage.Pricer
): Generator<readonly [Entry.Entry, Usage.UsageSum, number]> {
  const rows = tree.rows().filter((row) => !isSilent(tree, row))
  for (let from = 0; from < rows.length; from += BATCH) {
    const batch = rows.slice(from, from + BATCH)
    for (const [i, entry] of tree.entriesAt(batch).entries()) {
      const usage = ofEntry(entry, price)
      if (usage !== undefined) yield [entry, usage, batch[i]!]
    }
  }
}

/** Each entry counts once, however many branches run through it. */
export const sums = (tree: SessionTree, leafId: string | null, price?: Usage.Pricer): TreeUsage => {
  const onPath = new Set(tree.pathRows(tree.rowOf(leafId)))
  let path = Usage.zero
  let abandoned = Usage.zero
  for (const [, usage, row] of requests(tree, price)) {
    if (onPath.has(row)) path = Usage.add(path, usage)
    else abandoned = Usage.add(abandoned, usage)
  }
  return { path, tree: Usage.add(path, abandoned), abandoned }
}
