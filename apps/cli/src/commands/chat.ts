/** `grove` without the name of a command: the chat, or one answer where nobody could be chatted with. */
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"

/** Flags that only an answer on standard output has a use for. */
const ANSWER_ONLY = ["print", "json", "at", "samples"] as const

/** The screen is loaded by the chat alone. */
export const run = Effect.fn("chat")(function* (input: Input) {
  const { isInteractive } = yield* Environment
  const isAnswer = ANSWER_ONLY.some((flag) => input.flags[flag] !== undefined)
  if (isAnswer || !isInteractive.input || !isInteractive.output) {
    const print = yield* Effect.promise(() => import("./print.ts"))
    return yield* print.run(input)
  }
  const screen = yield* Effect.promise(() => import("../ChatScreen.ts"))
  yield* screen.run(input)
})
