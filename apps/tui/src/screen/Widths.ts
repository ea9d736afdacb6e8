/** Brings blessed's tables of 2015 in step with today's terminals, so that no half of a wide character is left behind. */
import { createRequire } from "node:module"
import { eastAsianWidth } from "get-east-asian-width"

interface Tables {
  charWidth: (text: string | number, index?: number) => number
  strWidth: (text: string) => number
  readonly combining: { [code: number]: boolean }
  readonly chars: { all: RegExp; wide: RegExp; swide: RegExp }
}

/** Where wide characters begin, and where those end that have to be looked up one by one. */
const FIRST = 0x1100
const LAST = 0x1ffff
/** Blocks and planes that are wide as a whole, by their first and last. */
const WHOLE = [
  [0x3400, 0x4dbf],
  [0x4e00, 0xa48c],
  [0xac00, 0xd7a3],
  [0x20000, 0x2fffd],
  [0x30000, 0x3fffd]
] as const
/** Surrogates, private use, and alphabets above them: nothing wide there. */
const NARROW = [
  [0xd7a4, 0xf8ff],
  [0x10000, 0x16fdf]
] as const
const INVISIBLE = [0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xfe0e, 0xfe0f]

const range = (first: number, last: number): string => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`

/** Every wide character, as the ranges of a character class. */
export const wideRanges = (): string => {
  const passed = [...WHOLE, ...NARROW]
  let ranges = WHOLE.map(([first, last]) => range(first, last)).join("")
  let start = -1
  for (let code = FIRST; code <= LAST + 1; code++) {
    const block = passed.find(([first]) => first === code)
    const isWide = code <= LAST && block === undefined && eastAsianWidth(code) === 2
    if (isWide && start < 0) start = code
    if (!isWide && start >= 0) {
      ranges += range(start, code - 1)
      start = -1
    }
    if (block !== undefined) code = block[1]
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
