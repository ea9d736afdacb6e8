/** `grove usage`: what all sessions cost, by day, model, project or session. */
import { Pricing } from "@grove/agent"
import { SessionStore, UsageReport } from "@grove/core"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as ModelSettings from "../ModelSettings.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const COLUMNS = ["requests", "input", "output", "cacheRead", "cacheWrite"] as const
const TITLES = ["requests", "in", "out", "cached", "to cache", "cost"]

const cells = (row: UsageReport.Row): ReadonlyArray<string> => [
  ...COLUMNS.map((column) => row[column].toLocaleString("en-US")),
  Words.money(row.costMicros)
]

const table = ({ by, rows }: UsageReport.Report, style: Style.Style, columns: number): ReadonlyArray<string> => {
  const lines = [TITLES, ...rows.map(cells)]
  const widths = TITLES.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)))
  const numbers = lines.map((line) => line.map((cell, at) => cell.padStart(widths[at]!)).join("  "))
  const room = Math.max(10, columns - numbers[0]!.length - 2)
  const keys = [by, ...rows.map(({ key }) => style.line(key, room))]
  const width = Math.max(...keys.map((key) => key.length))
  return keys.map((key, at) => `${key.padEnd(width)}  ${numbers[at]}`)
}

export const run = Effect.fn("usage")(function* ({ flags }: Input) {
  const store = yield* SessionStore
  const surroundings = yield* Environment
  const by = UsageReport.groupings.find((grouping) => grouping === flags.by) ?? "day"
  const listed = yield* store.list({ subAgents: true })
  // Parents before their forks: what both hold belongs to the older one.
  const sessions = listed
    .toSorted((a, b) => (a.created ?? "").localeCompare(b.created ?? ""))
    .map(({ id, path, cwd, parentSession }) => ({ id: id ?? path, path, cwd, parentSession }))
  const price = Pricing.today(ModelSettings.read(surroundings.home).overrides)
  const report = new UsageReport.UsageReport(by, sessions, price)
  for (const session of sessions) {
    // One that went or broke since it was listed is left out, as the list would.
    yield* Effect.scoped(Effect.map(store.read(session), ({ tree }) => report.add(session, tree))).pipe(Effect.ignore)
  }
  const result = report.report()
  if (flags.json === true) return yield* Output.json(result)
  if (result.rows.length === 0) return yield* Output.lines(["Nothing was used yet."])
  yield* Output.lines([
    ...table(result, Style.make(surroundings), surroundings.columns),
    ...(result.unpriced.length === 0 ? [] : ["", `price unknown: ${result.unpriced.map(Words.safe).join(", ")}`])
  ])
})
