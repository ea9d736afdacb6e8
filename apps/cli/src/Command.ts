/** The shape of a subcommand, and the parsing of its words. Help and completions are made from the same table. */
import { parseArgs } from "node:util"
import { Result } from "effect"
import type { Effect } from "effect/Effect"
import { UsageError } from "./CliError.ts"

export interface Flag {
  readonly type: "boolean" | "string"
  readonly short?: string
  /** What stands for the value in help. */
  readonly value?: string
  /** The value may be left out; the flag is then `true`. */
  readonly optional?: boolean
  /** The only values allowed. */
  readonly choices?: ReadonlyArray<string>
  readonly about: string
}

export interface Argument {
  readonly name: string
  readonly required?: boolean
  readonly many?: boolean
  /** What may stand here, where that is a matter of a few words. */
  readonly words?: ReadonlyArray<string>
  readonly about: string
}

export interface Command {
  readonly name: string
  readonly about: string
  readonly arguments: ReadonlyArray<Argument>
  readonly flags: { readonly [name: string]: Flag }
  readonly examples?: ReadonlyArray<string>
}

export interface Input {
  readonly arguments: ReadonlyArray<string>
  /** How many of the arguments stand before `--`; those behind it are never names of anything. */
  readonly unguarded: number
  readonly flags: { readonly [name: string]: string | boolean | undefined }
}

/** What a subcommand's module exports. */
export interface Run<E, R> {
  readonly run: (input: Input) => Effect<void, E, R>
}

/** Flags that every subcommand takes. */
export const sharedFlags: { readonly [name: string]: Flag } = {
  json: { type: "boolean", about: "print one JSON value" },
  "session-dir": { type: "string", value: "dir", about: "a flat folder of sessions instead of the home" },
  help: { type: "boolean", short: "h", about: "show this help" }
}

const argumentUsage = ({ name, required, many }: Argument): string => {
  const word = `<${name}>${many ? "..." : ""}`
  return required ? word : `[${word}]`
}

const flagUsage = (name: string, { type, short, value, choices, optional }: Flag): string => {
  const word = choices?.join("|") ?? `<${value ?? "value"}>`
  const takes = type === "boolean" ? "" : optional ? ` [${word}]` : ` ${word}`
  return `${short === undefined ? "" : `-${short}, `}--${name}${takes}`
}

/** How it is called; the chat has no name of its own. */
const called = ({ name }: Command): string => (name === "" ? "grove" : `grove ${name}`)

export const usageLine = (command: Command): string =>
  [
    called(command),
    ...command.arguments.map(argumentUsage),
    ...Object.entries(command.flags).map(([name, flag]) => `[${flagUsage(name, flag)}]`)
  ].join(" ")

const table = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

export const help = (command: Command): ReadonlyArray<string> => [
  usageLine(command),
  "",
  `${command.about}`,
  "",
  ...table([
    ...command.arguments.map((argument) => [argumentUsage(argument), argument.about] as const),
    ...Object.entries({ ...command.flags, ...sharedFlags }).map(
      ([name, flag]) => [flagUsage(name, flag), flag.about] as const
    )
  ]),
  ...(command.examples === undefined ? [] : ["", ...command.examples.map((example) => `  $ ${example}`)])
]

/** How many slips lead from one word to the other: a letter wrong, missing, too many, or two neighbours swapped. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let previous: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? before[j - 2]! + 1 : change
      current.push(Math.min(change, swap, previous[j]! + 1, current[j - 1]! + 1))
    }
    before = previous
    previous = current
  }
  return previous[b.length]!
}

/** The known word that was probably meant, as the end of an error line; empty if none is near. */
export const didYouMean = (word: string, known: ReadonlyArray<string>): string => {
  const [best] = known
    .map((name) => ({ name, away: distance(word.toLowerCase(), name) }))
    .sort((a, b) => a.away - b.away)
  return best !== undefined && best.away <= Math.max(1, Math.floor(word.length / 3))
    ? `; did you mean ${best.name}?`
    : ""
}

/** Flags whose value may be left out are given an empty one where no word follows that could be it. */
const withEmptyValues = (words: ReadonlyArray<string>, flags: Command["flags"]): Array<string> => {
  const spelled = new Map(
    Object.entries(flags).flatMap(([name, { optional, short }]) =>
      optional === true ? [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map((word) => [word, name]) : []
    ) as ReadonlyArray<[string, string]>
  )
  const end = words.includes("--") ? words.indexOf("--") : words.length
  return words.map((word, i) => {
    const name = i < end ? spelled.get(word) : undefined
    const next = words[i + 1]
    return name !== undefined && (next === undefined || next.startsWith("-")) ? `--${name}=` : word
  })
}

const wrong = (message: string) => Result.fail(new UsageError({ message }))

/** The words after the subcommand's name. Unknown flags, missing arguments and wrong choices are errors. */
export const parse = (command: Command, words: ReadonlyArray<string>): Result.Result<Input, UsageError> => {
  const flags = { ...command.flags, ...sharedFlags }
  const tryHelp = `see ${called(command)} --help`
  const { tokens } = parseArgs({
    args: withEmptyValues(words, flags),
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }])
    ),
    allowPositionals: true,
    strict: false,
    tokens: true
  })
  const found: { [name: string]: string | boolean } = {}
  const positionals: Array<string> = []
  let unguarded: number | undefined
  for (const token of tokens) {
    if (token.kind === "option-terminator") unguarded = positionals.length
    if (token.kind === "positional") positionals.push(token.value)
    if (token.kind !== "option") continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (flag === undefined) {
      const near = didYouMean(
        token.rawName.replace(/^-+/, ""),
        Object.keys(flags).map((name) => `--${name}`.slice(2))
      )
      return wrong(`unknown flag ${token.rawName}${near === "" ? `; ${tryHelp}` : near.replace("mean ", "mean --")}`)
    }
    if (flag.type === "boolean" && token.value !== undefined) return wrong(`--${token.name} takes no value; ${tryHelp}`)
    if (flag.optional === true && token.value === "") {
      found[token.name] = true
      continue
    }
    // What looks like a flag is one; a value that begins with a dash is written --flag=-value.
    const isFlag = token.inlineValue !== true && token.value?.startsWith("-") === true
    if (flag.type === "string" && (token.value === undefined || isFlag)) {
      return wrong(`--${token.name} needs a value; ${tryHelp}`)
    }
    if (flag.choices !== undefined && !flag.choices.includes(token.value ?? "")) {
      return wrong(`--${token.name} is one of ${flag.choices.join(", ")}, not ${JSON.stringify(token.value)}`)
    }
    found[token.name] = token.value ?? true
  }
  const input: Input = { arguments: positionals, unguarded: unguarded ?? positionals.length, flags: found }
  const wanted = command.arguments.filter(({ required }) => required)
  if (found.help === true) return Result.succeed(input)
  if (positionals.length < wanted.length) {
    return wrong(`${command.name || "grove"} needs <${wanted[positionals.length]!.name}>; usage: ${usageLine(command)}`)
  }
  const most = command.arguments.some(({ many }) => many) ? Number.POSITIVE_INFINITY : command.arguments.length
  if (positionals.length > most) {
    return wrong(
      `${command.name || "grove"} does not take ${JSON.stringify(positionals[most])}; usage: ${usageLine(command)}`
    )
  }
  return Result.succeed(input)
}
