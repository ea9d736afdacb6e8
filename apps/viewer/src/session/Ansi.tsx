/** What programs print, with its colours as spans. Every other sequence is left out: nothing moves, nothing is obeyed. */

import { Preview } from "@grove/core/model"
import type { ReactNode } from "react"

interface Style {
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly color?: number
}

const ESCAPE = "\u001b"
/** Colours and weights; other control sequences; strings for the terminal (titles, links, clipboards); lone escapes. */
const SEQUENCE = new RegExp(
  `${ESCAPE}\\[([0-9;:]*)m|${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?|${ESCAPE}.?`,
  "g"
)

const apply = (style: Style, codes: string): Style => {
  let next = style
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number)
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at]!
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 3) next = { ...next, italic: true }
    else if (code === 4) next = { ...next, underline: true }
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 23) next = { ...next, italic: false }
    else if (code === 24) next = { ...next, underline: false }
    else if (code >= 30 && code <= 37) next = { ...next, color: code - 30 }
    else if (code >= 90 && code <= 97) next = { ...next, color: code - 90 + 8 }
    else if (code === 39) {
      const { color: _, ...rest } = next
      next = rest
    } else if (code === 38 || code === 48) {
      // Of larger palettes the sixteen that every theme has are shown; the rest keeps the colour of the text.
      const isIndexed = numbers[at + 1] === 5
      const index = numbers[at + 2]
      if (code === 38 && isIndexed && index !== undefined && index < 16) next = { ...next, color: index }
      at += isIndexed ? 2 : 4
    }
  }
  return next
}

const classesOf = ({ bold, dim, italic, underline, color }: Style): string =>
  [
    bold && "ansi-bold",
    dim && "ansi-dim",
    italic && "ansi-italic",
    underline && "ansi-underline",
    color !== undefined && `ansi-${color}`
  ]
    .filter(Boolean)
    .join(" ")

/** A line that a program wrote over (progress bars) shows what it ended with. */
const lastWritten = (text: string): string =>
  text.includes("\r") ? text.replace(/\r+\n/g, "\n").replace(/^.*\r(?=[^\n])/gm, "") : text

export interface Span {
  readonly text: string
  readonly classes: string
}

export const spansOf = (text: string): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  let style: Style = {}
  let last = 0
  const written = lastWritten(text)
  const push = (piece: string) => {
    if (piece !== "") spans.push({ text: Preview.inert(piece.replaceAll("\t", "    ")), classes: classesOf(style) })
  }
  for (const match of written.matchAll(SEQUENCE)) {
    push(written.slice(last, match.index))
    if (match[1] !== undefined) style = apply(style, match[1])
    last = match.index + match[0].length
  }
  push(written.slice(last))
  return spans
}

export const Ansi = ({ text }: { readonly text: string }): ReactNode =>
  spansOf(text).map(({ text, classes }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: spans have no name but their place
    <span key={at} className={classes || undefined}>
      {text}
    </span>
  ))
