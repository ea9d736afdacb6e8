/** What is in a message, whoever wrote it: total functions over JSON that nobody has checked. */
import { isObject, type Json } from "@grove/core"

/** The blocks of a content: a plain text is one block, what is no block is none. */
export const blocksOf = (content: unknown): ReadonlyArray<Json> => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

export const textOfBlock = (block: Json): string => (typeof block.text === "string" ? block.text : "")

/** The text blocks of a content, joined by line ends. */
export const textOf = (content: unknown): string =>
  blocksOf(content)
    .filter(({ type }) => type === "text")
    .map(textOfBlock)
    .join("\n")

const IMAGE_CHARACTERS = 4_800

const lengthOf = (block: Json): number => {
  switch (block.type) {
    case "image":
      return IMAGE_CHARACTERS
    case "thinking":
      return typeof block.thinking === "string" ? block.thinking.length : 0
    case "toolCall":
      return String(block.name).length + (JSON.stringify(block.arguments) ?? "").length
    default:
      return textOfBlock(block).length
  }
}

/** About how many tokens: four characters each, as many as a word of English has. */
export const estimate = (messages: ReadonlyArray<Json>): number => {
  let tokens = 0
  for (const { content } of messages) {
    let characters = 0
    for (const block of blocksOf(content)) characters += lengthOf(block)
    tokens += Math.ceil(characters / 4)
  }
  return tokens
}
