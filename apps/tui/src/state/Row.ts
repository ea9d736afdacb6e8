/** A line of the screen as plain data: pieces of text, each in one style. What the screen paints is rows and nothing else. */
import { Width } from "@grove/core/model"
import * as Glyphs from "./Glyphs.ts"

/** What a piece of text is, not what it looks like: themes decide that. */
export type Style =
  | "plain"
  | "dim"
  | "strong"
  | "emphasis"
  | "heading"
  | "code"
  | "link"
  | "you"
  | "ai"
  | "accent"
  | "error"
  | "warning"
  | "added"
  | "removed"
  | "match"
  | "title"
  | "selected"

export interface Span {
  /** Inert, without line breaks: safe to print as it is. */
  readonly text: string
  readonly style: Style
}

export type Row = ReadonlyArray<Span>

export const empty: Row = []

/** Any text as a span; whatever is in it becomes inert. */
export const span = (text: string, style: Style = "plain"): Span => ({
  text: Glyphs.shown(text.replace(/\r\n?|\n|\u2028|\u2029/g, " ")),
  style
})

/** A row of one style. */
export const row = (text: string, style: Style = "plain"): Row => [span(text, style)]

export const width = (spans: Row): number => spans.reduce((sum, { text }) => sum + Width.of(text), 0)

export const textOf = (spans: Row): string => spans.map(({ text }) => text).join("")

/** At most `columns` wide; what was cut off is shown by an ellipsis. */
export const cut = (spans: Row, columns: number): Row => {
  if (width(spans) <= columns) return spans
  let left = columns
  const kept: Array<Span> = []
  for (const { text, style } of spans) {
    const wide = Width.of(text)
    if (wide < left) kept.push({ text, style })
    // A space more than there is, so that a text which fits exactly is cut too: something follows it.
    else return [...kept, { text: Width.cut(`${text} `, left), style }]
    left -= wide
  }
  return kept
}

/** Left and right on one line, the right one whole and the left one cut where both do not fit. */
export const spread = (left: Row, right: Row, columns: number): Row => {
  const wide = width(right)
  if (wide === 0) return cut(left, columns)
  if (wide + 2 >= columns) return cut(right, columns)
  const fitting = cut(left, columns - wide - 1)
  return [...fitting, { text: " ".repeat(columns - wide - width(fitting)), style: "plain" }, ...right]
}

/** Filled to exactly `columns`, all of it in `style` if one is given. */
export const fill = (spans: Row, columns: number, style?: Style): Row => {
  const fitting = cut(spans, columns)
  const rest = { text: " ".repeat(Math.max(0, columns - width(fitting))), style: style ?? "plain" }
  return [...(style === undefined ? fitting : fitting.map(({ text }) => ({ text, style }))), rest]
}

interface Piece {
  readonly text: string
  readonly style: Style
  readonly wide: number
}

const WIDE_OR_SPACE =
  /([ \u3000]+)|([\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3ffff}])/gu

/** Where a line may break: between words, and around every wide character. */
const pieces = (spans: Row): Array<Piece> => {
  const found: Array<Piece> = []
  const add = (text: string, style: Style) => text !== "" && found.push({ text, style, wide: Width.of(text) })
  for (const { text, style } of spans) {
    let from = 0
    for (const match of text.matchAll(WIDE_OR_SPACE)) {
      add(text.slice(from, match.index), style)
      add(match[0], style)
      from = match.index + match[0].length
    }
    add(text.slice(from), style)
  }
  return found
}

const isSpace = (text: string): boolean => text.trim() === ""

/** Broken between words where it can be and anywhere else where it must; `hang` is put before all rows but the first. */
export const wrap = (spans: Row, columns: number, hang: Row = empty): ReadonlyArray<Row> => {
  const room = Math.max(1, columns)
  if (width(spans) <= room) return [spans]
  const indent = width(hang) < room - 1 ? hang : empty
  const rows: Array<Row> = []
  let line: Array<Span> = []
  let used = 0
  const push = (text: string, style: Style, wide: number) => {
    const last = line.at(-1)
    if (last?.style === style) line[line.length - 1] = { text: last.text + text, style }
    else line.push({ text, style })
    used += wide
  }
  const next = () => {
    rows.push(line)
    line = [...indent]
    used = width(indent)
  }
  let isFresh = true
  for (const { text, style, wide } of pieces(spans)) {
    if (isSpace(text)) {
      if (used + wide > room) {
        next()
        isFresh = true
      } else if (!(isFresh && rows.length > 0)) push(text, style, wide)
      continue
    }
    if (used + wide > room && !isFresh) {
      next()
      isFresh = true
    }
    if (used + wide <= room) push(text, style, wide)
    else {
      for (const grapheme of Glyphs.graphemes(text)) {
        const columnsOf = Width.of(grapheme)
        if (used + columnsOf > room) next()
        push(grapheme, style, columnsOf)
      }
    }
    isFresh = false
  }
  rows.push(line)
  return rows
}

/** Each row moved right behind a first row's sign. */
export const indent = (rows: ReadonlyArray<Row>, first: Row, rest: Row): ReadonlyArray<Row> =>
  rows.map((spans, i) => [...(i === 0 ? first : rest), ...spans])
