/** Colour and symbols. Colour is never the only sign of anything. */
import { Preview, Width } from "@grove/core/model"
import type { Surroundings } from "./Environment.ts"

const sgr = (code: number) => (enabled: boolean) => (text: string) =>
  enabled && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  /** A text in one line, safe to print and at most so many columns wide; what was cut off is shown as such. */
  readonly line: (text: string, columns: number) => string
  readonly symbols: Symbols
}

export interface Symbols {
  readonly here: string
  readonly userOnPath: string
  readonly userOffPath: string
  readonly line: string
  readonly fork: string
  readonly lastFork: string
  readonly folded: string
  readonly unfolded: string
  readonly summary: string
  readonly error: string
  readonly tools: string
  readonly rating: string
  readonly branches: string
  readonly hidden: string
  readonly arrow: string
  /** Between facts in one line. */
  readonly dot: string
  /** Before a heading. */
  readonly rule: string
  /** Where something was cut off. */
  readonly more: string
}

const unicode: Symbols = {
  here: "◆",
  userOnPath: "●",
  userOffPath: "○",
  line: "│",
  fork: "├",
  lastFork: "╰",
  folded: "▸",
  unfolded: "▾",
  summary: "⊙",
  error: "✕",
  tools: "⚙",
  rating: "★",
  branches: "⑂",
  hidden: "≈",
  arrow: "← here",
  dot: " · ",
  rule: "──",
  more: "…"
}

const ascii: Symbols = {
  here: "@",
  userOnPath: "*",
  userOffPath: "o",
  line: "|",
  fork: "|",
  lastFork: "`",
  folded: "+",
  unfolded: "-",
  summary: "#",
  error: "x",
  tools: "t",
  rating: "*",
  branches: "br ",
  hidden: "~",
  arrow: "<- here",
  dot: ", ",
  rule: "--",
  more: "..."
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
  const symbols = surroundings.unicode ? unicode : ascii
  return {
    bold: sgr(1)(surroundings.colors),
    dim: sgr(2)(surroundings.colors),
    red: sgr(31)(surroundings.colors),
    line: cutWith(symbols.more),
    symbols
  }
}
