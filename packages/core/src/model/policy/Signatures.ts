/** Step: thinking and signatures go back only to the model that made them, within this turn, if nothing before was edited. */
import type { Capabilities } from "../Capabilities.ts"
import {
  type Assistant,
  isPrompt,
  isReply,
  isResult,
  type Note,
  note,
  type Replied,
  type Said,
  type Step,
  withContent
} from "./Draft.ts"

export const isBy = ({ provider, modelId }: Capabilities, { message }: Said<Assistant>): boolean =>
  message.provider === provider && message.model === modelId

/** Where this turn begins. A prompt right after a result reaches the model together with it, and so goes on with the turn. */
const turnStart = (said: ReadonlyArray<Said>, { tools, promptAfterResult }: Capabilities): number => {
  let afterResult = false
  let start = -1
  for (const [row, each] of said.entries()) {
    if (isPrompt(each) && !(afterResult && promptAfterResult)) start = row
    // Told as text, a result is a prompt.
    if (isResult(each) && !tools) start = row
    if (!isPrompt(each)) afterResult = isResult(each) && tools
  }
  return start
}

const isThought = ({ type }: Replied): boolean => type === "thinking" || type === "redactedThinking"

const unsigned = (block: Replied): Replied => {
  if (block.textSignature === undefined && block.thoughtSignature === undefined) return block
  const { textSignature: _, thoughtSignature: __, ...rest } = block
  return rest as Replied
}

/** The reply without what only its model, there and then, could take back. */
const withoutThoughts = (said: Said<Assistant>): Said<Assistant> =>
  withContent(said, said.message.content.filter((block) => !isThought(block)).map(unsigned))

const why = (said: Said<Assistant>, isEarlier: boolean, model: Capabilities): string => {
  if (isEarlier) return "thinking and signatures of earlier turns"
  return isBy(model, said)
    ? "thinking and signatures of a reply before which something was edited"
    : "thinking and signatures of another model"
}

export const signatures: Step = {
  name: "signatures",
  apply: ({ systemPrompt, said }, { model }) => {
    const start = turnStart(said, model)
    const changes: Array<Note> = []
    const kept = said.map((each, row) => {
      if (!isReply(each) || (row > start && isBy(model, each) && !each.edited)) return each
      const isSigned = each.message.content.some((block) => isThought(block) || unsigned(block) !== block)
      if (!isSigned) return each
      changes.push(note("left-out", each, why(each, row <= start, model)))
      return withoutThoughts(each)
    })
    return { systemPrompt, said: kept, changes }
  }
}
