/** Where other sessions were forked from a session: a fork holds the entries it was made with under the same ids. */
import { type EntryId, type Session, SessionStore, type SessionTree } from "@grove/core"
import { Effect } from "effect"

/** The last entry that a fork was made with; `null` for one made before anything was said. */
const lastShared = (tree: SessionTree, fork: SessionTree): EntryId | null => {
  const row = fork.rows().findLast((each) => !fork.isMarkAt(each) && tree.has(fork.idAt(each)!))
  return row === undefined ? null : fork.idAt(row)
}

/** The entries from which sessions were forked. What cannot be read is left out. */
export const of = Effect.fn("SessionForks.of")(function* ({ ref, tree }: Session) {
  const store = yield* SessionStore
  const all = yield* store.list()
  const entries = new Set<EntryId>()
  for (const { id, path, parentSession } of all) {
    if (path === ref.path || (parentSession !== ref.path && parentSession !== ref.id)) continue
    const fork = Effect.scoped(Effect.map(store.read({ id: id ?? "", path }), (read) => lastShared(tree, read.tree)))
    const entry = yield* Effect.orElseSucceed(fork, () => null)
    if (entry !== null) entries.add(entry)
  }
  return entries
})
