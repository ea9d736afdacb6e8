/** The languages of the pages, and how numbers, times and money are written in each. */
import { en, type Words } from "./en.ts"
import { ja } from "./ja.ts"
import { zhCN } from "./zh-CN.ts"

export type { Words }
export const languages: { readonly [tag: string]: Words } = { en, "zh-CN": zhCN, ja }

/** The first language a person reads that the pages speak. */
export const choose = (wanted: ReadonlyArray<string>): string => {
  for (const tag of wanted) {
    if (Object.hasOwn(languages, tag)) return tag
    const [main] = tag.split("-")
    if (main === "zh") return "zh-CN"
    if (main === "ja" || main === "en") return main
  }
  return "en"
}

const UNITS: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_536_000_000],
  ["month", 2_592_000_000],
  ["week", 604_800_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
]

/** How long ago, in short. */
export const ago = (words: Words, time: number, now: number): string => {
  const passed = Math.max(0, now - time)
  const [unit, size] = UNITS.find(([, size]) => passed >= size) ?? []
  if (unit === undefined || size === undefined) return words.ago.now
  return new Intl.RelativeTimeFormat(words.locale, { style: "narrow", numeric: "always" }).format(
    -Math.floor(passed / size),
    unit
  )
}

export const dateTime = (words: Words, time: number): string =>
  new Intl.DateTimeFormat(words.locale, { dateStyle: "medium", timeStyle: "short" }).format(time)

export const clock = (words: Words, time: number): string =>
  new Intl.DateTimeFormat(words.locale, { hour: "numeric", minute: "2-digit" }).format(time)

export const number = (words: Words, value: number): string => new Intl.NumberFormat(words.locale).format(value)

/** 12k, 1.2M */
export const short = (words: Words, value: number): string =>
  new Intl.NumberFormat(words.locale, { notation: "compact", maximumFractionDigits: 1 }).format(value)

/** Millionths of a dollar; what is unknown is said to be, never shown as nothing. */
export const money = (words: Words, micros: number | null): string => {
  if (micros === null) return words.inspector.unpriced
  const dollars = micros / 1e6
  return new Intl.NumberFormat(words.locale, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.abs(dollars) < 1 ? 4 : 2
  }).format(dollars)
}

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
] as const

/** How long something took, in its largest unit and the next. */
export const duration = (words: Words, millis: number): string => {
  const first = SPANS.findIndex(([, size]) => millis >= size)
  if (first === -1) return `${Math.round(millis)} ms`
  let rest = millis
  return SPANS.slice(first, first + 2)
    .map(([unit, size]) => {
      const many = Math.floor(rest / size)
      rest -= many * size
      return many === 0
        ? ""
        : new Intl.NumberFormat(words.locale, { style: "unit", unit, unitDisplay: "narrow" }).format(many)
    })
    .filter(Boolean)
    .join(" ")
}
