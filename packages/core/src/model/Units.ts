/**
 * Units: an assistant message with tool calls together with their results, on all branches. Every provider rejects half
 * of one, so whatever is switched off or picked is widened to whole units.
 */
import type * as Entry from "./Entry.ts"
import { NONE } from "./EntryTable.ts"
import { isObject, stringOr } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"

const messageOf = (entry: Entry.Entry) => (isObject(entry.message) ? entry.message : {})

const callIdsIn = (entry: Entry.Entry): ReadonlySet<string> =>
  new Set(toolCallsOf(messageOf(entry).content).flatMap(({ id }) => (typeof id === "string" ? [id] : [])))

export interface Units {
  /** The rows of the unit that a row belongs to, in file order; the row alone where it is in none. */
  readonly of: (row: number) => ReadonlyArray<number>
  /** Those rows and all that is in one unit with them, each once, in file order. */
  readonly whole: (rows: Iterable<number>) => ReadonlyArray<number>
  /** The call of the unit around a row, `NONE` where the row is in none. */
  readonly callOf: (row: number) => number
  /**
   * Where the unit ends that a row is in the middle of: its last result on each way on from there. Empty where nothing
   * of a unit follows the row.
   */
  readonly ends: (row: number) => ReadonlyArray<number>
}

/** Looks at a tree as it is now, and at each row once: no result is further from its call than the next reply. */
export const make = (tree: SessionTree): Units => {
  const units = new Map<number, ReadonlyArray<number>>()
  const callIds = new Map<number, ReadonlySet<string>>()
  const replies = new Map<number, number>()

  const callIdsOf = (reply: number): ReadonlySet<string> => {
    const known = callIds.get(reply)
    if (known !== undefined) return known
    const found = callIdsIn(tree.entryAt(reply))
    callIds.set(reply, found)
    return found
  }

  const answerOf = (row: number): string | null => stringOr(messageOf(tree.entryAt(row)).toolCallId, null)

  /** The nearest reply at a row or above it. */
  const replyAbove = (row: number): number => {
    const passed: Array<number> = []
    let at = row
    while (at !== NONE && tree.roleAt(at) !== "assistant" && !replies.has(at)) {
      passed.push(at)
      at = tree.parentRow(at)
    }
    const reply = replies.get(at) ?? at
    for (const each of passed) replies.set(each, reply)
    return reply
  }

  const callOf = (row: number): number => {
    const role = tree.roleAt(row)
    if (role === "assistant") return callIdsOf(row).size > 0 ? row : NONE
    if (role !== "toolResult") return NONE
    const reply = replyAbove(row)
    const answered = answerOf(row)
    return reply !== NONE && answered !== null && callIdsOf(reply).has(answered) ? reply : NONE
  }

  const membersOf = (call: number): ReadonlyArray<number> => {
    const known = units.get(call)
    if (known !== undefined) return known
    const members = [call]
    const pending = [...tree.writtenChildRows(call)]
    for (let at = 0; at < pending.length; at++) {
      const row = pending[at]!
      const role = tree.roleAt(row)
      if (role === "assistant") continue
      if (role === "toolResult" && callOf(row) === call) members.push(row)
      for (const child of tree.writtenChildRows(row)) pending.push(child)
    }
    members.sort((a, b) => a - b)
    units.set(call, members)
    return members
  }

  const whole = (rows: Iterable<number>): ReadonlyArray<number> => {
    const all = new Set<number>()
    const calls = new Set<number>()
    for (const row of rows) {
      const call = callOf(row)
      if (call === NONE) all.add(row)
      else calls.add(call)
    }
    for (const call of calls) for (const member of membersOf(call)) all.add(member)
    return [...all].sort((a, b) => a - b)
  }

  /** Calls that have no result at a row or above it. */
  const openAt = (row: number, call: number): ReadonlySet<string> => {
    const open = new Set(callIdsOf(call))
    for (let at = row; at !== call; at = tree.parentRow(at)) {
      if (tree.roleAt(at) === "toolResult") open.delete(answerOf(at) ?? "")
    }
    return open
  }

  const ends = (row: number): ReadonlyArray<number> => {
    const call = row === NONE ? NONE : replyAbove(row)
    const open = call === NONE ? new Set<string>() : openAt(row, call)
    if (open.size === 0) return []
    const found = new Set<number>()
    const pending = [{ row, last: NONE }]
    for (let at = 0; at < pending.length; at++) {
      for (const child of tree.childRows(pending[at]!.row)) {
        if (tree.roleAt(child) === "assistant") continue
        const isPart = tree.roleAt(child) === "toolResult" && open.has(answerOf(child) ?? "")
        if (isPart) {
          found.delete(pending[at]!.last)
          found.add(child)
        }
        pending.push({ row: child, last: isPart ? child : pending[at]!.last })
      }
    }
    return [...found]
  }

  return {
    of: (row) => {
      const call = callOf(row)
      return call === NONE ? [row] : membersOf(call)
    },
    whole,
    callOf,
    ends
  }
}
