/** What of an entry is searched: who says it, with which tools, in which words. */
import { type Entry, Preview } from "@grove/core"

export const ROLES = ["user", "assistant", "tool", "summary", "custom"] as const
export type Role = (typeof ROLES)[number]

export interface SessionText {
  readonly role: Role
  readonly tools: ReadonlyArray<string>
  readonly text: string
}

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const textOr = (value: unknown): string => (typeof value === "string" ? value : "")

/** Longer texts are outputs that nobody reads to the end; their beginning is searched. */
const LONGEST = 200_000

const callText = (call: Json): string => {
  const values = isObject(call.arguments) ? Object.values(call.arguments) : []
  return [textOr(call.name), ...values.filter((value) => typeof value === "string")].join(" ")
}

const ofMessage = (message: Json): SessionText | undefined => {
  const content = Preview.textOf(message.content)
  switch (message.role) {
    case "user":
      return { role: "user", tools: [], text: content }
    case "assistant": {
      const calls = Preview.toolCallsOf(message.content)
      const said = [content, textOr(message.errorMessage), ...calls.map(callText)].filter((text) => text !== "")
      return { role: "assistant", tools: calls.map(({ name }) => textOr(name)), text: said.join("\n") }
    }
    case "toolResult":
      return { role: "tool", tools: [textOr(message.toolName)], text: content }
    case "bashExecution":
      return { role: "tool", tools: ["bash"], text: `${textOr(message.command)}\n${textOr(message.output)}` }
    case "pythonExecution":
      return { role: "tool", tools: ["python"], text: `${textOr(message.code)}\n${textOr(message.output)}` }
    default:
      return { role: "custom", tools: [], text: content }
  }
}

/** `undefined` for entries that say nothing. */
export const of = (entry: Entry.Entry): SessionText | undefined => {
  const found = ((): SessionText | undefined => {
    switch (entry.type) {
      case "message":
        return isObject(entry.message) ? ofMessage(entry.message) : undefined
      case "compaction":
      case "branch_summary":
        return { role: "summary", tools: [], text: textOr(entry.summary) }
      case "custom_message":
        return { role: "custom", tools: [], text: Preview.textOf(entry.content) }
      default:
        return undefined
    }
  })()
  if (found === undefined || found.text.trim() === "") return undefined
  return found.text.length <= LONGEST ? found : { ...found, text: found.text.slice(0, LONGEST) }
}
