/** The signs that are not words, for terminals that show them and for those that do not. */

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
  readonly done: string
  readonly tools: string
  readonly rating: string
  /** Where another session was forked off. */
  readonly forked: string
  readonly branches: string
  readonly hidden: string
  readonly arrow: string
  /** From one figure to another. */
  readonly becomes: string
  /** Between facts in one line. */
  readonly dot: string
  readonly rule: string
  /** Where something was cut off. */
  readonly more: string
  readonly select: string
  readonly previous: string
  readonly next: string
  readonly on: string
  readonly off: string
  readonly quote: string
  readonly bullet: string
  readonly minus: string
  readonly times: string
  readonly up: string
  readonly down: string
  readonly busy: ReadonlyArray<string>
}

export const unicode: Symbols = {
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
  done: "✓",
  tools: "⚙",
  rating: "★",
  forked: "⇢",
  branches: "⑂",
  hidden: "≈",
  arrow: "← here",
  becomes: "→",
  dot: " · ",
  rule: "─",
  more: "…",
  select: "›",
  previous: "‹",
  next: "›",
  on: "◉",
  off: "○",
  quote: "│",
  bullet: "•",
  minus: "−",
  times: "×",
  up: "↑",
  down: "↓",
  busy: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
}

export const ascii: Symbols = {
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
  done: "ok",
  tools: "t",
  rating: "*",
  forked: "->",
  branches: "br",
  hidden: "~",
  arrow: "<- here",
  becomes: "->",
  dot: ", ",
  rule: "-",
  more: "...",
  select: ">",
  previous: "<",
  next: ">",
  on: "(*)",
  off: "( )",
  quote: "|",
  bullet: "*",
  minus: "-",
  times: "x",
  up: "^",
  down: "v",
  busy: ["|", "/", "-", "\\"]
}
