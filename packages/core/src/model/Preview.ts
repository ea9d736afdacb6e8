/** An entry in one line for people: safe to print whatever it holds, cut by display width. */
import type * as Entry from "./Entry.ts"
import { isObject, type Json, stringOr } from "./open.ts"
import * as Width from "./Width.ts"

const SPACES = /\s+/gu
/** Everything a terminal might obey or hide: controls, bidi overrides, invisible formatting, halves of surrogate pairs. */
const UNSAFE = /[\p{Cc}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu

const visible = (character: string): string => {
  const code = character.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? "␡" : `\\u{${code.toString(16)}}`
}

/** Control characters are shown, never obeyed. Line breaks stay. */
export const inert = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === "\n" ? character : visible(character)))

const squeeze = (text: string): string => text.replace(SPACES, " ").trim()

/** One line, inert, at most `columns` wide. Reads no further into a text than it must, and never without bound. */
export const line = (text: string, columns: number): string => {
  const most = Math.min(text.length, columns * 64 + 4096)
  for (let units = columns * 4 + 256; ; units *= 4) {
    const piece = squeeze(text.slice(0, Math.min(units, most))).replace(UNSAFE, visible)
    const fitting = Width.cut(piece, columns)
    // A piece that fits whole may have been mostly white space or invisible: then more of the text is looked at.
    if (fitting !== piece) return fitting
    if (units >= most) return most < text.length ? Width.cut(`${piece}…`, columns) : fitting
  }
}

const blocks = (content: unknown): ReadonlyArray<Json> => (Array.isArray(content) ? content.filter(isObject) : [])

/** The text blocks of a content, or the content itself where it is plain text. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  return blocks(content)
    .filter((block) => block.type === "text" && typeof block.text === "string")
    .map((block) => block.text)
    .join("\n")
}

/** What people are shown of a message: what its program showed instead of the content, else the content. */
export const shownContent = ({ uiContent, content }: Json): unknown =>
  typeof uiContent === "string" && uiContent !== "" ? uiContent : content

export const toolCallsOf = (content: unknown): ReadonlyArray<Json> =>
  blocks(content).filter((block) => block.type === "toolCall")

const firstArgument = (call: Json): string => {
  const values = isObject(call.arguments) ? Object.values(call.arguments) : []
  return stringOr(
    values.find((value) => typeof value === "string"),
    ""
  )
}

const wordless = (content: unknown): string => {
  const calls = toolCallsOf(content).map((call) => `${stringOr(call.name, "tool")} ${firstArgument(call)}`.trim())
  if (calls.length > 0) return calls.join("; ")
  const kinds = blocks(content).map((block) => stringOr(block.type, "block"))
  return kinds.length > 0 ? `(${[...new Set(kinds)].join(", ")})` : ""
}

const messageText = (message: Json): string => {
  switch (message.role) {
    case "bashExecution":
      return `$ ${stringOr(message.command, "")}`
    case "pythonExecution":
      return stringOr(message.code, "")
    case "fileMention":
      return blocks(message.files)
        .map((file) => `@${stringOr(file.path, "")}`)
        .join(" ")
    default:
      return textOf(shownContent(message)) || stringOr(message.errorMessage, "") || wordless(message.content)
  }
}

/** The text of an entry as a person would quote it. */
export const textOfEntry = (entry: Entry.Entry): string => {
  switch (entry.type) {
    case "message":
      return isObject(entry.message) ? messageText(entry.message) : ""
    case "custom_message":
      return textOf(entry.content) || wordless(entry.content)
    case "compaction":
    case "branch_summary":
      return stringOr(entry.summary, "")
    case "label":
      return stringOr(entry.label, "")
    case "session_info":
      return stringOr(entry.name, "")
    case "thinking_level_change":
      return stringOr(entry.thinkingLevel, "off")
    case "model_change":
      return stringOr(entry.model, `${stringOr(entry.provider, "")}/${stringOr(entry.modelId, "")}`)
    case "mode_change":
      return stringOr(entry.mode, "")
    case "custom":
      return stringOr(entry.customType, "")
    case "session_init":
      return stringOr(entry.task, "")
    case "ttsr_injection":
      return Array.isArray(entry.injectedRules) ? entry.injectedRules.join(", ") : ""
    default:
      return ""
  }
}

/** One line of an entry, or its type in parentheses where it has no words. */
export const ofEntry = (entry: Entry.Entry, columns: number): string =>
  line(textOfEntry(entry), columns) || line(`(${entry.type})`, columns)
