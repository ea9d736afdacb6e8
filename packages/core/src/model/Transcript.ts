/** A conversation as text for whoever summarises it: who said what, without what only the model needs. */
import * as JsonText from "./JsonText.ts"
import { isObject, type Json, stringOr } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"

/** A result is worth its beginning: a summary tells what came of it, not what it printed. */
const RESULT_CHARACTERS = 2000

/** At most `units` of a text, whole characters, and how much is missing. */
const cut = (text: string, units: number): string => {
  if (text.length <= units) return text
  const end = /[\ud800-\udbff]/.test(text[units - 1] ?? "") ? units - 1 : units
  return `${text.slice(0, end)}\n\n[... ${text.length - end} more characters truncated]`
}

const texts = (content: unknown, between: string): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  const blocks = content.filter((block) => isObject(block) && block.type === "text")
  return blocks.map(({ text }) => stringOr(text, "")).join(between)
}

const callText = (call: Json): string => {
  const given = isObject(call.arguments) ? Object.entries(call.arguments) : []
  const named = given.filter(([, value]) => value !== undefined)
  return `${stringOr(call.name, "tool")}(${named.map(([name, value]) => `${name}=${JsonText.stringify(value)}`).join(", ")})`
}

const outcome = (execution: Json): string => {
  if (execution.cancelled === true) return "\n(cancelled)"
  const failed = typeof execution.exitCode === "number" && execution.exitCode !== 0
  return failed ? `\n(exit code ${execution.exitCode})` : ""
}

const executionText = (code: unknown, execution: Json): string => {
  const output = cut(stringOr(execution.output, ""), RESULT_CHARACTERS)
  return `${stringOr(code, "")}\n${output || "(no output)"}${outcome(execution)}`
}

const fileNames = (files: unknown): string =>
  (Array.isArray(files) ? files.filter(isObject) : []).map((file) => stringOr(file.path, "")).join(", ")

const said = (speaker: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`[${speaker}]: ${text}`])

/** What one message adds. Thinking is left out: it is the way to what was said, not part of it. */
const partsOf = (message: Json): ReadonlyArray<string> => {
  if (message.excludeFromContext === true) return []
  switch (message.role) {
    case "assistant":
      return [
        ...said("Assistant", texts(message.content, "\n")),
        ...said("Assistant tool calls", toolCallsOf(message.content).map(callText).join("; "))
      ]
    case "toolResult":
      return said("Tool result", cut(texts(message.content, ""), RESULT_CHARACTERS))
    case "bashExecution":
      return said("User ran", executionText(message.command, message))
    case "pythonExecution":
      return said("User ran", executionText(message.code, message))
    case "fileMention":
      return said("User attached", fileNames(message.files))
    case "branchSummary":
      return said("Summary of another branch", stringOr(message.summary, ""))
    case "compactionSummary":
      return said("Summary of what came before", stringOr(message.summary, ""))
    case "system":
      return []
    default:
      return said("User", texts(message.content, ""))
  }
}

export const parts = (messages: ReadonlyArray<Json>): ReadonlyArray<string> => messages.flatMap(partsOf)

const BETWEEN = "\n\n"

/** The whole conversation in one text. */
export const of = (messages: ReadonlyArray<Json>): string => parts(messages).join(BETWEEN)

/** The conversation in as few texts as hold it with at most about `units` each; a part that is longer is cut. */
export const pieces = (messages: ReadonlyArray<Json>, units: number): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let open: Array<string> = []
  let length = 0
  for (const part of parts(messages)) {
    const text = cut(part, units)
    if (length + text.length > units && open.length > 0) {
      texts.push(open.join(BETWEEN))
      open = []
      length = 0
    }
    open.push(text)
    length += text.length + BETWEEN.length
  }
  if (open.length > 0) texts.push(open.join(BETWEEN))
  return texts
}
