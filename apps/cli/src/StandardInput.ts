/** Standard input, to its end. */
import { Effect, Stream } from "effect"
import { Failure } from "./CliError.ts"

export const chunks = Stream.fromAsyncIterable(
  process.stdin as AsyncIterable<Uint8Array>,
  () => new Failure({ message: "standard input cannot be read" })
)

/** As text; what is no UTF-8 in it is shown as such. */
export const text = Effect.map(Stream.runCollect(Stream.decodeText(chunks)), (parts) => parts.join(""))
