/** Colour and symbols. Colour is never the only sign of anything. */
import type { Surroundings } from "./Environment.ts"

const sgr = (code: number) => (enabled: boolean) => (text: string) =>
  enabled && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
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
  readonly branches: string
  readonly hidden: string
  readonly arrow: string
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
  branches: "⑂",
  hidden: "≈",
  arrow: "← here"
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
  branches: "br ",
  hidden: "~",
  arrow: "<- here"
}

export const make = (surroundings: Surroundings): Style => ({
  bold: sgr(1)(surroundings.colors),
  dim: sgr(2)(surroundings.colors),
  red: sgr(31)(surroundings.colors),
  symbols: surroundings.unicode ? unicode : ascii
})
