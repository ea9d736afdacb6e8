/** Puts the figures of the last whole run into the README, between `<!-- bench:begin -->` and `<!-- bench:end -->`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { cells, digits, HEADINGS } from "./figures.mjs"

export const RESULTS = fileURLToPath(new URL("results.json", import.meta.url))
export const README = fileURLToPath(new URL("../../README.md", import.meta.url))
const BLOCK = /(<!-- bench:begin -->\n)[\s\S]*?(<!-- bench:end -->)/

/**
 * @typedef {object} Results
 * @property {string} date
 * @property {string} node
 * @property {string} size
 * @property {number} rounds
 * @property {ReadonlyArray<import("./figures.mjs").Line>} lines
 */

/** A program that was not there has no column. @param {ReadonlyArray<ReadonlyArray<string>>} rows */
const withoutEmpty = (rows) =>
  rows.map((row) => row.filter((_, column) => rows.slice(1).some((other) => !["–", ""].includes(other[column]))))

/** @param {Results} results */
export const markdown = ({ date, node, rounds, lines }) => {
  const [headings, ...rows] = withoutEmpty([
    HEADINGS,
    ...lines.map((line) => cells(line, ({ median }) => digits(median)))
  ])
  const rule = headings.map((heading) => (["work", "goal", "met"].includes(heading) ? "---" : "---:"))
  const table = [headings, rule, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
  return `${table}\n\nMedians of ${rounds} rounds in fresh processes, Node ${node}, ${date}; \`npm run bench\` makes them again.\n`
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
