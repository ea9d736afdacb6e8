/** Other commands of Grove, run beside the chat. */
import { execFile } from "node:child_process"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"

const lastOf = (text: string): string =>
  text
    .trim()
    .split("\n")
    .at(-1)!
    .replace(/^grove: /, "")

/** What a command says of its failure, in its last line. */
export const reason = (text: string): string => lastOf(text) || "it failed"

export const command = (words: ReadonlyArray<string>): readonly [string, ReadonlyArray<string>] => [
  process.execPath,
  [process.argv[1]!, ...words]
]

/** Runs a command to its end; answers its last word on standard error. */
export const finish = (words: ReadonlyArray<string>): Effect.Effect<string, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = command(words)
    const child = execFile(program, rest, (error, _, stderr) =>
      resume(error === null ? Effect.succeed(lastOf(stderr)) : Effect.fail(new Failure({ message: reason(stderr) })))
    )
    return Effect.sync(() => child.kill())
  })

const MOST_OUTPUT = 1 << 26

/** Runs a command to its end; answers the JSON it prints. */
export const json = (name: string, words: ReadonlyArray<string>): Effect.Effect<unknown, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = command([name, "--json", ...words])
    const child = execFile(program, rest, { maxBuffer: MOST_OUTPUT }, (error, stdout, stderr) =>
      resume(
        error === null ? Effect.sync(() => JSON.parse(stdout)) : Effect.fail(new Failure({ message: reason(stderr) }))
      )
    )
    return Effect.sync(() => child.kill())
  })
