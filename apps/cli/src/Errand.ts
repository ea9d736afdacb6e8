/** Other commands of Grove, run beside the chat: their last word, or their first. */
import { execFile, spawn } from "node:child_process"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"

const reason = (text: string): string =>
  text
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^grove: /, "") || "it failed"

const command = (words: ReadonlyArray<string>): readonly [string, ReadonlyArray<string>] => [
  process.execPath,
  [process.argv[1]!, ...words]
]

/** Runs a command to its end. */
export const finish = (words: ReadonlyArray<string>): Effect.Effect<void, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = command(words)
    const child = execFile(program, rest, (error, _, stderr) =>
      resume(error === null ? Effect.void : Effect.fail(new Failure({ message: reason(stderr) })))
    )
    return Effect.sync(() => child.kill())
  })

const MOST_OUTPUT = 1 << 26

/** Runs a command to its end; answers the JSON it prints. */
export const json = (words: ReadonlyArray<string>): Effect.Effect<unknown, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = command([...words, "--json"])
    const child = execFile(program, rest, { maxBuffer: MOST_OUTPUT }, (error, stdout, stderr) =>
      resume(
        error === null ? Effect.sync(() => JSON.parse(stdout)) : Effect.fail(new Failure({ message: reason(stderr) }))
      )
    )
    return Effect.sync(() => child.kill())
  })

/** Runs a command that goes on; answers the first line it prints. It ends with the chat. */
export const firstLine = (words: ReadonlyArray<string>): Effect.Effect<string, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = command(words)
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] })
    process.once("exit", () => child.kill())
    let said = ""
    let problem = ""
    child.stderr.on("data", (chunk) => {
      problem += chunk
    })
    child.stdout.on("data", (chunk) => {
      said += chunk
      if (said.includes("\n")) resume(Effect.succeed(said.split("\n", 1)[0]!))
    })
    child.once("error", ({ message }) => resume(Effect.fail(new Failure({ message }))))
    child.once("exit", () => resume(Effect.fail(new Failure({ message: reason(problem) }))))
  })
