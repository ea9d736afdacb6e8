/** `grove compact`: what was said first gives way to a summary. */
import { Engine } from "@grove/agent"
import { type CompactOutcome, Preview, Sessions } from "@grove/core"
import { Effect } from "effect"
import * as Chat from "../Chat.ts"
import { Failure } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Signals from "../Signals.ts"
import * as Words from "../Words.ts"

const REASONS: { readonly [reason: string]: string } = {
  "too-small": "all that was said is kept as it is; there is nothing to make shorter",
  "already-compacted": "nothing was said since the last compaction"
}

const forPeople = (outcome: CompactOutcome): ReadonlyArray<string> =>
  outcome.compacted
    ? [
        `Compacted ${Words.count(outcome.tokensBefore, "token")}; kept from ${outcome.firstKeptEntryId} on.`,
        "",
        Preview.inert(outcome.summary)
      ]
    : [`Nothing to do: ${REASONS[outcome.reason] ?? outcome.reason}.`]

export const run = Effect.fn("compact")(function* ({ arguments: [name, instructions], flags }: Input) {
  const ref = yield* SessionArgument.locate(name!)
  const compact = Effect.gen(function* () {
    const engine = yield* Engine
    const session = yield* Sessions.use((sessions) => sessions.open(ref.path))
    return yield* engine.compact(session, {
      ...(instructions !== undefined && { instructions }),
      ...(typeof flags.model === "string" && { model: flags.model })
    })
  })
  const chat = Chat.layer({ records: true, beside: ref.path })
  const outcome = yield* Signals.until(Effect.provide(Effect.scoped(compact), chat)).pipe(
    Effect.catchTags({
      ChatModelError: ({ message }) => new Failure({ message }),
      SummaryFailed: ({ message }) => new Failure({ message }),
      LeafMoved: ({ message }) => new Failure({ message })
    })
  )
  if (flags.json === true) return yield* Output.json(outcome)
  yield* Output.lines(forPeople(outcome))
})
