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

const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** US dollars for a million tokens. */
const Prices = Schema.Struct({
  input: Amount,
  output: Amount,
  cacheRead: Amount,
  cacheWrite: Amount,
  cacheWrite1h: Amount,
  upTo: Schema.optionalKey(Amount)
})

const Override = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  window: Schema.optionalKey(Schema.NullOr(Amount)),
  maxOutput: Schema.optionalKey(Schema.NullOr(Amount)),
  tools: Schema.optionalKey(Schema.Boolean),
  images: Schema.optionalKey(Schema.Boolean),
  thinking: Schema.optionalKey(Schema.Boolean),
  prices: Schema.optionalKey(Schema.NullOr(Prices))
})

const Settings = Schema.Struct({
  /** `provider/model`, for sessions that name none. */
  model: Schema.optionalKey(Schema.String),
  compaction: Schema.optionalKey(Compaction.Settings),
  /** Servers that speak OpenAI's chat completions. */
  providers: Schema.optionalKey(Schema.Array(Provider)),
  /** `overrides` by `provider/model`: what is known better than in the table, prices, windows and abilities. */
  models: Schema.optionalKey(Schema.Struct({ overrides: Schema.optionalKey(Schema.Record(Schema.String, Override)) })),
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
    error._tag === "Failure"
      ? error
      : new Failure({ message: `${path} is not as it should be: ${error.message}; mend or remove it` })
  )
})
