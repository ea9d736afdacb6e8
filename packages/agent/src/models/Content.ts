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

/** A name or an id as text. What is no word is none: an object could refuse to be made one. */
export const wordOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : ""
