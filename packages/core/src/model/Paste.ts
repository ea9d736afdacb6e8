/** Long pastes as short placeholders in a prompt, and the maps that keep what they stand for, as `grove.config` does. */
import type { Content } from "./Message.ts"
import { isObject } from "./open.ts"

/** By id, `#1`, `#2` and so on: a text, or an image block whose bytes are a blob. */
export type PasteMap = { readonly [id: string]: unknown }

export interface Pasted {
  readonly placeholder: string
  readonly map: PasteMap
}

const LONGEST = 1_000
const MOST_LINES = 10

const linesIn = (text: string): number => text.split(/\r\n|\r|\n/).length

/** Whether a text is too long to be shown where one types. */
export const isLong = (text: string): boolean => text.length > LONGEST || linesIn(text) > MOST_LINES

/** One more than the highest id there is, so that an old placeholder never means something new. */
const nextId = (map: PasteMap): string =>
  `#${1 + Object.keys(map).reduce((most, id) => Math.max(most, Number(/^#(\d{1,9})$/.exec(id)?.[1] ?? 0)), 0)}`

/** `[pasted text #1 +40 lines]`, and the map that says what it was. */
export const foldText = (text: string, map: PasteMap): Pasted => {
  const id = nextId(map)
  return { placeholder: `[pasted text ${id} +${linesIn(text)} lines]`, map: { ...map, [id]: text } }
}

/** `[pasted image #1]`; `data` is base64, or better the reference of a blob. */
export const foldImage = (data: string, mimeType: string, map: PasteMap): Pasted => {
  const id = nextId(map)
  return { placeholder: `[pasted image ${id}]`, map: { ...map, [id]: { type: "image", data, mimeType } } }
}

const TEXT = /\[pasted text (#\d+)(?: \+\d+ lines)?\]/g
const IMAGE = /\[pasted image (#\d+)\]/g

/** The prompt with the texts back in it. What no map knows stays as it is, and nothing inside a pasted text is expanded. */
export const expandText = (prompt: string, texts: PasteMap): string =>
  prompt.replace(TEXT, (placeholder, id) => {
    const text = Object.hasOwn(texts, id) ? texts[id] : undefined
    return typeof text === "string" ? text : placeholder
  })

type ImageBlock = Extract<Exclude<Content, string>[number], { readonly type: "image" }>

const isImage = (value: unknown): value is ImageBlock =>
  isObject(value) && value.type === "image" && typeof value.data === "string" && typeof value.mimeType === "string"

/** What is sent: the text, its placeholders of images left in place, and behind it each image that it names, once. */
export const expand = (prompt: string, texts: PasteMap, images: PasteMap): Content => {
  const ids = [...new Set([...prompt.matchAll(IMAGE)].map((found) => found[1]!))]
  const shown = ids.map((id) => (Object.hasOwn(images, id) ? images[id] : undefined)).filter(isImage)
  const text = expandText(prompt, texts)
  return shown.length === 0 ? text : [{ type: "text", text }, ...shown]
}
