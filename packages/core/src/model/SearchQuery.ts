/**
 * What a person types to find something. Words must all occur; `'exact` as a whole word, `^start` and `end$` of the
 * text, `!not` at all, `a | b` one of them, `re:/…/` as a pattern; `cwd:`, `session:`, `after:` and their like say where
 * and when. Nothing a person types is wrong: what cannot be understood is looked for as it stands.
 */
import { fold, isBorder } from "./SearchText.ts"

export interface Word {
  readonly is: "part" | "whole" | "start" | "end"
  /** Folded. */
  readonly text: string
}

/** One of these must be there. */
export type Clause = ReadonlyArray<Word>

export interface Filters {
  readonly cwd?: string
  readonly session?: string
  readonly author?: string
  readonly label?: string
  readonly role?: string
  readonly tool?: string
  /** Milliseconds since 1970: used at this time or later. */
  readonly after?: number
  /** Used earlier than this. */
  readonly before?: number
}

export interface SearchQuery {
  readonly clauses: ReadonlyArray<Clause>
  readonly none: ReadonlyArray<Word>
  readonly patterns: ReadonlyArray<RegExp>
  readonly filters: Filters
  /** All plain words as they were typed one after the other, folded. */
  readonly phrase: string
}

export interface ParseOptions {
  /** Which filters mean something here; others are plain text. */
  readonly filters: ReadonlyArray<keyof Filters>
  /** What relative times are counted from. */
  readonly now: number
}

const HOUR = 3_600_000
const UNITS: { readonly [unit: string]: number } = { h: HOUR, d: 24 * HOUR, w: 168 * HOUR, y: 8766 * HOUR }

/** `2026-01-31`, a whole timestamp, or an age: `12h`, `7d`, `2w`, `1y`. */
const timeFrom = (text: string, now: number): number | undefined => {
  const age = /^(\d{1,6})([hdwy])$/.exec(text)
  if (age !== null) return now - Number(age[1]) * UNITS[age[2]!]!
  const at = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

const filterFrom = (key: keyof Filters, value: string, now: number): Filters | undefined => {
  if (key !== "after" && key !== "before") return { [key]: value }
  const at = timeFrom(value, now)
  return at === undefined ? undefined : { [key]: at }
}

const patternFrom = (source: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(source, `u${flags.includes("c") ? "" : "i"}`)
  } catch {
    return undefined
  }
}

/** A typed word as what it asks for. What looks like an operator may also be meant as it stands. */
const clauseFrom = (typed: string): Clause => {
  const text = fold(typed)
  const as = (is: Word["is"], part: string): Word => ({ is, text: part })
  if (text.length > 1 && text.startsWith("'")) return [as("whole", text.slice(1))]
  if (text.length > 1 && text.startsWith("^")) return [as("start", text.slice(1)), as("part", text)]
  if (text.length > 1 && text.endsWith("$")) return [as("end", text.slice(0, -1)), as("part", text)]
  return [as("part", text)]
}

/** A pattern may hold blanks; everything else is parted by them. `c` after a pattern makes case count. */
const TYPED = /re:\/((?:\\.|[^/\\])+)\/(c?)(?=\s|$)|\S+/gu

export const parse = (text: string, { filters: known, now }: ParseOptions): SearchQuery => {
  const clauses: Array<Clause> = []
  const none: Array<Word> = []
  const patterns: Array<RegExp> = []
  const plain: Array<string> = []
  let filters: Filters = {}
  let joins = false
  for (const [typed, source, flags] of text.matchAll(TYPED)) {
    const pattern = source === undefined ? undefined : patternFrom(source, flags ?? "")
    if (pattern !== undefined) {
      patterns.push(pattern)
      continue
    }
    const [, key, value] = /^([a-z]+):(.+)$/su.exec(typed) ?? []
    const isKnown = key !== undefined && (known as ReadonlyArray<string>).includes(key)
    const filter = isKnown ? filterFrom(key as keyof Filters, value!, now) : undefined
    if (filter !== undefined) {
      filters = { ...filters, ...filter }
      continue
    }
    if (typed === "|" && clauses.length > 0) {
      joins = true
      continue
    }
    if (typed.length > 1 && typed.startsWith("!")) {
      none.push(...clauseFrom(typed.slice(1)).slice(0, 1))
      continue
    }
    const clause = clauseFrom(typed)
    if (joins) clauses.push([...clauses.pop()!, ...clause])
    else clauses.push(clause)
    joins = false
    plain.push(typed)
  }
  if (joins) clauses.push([{ is: "part", text: "|" }])
  const isPlain = clauses.length === plain.length && clauses.every((clause) => clause.length === 1)
  return { clauses, none, patterns, filters, phrase: isPlain ? fold(plain.join(" ")) : "" }
}

/** How well a text fits, best first. */
export const FIT = { phrase: 0, words: 1, inside: 2 } as const
export type Fit = (typeof FIT)[keyof typeof FIT]

/** Where a word stands in a folded text, at a border if it can be; -1 if nowhere. */
const positionOf = ({ is, text }: Word, folded: string): { readonly at: number; readonly atBorder: boolean } => {
  if (is === "start") return { at: folded.startsWith(text) ? 0 : -1, atBorder: true }
  if (is === "end") return { at: folded.endsWith(text) ? folded.length - text.length : -1, atBorder: true }
  let first = -1
  for (let at = folded.indexOf(text); at >= 0; at = folded.indexOf(text, at + 1)) {
    const isThere = isBorder(folded, at) && (is === "part" || isBorder(folded, at + text.length))
    if (isThere) return { at, atBorder: true }
    if (first < 0) first = at
  }
  return { at: is === "whole" ? -1 : first, atBorder: false }
}

/** How well a text fits the words of a query, `undefined` if it does not. Filters are not looked at. */
export const fitOf = (query: SearchQuery, text: string): Fit | undefined => {
  const folded = fold(text)
  let fit: Fit = FIT.words
  for (const clause of query.clauses) {
    const found = clause.map((word) => positionOf(word, folded)).filter(({ at }) => at >= 0)
    if (found.length === 0) return undefined
    if (!found.some(({ atBorder }) => atBorder)) fit = FIT.inside
  }
  if (query.none.some((word) => positionOf(word, folded).at >= 0)) return undefined
  if (!query.patterns.every((pattern) => pattern.test(text))) return undefined
  if (query.phrase !== "" && positionOf({ is: "part", text: query.phrase }, folded).atBorder) return FIT.phrase
  return fit
}

/** Whether anything at all is asked of the text itself. */
export const asksNothing = ({ clauses, none, patterns }: SearchQuery): boolean =>
  clauses.length === 0 && none.length === 0 && patterns.length === 0
