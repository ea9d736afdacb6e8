/** One member of a line's object replaced, with every other byte of the line as it was. */
import { asBuffer } from "./Bytes.ts"

const QUOTE = '"'
const isSpace = (character: string | undefined): boolean =>
  character === " " || character === "\t" || character === "\r" || character === "\n"

/** The position after a string that begins at `start`. */
const afterString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === QUOTE) return at + 1
  }
  return text.length
}

const afterSpace = (text: string, start: number): number => {
  let at = start
  while (isSpace(text[at])) at++
  return at
}

/** Where the string value of a member of the outermost object stands; of several the last, which is the one that counts. */
const spanOf = (text: string, key: string): { readonly start: number; readonly end: number } | undefined => {
  const name = JSON.stringify(key)
  let depth = 0
  let found: { readonly start: number; readonly end: number } | undefined
  for (let at = 0; at < text.length; ) {
    const character = text[at]
    if (character === "{" || character === "[") depth++
    if (character === "}" || character === "]") depth--
    if (character !== QUOTE) {
      at++
      continue
    }
    const end = afterString(text, at)
    const colon = afterSpace(text, end)
    const isName = depth === 1 && text[colon] === ":" && text.slice(at, end) === name
    at = end
    if (!isName) continue
    const start = afterSpace(text, colon + 1)
    if (text[start] !== QUOTE) continue
    at = afterString(text, start)
    found = { start, end: at }
  }
  return found
}

/**
 * The line with another value for the member `key`, which must be a string now. Bytes are taken one by one, so that even
 * text that is not UTF-8 stays what it was.
 */
export const withMember = (line: Uint8Array, key: string, value: string | null): Uint8Array => {
  const text = asBuffer(line).toString("latin1")
  const span = spanOf(text, key)
  // The name itself is written with escapes: only then is the line encoded anew.
  if (span === undefined) return Buffer.from(JSON.stringify({ ...JSON.parse(asBuffer(line).toString()), [key]: value }))
  return Buffer.concat([line.subarray(0, span.start), Buffer.from(JSON.stringify(value)), line.subarray(span.end)])
}
