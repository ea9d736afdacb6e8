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
export const ofEntry = (entry: Entry.Entry): Usage.UsageSum | undefined =>
  Usage.fromStored(entry.type === "message" && isObject(entry.message) ? entry.message.usage : entry.usage)

/** Entries that never record a request, whatever they hold. */
const isSilent = (tree: SessionTree, row: number): boolean => {
  const type = tree.typeAt(row)
  if (type === "message") return tree.roleAt(row) === "user"
  return type === "custom" || type === "label" || type === "session_info"
}

const BATCH = 1024

/** Each entry counts once, however many branches run through it. */
export const sums = (tree: SessionTree, leafId: string | null): TreeUsage => {
  const onPath = new Set(tree.pathRows(tree.rowOf(leafId)))
  const rows = tree.rows().filter((row) => !isSilent(tree, row))
  let path = Usage.zero
  let abandoned = Usage.zero
  for (let from = 0; from < rows.length; from += BATCH) {
    const batch = rows.slice(from, from + BATCH)
    for (const [i, entry] of tree.entriesAt(batch).entries()) {
      const usage = ofEntry(entry)
      if (usage === undefined) continue
      if (onPath.has(batch[i]!)) path = Usage.add(path, usage)
      else abandoned = Usage.add(abandoned, usage)
    }
  }
  return { path, tree: Usage.add(path, abandoned), abandoned }
}
