/** Step: every call is directly followed by its one result, and no result stands without its call. */
import { added, isReply, isResult, type Note, note, type Said, type Step, type ToolResult, text } from "./Draft.ts"
import { pair } from "./Pairing.ts"

const INTERRUPTED = "No result: the call was interrupted before it was answered."

const unanswered = (toolCallId: string, toolName: string): ToolResult => ({
  role: "toolResult",
  toolCallId,
  toolName,
  content: [text(INTERRUPTED)],
  isError: true
})

export const orphans: Step = {
  name: "orphans",
  apply: (draft) => {
    const answers = pair(draft.said)
    const rowOf = new Map<string, number>()
    for (const [row, { reply, block }] of answers) rowOf.set(`${reply} ${block}`, row)
    const changes: Array<Note> = []
    const said: Array<Said> = []
    for (const [row, each] of draft.said.entries()) {
      if (isResult(each)) {
        if (!answers.has(row)) changes.push(note("left-out", each, "a result without its call, or a second one for it"))
        continue
      }
      said.push(each)
      if (!isReply(each)) continue
      let last = row
      for (const [block, call] of each.message.content.entries()) {
        if (call.type !== "toolCall") continue
        const at = rowOf.get(`${row} ${block}`)
        const result = draft.said[at ?? -1]
        if (at === undefined || result === undefined) {
          said.push(added(unanswered(call.id, call.name), each.edited))
          changes.push(note("added", each, "an error result for a call that has none"))
          continue
        }
        said.push(result)
        if (at !== last + 1) changes.push(note("moved", result, "a result, to stand behind its call"))
        last = at
      }
    }
    return { systemPrompt: draft.systemPrompt, said, changes }
  }
}
