/** Brings blessed's tables of 2015 in step with today's terminals, so that no half of a wide character is left behind. */
import { createRequire } from "node:module"
import { eastAsianWidth } from "get-east-asian-width"

interface Tables {
  charWidth: (text: string | number, index?: number) => number
  strWidth: (text: string) => number
  readonly combining: { [code: number]: boolean }
  readonly chars: { all: RegExp; wide: RegExp; swide: RegExp }
}

/** Where the oldest wide characters begin, and where planes end that have any. */
const FIRST = 0x1100
const LAST = 0x3ffff
const INVISIBLE = [0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xfe0e, 0xfe0f]

const isWide = (code: number): boolean => !(code >= 0xd800 && code <= 0xdfff) && eastAsianWidth(code) === 2

/** Every wide character, as the ranges of a character class. */
const wideRanges = (): string => {
  let ranges = ""
  let start = -1
  for (let code = FIRST; code <= LAST + 1; code++) {
    const wide = code <= LAST && isWide(code)
    if (wide && start < 0) start = code
    if (!wide && start >= 0) {
      ranges += `\\u{${start.toString(16)}}-\\u{${(code - 1).toString(16)}}`
      start = -1
    }
  }
  return ranges
}

let isDone = false

/** Must be called before the first screen is made. */
export const install = (): void => {
  if (isDone) return
  isDone = true
  const tables = createRequire(import.meta.url)("blessed/lib/unicode") as Tables
  const before = tables.charWidth
  for (const code of INVISIBLE) tables.combining[code] = true
  tables.charWidth = (text, index) => {
    const code = typeof text === "number" ? text : (text.codePointAt(index ?? 0) ?? 0)
    if (code < 0x300) return before(code)
    return tables.combining[code] ? 0 : eastAsianWidth(code)
  }
  tables.strWidth = (text) => {
    let width = 0
    // blessed marks the second half of a wide character by \x03.
    for (const character of text) if (character !== "\x03") width += tables.charWidth(character.codePointAt(0)!)
    return width
  }
  const all = new RegExp(`([${wideRanges()}])`, "gu")
  tables.chars.all = all
  tables.chars.wide = all
  tables.chars.swide = all
}
