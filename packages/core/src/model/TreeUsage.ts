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

/** Each entry counts once, however many branches run through it. */
export const sums = (tree: SessionTree, leafId: string | null): TreeUsage => {
  const onPath = new Set(tree.pathRows(tree.rowOf(leafId)))
  let path = Usage.zero
  let abandoned = Usage.zero
  for (const row of tree.rows()) {
    const usage = ofEntry(tree.entryAt(row))
    if (usage === undefined) continue
    if (onPath.has(row)) path = Usage.add(path, usage)
    else abandoned = Usage.add(abandoned, usage)
  }
  return { path, tree: Usage.add(path, abandoned), abandoned }
}
