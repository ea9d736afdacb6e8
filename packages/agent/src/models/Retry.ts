/** Asking again, when a provider is busy and nothing has been said yet. */
import type { ChatModelError, ReplyPart } from "@grove/core"
import { Effect, Random, Stream } from "effect"

export interface Policy {
  /** Requests in all, the first one included. */
  readonly attempts: number
  readonly firstDelayMillis: number
  /** A provider that wants a longer rest than this is not waited for. */
  readonly maxDelayMillis: number
}

export const standard: Policy = { attempts: 4, firstDelayMillis: 1_000, maxDelayMillis: 60_000 }

/** Twice as long each time, and somewhere between half of that and all, so that many do not come back at once. */
const delayFor = (policy: Policy, attempt: number, error: ChatModelError): Effect.Effect<number> => {
  const asked = "retryAfterMillis" in error.reason ? error.reason.retryAfterMillis : null
  if (asked !== null) return Effect.succeed(asked)
  const longest = Math.min(policy.firstDelayMillis * 2 ** (attempt - 1), policy.maxDelayMillis)
  return Effect.map(Random.next, (chance) => Math.round(longest * (0.5 + chance / 2)))
}

/** Runs `stream` again after a transient failure, as long as no part of it was handed out. */
export const retrying = (
  stream: Stream.Stream<ReplyPart, ChatModelError>,
  policy: Policy = standard
): Stream.Stream<ReplyPart, ChatModelError> => {
  const from = (attempt: number): Stream.Stream<ReplyPart, ChatModelError> =>
    Stream.suspend(() => {
      let hasBegun = false
      const heard = Stream.map(stream, (part) => {
        hasBegun = true
        return part
      })
      return Stream.catch(heard, (error) => {
        if (hasBegun || !error.isTransient || attempt >= policy.attempts) return Stream.fail(error)
        return Stream.unwrap(
          Effect.map(delayFor(policy, attempt, error), (delayMillis) => {
            if (delayMillis > policy.maxDelayMillis) return Stream.fail(error)
            const told: ReplyPart = { _tag: "Retry", attempt: attempt + 1, delayMillis, because: error.message }
            const again = Stream.unwrap(Effect.as(Effect.sleep(delayMillis), from(attempt + 1)))
            return Stream.concat(Stream.succeed(told), again)
          })
        )
      })
    })
  return from(1)
}
