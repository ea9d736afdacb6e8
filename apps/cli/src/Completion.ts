/** What may stand next on a command line: made from the same table as the help. */
import { type Command, type Flag, sharedFlags } from "./Command.ts"

export interface Next {
  readonly words: ReadonlyArray<string>
  /** Ids of sessions may stand here. */
  readonly sessions: boolean
  /** Names of files may stand here, which the shell knows best. */
  readonly files: boolean
}

const nothing: Next = { words: [], sessions: false, files: false }

const flagWords = (flags: Command["flags"]): ReadonlyArray<string> =>
  Object.entries(flags).flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])

const flagNamed = (flags: Command["flags"], word: string | undefined): Flag | undefined =>
  Object.entries(flags).find(([name, { short }]) => word === `--${name}` || word === `-${short}`)?.[1]

const valuesOf = ({ choices, value }: Flag): Next => ({
  words: choices ?? [],
  sessions: value === "s",
  files: choices === undefined
})

/** `before` are the words between `grove` and the one being typed, which begins with `begun`. */
export const next = (
  chat: Command,
  commands: ReadonlyArray<Command>,
  before: ReadonlyArray<string>,
  begun: string
): Next => {
  const command = commands.find(({ name }) => name === before[0])
  const flags = { ...(command ?? chat).flags, ...sharedFlags }
  const takesValue = (word: string | undefined) => flagNamed(flags, word)?.type === "string"
  if (takesValue(before.at(-1))) return valuesOf(flagNamed(flags, before.at(-1))!)
  if (begun.startsWith("-")) return { ...nothing, words: flagWords(flags) }
  if (command === undefined) {
    return before.length === 0 ? { ...nothing, words: [...commands.map(({ name }) => name), "help"] } : nothing
  }
  const given = before.filter((word, i) => i > 0 && !word.startsWith("-") && !takesValue(before[i - 1]))
  const last = command.arguments.at(-1)
  const argument = command.arguments[given.length] ?? (last?.many === true ? last : undefined)
  if (argument === undefined) return nothing
  const isSession = argument.name === "s"
  return { words: argument.words ?? [], sessions: isSession, files: isSession || argument.words === undefined }
}
