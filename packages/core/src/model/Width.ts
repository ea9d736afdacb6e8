/** How many terminal columns a text takes, and cutting it to fit. */
import { eastAsianWidth } from "get-east-asian-width"

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const ASCII = /^[\x20-\x7e]*$/
/** Characters that take one column each and never join a neighbour: looking for graphemes among them would cost much. */
export const SIMPLE =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u03c9\u0410-\u044f\u2010-\u2027\u2500-\u25fc]*$/
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
/** Voiced marks of half-width kana join their letter but take a column of their own. */
const HALF_WIDTH_MARK = /[\uff9e\uff9f]/g
const EMOJI = /\p{RGI_Emoji}|^\p{Regional_Indicator}{2}|\ufe0f/v

/** More characters that never join a neighbour, one or two columns wide: Chinese, Japanese and Korean for the most part. */
const SINGLES =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20cf\u2100-\u2bff\u2e80-\u2fff\u3001-\u3029\u3030-\u3098\u309b-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9d\uffe0-\uffee]*$/
/** Their widths, as far as they have been asked for; 0 for the others. */
const widths = new Uint8Array(0x10000)

const singleWidth = (code: number): number => (widths[code] ||= eastAsianWidth(code))

const graphemeWidth = (grapheme: string): number => {
  if (ASCII.test(grapheme)) return grapheme.length
  if (INVISIBLE.test(grapheme)) return 0
  const first = grapheme.codePointAt(0)!
  // What is a picture all by itself is wide by the table; only sequences have to be asked for.
  if (grapheme.length === String.fromCodePoint(first).length) return eastAsianWidth(first)
  if (EMOJI.test(grapheme)) return 2
  return eastAsianWidth(first) + (grapheme.slice(1).match(HALF_WIDTH_MARK)?.length ?? 0)
}

/** Columns of a text without control characters. */
export const of = (text: string): number => {
  if (SIMPLE.test(text)) return text.length
  let width = 0
  if (SINGLES.test(text)) {
    for (let i = 0; i < text.length; i++) width += singleWidth(text.charCodeAt(i))
    return width
  }
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment)
  return width
}

/** At most `columns` wide; what was cut off is shown by an ellipsis. */
export const cut = (text: string, columns: number): string => {
  if (columns <= 0) return ""
  if (SIMPLE.test(text)) return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
  let width = 0
  if (SINGLES.test(text)) {
    let fitting = 0
    for (let i = 0; i < text.length; i++) {
      width += singleWidth(text.charCodeAt(i))
      if (width > columns) return `${text.slice(0, fitting)}…`
      if (width <= columns - 1) fitting = i + 1
    }
    return text
  }
  let fits = ""
  let whole = ""
  for (const { segment } of segmenter.segment(text)) {
    width += graphemeWidth(segment)
    if (width > columns) return `${fits}…`
    whole += segment
    if (width <= columns - 1) fits = whole
  }
  return text
}

/** The text in pieces of at most `columns`, none of which ends within a character; one piece where it fits. */
export const pieces = (text: string, columns: number): ReadonlyArray<string> => {
  if (text.length <= columns && SIMPLE.test(text)) return [text]
  const found: Array<string> = []
  let [piece, width] = ["", 0]
  for (const { segment } of segmenter.segment(text)) {
    const more = graphemeWidth(segment)
    if (width + more > columns && piece !== "") {
      found.push(piece)
      piece = ""
      width = 0
    }
    piece += segment
    width += more
  }
  return [...found, piece]
}

/** Filled with spaces to exactly `columns`, cut if longer. */
export const pad = (text: string, columns: number): string => {
  const fitting = cut(text, columns)
  return fitting + " ".repeat(Math.max(0, columns - of(fitting)))
}
