/** Step: every message becomes a prompt, a reply or a tool result, worded as Pi words it, and well-formed. */
import { isObject, type Json, stringOr } from "../open.ts"
import {
  isBlank,
  type Message,
  type Note,
  note,
  type Replied,
  type Said,
  type Shown,
  type Step,
  type Text,
  type ToolCall,
  text
} from "./Draft.ts"

/** Halves of surrogate pairs make a request that providers refuse to parse. */
const wellFormed = (value: string): string => value.replace(/\p{Cs}/gu, "\ufffd")
/** Escapes one by one, so that an escaped backslash is not taken for the beginning of the next. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g
const wellFormedJson = (json: string): string =>
  json.replace(ESCAPES, (escape, half) => (half === undefined ? escape : "\\ufffd"))

const encode = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    // Nested deeper than a request can be.
    return undefined
  }
}

type Tell = (kind: Note["kind"], message: string) => void

const listOf = (content: unknown): ReadonlyArray<unknown> =>
  content === undefined || content === null ? [] : Array.isArray(content) ? content : [content]

const textOf = (block: unknown): Text | undefined => {
  if (typeof block === "string") return text(wellFormed(block))
  if (typeof block === "number" || typeof block === "boolean") return text(String(block))
  if (!isObject(block) || typeof block.text !== "string") return undefined
  return block.type === "text" ? { ...block, type: "text", text: wellFormed(block.text) } : text(wellFormed(block.text))
}

const isImage = (block: Json): boolean =>
  block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string"

const kindOf = (block: unknown): string =>
  isObject(block) ? wellFormed(stringOr(block.type, "block").slice(0, 40)) : "block"

const shown = (content: unknown, tell: Tell): ReadonlyArray<Shown> =>
  listOf(content).flatMap((block): ReadonlyArray<Shown> => {
    const worded = textOf(block)
    if (worded !== undefined) return [worded]
    if (isObject(block) && isImage(block)) return [block as unknown as Shown]
    tell("replaced", "a block of unknown form, told as a note that it is left out")
    return [text(`[${kindOf(block)} left out]`)]
  })

const argumentsOf = (value: unknown, tell: Tell): Json => {
  if (value === undefined || value === null) return {}
  const encoded = encode(value)
  if (encoded === undefined) {
    tell("replaced", "arguments of a call that are nested too deeply, left empty")
    return {}
  }
  const repaired = wellFormedJson(encoded)
  const parsed: unknown = repaired === encoded ? value : JSON.parse(repaired)
  return isObject(parsed) ? parsed : { value: parsed }
}

const callOf = (block: Json, tell: Tell): ToolCall => ({
  ...block,
  type: "toolCall",
  id: stringOr(block.id, ""),
  name: wellFormed(stringOr(block.name, "")),
  arguments: argumentsOf(block.arguments, tell)
})

const replied = (content: unknown, tell: Tell): ReadonlyArray<Replied> =>
  listOf(content).flatMap((block): ReadonlyArray<Replied> => {
    if (isObject(block) && block.type === "toolCall") return [callOf(block, tell)]
    if (isObject(block) && block.type === "thinking" && typeof block.thinking === "string") {
      return [{ ...block, type: "thinking", thinking: wellFormed(block.thinking) }]
    }
    if (isObject(block) && block.type === "redactedThinking" && typeof block.data === "string") {
      return [block as unknown as Replied]
    }
    const worded = textOf(block)
    if (worded !== undefined) return [worded]
    if (isObject(block) && isImage(block)) return [block as unknown as Replied]
    tell("left-out", "a block of unknown form in a reply")
    return []
  })

const fenced = (output: string): string => (output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``)

const ended = ({ cancelled, exitCode }: Json): string => {
  if (cancelled === true) return "\n\n(command cancelled)"
  return typeof exitCode === "number" && exitCode !== 0 ? `\n\nCommand exited with code ${exitCode}` : ""
}

const execution = (title: string, message: Json): string => {
  const whole = stringOr(message.fullOutputPath, "")
  const cut = message.truncated === true && whole !== "" ? `\n\n[Output truncated. Full output: ${whole}]` : ""
  return `${title}\n${fenced(stringOr(message.output, ""))}${ended(message)}${cut}`
}

const mention = (file: Json): ReadonlyArray<unknown> => {
  const why = stringOr(file.skippedReason, "")
  const body = why === "" ? `\n${stringOr(file.content, "")}\n` : `(left out: ${why})`
  const words = text(`<file path="${stringOr(file.path, "")}">${body}</file>`)
  return isObject(file.image) ? [words, { type: "image", ...file.image }] : [words]
}

const COMPACTED = "The conversation history before this point was compacted into the following summary:"
const CAME_BACK = "The following is a summary of a branch that this conversation came back from:"

/** The content of a message that is shown to the model as a prompt; `undefined` for one that says nothing. */
const asPrompt = (message: Json): unknown => {
  const summary = stringOr(message.summary, "")
  switch (message.role) {
    case "bashExecution":
      return execution(`Ran \`${stringOr(message.command, "")}\``, message)
    case "pythonExecution":
      return execution(`Ran Python:\n\`\`\`\n${stringOr(message.code, "")}\n\`\`\`\nOutput:`, message)
    case "fileMention":
      return listOf(message.files).filter(isObject).flatMap(mention)
    case "compactionSummary":
      return isBlank(summary) ? undefined : `${COMPACTED}\n\n<summary>\n${summary}\n</summary>`
    case "branchSummary":
      return isBlank(summary) ? undefined : `${CAME_BACK}\n\n<summary>\n${summary}</summary>`
    default:
      return message.content
  }
}

