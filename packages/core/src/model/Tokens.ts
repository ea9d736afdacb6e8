/** How many tokens a message is, by a rule of thumb: a quarter of its characters. */
import { isObject, type Json, stringOr } from "./open.ts"

const CHARACTERS_PER_TOKEN = 4
/** What an image counts as, whatever its size. */
const IMAGE_CHARACTERS = 4800

const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0)

const blockCharacters = (block: unknown): number => {
  if (!isObject(block)) return 0
  switch (block.type) {
    case "image":
      return IMAGE_CHARACTERS
    case "thinking":
      return lengthOf(block.thinking)
    case "toolCall":
      return lengthOf(block.name) + (JSON.stringify(block.arguments)?.length ?? 0)
    default:
      return lengthOf(block.text)
  }
}

const contentCharacters = (content: unknown): number => {
  if (!Array.isArray(content)) return lengthOf(content)
  return content.reduce((sum: number, block) => sum + blockCharacters(block), 0)
}

const charactersOf = (message: Json): number => {
  switch (stringOr(message.role, "")) {
    case "bashExecution":
      return lengthOf(message.command) + lengthOf(message.output)
    case "pythonExecution":
      return lengthOf(message.code) + lengthOf(message.output)
    case "branchSummary":
    case "compactionSummary":
      return lengthOf(message.summary)
    default:
      return contentCharacters(message.content)
  }
}

export const estimate = (message: Json): number => Math.ceil(charactersOf(message) / CHARACTERS_PER_TOKEN)
