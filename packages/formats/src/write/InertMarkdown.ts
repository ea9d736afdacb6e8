/**
 * Markdown from a session as part of a page of Markdown: it keeps its looks, and nothing of it can become HTML, load an
 * image, or swallow what follows.
 */
import { Preview } from "@grove/core/model"

const longestRun = (text: string, character: string): number => {
  let longest = 0
  let run = 0
  for (let i = 0; i < text.length; i++) {
    run = text[i] === character ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

/** What a reader would take as an instruction to a terminal or a bidi override is shown instead. Tabs stay. */
const visible = (text: string): string => text.replaceAll("\r\n", "\n").split("\t").map(Preview.inert).join("\t")

/** The text as a block of code, in a fence longer than any inside. */
export const code = (text: string, language = ""): string => {
  const shown = visible(text)
  const fence = "`".repeat(Math.max(3, longestRun(shown, "`") + 1))
  return `${fence}${/^[A-Za-z0-9+#-]{1,20}$/.test(language) ? language : ""}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}`
}

/** One line of text in which nothing is Markdown or HTML. */
export const plain = (text: string, columns: number): string =>
  Preview.line(text, columns)
    .replace(/[\\`*_[\]|~]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")

/** The same inside of HTML that was opened here. */
export const inHtml = (text: string, columns: number): string =>
  Preview.line(text, columns)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\\`*_[\]!~|]/g, (character) => `&#${character.charCodeAt(0)};`)

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^( {0,3})(#{1,6})(?=[ \t]|$)/
const TAG = /<(?=[A-Za-z/!?])/g
const DEEPEST_HEADING = 6
/** Headings of what was said stand below those of the page. */
const DEMOTED_BY = 2

const withoutTags = (text: string): string => text.replace(TAG, "&lt;").replaceAll("![", "!\\[")

/**
 * A line outside of fences. Spans of code keep their angle brackets, but only where no parser can see other spans: all
 * on this line, nothing escaped, no table.
 */
const inertLine = (line: string, isPlainSoFar: boolean): { readonly text: string; readonly isPlain: boolean } => {
  const heading = HEADING.exec(line)
  const demoted =
    heading === null
      ? line
      : `${heading[1]}${"#".repeat(Math.min(DEEPEST_HEADING, heading[2]!.length + DEMOTED_BY))}${line.slice(heading[0].length)}`
  if (!demoted.includes("`")) return { text: withoutTags(demoted), isPlain: isPlainSoFar }
  if (!isPlainSoFar || demoted.includes("|") || demoted.includes("\\"))
    return { text: withoutTags(demoted), isPlain: false }
  // Split at a pattern in parentheses keeps what it matched: every second part is a run of backticks.
  const parts = demoted.split(/(`+)/)
  const shown: Array<string> = []
  let at = 0
  while (at < parts.length) {
    const run = parts[at + 1]
    shown.push(withoutTags(parts[at]!))
    if (run === undefined) break
    const closing = parts.findIndex((part, i) => i > at + 1 && i % 2 === 1 && part === run)
    if (closing === -1) return { text: [...shown, ...parts.slice(at + 1).map(withoutTags)].join(""), isPlain: false }
    shown.push(...parts.slice(at + 1, closing + 1))
    at = closing + 1
  }
  return { text: shown.join(""), isPlain: true }
}

/** What was said, to stand between other blocks. */
export const block = (text: string): string => {
  const lines: Array<string> = []
  let fence: string | undefined
  let isPlain = true
  for (const line of visible(text).split("\n")) {
    const found = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      const closes = found !== undefined && found[0] === fence[0] && found.length >= fence.length
      if (closes && line.trim() === found) fence = undefined
      lines.push(line)
    } else if (found !== undefined) {
      fence = found
      isPlain = true
      lines.push(withoutTags(line))
    } else {
      if (line.trim() === "") isPlain = true
      const inert = inertLine(line, isPlain)
      isPlain = inert.isPlain
      lines.push(inert.text)
    }
  }
  if (fence !== undefined) lines.push(fence)
  return lines.join("\n").trimEnd()
}