const PROMPTS = new Set<unknown>([
  "user",
  "developer",
  "custom",
  "hookMessage",
  "bashExecution",
  "pythonExecution",
  "fileMention",
  "compactionSummary",
  "branchSummary"
])

const timeOf = ({ timestamp }: Json): Json => (timestamp === undefined ? {} : { timestamp })

const messageOf = (message: Json, tell: Tell): Message | undefined => {
  const { role } = message
  if (role === "user") return { ...message, role, content: shown(message.content, tell) }
  if (role === "assistant") return { ...message, role, content: replied(message.content, tell) }
  if (role === "toolResult") {
    return {
      ...message,
      role,
      toolCallId: stringOr(message.toolCallId, ""),
      toolName: wellFormed(stringOr(message.toolName, "")),
      content: shown(message.content, tell),
      isError: message.isError === true
    }
  }
  if (message.excludeFromContext === true) {
    tell("left-out", "a command that was run outside the context")
    return undefined
  }
  const content = asPrompt(message)
  if (content === undefined || content === null) {
    tell("left-out", "a message that says nothing")
    return undefined
  }
  if (PROMPTS.has(role)) return { role: "user", content: shown(content, tell), ...timeOf(message) }
  tell("replaced", "a message of an unknown role, told as a prompt that names the role")
  const name = wellFormed(stringOr(role, "unknown").slice(0, 40))
  return { role: "user", content: [text(`[${name}]`), ...shown(content, tell)], ...timeOf(message) }
}

/** System messages build up one prompt: plain ones add to it, named sections replace or remove one another. */
const systemPromptOf = (messages: ReadonlyArray<Json>): string => {
  const parts: Array<string> = []
  const sections = new Map<string, string>()
  for (const { content, sections: named } of messages) {
    for (const block of listOf(content)) parts.push(textOf(block)?.text ?? "")
    for (const [name, section] of Object.entries(isObject(named) ? named : {})) {
      if (typeof section === "string") sections.set(name, wellFormed(section))
      else sections.delete(name)
    }
  }
  return [...parts, ...sections.values()].filter((part) => !isBlank(part)).join("\n\n")
}

export const roles: Step = {
  name: "roles",
  apply: (draft) => {
    const changes: Array<Note> = []
    const said: Array<Said> = []
    const system: Array<Json> = []
    for (const each of draft.said) {
      const raw = each.message as Json
      if (raw.role === "system") {
        system.push(raw)
        continue
      }
      const message = messageOf(raw, (kind, words) => changes.push(note(kind, each, words)))
      if (message !== undefined) said.push({ ...each, message })
    }
    const systemPrompt = [draft.systemPrompt, systemPromptOf(system)].filter((part) => part !== "").join("\n\n")
    return { systemPrompt, said, changes }
  }
}
