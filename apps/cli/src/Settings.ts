/** What a person has configured, in `config.json` of the home. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Compaction } from "@grove/core"
import { Effect, Schema } from "effect"
import { Failure } from "./CliError.ts"
import { Environment } from "./Environment.ts"

const Provider = Schema.Struct({
  id: Schema.String,
  name: Schema.optionalKey(Schema.String),
  baseUrl: Schema.String,
  keyVariable: Schema.optionalKey(Schema.String)
})

const Settings = Schema.Struct({
  /** `provider/model`, for sessions that name none. */
  model: Schema.optionalKey(Schema.String),
  compaction: Schema.optionalKey(Compaction.Settings),
  /** Servers that speak OpenAI's chat completions. */
  providers: Schema.optionalKey(Schema.Array(Provider)),
  /** How the chat looks; without it, what the terminal says of itself. */
  theme: Schema.optionalKey(Schema.Literals(["dark", "light", "none"])),
  /** Signs that every terminal has. */
  ascii: Schema.optionalKey(Schema.Boolean),
  /** What Escape twice does in the chat. */
  doubleEscape: Schema.optionalKey(Schema.Literals(["branch", "tree", "fork", "none"]))
})
export type Settings = typeof Settings.Type

const decode = Schema.decodeUnknownEffect(Settings)

const parse = (path: string): Effect.Effect<unknown, Failure> =>
  Effect.try({
    try: (): unknown => JSON.parse(readFileSync(path, "utf8")),
    catch: (cause) => cause as NodeJS.ErrnoException
  }).pipe(
    Effect.catch(({ code, message }) => {
      if (code === "ENOENT") return Effect.succeed({})
      return Effect.fail(new Failure({ message: `${path} could not be read: ${message}; mend or remove it` }))
    })
  )

/** Nothing is configured where there is no file. What Grove does not know in it is left alone. */
export const read = Effect.gen(function* () {
  const { home } = yield* Environment
  const path = join(home, "config.json")
  return yield* Effect.mapError(Effect.flatMap(parse(path), decode), (error) =>
    error._tag === "Failure" ? error : new Failure({ message: `${path} is not as it should be: ${error.message}` })
  )
})
