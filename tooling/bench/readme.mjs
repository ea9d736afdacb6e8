/** Puts the figures of the last whole run into the README, between `<!-- bench:begin -->` and `<!-- bench:end -->`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { cells, digits, HEADINGS } from "./figures.mjs"

export const RESULTS = fileURLToPath(new URL("results.json", import.meta.url))
const README = fileURLToPath(new URL("../../README.md", import.meta.url))
const BLOCK = /(<!-- bench:begin -->\n)[\s\S]*?(<!-- bench:end -->)/

/**
 * @typedef {object} Results
 * @property {string} date
 * @property {string} node
 * @property {string} size
 * @property {number} rounds
 * @property {ReadonlyArray<import("./figures.mjs").Line>} lines
 */

/** @param {Results} results */
export const markdown = ({ date, node, rounds, lines }) => {
  const row = (/** @type {ReadonlyArray<string>} */ texts) => `| ${texts.join(" | ")} |`
  const table = [HEADINGS, HEADINGS.map((_, at) => (at === 0 || at > 5 ? "---" : "---:"))]
  const told = `Medians of ${rounds} rounds in fresh processes, Node ${node}, ${date}; \`npm run bench\` makes them again.`
  return `${[...table, ...lines.map((line) => cells(line, ({ median }) => digits(median)))].map(row).join("\n")}\n\n${told}\n`
}

/**
 * The text with the figures in it; as it was where it has no place for them.
 *
 * @param {string} text
 * @param {Results} results
 */
export const withFigures = (text, results) => text.replace(BLOCK, (_, begin, end) => begin + markdown(results) + end)

export const updateReadme = () => {
  if (!existsSync(README) || !existsSync(RESULTS)) return
  const text = readFileSync(README, "utf8")
  const updated = withFigures(text, JSON.parse(readFileSync(RESULTS, "utf8")))
  if (updated !== text) writeFileSync(README, updated)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) updateReadme()
