/** Figures and times as the screens tell them. */
import { Figures } from "@grove/core/model"

export const { age, bytes, count, duration, tokens } = Figures

/** `null` where a price is unknown. */
export const cost = (micros: number | null): string => (micros === null ? "$?" : Figures.dollars(micros))

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The time of day for today, else how long ago. */
export const clock = (time: number, now: number): string => {
  if (time <= 0) return ""
  if (now - time >= 20 * HOUR || time > now + MINUTE) return age(time, now)
  const date = new Date(time)
  return `${date.getHours()}:${String(date.getMinutes()).padStart(2, "0")}`
}
