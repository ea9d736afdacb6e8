/** `grove usage`: what all sessions cost, by day, model, project or session. */
import { SessionStore, UsageReport } from "@grove/core"
import { Catalogue } from "@grove/storage-files"
import { Effect } from "effect"
import { Negative } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Prices from "../Prices.ts"
import * as SessionArgument from "../SessionArgument.ts"
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

/** All sessions, parents before their forks: what both hold belongs to the older one. Last, files that no list tells of. */
const sessionsOf = Effect.gen(function* () {
  const paths = yield* Paths
  const listed = yield* SessionStore.use((store) => store.list({ subAgents: true }))
  const known = new Set(listed.map(({ path }) => path))
  const others = Catalogue.discover(paths, true)
    .map(({ path }) => Catalogue.finalName(path))
    .filter((path) => !known.has(path))
  return [
    ...listed
      .toSorted((a, b) => (a.created ?? "").localeCompare(b.created ?? ""))
      .map(({ id, path, cwd, parentSession }) => ({ id: id ?? path, path, cwd, parentSession })),
    ...others.map((path) => ({ id: path, path, cwd: null, parentSession: null }))
  ]
})

const tell = Effect.fnUntraced(function* (result: UsageReport.Report, isJson: boolean) {
  const surroundings = yield* Environment
  if (isJson) return yield* Output.json(result)
  if (result.rows.length === 0) return yield* Output.lines(["Nothing was used yet."])
  yield* Output.lines([
    ...table(result, Style.make(surroundings), surroundings.columns),
    ...(result.unpriced.length === 0 ? [] : ["", `price unknown: ${result.unpriced.map(Words.safe).join(", ")}`])
  ])
})

export const run = Effect.fn("usage")(function* ({ flags }: Input) {
  const store = yield* SessionStore
  const by = UsageReport.groupings.find((grouping) => grouping === flags.by) ?? "day"
  const sessions = yield* sessionsOf
  const report = new UsageReport.UsageReport(by, sessions, yield* Prices.today)
  let isWhole = true
  for (const session of sessions) {
    yield* Effect.scoped(Effect.map(store.read(session), ({ tree }) => report.add(session, tree))).pipe(
      Effect.catch((error) => {
        // One that went since it was found is no longer a session.
        if (error.reason._tag === "SessionNotFound") return Effect.void
        isWhole = false
        return Output.note(`${SessionArgument.explain(error)} (not counted)`)
      })
    )
  }
  yield* tell(report.report(), flags.json === true)
  if (!isWhole) return yield* new Negative()
})
