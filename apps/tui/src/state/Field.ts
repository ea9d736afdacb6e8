/** One line to type into, with all that the editor's keys can do. */
import { Width } from "@grove/core/model"
import type { Input } from "../keys.ts"
import * as Editor from "./Editor.ts"
import * as Glyphs from "./Glyphs.ts"
import * as Row from "./Row.ts"

export type Field = Editor.Editor

export const empty: Field = Editor.empty

export const of = (text: string): Field => Editor.of(oneLine(text))

const oneLine = (text: string): string => text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ")

export const textOf = (field: Field): string => field.text

/** More columns than any line has: nothing wraps. */
const ENDLESS = Number.MAX_SAFE_INTEGER
/** Keys of the editor that have no meaning in a single line. */
const VERTICAL = new Set(["up", "down", "shift+enter", "alt+enter", "ctrl+enter"])

/** What an input does to the text; `undefined` for what is not the field's. */
export const press = (field: Field, input: Input): Field | undefined => {
  if (input._tag === "Paste") return Editor.insert(field, oneLine(input.text))
  if (input._tag !== "Key" || VERTICAL.has(input.name)) return undefined
  return input.text === undefined ? Editor.press(field, input.name, ENDLESS) : Editor.insert(field, input.text)
}

/** The part of the text around the caret, at most `columns` wide with the place for the caret, and the caret's column in it. */
export const draw = (field: Field, columns: number): { readonly row: Row.Row; readonly column: number } => {
  const room = Math.max(1, columns - 1)
  const before = Glyphs.graphemes(Glyphs.shown(field.text.slice(0, field.caret)))
  let from = before.length
  let column = 0
  while (from > 0 && column + Width.of(before[from - 1]!) <= room) column += Width.of(before[--from]!)
  let shown = before.slice(from).join("")
  let wide = column
  for (const grapheme of Glyphs.graphemes(Glyphs.shown(field.text.slice(field.caret)))) {
    wide += Width.of(grapheme)
    if (wide > room) break
    shown += grapheme
  }
  return { row: Row.row(shown), column }
}
