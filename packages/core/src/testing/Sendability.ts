/** What Anthropic, OpenAI, Google and Mistral refuse, told from the messages alone and knowing nothing of the policy. */
import type { Capabilities } from "../model/Capabilities.ts"

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "" && !/\p{Cs}/u.test(value)

const BLOCKS: { readonly [role: string]: ReadonlySet<unknown> } = {
  user: new Set(["text", "image"]),
  toolResult: new Set(["text", "image"]),
  assistant: new Set(["text", "thinking", "redactedThinking", "toolCall"])
}
const IMAGE_TYPES = new Set<unknown>(["image/png", "image/jpeg", "image/gif", "image/webp"])
const IDS = { long: /^[a-zA-Z0-9_-]{1,40}$/, short: /^[a-zA-Z0-9]{9}$/ } as const
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

const blockFault = (block: unknown, role: string, model: Capabilities): string | undefined => {
  if (!isObject(block) || !BLOCKS[role]!.has(block.type)) return "has a block that its role cannot have"
  if (block.type === "text" && !isText(block.text)) return "has a text that is blank or broken"
  if (block.type === "image") {
    if (!model.images) return "has an image that the model cannot take"
    const isReadable = typeof block.data === "string" && /^[A-Za-z0-9+/=]+$/.test(block.data)
    return IMAGE_TYPES.has(block.mimeType) && isReadable ? undefined : "has an image that is none"
  }
  if (block.type !== "toolCall") return undefined
  if (!model.tools) return "has a call, which the model cannot make"
  if (!IDS[model.toolIds].test(String(block.id))) return "has a call with an id that providers refuse"
  if (!NAME.test(String(block.name))) return "has a call of a name that providers refuse"
  return isObject(block.arguments) ? undefined : "has a call whose arguments are no object"
}

const messageFault = (message: Json, model: Capabilities): string | undefined => {
  const { role, content } = message
  if (typeof role !== "string" || !Object.hasOwn(BLOCKS, role)) return "has a role that providers do not know"
  if (!Array.isArray(content) || content.length === 0) return "has no content"
  if (role === "toolResult" && !model.tools) return "is a result, which the model cannot take"
  const speaks = content.some(
    (block) => isObject(block) && block.type !== "thinking" && block.type !== "redactedThinking"
  )
  if (!speaks) return "is nothing but thinking"
  for (const block of content) {
    const fault = blockFault(block, role, model)
    if (fault !== undefined) return fault
  }
  return undefined
}

const callsOf = ({ role, content }: Json): ReadonlyArray<Json> =>
  role === "assistant" && Array.isArray(content)
    ? content.filter((block) => isObject(block) && block.type === "toolCall")
    : []

/** Why providers would refuse these messages from such a model's user; empty if none would. */
export const faults = (messages: ReadonlyArray<Json>, model: Capabilities): ReadonlyArray<string> => {
  const found: Array<string> = []
  const used = new Set<unknown>()
  let open: Array<unknown> = []
  for (const [row, message] of messages.entries()) {
    const say = (fault: string) => found.push(`message ${row} ${fault}`)
    const fault = messageFault(message, model)
    if (fault !== undefined) say(fault)
    const before = messages[row - 1]
    if (message.role === "toolResult") {
      const at = open.indexOf(message.toolCallId)
      if (at === -1) say("answers no call of the reply before it")
      else open.splice(at, 1)
      continue
    }
    if (open.length > 0) say("comes before all calls are answered")
    open = []
    if (model.takesTurns && message.role === before?.role) say("has the role of its neighbour")
    if (model.takesTurns && row === 0 && message.role !== "user") say("is first and no prompt")
    if (!model.promptAfterResult && message.role === "user" && before?.role === "toolResult") say("follows a result")
    for (const { id } of callsOf(message)) {
      if (used.has(id)) say("uses an id again")
      used.add(id)
      open.push(id)
    }
  }
  if (open.length > 0) found.push("the last calls are not answered")
  return found
}

export const isSendable = (messages: ReadonlyArray<Json>, model: Capabilities): boolean =>
  faults(messages, model).length === 0
