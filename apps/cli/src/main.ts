/** The `grove` command: reads its surroundings, picks adapters, runs one subcommand. */
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { Preview } from "@grove/core/model"
import { Breadcrumbs, FileBlobStore, JsonlSessionStore, SessionPaths } from "@grove/storage-files"
import { Cause, Effect, Exit, Layer } from "effect"
import { Failure, UsageError } from "./CliError.ts"
import * as Command from "./Command.ts"
import { type CommandError, chat, commands } from "./commands.ts"
import { Environment, type Surroundings } from "./Environment.ts"
import { Paths } from "./Paths.ts"
import { explain } from "./SessionArgument.ts"

const USAGE = 2
const FAILED = 1
const NARROWEST = 40
const WIDEST = 500

const surroundingsFrom = (cwd: string, sessionDirectory: string | boolean | undefined): Surroundings => {
  const { env, stdout } = process
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "UTF-8"
  const folder = typeof sessionDirectory === "string" ? sessionDirectory : env.GROVE_SESSION_DIR || undefined
  return {
    home: resolve(env.GROVE_HOME || `${homedir()}/.grove`),
    sessionDirectory: folder === undefined ? undefined : resolve(folder),
    cwd,
    userHome: homedir(),
    terminal: Breadcrumbs.terminalId({ ttyPath: Breadcrumbs.ttyPath(), env }),
    columns: Math.trunc(Math.min(Math.max(stdout.columns ?? (Number(env.COLUMNS) || 80), NARROWEST), WIDEST)),
    colors: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb",
    unicode: /utf-?8/i.test(locale),
    isInteractive: { input: process.stdin.isTTY === true, output: stdout.isTTY === true },
    variables: env
  }
}

const version = (): string => JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version

const overview = [
  "grove keeps conversations with language models as trees.",
  "",
  ...Command.help(chat.command).slice(2),
  "",
  ...commands.map(({ command }) => `  grove ${command.name.padEnd(10)} ${command.about}`),
  "",
  "grove <command> --help tells more. Sessions are kept in GROVE_HOME, by default ~/.grove."
]

const named = (name: string) => commands.find(({ command }) => command.name === name)

const unknownCommand = (word: string) => {
  const near = Command.didYouMean(
    word,
    commands.map(({ command }) => command.name)
  )
  return new UsageError({
    message: `unknown command ${JSON.stringify(word)}${near === "" ? "; grove --help lists them" : near}`
  })
}

const runNamed = (name: string, words: ReadonlyArray<string>) => {
  const found = named(name)
  return found === undefined ? unknownCommand(name) : runFound(found, words)
}

const runFound = Effect.fnUntraced(function* (found: typeof chat, words: ReadonlyArray<string>) {
  const input = yield* Effect.fromResult(Command.parse(found.command, words))
  if (input.flags.help === true) return yield* print(Command.help(found.command))
  const cwd = yield* Effect.try({
    try: () => process.cwd(),
    catch: () => new Failure({ message: "the folder this was started in is gone; change to another one first" })
  })
  const surroundings = surroundingsFrom(cwd, input.flags["session-dir"])
  const paths = SessionPaths.make(surroundings)
  const { run } = yield* Effect.promise(found.load)
  yield* Effect.provide(
    Effect.scoped(run(input)),
    Layer.mergeAll(
      Layer.succeed(Environment, surroundings),
      Layer.succeed(Paths, paths),
      Layer.provide(JsonlSessionStore.layer({ paths }), FileBlobStore.layer({ directory: paths.blobs }))
    )
  )
})

const print = (lines: ReadonlyArray<string>) => Effect.sync(() => console.log(lines.join("\n")))

/** Flags that every command takes may stand before its name; they are moved behind it. */
const commandFirst = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  let flags = 0
  while (words[flags]?.startsWith("--json") || words[flags]?.startsWith("--session-dir")) {
    flags += words[flags] === "--session-dir" ? 2 : 1
  }
  return [...words.slice(flags), ...words.slice(0, flags)]
}

/** A prompt has a space in it, or follows `--` or a flag; a single word is a command, or a slip. */
const isPrompt = (word: string): boolean => word.startsWith("-") || /\s/u.test(word)

const program = (words: ReadonlyArray<string>) => {
  const [first, ...rest] = commandFirst(words)
  if (first === "--help" || first === "-h" || first === "help") {
    return rest[0] === undefined ? print(overview) : runNamed(rest[0], ["--help"])
  }
  if (first === "--version" || first === "-V") return print([version()])
  return first === undefined || isPrompt(first) ? runFound(chat, commandFirst(words)) : runNamed(first, rest)
}

/** Names come from files and arguments, so nothing in them may be obeyed by the terminal. */
const oneLine = (message: string): string => Preview.inert(message.replace(/\s+/gu, " "))

const report = (error: CommandError): number => {
  if (error._tag === "Negative") return FAILED
  if (error._tag === "Signalled") return error.code
  const message = error._tag === "SessionStoreError" ? explain(error) : error.message
  process.stderr.write(`grove: ${oneLine(message)}\n`)
  return error._tag === "UsageError" ? USAGE : FAILED
}

const unexpected = (cause: Cause.Cause<CommandError>): number => {
  const error = Cause.squash(cause)
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`grove: unexpected failure: ${oneLine(message)}\n`)
  return FAILED
}

// A reader that has seen enough (`grove tree … | head`) closes the pipe; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
  process.stderr.write(`grove: cannot write the output: ${oneLine(error.message)}\n`)
  process.exit(FAILED)
})

const exit = await Effect.runPromiseExit(program(process.argv.slice(2)))
if (Exit.isFailure(exit)) {
  const failure = Cause.findErrorOption(exit.cause)
  process.exitCode = failure._tag === "Some" ? report(failure.value) : unexpected(exit.cause)
}
