/** Ctrl-C and its like, as interruptions: what runs is ended in an orderly way, and the exit code says why. */
import { Data, Effect } from "effect"

/** Ended by a signal: exit 130 or 143. */
export class Signalled extends Data.TaggedError("Signalled")<{ readonly code: 130 | 143 }> {}

const CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** The first one. From then on a second one kills, as it would have without this. */
const signal = Effect.callback<never, Signalled>((resume) => {
  const handlers = new Map<string, () => void>()
  const stop = () => {
    for (const [name, handler] of handlers) process.off(name, handler)
  }
  for (const [name, code] of Object.entries(CODES)) {
    handlers.set(name, () => {
      stop()
      resume(Effect.fail(new Signalled({ code })))
    })
  }
  for (const [name, handler] of handlers) process.on(name, handler)
  return Effect.sync(stop)
})

/** Runs until it is done or a signal comes, which interrupts it and waits until it has put its things in order. */
export const until = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Signalled, R> =>
  Effect.raceFirst(effect, signal)
