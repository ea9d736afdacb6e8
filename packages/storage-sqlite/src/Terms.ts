/**
 * The words of a text as the index has them, for what is indexed and for what is asked. SQLite parts a text at everything
 * that is no letter or digit; what it cannot see is added here: pairs of ideographs, the parts of identifiers, and words
 * that touch ideographs.
 */
import { SearchText } from "@grove/core"

const { fold, isCjk } = SearchText

const RUNS = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
/** Where a part of an identifier begins: `getUser`, `HTTPRequest`, `v2`, `2nd`. */
const PART = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu
/** Longer words are no words, and would only swell the list of them. */
const LONGEST = 64

/** A run of letters, whole or cut where ideographs begin and end. */
interface Segment {
  readonly text: string
  readonly isCjk: boolean
}

const IS_ASCII = /^[\0-\x7f]*$/

const segmentsOf = (run: string): ReadonlyArray<Segment> => {
  if (IS_ASCII.test(run)) return [{ text: run, isCjk: false }]
  const segments: Array<{ text: string; isCjk: boolean }> = []
  for (const character of run) {
    const last = segments.at(-1)
    // A mark belongs to the letter before it.
    const is = last !== undefined && /\p{M}/u.test(character) ? last.isCjk : isCjk(character)
    if (last?.isCjk === is) last.text += character
    else segments.push({ text: character, isCjk: is })
  }
  return segments
}

/** Every pair of neighbours, and the last one alone: so one character is found as a beginning, and no phrase leaves its run. */
const pairsOf = (run: string): ReadonlyArray<string> => {
  const characters = [...run]
  return characters.map((character, i) => character + (characters[i + 1] ?? ""))
}

/** What an identifier is from each of its parts on: so every part is found as a beginning, and so are several together. */
const tailsOf = (word: string): ReadonlyArray<string> =>
  [...word.matchAll(PART)].map(({ index }) => word.slice(index)).filter((tail) => tail !== "")

/** What SQLite would not find in the text by itself, as a text of its own. */
export const grams = (text: string): string => {
  const found: Array<string> = []
  for (const [run] of text.matchAll(RUNS)) {
    const folded = fold(run)
    const segments = segmentsOf(run.normalize("NFKC"))
    const isAlone = segments.length === 1
    // A width or a ligature that SQLite does not know about.
    if (isAlone && !segments[0]!.isCjk && !IS_ASCII.test(run) && run.normalize("NFKC") !== run) found.push(folded)
    for (const { text: part, isCjk } of segments) {
      if (isCjk) found.push(...pairsOf(fold(part)))
      else {
        if (!isAlone) found.push(fold(part))
        found.push(...tailsOf(part).map(fold))
      }
    }
  }
  return found.join(" ")
}

/** Every word by which a text is found, each once. */
export const vocabulary = (text: string, gram: string): ReadonlySet<string> => {
  const words = new Set<string>()
  for (const [run] of fold(text).matchAll(RUNS)) {
    if (run.length <= LONGEST && (IS_ASCII.test(run) || !isCjk(run[0]!))) words.add(run)
  }
  if (gram !== "") for (const word of gram.split(" ")) if (word.length <= LONGEST) words.add(word)
  return words
}

/** One condition that the index can decide. */
export type Term =
  | { readonly is: "word"; readonly text: string }
  | { readonly is: "prefix"; readonly text: string }
  | { readonly is: "phrase"; readonly text: string }

/**
 * What must be in the index for a folded word to be at the beginning of words of a text; the text itself decides then.
 * Empty for what has neither letters nor digits. `isWhole` asks for words that end there.
 */
export const termsOf = (word: string, isWhole = false): ReadonlyArray<Term> => {
  const segments = [...word.matchAll(RUNS)].flatMap(({ 0: run, index }) =>
    segmentsOf(run).map((segment, i, all) => ({
      ...segment,
      isLast: i === all.length - 1 && index + run.length === word.length
    }))
  )
  return segments.map(({ text, isCjk, isLast }): Term => {
    const isOpen = isLast && !isWhole
    if (!isCjk) return { is: isOpen ? "prefix" : "word", text }
    const pairs = pairsOf(text)
    // The last character alone ends a run; in the text the run may go on.
    return pairs.length === 1 ? { is: "prefix", text } : { is: "phrase", text: pairs.slice(0, -1).join(" ") }
  })
}

/** As FTS5 reads it: quoted, so that nothing in it is an operator. */
export const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
