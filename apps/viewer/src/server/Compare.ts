/** Two branches of a session side by side: core's comparison, and what a page says about each side. */
import {
  Comparison,
  type Entry,
  type EntryId,
  isObject,
  NONE,
  Preview,
  type SessionTree,
  TreeUsage
} from "@grove/core/model"
import type * as Wire from "../wire/Wire.ts"
import type { Open, Reads } from "./Library.ts"

/** Of the differences so many characters are sent; what is beyond is left out, and the page says so. */
const MOST_CHARACTERS = 4_000_000

const outcomeOf = (entry: Entry.Entry | undefined): Wire.Outcome => {
  const message = entry?.type === "message" && isObject(entry.message) ? entry.message : {}
  if (message.role !== "assistant") return "open"
  if (message.stopReason === "error") return "failed"
  return message.stopReason === "aborted" ? "aborted" : message.stopReason === "toolUse" ? "open" : "answered"
}

const sideOf = (
  tree: SessionTree,
  side: Comparison.Side,
  { common }: Comparison.Comparison,
  turns: number,
  price: Reads["price"]
): Wire.ComparedSide => {
  const entries = tree.entriesAt(side.entries.map((id) => tree.rowOf(id)))
  const last = entries.findLast((entry) => entry.type === "message") ?? tree.get(common.at(-1) ?? "")
  const start = tree.timeAt(tree.rowOf(side.entries[0] ?? null))
  const end = tree.timeAt(tree.rowOf(side.entries.at(-1) ?? null))
  const { files, tokens, costMicros, leaf } = side
  return {
    leaf,
    entries: side.entries.length,
    turns,
    tools: entries.reduce(
      (sum, { message }) => sum + (isObject(message) ? Preview.toolCallsOf(message.content).length : 0),
      0
    ),
    files: files.map((file) => Preview.line(file, 200)),
    tokens,
    costMicros,
    pathMicros: TreeUsage.sums(tree, leaf, price).path.costMicros,
    millis: side.entries.length === 0 ? 0 : Math.max(0, end - start),
    outcome: outcomeOf(last)
  }
}

/** `undefined` where an end is not in the tree. */
export const compare = ({ opened }: Open, url: URL, { price }: Reads): Wire.Compared | undefined => {
  const { tree } = opened.snapshot
  const [a, b] = ["a", "b"].map((name) => url.searchParams.get(name))
  if (a == null || b == null || tree.rowOf(a) === NONE || tree.rowOf(b) === NONE) return undefined
  const found = Comparison.compare(tree, a as EntryId, b as EntryId, price)
  const { common, turns } = found
  let characters = 0
  return {
    sharedTurns: common.filter((id) => tree.roleAt(tree.rowOf(id)) === "user").length,
    sharedEntries: common.length,
    fork: common.at(-1) ?? null,
    a: sideOf(tree, found.a, found, turns.filter((turn) => turn.a !== null).length, price),
    b: sideOf(tree, found.b, found, turns.filter((turn) => turn.b !== null).length, price),
    turns: turns.map((turn) => {
      characters += turn.diff.reduce((sum, { text }) => sum + text.length, 0)
      const isSame = turn.diff.every(({ kind }) => kind === "same")
      return { a: turn.a, b: turn.b, isSame, diff: characters > MOST_CHARACTERS ? null : turn.diff }
    })
  }
}
