/** A tool whose arguments are checked before it sees them: models write anything. */
import type { Json } from "@grove/core"
import { Effect, Result, Schema } from "effect"
import { failed, type Tool, type ToolOutcome, type ToolPlace, type ToolRequest } from "../Tool.ts"

export interface Spec<A> {
  readonly name: string
  readonly description: string
  readonly kind: Tool["kind"]
  /** Its annotations tell the model what each argument is. */
  readonly parameters: Schema.Decoder<A>
  readonly describe: (args: A, at: ToolPlace) => Effect.Effect<ToolRequest>
  readonly run: (args: A, at: ToolPlace) => Effect.Effect<ToolOutcome>
}

export const make = <A>({ name, description, kind, parameters, describe, run }: Spec<A>): Tool => {
  const decode = Schema.decodeUnknownResult(parameters)
  const decoded = (args: Json) =>
    Result.mapError(decode(args, { errors: "all" }), (error) => error.message.replace(/\s*\n\s*/g, " "))
  return {
    definition: { name, description, parameters: Schema.toJsonSchemaDocument(parameters).schema as Json },
    kind,
    describe: (args, at) =>
      Result.match(decoded(args), {
        onSuccess: (given) => describe(given, at),
        onFailure: () => Effect.succeed({ line: `${name} with arguments that are wrong`, paths: [] })
      }),
    run: (args, at) =>
      Result.match(decoded(args), {
        onSuccess: (given) => run(given, at),
        onFailure: (problem) => Effect.succeed(failed(`Wrong arguments for ${name}: ${problem}`))
      })
  }
}
