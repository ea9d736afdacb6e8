/** What a person has configured, in `config.json` of the home. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Compaction } from "@grove/core"
import { formats } from "@grove/formats/Format"
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
  /** Where sessions of other programs are shown from: `false` for nowhere; without it, from the usual places. */
  roots: Schema.optionalKey(
    Schema.Union([
      Schema.Literal(false),
      Schema.Array(Schema.Struct({ format: Schema.Literals(formats), folder: Schema.String }))
    ])
  ),
  /** What Escape twice does in the chat. */
  doubleEscape: Schema.optionalKey(Schema.Literals(["branch", "tree", "fork", "none"]))
})
export type Settings = typeof Settings.Type

const decode = Schema.decodeUnknownEffect(Settings)

const pathIn = (home: string): string => join(home, "config.json")

const failed = (path: string) => (error: { readonly _tag: string; readonly message: string }) =>
  error instanceof Failure
    ? error
    : new Failure({ message: `${path} is not as it should be: ${error.message}; mend or remove it` })

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
  const path = pathIn((yield* Environment).home)
  return yield* Effect.mapError(Effect.flatMap(parse(path), decode), failed(path))
})

// ------------------------------------------------------------------------------------------------------ one at a time

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** What stands at a key, `undefined` if nothing does. */
export const valueAt = (settings: unknown, key: string): unknown =>
  key
    .split(".")
    .reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), settings)

/** The same settings with another value at a key; `undefined` takes it out, and what that leaves empty too. */
export const withValue = (settings: Json, [name = "", ...below]: ReadonlyArray<string>, value: unknown): Json => {
  const { [name]: before, ...others } = settings
  const changed = below.length === 0 ? value : withValue(isObject(before) ? before : {}, below, value)
  const isGone =
    changed === undefined || (value === undefined && isObject(changed) && Object.keys(changed).length === 0)
  return isGone ? others : { ...settings, [name]: changed }
}

/** Keeps a value, or with `undefined` forgets it. Refused where the file would not be as it should be afterwards. */
export const write = Effect.fn("Settings.write")(function* (key: string, value: unknown) {
  const { home } = yield* Environment
  const path = pathIn(home)
  const before = yield* parse(path)
  const settings = withValue(isObject(before) ? before : {}, key.split("."), value)
  yield* Effect.mapError(
    decode(settings),
    ({ message }) => new Failure({ message: `${key} cannot be ${JSON.stringify(value)}: ${message}` })
  )
  yield* Effect.try({
    try: () => replace(home, path, `${JSON.stringify(settings, null, 2)}\n`),
    catch: (cause) => new Failure({ message: `${path} cannot be written: ${(cause as Error).message}` })
  })
})

/** Whole or not at all: somebody may read it meanwhile. */
const replace = (home: string, path: string, text: string): void => {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}.tmp`
  writeFileSync(next, text, { mode: 0o600, flush: true })
  renameSync(next, path)
}
