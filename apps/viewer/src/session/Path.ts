/** The transcript as a list: one item for each thing said on a path, tool results with the reply that asked for them. */
import { type EntryId, NONE, type SessionTree } from "@grove/core/model"

export interface Fork {
  /** Rows of the branches that part here, oldest first; the item's own row is one of them. */
  readonly siblings: ReadonlyArray<number>
  readonly at: number
}

export interface Item {
  readonly row: number
  readonly id: EntryId
  /** Results that belong to the calls of this item. */
  readonly results: ReadonlyArray<EntryId>
  readonly fork: Fork | null
  readonly isPrompt: boolean
}

const forkAt = (tree: SessionTree, row: number): Fork | null => {
  const above = tree.shownParentRow(row)
  const siblings = above === NONE ? tree.childRows(NONE) : tree.childRows(above)
  const at = siblings.indexOf(row)
  return siblings.length > 1 && at !== -1 ? { siblings, at } : null
}

/** From the root to a row, marks left out. */
export const items = (tree: SessionTree, leaf: number): ReadonlyArray<Item> => {
  const found: Array<Item & { readonly results: Array<EntryId> }> = []
  let reply: (Item & { readonly results: Array<EntryId> }) | undefined
  for (const row of tree.pathRows(leaf)) {
    if (tree.isMarkAt(row)) continue
    const id = tree.idAt(row)!
    const role = tree.roleAt(row)
    const fork = forkAt(tree, row)
    if (role === "toolResult" && reply !== undefined && fork === null) {
      reply.results.push(id)
      continue
    }
    const item = { row, id, results: [], fork, isPrompt: role === "user" }
    found.push(item)
    reply = role === "assistant" ? item : undefined
  }
  return found
}

/** Where each entry of a path is found in its list of items; results where their reply is. */
export const placesOf = (list: ReadonlyArray<Item>): ReadonlyMap<string, number> =>
  new Map(
    list.flatMap(({ id, results }, at) => [
      [id as string, at] as const,
      ...results.map((each) => [each as string, at] as const)
    ])
  )

/** The end of the branch that leads through a row: where the session stands if that is it, else the newest way on. */
export const leafThrough = (tree: SessionTree, row: number, current: number): number => {
  for (let at = current; at !== NONE; at = tree.parentRow(at)) if (at === row) return current
  for (let at = tree.rowOf(tree.leaf); at !== NONE; at = tree.parentRow(at))
    if (at === row) return tree.rowOf(tree.leaf)
  let last = row
  for (let children = tree.childRows(last); children.length > 0; children = tree.childRows(last))
    last = children.at(-1)!
  return last
}

/** The last of a path that is shown in a transcript. */
export const shownLeaf = (tree: SessionTree, id: string | null): number => {
  const row = tree.rowOf(id)
  return row !== NONE && tree.isMarkAt(row) ? tree.shownParentRow(row) : row
}
