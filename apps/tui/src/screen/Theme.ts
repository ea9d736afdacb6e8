/** What each style looks like. Colour is never the only sign of anything: without it all is still told. */
import type { Style } from "../state/Row.ts"

export const themes = ["dark", "light", "none"] as const
export type Theme = (typeof themes)[number]
export type Colors = 16 | 256

type Look = { readonly [S in Style]: string }

const none: Look = {
  plain: "",
  dim: "",
  strong: "1",
  emphasis: "4",
  heading: "1;4",
  code: "",
  link: "4",
  you: "1",
  ai: "1",
  accent: "1",
  error: "1",
  warning: "1",
  added: "",
  removed: "",
  match: "7",
  title: "1",
  selected: "7"
}

/** In the sixteen colours that the person's own palette gives a meaning. */
const sixteen: Look = {
  ...none,
  dim: "90",
  code: "36",
  link: "4;36",
  you: "1;32",
  ai: "1;34",
  accent: "36",
  error: "31",
  warning: "33",
  added: "32",
  removed: "31",
  heading: "1;35",
  title: "1;35"
}

const dark: Look = {
  ...sixteen,
  dim: "38;5;245",
  code: "38;5;151",
  link: "4;38;5;117",
  you: "1;38;5;114",
  ai: "1;38;5;111",
  accent: "38;5;117",
  error: "38;5;210",
  warning: "38;5;221",
  added: "38;5;114",
  removed: "38;5;210",
  heading: "1;38;5;183",
  title: "1;38;5;183",
  selected: "48;5;237;38;5;255",
  match: "48;5;221;38;5;16"
}

const light: Look = {
  ...sixteen,
  dim: "38;5;243",
  code: "38;5;23",
  link: "4;38;5;25",
  you: "1;38;5;28",
  ai: "1;38;5;25",
  accent: "38;5;25",
  error: "38;5;124",
  warning: "38;5;94",
  added: "38;5;28",
  removed: "38;5;124",
  heading: "1;38;5;54",
  title: "1;38;5;54",
  selected: "48;5;254;38;5;16",
  match: "48;5;220;38;5;16"
}

export const lookOf = (theme: Theme, colors: Colors): Look => {
  if (theme === "none") return none
  if (colors === 16) return sixteen
  return theme === "light" ? light : dark
}

/** A style as the sequence that turns it on. */
export const sequenceOf = (look: Look, style: Style): string => (look[style] === "" ? "" : `\x1b[${look[style]}m`)
