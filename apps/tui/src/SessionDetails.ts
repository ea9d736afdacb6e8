/** What a list tells of a session beyond its summary, read from the session itself a slice at a time. */
import { Entry, NONE, Preview, SessionStore, type SessionSummary, type Usage } from "@grove/core"
import { Effect } from "effect"
import { Ledger } from "./Ledger.ts"
import type { SessionDetails } from "./state/View.ts"

const PROMPT_COLUMNS = 200

/** Gives way to keys between the slices. */
export const read = Effect.fn("SessionDetails.read")(function* (
  { id, path, modified }: Pick<SessionSummary.SessionSummary, "id" | "path" | "modified">,
  price: Usage.Pricer
) {
  const store = yield* SessionStore
  const { tree, header } = yield* store.read({ id: id ?? "", path })
  const ledger = new Ledger(tree, price)
  for (; !ledger.isWhole; yield* Effect.sleep(0)) ledger.read()
  const prompts = tree.pathRows(tree.rowOf(tree.leaf)).filter((row) => tree.roleAt(row) === "user")
  const begun = Entry.time(header?.timestamp ?? "")
  const last = prompts.at(-1) ?? NONE
  const details: SessionDetails = {
    path,
    modified,
    turns: prompts.length,
    costMicros: ledger.costsAt(tree.leaf).tree.costMicros,
    lastPrompt: last === NONE ? "" : Preview.ofEntry(tree.entryAt(last), PROMPT_COLUMNS),
    // What a fork was made with is older than the fork.
    forkedAfter: prompts.filter((row) => tree.timeAt(row) <= begun).length
  }
  return details
}, Effect.scoped)
