/**
 * `npm run bench`: how Grove compares with a naive program, with Pi and, where Bun is there, with oh-my-pi. Only ratios
 * within one run tell anything; what they are held against is in the last columns.
 *
 *   --quick   small sizes: shows that the bench works, says little about Grove
 *   --full    more rounds
 *   --row N   only one row
 *   --profile DIR   CPU profiles of Grove's measurements
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { turbo } from "../setup/tools.mjs"
import { cache, scratch } from "./data.mjs"
import { aligned, cells, digits, HEADINGS } from "./figures.mjs"
import { ChildFailed, measure } from "./harness.mjs"
import { others } from "./others.mjs"
import { RESULTS, updateReadme } from "./readme.mjs"
import { scales } from "./scales.mjs"

const ROWS = ["open-first", "open-again", "open-whole", "append", "list", "prompts", "tree", "chat", "export", "import"]

/** @param {string} problem @returns {never} */
const stop = (problem) => {
  process.stderr.write(`bench: ${problem}\n`)
  process.exit(1)
}

/**
 * A baseline or Grove itself that fails leaves nothing to compare.
 *
 * @template A
 * @param {number} row
 * @param {() => A} work
 */
const attempt = (row, work) => {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof ChildFailed) return stop(`row ${row}: ${cause.message}`)
    throw cause
  }
}

const asked = () => {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        full: { type: "boolean", default: false },
        row: { type: "string" },
        profile: { type: "string" }
      }
    })
    return values
  } catch (cause) {
    return stop(/** @type {Error} */ (cause).message)
  }
}

const { quick, full, row: only, profile } = asked()
const size = quick ? "quick" : full ? "full" : "usual"
if (only !== undefined && ROWS[Number(only) - 1] === undefined) stop(`--row is a number from 1 to ${ROWS.length}`)

if (
  !turbo(
    [
      "build",
      "--filter=@grove/storage-files...",
      "--filter=@grove/storage-sqlite...",
      "--filter=@grove/formats...",
      "--filter=@grove/cli...",
      "--output-logs=errors-only",
      "--log-prefix=none"
    ],
    { stdout: 2 }
  )
) {
  stop("the build failed, as told above")
}

mkdirSync(cache, { recursive: true })
const { modules, programs, notes } = others()
for (const note of notes) process.stderr.write(`bench: ${note}\n`)
const scale = { ...scales[size], ...modules }

/** @type {Array<import("./figures.mjs").Line>} */
const lines = []
for (const [at, name] of ROWS.entries()) {
  const number = at + 1
  if (only !== undefined && Number(only) !== number) continue
  const module = new URL(`rows/${name}.mjs`, import.meta.url).href
  /** @type {import("./harness.mjs").Row} */
  const row = await import(module)
  const tell = (/** @type {string} */ progress) =>
    process.stderr.write(`bench: row ${number}, ${row.title}: ${progress}\n`)
  const input = row.prepare(scale)
  const measured = attempt(number, () => measure(module, row, input, { rounds: scale.rounds, programs, profile, tell }))
  notes.push(...measured.notes)
  lines.push(...row.lines(measured.found, input).map((line) => ({ row: number, ...line })))
}
rmSync(scratch(""), { recursive: true, force: true })

const shown = (/** @type {import("./figures.mjs").Figure} */ { median, best }) => `${digits(median)} (${digits(best)})`
const table = lines.map((line) => cells(line, shown))
// Goals are not meant for small sizes, so nothing is said of them.
const told = quick ? table.map((row) => row.with(-1, "–")) : table
for (const line of aligned([HEADINGS, ...told])) console.log(line)
console.log(`\nmedian (best) of ${scale.rounds} rounds, each in a fresh process; ratios are of medians`)
for (const note of notes) console.log(`note: ${note}`)
if (quick) console.log("note: these sizes are small; the goals are not meant for them")

if (size !== "quick" && only === undefined && profile === undefined) {
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(
    RESULTS,
    `${JSON.stringify({ date, node: process.version, size, rounds: scale.rounds, lines }, null, 2)}\n`
  )
  updateReadme()
}
