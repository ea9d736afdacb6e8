/** Any text as a terminal may be given it: nothing in it is obeyed, and its columns can be counted. */
import { Preview, Width } from "@grove/core/model"

const TAB = "  "
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })

/** Characters on whose width, alone or joined to others, terminals do not agree. */
const DISPUTED = /[\u200b-\u200f\u2060-\u206f\ufeff\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0000}-\u{e007f}]|\p{M}/u
const FLAG_LETTER = /[\u{1f1e6}-\u{1f1ff}]/gu
const PICTURE = /^(?:\p{Extended_Pictographic}|[0-9#*]\ufe0f)/u
const SILENT = /[\u200b-\u200f\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\u{1f3fb}-\u{1f3ff}]|[\ufe00-\ufe0f]/gu

/** A picture of many is shown as its first, a flag as its letters: one width in every terminal. */
const simple = (grapheme: string): string => {
  if (!DISPUTED.test(grapheme)) return grapheme
  const letters = grapheme.replace(FLAG_LETTER, (flag) => String.fromCharCode(flag.codePointAt(0)! - 0x1f1e6 + 65))
  if (letters !== grapheme) return letters
  const whole = PICTURE.test(grapheme) ? String.fromCodePoint(grapheme.codePointAt(0)!) : grapheme
  return whole.replace(SILENT, "")
}

/** The graphemes of a text as they are shown. Line breaks must have been taken out before. */
export const shown = (text: string): string => {
  const safe = Preview.inert(text.replaceAll("\t", TAB))
  if (!DISPUTED.test(safe)) return safe
  let simplified = ""
  for (const { segment } of segmenter.segment(safe)) simplified += simple(segment)
  return simplified
}

/** The graphemes of a text, as it is. */
export const graphemes = (text: string): ReadonlyArray<string> => {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split("")
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** The columns a text takes once it is shown. */
export const columns = (text: string): number => Width.of(shown(text))
