/** `grove models`: which models would answer, and why others would not. */
import { type Chat, ChatModel } from "@grove/core"
import { Effect } from "effect"
import * as Chats from "../Chat.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const facts = ({ window, tools, images, thinking, prices }: Chat.ModelInfo): ReadonlyArray<string> => [
  window === null ? "window unknown" : `${window.toLocaleString("en-US")} tokens`,
  ...(tools ? ["tools"] : []),
  ...(images ? ["images"] : []),
  ...(thinking ? ["thinking"] : []),
  prices === null ? "price unknown" : `$${prices.input} in, $${prices.output} out for a million`
]

export const run = Effect.fn("models")(function* ({ flags }: Input) {
  const surroundings = yield* Environment
  const listed = yield* Effect.provide(
    ChatModel.use(({ list }) => list),
    Chats.models
  )
  if (flags.json === true) return yield* Output.json(listed)
  const style = Style.make(surroundings)
  yield* Output.lines(
    listed.flatMap(({ name, problem, models }) => [
      `${style.bold(Words.safe(name))}${style.symbols.dot}${problem === null ? "ready" : Words.safe(problem)}`,
      ...models.map((info) => `  ${Words.safe(info.ref)}  ${style.dim(facts(info).join(style.symbols.dot))}`)
    ])
  )
})
