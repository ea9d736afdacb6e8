/** Colour, and the symbols that go with it. Colour is never the only sign of anything. */
import { Preview, Symbols, Width } from "@grove/core/model"
import type { Surroundings } from "./Environment.ts"

const sgr = (code: number) => (enabled: boolean) => (text: string) =>
  enabled && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  /** A text in one line, safe to print and at most so many columns wide; what was cut off is shown as such. */
  readonly line: (text: string, columns: number) => string
  readonly symbols: Symbols.Symbols
}

const cutWith =
  (more: string) =>
  (text: string, columns: number): string => {
    // Some columns more than fit, so that a text which was cut differs from one that ends in an ellipsis of its own.
    const line = Preview.line(text, columns + 3)
    if (Width.of(line) <= columns) return line
    return `${Width.cut(line, columns + 1 - more.length).slice(0, -1)}${more}`
  }

export const make = (surroundings: Surroundings): Style => {
  const symbols = surroundings.unicode ? Symbols.unicode : Symbols.ascii
  return {
    bold: sgr(1)(surroundings.colors),
    dim: sgr(2)(surroundings.colors),
    red: sgr(31)(surroundings.colors),
    line: cutWith(symbols.more),
    symbols
  }
}
