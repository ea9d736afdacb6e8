/** Step: for models without tools a result is a prompt that names its call, and calls are left out of the replies. */

import {
  type Assistant,
  isReply,
  isResult,
  type Note,
  note,
  type Said,
  type Shown,
  type Step,
  type ToolCall,
  type ToolResult,
  text,
  withContent
} from "./Draft.ts"
import { pair } from "./Pairing.ts"
import { takeTurns } from "./Turns.ts"

/** What a tool has written does not end the frame around it. */
const inert = (output: string): string => output.replaceAll("</function_results>", "<\\/function_results>")

const told = ({ content, isError, toolName }: ToolResult, call: ToolCall | undefined): ReadonlyArray<Shown> => {
  const output = content.flatMap((block) => (block.type === "text" ? [inert(block.text)] : []))
  const title = `[${toolName} for ${JSON.stringify(call?.arguments ?? {})}] ${isError ? "failed with " : ""}result:`
  const words = text(`${title}\n<function_results>\n${output.join("\n")}\n</function_results>`)
  return [words, ...content.filter(({ type }) => type === "image")]
}

/** Thinking went with the signatures: the result, told as a prompt, begins another turn. */
const withoutCalls = (reply: Said<Assistant>): ReadonlyArray<Said> => {
  const content = reply.message.content.filter(({ type }) => type !== "toolCall")
  return content.length === 0 ? [] : [withContent(reply, content)]
}

export const toolsAsText: Step = {
  name: "tools-as-text",
  apply: ({ systemPrompt, said }, { model }) => {
    if (model.tools) return { systemPrompt, said }
    const answers = pair(said)
    const changes: Array<Note> = []
    const callOf = (row: number): ToolCall | undefined => {
      const { reply, block } = answers.get(row) ?? { reply: -1, block: -1 }
      return said[reply]?.message.content[block] as ToolCall | undefined
    }
    const worded = said.flatMap((each, row): ReadonlyArray<Said> => {
      if (isResult(each)) {
        changes.push(note("replaced", each, "a call and its result, told as text"))
        const { timestamp } = each.message
        const content = told(each.message, callOf(row))
        return [{ ...each, message: { role: "user", content, ...(timestamp === undefined ? {} : { timestamp }) } }]
      }
      return isReply(each) ? withoutCalls(each) : [each]
    })
    const turns = takeTurns(worded, model)
    return { systemPrompt, said: turns.said, changes: [...changes, ...turns.changes] }
  }
}
