/** Which result answers which call, in a list where ids may be missing, used twice, or far from their calls. */
import { isReply, isResult, type Said } from "./Draft.ts"

export interface Call {
  /** The row of the reply that made the call. */
  readonly reply: number
  /** Which of its blocks the call is. */
  readonly block: number
}

interface Open {
  readonly reply: number
  readonly blocks: Array<number>
  next: number
}

/**
 * The call that each row of a result answers; rows of results that answer none are absent. Of several calls with one id
 * those of the newest reply are answered first, and within a reply they are answered in their order.
 */
export const pair = (said: ReadonlyArray<Said>): ReadonlyMap<number, Call> => {
  const open = new Map<string, Array<Open>>()
  const answers = new Map<number, Call>()
  for (const [row, each] of said.entries()) {
    if (isReply(each)) {
      for (const [block, call] of each.message.content.entries()) {
        if (call.type !== "toolCall") continue
        const replies = open.get(call.id) ?? []
        open.set(call.id, replies)
        const newest = replies.at(-1)
        if (newest?.reply === row) newest.blocks.push(block)
        else replies.push({ reply: row, blocks: [block], next: 0 })
      }
    } else if (isResult(each)) {
      const replies = open.get(each.message.toolCallId)
      const newest = replies?.at(-1)
      if (replies === undefined || newest === undefined) continue
      answers.set(row, { reply: newest.reply, block: newest.blocks[newest.next++]! })
      if (newest.next === newest.blocks.length) replies.pop()
    }
  }
  return answers
}
