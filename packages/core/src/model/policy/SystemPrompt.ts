/** Steps: what the model is told beside the conversation, in one prompt. The given one first, then the session's, then what it should know. */
import { isBlank, type Knowledge, type Step } from "./Draft.ts"

/** Each once: a session may hold the very prompt that is given again. */
const together = (...parts: ReadonlyArray<string>): string =>
  [...new Set(parts.filter((part) => !isBlank(part)))].join("\n\n")

export const systemPrompt: Step = {
  name: "system-prompt",
  apply: (draft, request) => ({ ...draft, systemPrompt: together(request.systemPrompt ?? "", draft.systemPrompt) })
}

const told = ({ name, text }: Knowledge): string =>
  isBlank(text) ? "" : `<knowledge name=${JSON.stringify(name)}>\n${text}\n</knowledge>`

export const knowledge: Step = {
  name: "knowledge",
  apply: (draft, { knowledge = [] }) => ({
    ...draft,
    systemPrompt: together(draft.systemPrompt, ...knowledge.map(told))
  })
}
