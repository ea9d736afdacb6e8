/** The part of a text where a query was found, in one line, with marks on what was found. */
import { type SearchQuery, SearchText } from "@grove/core"

export interface Snippet {
  readonly snippet: string
  /** From where to where in the snippet, each, in order. */
  readonly marks: ReadonlyArray<readonly [start: number, end: number]>
}

const BEFORE = 40
const LENGTH = 160

const LATIN_MARK = /\p{Mn}/u

/** A folded text, and for each unit of it where it stands in the text. */
const aligned = (text: string): { readonly folded: string; readonly at: (unit: number) => number } => {
  const whole = SearchText.fold(text)
  if (whole.length === text.length) return { folded: whole, at: (unit) => unit }
  let folded = ""
  const places: Array<number> = []
  let offset = 0
  for (const character of text) {
    const part = LATIN_MARK.test(character) && /\p{Script=Latin}$/u.test(folded) ? "" : SearchText.fold(character)
    for (let i = 0; i < part.length; i++) places.push(offset)
    folded += part
    offset += character.length
  }
  return { folded, at: (unit) => places[unit] ?? text.length }
}

const occurrences = (folded: string, words: ReadonlyArray<string>): Array<readonly [number, number]> => {
  const found: Array<readonly [number, number]> = []
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0 && found.length < 1000; at = folded.indexOf(word, at + word.length)) {
      found.push([at, at + word.length])
    }
  }
  return found.sort((a, b) => a[0] - b[0] || b[1] - a[1])
}

/** A place to cut that does not part a pair of surrogates. */
const whole = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

export const of = (text: string, query: SearchQuery.SearchQuery): Snippet => {
  const { folded, at } = aligned(text)
  const words = query.clauses.flatMap((clause) => clause.map((word) => word.text)).filter((word) => word !== "")
  const found = occurrences(folded, words).map(([start, end]) => [at(start), at(end)] as const)
  const first = found[0]?.[0] ?? 0
  const start = whole(text, Math.max(0, first - BEFORE))
  const end = whole(text, Math.min(text.length, start + LENGTH))
  const before = start > 0 ? "…" : ""
  const snippet = `${before}${text.slice(start, end).replace(/\s/gu, " ")}${end < text.length ? "…" : ""}`
  const shift = before.length - start
  const marks: Array<readonly [number, number]> = []
  let last = -1
  for (const [from, to] of found) {
    if (to > end || from + shift < last) continue
    marks.push([from + shift, to + shift])
    last = to + shift
  }
  return { snippet, marks }
}
