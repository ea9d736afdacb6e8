/** Days as the bars of a chart: none is left out, and many are drawn as weeks or months. */
import type { UsageRow } from "../wire/Wire.ts"

const DAY = 86_400_000
const DATE = /^\d{4}-\d{2}-\d{2}$/

export interface Bar {
  /** The first day it stands for, as the milliseconds of its midnight in UTC. */
  readonly start: number
  readonly unit: "day" | "week" | "month"
  readonly liveMicros: number
  readonly knownMicros: number
  readonly isUnknown: boolean
}

const MOST_DAYS = 62
const MOST_WEEKS = 62

const startOf = (time: number, unit: Bar["unit"]): number => {
  if (unit === "day") return time
  const date = new Date(time)
  if (unit === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
  return time - ((date.getUTCDay() + 6) % 7) * DAY
}

const after = (start: number, unit: Bar["unit"]): number => {
  if (unit === "month") return startOf(start + 32 * DAY, "month")
  return start + (unit === "week" ? 7 : 1) * DAY
}

export const bars = (rows: ReadonlyArray<UsageRow>): ReadonlyArray<Bar> => {
  const dated = rows.filter(({ key }) => DATE.test(key)).map((row) => ({ row, time: Date.parse(row.key) }))
  const [first, last] = [dated[0]?.time, dated.at(-1)?.time]
  if (first === undefined || last === undefined) return []
  const days = (last - first) / DAY + 1
  const unit = days <= MOST_DAYS ? "day" : days <= 7 * MOST_WEEKS ? "week" : "month"
  const found = new Map<number, Bar>()
  for (let at = startOf(first, unit); at <= last; at = after(at, unit)) {
    found.set(at, { start: at, unit, liveMicros: 0, knownMicros: 0, isUnknown: false })
  }
  for (const { row, time } of dated) {
    const start = startOf(time, unit)
    const bar = found.get(start)
    if (bar === undefined) continue
    found.set(start, {
      ...bar,
      liveMicros: bar.liveMicros + row.liveMicros,
      knownMicros: bar.knownMicros + row.knownMicros,
      isUnknown: bar.isUnknown || row.costMicros === null
    })
  }
  return [...found.values()]
}

const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10]

/** A round number that is not below. */
export const roundUp = (value: number): number => {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return STEPS.map((step) => step * power).find((each) => each >= value * (1 - 1e-9)) ?? 10 * power
}
