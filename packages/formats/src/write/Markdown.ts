/** One branch as Markdown that reads well as a page and as plain text: who said what, calls and results folded. */
import { Entry, Facts, isObject, type Json, Preview } from "@grove/core/model"
import { Stream } from "effect"
import type { Draft } from "./Draft.ts"
import * as Inert from "./InertMarkdown.ts"

const NAME_COLUMNS = 120
const HEAD_COLUMNS = 100

const text = (value: unknown): string => (typeof value === "string" ? value : "")
const pretty = (value: unknown): string => {
  try {
    return JSON.stringify(value, null, 2) ?? ""
  } catch {
    return "(nested too deeply to be shown)"
  }
}

/** Folded on a page; in plain text its head and its body stand as they are. */
const details = (head: string, body: string): string =>
  `<details>\n<summary>${Inert.inHtml(head, HEAD_COLUMNS)}</summary>\n\n${body}\n\n</details>`

const blocksOf = (content: unknown): ReadonlyArray<Json> => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

const oneLine = (value: string): string => value.split("\n", 1)[0]!

/** The argument that tells most of a call. */
const headOf = (name: string, input: unknown): string => {
  const values = isObject(input) ? Object.values(input) : []
  return `${name} ${oneLine(text(values.find((value) => typeof value === "string")))}`.trim()
}

/** A command or the text of a file reads better as it is than as JSON. */
const callBody = (input: unknown): string => {
  const members = isObject(input) ? Object.entries(input) : []
  const [only] = members
  if (members.length === 1 && typeof only![1] === "string") return Inert.code(only![1])
  return Inert.code(pretty(input), "json")
}

const imageOf = ({ mimeType, data }: Json): string => {
  const bytes = Math.floor((text(data).length * 3) / 4)
  return `*(${Inert.plain(text(mimeType) || "image", 40)}, ${bytes.toLocaleString("en-US")} bytes)*`
}

const blockOf = (block: Json): string => {
  switch (block.type) {
    case "text":
      return Inert.block(text(block.text))
    case "thinking":
      return text(block.thinking) === "" ? "" : details("thinking", Inert.block(text(block.thinking)))
    case "toolCall":
      return details(`⚙ ${headOf(text(block.name) || "tool", block.arguments)}`, callBody(block.arguments))
    case "image":
      return imageOf(block)
    case "redactedThinking":
      return "*(thinking that only the provider can read)*"
    default:
      return details(`unknown block ${text(block.type)}`, Inert.code(pretty(block), "json"))
  }
}

const spoken = (content: unknown): string =>
  blocksOf(content)
    .map(blockOf)
    .filter((part) => part !== "")
    .join("\n\n")

const result = (name: string, content: unknown, failed: boolean): string => {
  const body = blocksOf(content)
    .map((block) =>
      block.type === "text" ? (text(block.text) === "" ? "" : Inert.code(text(block.text))) : blockOf(block)
    )
    .filter((part) => part !== "")
    .join("\n\n")
  return details(`${failed ? "✕" : "↳"} ${name || "result"}`, body || "*(no output)*")
}

const messageOf = (message: Json): string => {
  switch (message.role) {
    case "user":
    case "developer":
    case "system":
    case "custom":
    case "hookMessage":
      return typeof message.uiContent === "string" ? Inert.block(message.uiContent) : spoken(message.content)
    case "assistant": {
      const failure = text(message.errorMessage)
      const stopped = message.stopReason === "aborted" ? "*(stopped)*" : ""
      const failed = message.stopReason === "error" ? `*(failed)* ${Inert.plain(failure, HEAD_COLUMNS)}` : ""
      return [spoken(message.content), stopped, failed].filter((part) => part !== "").join("\n\n")
    }
    case "toolResult":
      return result(text(message.toolName), message.content, message.isError === true)
    case "bashExecution":
    case "pythonExecution":
      return details(
        `$ ${oneLine(text(message.command) || text(message.code))}`,
        Inert.code(`${text(message.command) || text(message.code)}\n\n${text(message.output)}`)
      )
    default:
      return details(`message of ${text(message.role) || "nobody"}`, Inert.code(pretty(message), "json"))
  }
}

const speakers: { readonly [role: string]: string } = {
  user: "You",
  assistant: "Assistant",
  toolResult: "Assistant",
  developer: "System",
  system: "System",
  custom: "Note",
  hookMessage: "Note",
  bashExecution: "You",
  pythonExecution: "You",
  fileMention: "You"
}

/** Who speaks, and what is said; nothing for entries that only matter to programs. */
const sectionOf = (entry: Entry.Entry): { readonly speaker: string; readonly body: string } | undefined => {
  switch (entry.type) {
    case "message": {
      const message = isObject(entry.message) ? entry.message : {}
      if (message.hidden === true) return undefined
      return { speaker: speakers[text(message.role)] ?? "Note", body: messageOf(message) }
    }
    case "custom_message":
      return entry.display === false ? undefined : { speaker: "Note", body: spoken(entry.content) }
    case "compaction":
      return { speaker: "Compacted", body: details("summary of what came before", Inert.block(text(entry.summary))) }
    case "branch_summary":
      return { speaker: "Another branch", body: details("summary", Inert.block(text(entry.summary))) }
    case "model_change":
      return { speaker: "", body: `*Model: ${Inert.plain(Preview.textOfEntry(entry), HEAD_COLUMNS)}*` }
    default:
      return undefined
  }
}

const minute = (timestamp: string): string => {
  const at = Entry.time(timestamp)
  return at === 0 ? "" : new Date(at).toISOString().slice(0, 16).replace("T", " ")
}

const titleOf = ({ tree, title, header, redact }: Draft): ReadonlyArray<string> => {
  const name = Facts.nameOf(tree.facts, title, header)
  const facts = [
    ...(typeof header?.cwd === "string" && header.cwd !== ""
      ? [`- Folder: ${Inert.plain(header.cwd, NAME_COLUMNS)}`]
      : []),
    ...(typeof header?.timestamp === "string" ? [`- Begun: ${minute(header.timestamp)} UTC`] : []),
    ...(header === null ? [] : [`- Session: ${Inert.plain(header.id, NAME_COLUMNS)}`])
  ]
  const others = tree.leaves().length - 1
  const branches = others > 0 ? [`- Other branches, not shown: ${others}`] : []
  return [`# ${Inert.plain(name === null ? "Session" : redact(name), NAME_COLUMNS)}`, "", ...facts, ...branches, ""]
}

export const write = (draft: Draft): Stream.Stream<string> => {
  const { labels, disabled } = draft.tree.facts
  let speaker = ""
  const entryText = (entry: Entry.Entry): string => {
    const section = sectionOf(entry)
    if (section === undefined || section.body === "") return ""
    const label = labels.get(entry.id)
    const tag = label === undefined ? "" : ` \\[${Inert.plain(draft.redact(label), 40)}\\]`
    const isNew = section.speaker !== "" && (section.speaker !== speaker || section.speaker === "You")
    if (section.speaker !== "") speaker = section.speaker
    const time = minute(entry.timestamp)
    const head = isNew
      ? `## ${section.speaker}${time === "" ? "" : ` · ${time}`}${tag}\n\n`
      : tag === ""
        ? ""
        : `**${tag.trim()}**\n\n`
    const muted = disabled.has(entry.id) ? "*(muted)*\n\n" : ""
    return `${head}${muted}${section.body}\n\n`
  }
  const body = Stream.map(draft.entries, (entries) => entries.map(entryText).join(""))
  return Stream.concat(Stream.make(`${titleOf(draft).join("\n")}\n`), body)
}
