/** Standard input, to its end. */
import { Effect } from "effect"
import { Failure } from "./CliError.ts"

/** As text; what is no UTF-8 in it is shown as such. Whoever stops waiting lets go of it, so that the program can end. */
export const text = Effect.callback<string, Failure>((resume) => {
  const { stdin } = process
  const chunks: Array<Uint8Array> = []
  const take = (chunk: Uint8Array) => chunks.push(chunk)
  const end = () => resume(Effect.sync(() => new TextDecoder().decode(Buffer.concat(chunks))))
  const fail = () => resume(Effect.fail(new Failure({ message: "standard input cannot be read" })))
  stdin.on("data", take).once("end", end).once("error", fail)
  return Effect.sync(() => {
    stdin.off("data", take).off("end", end).off("error", fail)
    stdin.destroy()
  })
})
