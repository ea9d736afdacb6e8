/** Numbers, times and names as people are told them. */
import { Preview } from "@grove/core/model"

/** A path, an id or a message as it may be printed in a line: what a terminal would obey is shown instead. */
export const safe = (text: string): string => Preview.inert(text).replaceAll("\n", "␊")

/** `1 entry`, `2 entries`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`

/** How long ago, in one unit: `now`, `5m`, `3h`, `2d`, `4w`, `2y`. */
export const age = (at: number, now: number): string => {
  const minutes = Math.floor((now - at) / 60_000)
  if (!Number.isFinite(minutes) || at <= 0) return "?"
  if (minutes < 1) return "now"
  if (minutes < 60) return `${minutes}m`
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h`
  const days = Math.floor(minutes / 1440)
  if (days < 14) return `${days}d`
  return days < 730 ? `${Math.floor(days / 7)}w` : `${Math.floor(days / 365)}y`
}

/** Millionths of a dollar; unknown prices are said to be unknown. */
export const money = (micros: number | null): string =>
  micros === null ? "cost unknown" : `$${(micros / 1e6).toFixed(2)}`
