/** Step: nothing blank is sent. A message that holds nothing else is left out; a result says that there was no output. */
import {
  isBlank,
  isReply,
  isResult,
  type Message,
  type Note,
  note,
  type Replied,
  type Said,
  type Step,
  text,
  withContent
} from "./Draft.ts"

const isEmpty = (block: Replied): boolean => {
  if (block.type === "text") return isBlank(block.text)
  // What is signed may be blank: the signature is what counts.
  return block.type === "thinking" && isBlank(block.thinking) && block.thinkingSignature === undefined
}

/** Thinking alone answers nothing, and not every provider takes it back. */
const saysNothing = (each: Said): boolean =>
  isReply(each)
    ? each.message.content.every(({ type }) => type === "thinking" || type === "redactedThinking")
    : each.message.content.length === 0

export const emptyBlocks: Step = {
  name: "empty-blocks",
  apply: ({ systemPrompt, said }) => {
    const changes: Array<Note> = []
    const kept = said.flatMap((each): ReadonlyArray<Said> => {
      const content = each.message.content.filter((block) => !isEmpty(block))
      const filled =
        content.length === each.message.content.length ? each : withContent(each, content as Message["content"])
      if (!saysNothing(filled)) return [filled]
      if (isResult(filled)) return [withContent(filled, [text("(no output)")])]
      changes.push(note("left-out", each, isReply(each) ? "a reply that says nothing" : "a prompt that says nothing"))
      return []
    })
    return { systemPrompt, said: kept, changes }
  }
}
