/** Ids and times, as foreign files spell them and as sessions need them. */
import { Entry, SessionId } from "@grove/core"
import { Schema } from "effect"
import type { Format } from "../Format.ts"
import { digest } from "./Digest.ts"

/** Stands where nothing is known of a time. */
export const NO_TIME = "1970-01-01T00:00:00.000Z"

const isSessionId = Schema.is(SessionId)

/** An id so long is unique wherever it goes. */
const LONG = 16

/** The id of a session: its own, or a made one where that is missing, short or no name of a file. `seed` tells it from others. */
export const session = (format: Format, id: unknown, seed: string): string => {
  const own = typeof id === "string" || typeof id === "number" ? String(id) : ""
  if (own.length >= LONG && isSessionId(own)) return own
  const short = own !== "" && isSessionId(own) ? own : format
  return `${short}-${digest(format, own, seed)}`
}

const PLAIN = /^[\w.:-]{1,128}$/

/** Whether an id of the source can stay the id of the entry. */
export const isPlain = (id: unknown): id is string => typeof id === "string" && PLAIN.test(id)

const SECONDS = 100_000_000_000

/** A time as ISO text, given as such, in milliseconds or in seconds. */
export const timeOf = (value: unknown): string | undefined => {
  if (typeof value === "number" && Number.isFinite(value)) {
    const date = new Date(Math.abs(value) < SECONDS ? value * 1000 : value)
    return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
  }
  if (typeof value !== "string") return undefined
  if (Entry.isTimestamp(value)) return value
  const parsed = Date.parse(value)
  return Number.isNaN(parsed) ? undefined : new Date(parsed).toISOString()
}
