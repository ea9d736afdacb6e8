/** Calls that were made and never answered: what a crash in the middle of a tool leaves. */
import { type EntryId, isObject, type Json, type SessionTree } from "@grove/core"

export interface OpenCall {
  /** The reply that holds it. */
  readonly entry: EntryId
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  /** What the model wrote where that is no JSON object; such a call can only be refused. */
  readonly invalidArguments?: string
}

const BROKEN_OFF = new Set<unknown>(["error", "aborted"])

/** The calls of a reply, in order. */
export const callsIn = (entry: EntryId, message: Json): ReadonlyArray<OpenCall> =>
  (Array.isArray(message.content) ? message.content : []).flatMap((block): ReadonlyArray<OpenCall> => {
    if (!isObject(block) || block.type !== "toolCall" || typeof block.id !== "string") return []
    const { id, name, arguments: given, invalidArguments } = block
    return [
      {
        entry,
        callId: id,
        name: String(name),
        arguments: isObject(given) ? given : {},
        ...(typeof invalidArguments === "string" && { invalidArguments })
      }
    ]
  })

/**
 * Those of the last reply on the path to `leaf`, if nothing but results follows it: only there can an answer still be
 * appended. A reply that broke off is never sent again, so its calls are not open.
 */
export const at = (tree: SessionTree, leaf: EntryId | null): ReadonlyArray<OpenCall> => {
  const answered = new Set<unknown>()
  for (let row = tree.rowOf(leaf); row >= 0; row = tree.parentRow(row)) {
    if (tree.typeAt(row) !== "message") continue
    const { id, message } = tree.entryAt(row)
    if (!isObject(message)) return []
    if (message.role === "toolResult") answered.add(message.toolCallId)
    else if (message.role !== "assistant" || BROKEN_OFF.has(message.stopReason)) return []
    else return callsIn(id, message).filter(({ callId }) => !answered.has(callId))
  }
  return []
}
