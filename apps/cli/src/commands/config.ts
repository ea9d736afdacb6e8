/** `grove config`: what is set in `config.json`, one value at a time. */
import { Effect } from "effect"
import { Failure, UsageError } from "../CliError.ts"
import { didYouMean, type Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { KEYS } from "../SettingKeys.ts"
import * as Settings from "../Settings.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const known = (key: string | undefined) => {
  if (key !== undefined && Object.hasOwn(KEYS, key)) return Effect.succeed(key)
  if (key === undefined)
    return new UsageError({ message: "config get and config set need <key>; grove config list shows them" })
  const near = didYouMean(key, Object.keys(KEYS))
  return new Failure({
    message: `there is no setting ${JSON.stringify(key)}${near || "; grove config list shows them"}`
  })
}

/** As it is typed again: a string as it is, everything else as JSON. */
const shown = (value: unknown): string => Words.safe(typeof value === "string" ? value : JSON.stringify(value))

/** What a person types is JSON where it can be, else a text. */
const valueOf = (words: ReadonlyArray<string>): unknown => {
  const text = words.join(" ")
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const list = Effect.fnUntraced(function* (isJson: boolean) {
  const settings = yield* Settings.read
  const keys = Object.keys(KEYS)
  const values = keys.map((key) => [key, Settings.valueAt(settings, key) ?? null] as const)
  if (isJson) return yield* Output.json(Object.fromEntries(values))
  const style = Style.make(yield* Environment)
  const width = Math.max(...keys.map((key) => key.length))
  yield* Output.lines(
    values.map(([key, value]) => {
      const name = key.padEnd(width)
      return value === null ? `${name}  ${style.dim(KEYS[key]!)}` : `${style.bold(name)}  ${shown(value)}`
    })
  )
})

const get = Effect.fnUntraced(function* (key: string, isJson: boolean) {
  const value = Settings.valueAt(yield* Settings.read, key)
  if (isJson) return yield* Output.json(value ?? null)
  if (value === undefined) return yield* new Failure({ message: `${key} is not set; it is for: ${KEYS[key]}` })
  yield* Output.lines([shown(value)])
})

const set = Effect.fnUntraced(function* (key: string, words: ReadonlyArray<string>, { unset, json }: Input["flags"]) {
  if (unset === true && words.length > 0) return yield* new UsageError({ message: "--unset takes a key and no value" })
  if (unset !== true && words.length === 0) {
    return yield* new UsageError({ message: `config set ${key} needs <value>; --unset forgets it` })
  }
  const value = unset === true ? undefined : valueOf(words)
  yield* Settings.write(key, value)
  if (json === true) return yield* Output.json({ key, value: value ?? null })
  yield* Output.lines([value === undefined ? `${key} is not set any more` : `${key} = ${shown(value)}`])
})

export const run = Effect.fn("config")(function* ({ arguments: [operation, key, ...words], flags }: Input) {
  const isJson = flags.json === true
  if (flags.unset === true && operation !== "set")
    return yield* new UsageError({ message: "--unset is for config set" })
  const isTooMuch = operation === "list" ? key !== undefined : operation === "get" && words.length > 0
  if (isTooMuch)
    return yield* new UsageError({ message: `config ${operation} takes no more words; see grove config --help` })
  if (operation === "list") return yield* list(isJson)
  if (operation === "get") return yield* get(yield* known(key), isJson)
  if (operation === "set") return yield* set(yield* known(key), words, flags)
  return yield* new UsageError({ message: `config takes get, set or list, not ${JSON.stringify(operation)}` })
})
