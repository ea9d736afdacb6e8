/** The arithmetic of the bench: medians, ratios, and goals that figures are held against. */

/** @typedef {{ readonly median: number, readonly best: number }} Figure */
/** @typedef {"naive" | "fts" | "pi" | "omp" | "grove"} Column */
/** @typedef {{ readonly [column in Column]?: Figure }} Columns */

/**
 * How Grove should compare with a column. `times` as good or better; or, where another is the least that is possible,
 * `within` so many times of it.
 *
 * @typedef {{ readonly against: Exclude<Column, "grove">, readonly times?: number, readonly within?: number }} Relative
 */

/**
 * Or no more than so many, whatever others do.
 *
 * @typedef {Relative | { readonly most: number }} Goal
 */

/**
 * One line of the table. Of every unit less is better.
 *
 * @typedef {object} Line
 * @property {number} row
 * @property {string} work
 * @property {"ms" | "MB" | "µs each" | "each"} unit
 * @property {Columns} columns
 * @property {ReadonlyArray<Goal>} goals
 */

/** @param {ReadonlyArray<number>} values */
export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * What several rounds come to; `undefined` of none.
 *
 * @param {ReadonlyArray<number> | undefined} values
 * @returns {Figure | undefined}
 */
export const figure = (values) =>
  values === undefined || values.length === 0 ? undefined : { median: median(values), best: Math.min(...values) }

/**
 * The figure of one fact that every round of a job reported.
 *
 * @param {ReadonlyArray<any> | undefined} rounds
 * @param {string} [fact]
 */
export const column = (rounds, fact = "ms") => figure(rounds?.map((round) => round[fact]))

/**
 * The ratio that a goal speaks of, and whether it is met; `undefined` where one side was not measured.
 *
 * @param {Goal} goal
 * @param {Columns} columns
 */
export const judge = (goal, columns) => {
  const own = columns.grove?.median
  if ("most" in goal) return own === undefined ? undefined : { ratio: own / goal.most, met: own <= goal.most }
  const { against, times, within } = goal
  const other = columns[against]?.median
  if (other === undefined || own === undefined) return undefined
  if (within !== undefined) return { ratio: own / other, met: own / other <= within }
  return { ratio: other / own, met: other / own >= (times ?? 1) }
}

/** @type {Readonly<Record<Column, string>>} */
export const NAMES = { naive: "naive", fts: "plain FTS5", pi: "Pi 0.73.1", omp: "omp 18.2.3", grove: "Grove" }

/** @param {Goal} goal @param {Line["unit"]} unit */
export const goalText = (goal, unit) => {
  if ("most" in goal) return `≤ ${goal.most} ${unit}`
  const { against, times = 1, within } = goal
  const other = NAMES[against].split(" ")[0]
  if (within !== undefined) return `≤ ${within}× ${other}`
  if (times === 1) return `≤ ${other}`
  return unit === "MB" || unit === "each" ? `≤ 1/${times} ${other}` : `≥ ${times}× ${other}`
}

/** Three digits tell enough of what varies by more than that. @param {number} value */
export const digits = (value) => {
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3
  return value.toLocaleString("en", { maximumFractionDigits: decimals })
}

/** @param {number} ratio */
const timesText = (ratio) => `${digits(ratio)}×`

/**
 * A line as the cells of a table: work, naive, plain FTS5, Pi, omp, Grove, ratio, goal, met.
 *
 * @param {Line} line
 * @param {(figure: Figure) => string} show
 * @returns {ReadonlyArray<string>}
 */
export const cells = ({ work, unit, columns, goals }, show) => {
  const judged = goals.map((goal) => judge(goal, columns))
  const shown = (/** @type {Column} */ column) => (columns[column] === undefined ? "–" : show(columns[column]))
  return [
    `${work}, ${unit}`,
    .../** @type {const} */ (["naive", "fts", "pi", "omp", "grove"]).map(shown),
    judged.map((found) => (found === undefined ? "–" : timesText(found.ratio))).join(", "),
    goals.map((goal) => goalText(goal, unit)).join(", "),
    judged.map((found) => (found === undefined ? "–" : found.met ? "yes" : "NO")).join(", ")
  ]
}

export const HEADINGS = ["work", NAMES.naive, NAMES.fts, NAMES.pi, NAMES.omp, NAMES.grove, "ratio", "goal", "met"]

/** @param {ReadonlyArray<ReadonlyArray<string>>} rows */
export const aligned = (rows) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const pad = (/** @type {string} */ cell, /** @type {number} */ column) =>
    column === 0 || column === 7 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
  return rows.map((row) => row.map(pad).join("  ").trimEnd())
}
