/** How texts are compared when somebody searches: without case, accents or width, and with words where people see them. */

/** Nothing but ASCII and common ideographs, kana and Hangul: folding such a text is lower-casing it. */
const IS_SIMPLE = /^[\0-\x7f\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*$/
/** Accents of Latin letters do not count; the marks of kana, Hangul and Indic scripts make other letters. */
const LATIN_MARKS = /(\p{Script=Latin})\p{Mn}+/gu

/** One form for all ways to write the same letters. */
export const fold = (text: string): string => {
  if (IS_SIMPLE.test(text)) return text.toLowerCase()
  return text.normalize("NFKC").toLowerCase().normalize("NFD").replace(LATIN_MARKS, "$1").normalize("NFC")
}

const CJK = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]/u
const WORD = /[\p{L}\p{N}\p{M}]/u

/** A letter of a script whose words are not parted by spaces, or not reliably. */
export const isCjk = (character: string): boolean => WORD.test(character) && CJK.test(character)

/** The code point that ends before `at`, and the one that begins there; empty beyond the ends. */
const around = (text: string, at: number): readonly [before: string, after: string] => {
  if (at <= 0) return ["", text.length === 0 ? "" : String.fromCodePoint(text.codePointAt(0)!)]
  const low = text.charCodeAt(at - 1)
  const isPair = low >= 0xdc00 && low <= 0xdfff && at > 1
  const before = isPair ? text.slice(at - 2, at) : text[at - 1]!
  return [before, at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : ""]
}

/** Whether a word can begin or end at this place: between ideographs everywhere, elsewhere where letters end. */
export const isBorder = (folded: string, at: number): boolean => {
  const [before, after] = around(folded, at)
  if (!WORD.test(before) || !WORD.test(after)) return true
  return CJK.test(before) || CJK.test(after)
}
