/** Charts drawn by hand: bars by day, bars by name. Whoever cannot see them has the table below. */
"use client"
import { type RefObject, useEffect, useRef, useState } from "react"
import { useWords } from "../shared/Settings.tsx"
import type { UsageRow } from "../wire/Wire.ts"
import { money, type Words } from "../words/index.ts"
import * as Days from "./Days.ts"

/** As wide as there is room, so that words in a chart keep their size. */
const useWidth = (): readonly [RefObject<HTMLDivElement | null>, number] => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (ref.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [ref, width]
}

/** What is known of a cost, and that it is not all. */
export const costOf = (words: Words, row: Pick<UsageRow, "costMicros" | "knownMicros">): string => {
  if (row.costMicros !== null) return money(words, row.costMicros)
  return row.knownMicros === 0 ? money(words, null) : words.usage.atLeast(money(words, row.knownMicros))
}

/** Days are those of UTC, whatever the clock here says. */
export const dayName = (words: Words, time: number, unit: Days.Bar["unit"] = "day"): string =>
  new Intl.DateTimeFormat(words.locale, {
    timeZone: "UTC",
    year: "numeric",
    month: "short",
    ...(unit === "month" ? {} : { day: "numeric" })
  }).format(time)

const shortDay = (words: Words, { start, unit }: Days.Bar): string =>
  new Intl.DateTimeFormat(words.locale, {
    timeZone: "UTC",
    month: "short",
    ...(unit === "month" ? { year: "2-digit" } : { day: "numeric" })
  }).format(start)

const HEIGHT = 200
const TOP = 12
const BOTTOM = 24
const LEFT = 58
const LABEL = 74

export const DayChart = ({ rows }: { readonly rows: ReadonlyArray<UsageRow> }) => {
  const words = useWords()
  const [ref, width] = useWidth()
  const bars = Days.bars(rows)
  const most = Days.roundUp(Math.max(...bars.map(({ knownMicros }) => knownMicros), 0))
  const room = Math.max(0, width - LEFT)
  const step = room / Math.max(bars.length, 1)
  const wide = Math.min(36, Math.max(1, step * 0.72))
  const tall = HEIGHT - TOP - BOTTOM
  const yOf = (micros: number) => TOP + tall * (1 - micros / most)
  const every = Math.max(1, Math.ceil(LABEL / Math.max(step, 1)))
  return (
    <div className="chart-body" ref={ref}>
      {width === 0 ? null : (
        <svg
          className="chart"
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={words.usage.perDay}
        >
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line className="rule" x1={LEFT} x2={width} y1={yOf(part * most)} y2={yOf(part * most)} />
              <text x={LEFT - 8} y={yOf(part * most) + 4} textAnchor="end">
                {money(words, part * most)}
              </text>
            </g>
          ))}
          {bars.map((bar, at) => {
            const x = LEFT + at * step + (step - wide) / 2
            const [live, all] = [yOf(bar.liveMicros), yOf(bar.knownMicros)]
            return (
              <g key={bar.start} className="bar">
                <title>
                  {`${dayName(words, bar.start, bar.unit)} · ${costOf(words, { ...bar, costMicros: bar.isUnknown ? null : bar.knownMicros })}`}
                </title>
                <rect x={LEFT + at * step} y={TOP} width={step} height={tall} fill="transparent" />
                <rect className="spent" x={x} y={live} width={wide} height={yOf(0) - live} rx={1.5} />
                <rect className="lost" x={x} y={all} width={wide} height={Math.max(0, live - all)} rx={1.5} />
                {at % every === 0 ? (
                  <text x={x + wide / 2} y={HEIGHT - 6} textAnchor={at === 0 ? "start" : "middle"}>
                    {shortDay(words, bar)}
                  </text>
                ) : null}
              </g>
            )
          })}
        </svg>
      )}
    </div>
  )
}

const MOST_NAMES = 8
const LINE = 30

export const NameChart = ({
  rows,
  label,
  nameOf
}: {
  readonly rows: ReadonlyArray<UsageRow>
  readonly label: string
  readonly nameOf: (row: UsageRow) => string
}) => {
  const words = useWords()
  const [ref, width] = useWidth()
  const rest = rows.slice(MOST_NAMES)
  const shown = [
    ...rows.slice(0, MOST_NAMES).map((row) => ({ key: row.key, name: nameOf(row), row })),
    ...(rest.length === 0
      ? []
      : [
          {
            key: "",
            name: words.usage.others(rest.length),
            row: {
              costMicros: rest.some(({ costMicros }) => costMicros === null) ? null : 0,
              knownMicros: rest.reduce((sum, { knownMicros }) => sum + knownMicros, 0)
            }
          }
        ])
  ].map(({ row, ...each }) => ({
    ...each,
    known: row.knownMicros,
    cost: costOf(words, { ...row, costMicros: row.costMicros === null ? null : row.knownMicros })
  }))
  const most = Math.max(...shown.map(({ known }) => known), 1)
  return (
    <div className="chart-body" ref={ref}>
      {width === 0 ? null : (
        <svg
          className="chart"
          height={shown.length * LINE}
          viewBox={`0 0 ${width} ${shown.length * LINE}`}
          role="img"
          aria-label={label}
        >
          {shown.map(({ key, name, known, cost }, at) => (
            <g key={key} className="bar">
              <text x={0} y={at * LINE + 12}>
                {name}
              </text>
              <text x={width} y={at * LINE + 12} textAnchor="end">
                {cost}
              </text>
              <rect className="lost" x={0} y={at * LINE + 18} width={width} height={5} rx={2.5} opacity={0.35} />
              <rect className="spent" x={0} y={at * LINE + 18} width={(known / most) * width} height={5} rx={2.5} />
            </g>
          ))}
        </svg>
      )}
    </div>
  )
}
