/** Figures as people read them. */

/** `1 entry`, `2 entries`. */
export const count = (amount: number, one: string, many = `${one}s`): string =>
  `${amount.toLocaleString("en-US")} ${amount === 1 ? one : many}`

/** `38k`, `1.2M`. */
export const tokens = (amount: number): string => {
  if (amount < 1000) return String(Math.round(amount))
  if (amount < 1_000_000) return `${amount < 10_000 ? (amount / 1000).toFixed(1) : Math.round(amount / 1000)}k`
  return `${(amount / 1_000_000).toFixed(1)}M`
}

/** Dollars, from millionths; less than a cent is told to four places. */
export const dollars = (micros: number): string => `$${(micros / 1e6).toFixed(micros > 0 && micros < 10_000 ? 4 : 2)}`

/** How long something took. */
export const duration = (millis: number): string => {
  if (millis < 60_000) return `${(millis / 1000).toFixed(millis < 10_000 ? 1 : 0)}s`
  const minutes = Math.floor(millis / 60_000)
  if (minutes < 60) return `${minutes}m ${Math.floor((millis % 60_000) / 1000)}s`
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago, in one unit: `now`, `5m`, `3h`, `2d`, `4w`, `2y`; `?` for a time that nobody wrote down. */
export const age = (time: number, now: number): string => {
  if (!Number.isFinite(time) || time <= 0) return "?"
  const passed = Math.max(0, now - time)
  if (passed < MINUTE) return "now"
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)}m`
  if (passed < DAY) return `${Math.floor(passed / HOUR)}h`
  if (passed < 14 * DAY) return `${Math.floor(passed / DAY)}d`
  if (passed < 365 * DAY) return `${Math.floor(passed / (7 * DAY))}w`
  return `${Math.floor(passed / (365 * DAY))}y`
}

export const bytes = (amount: number): string => {
  if (amount < 1024) return `${amount} B`
  if (amount < 1024 * 1024) return `${Math.round(amount / 1024)} kB`
  return `${(amount / (1024 * 1024)).toFixed(1)} MB`
}
