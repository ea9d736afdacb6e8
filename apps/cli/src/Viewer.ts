/** The web viewer beside a chat: the last one that was asked for runs, and ends with the chat. */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"
import * as Errand from "./Errand.ts"

let running: ChildProcess | undefined

/** Its place is needed by the next one. */
const stop = Effect.callback<void>((resume) => {
  const child = running
  running = undefined
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
  child.once("exit", () => resume(Effect.void))
  child.kill()
})

/** Answers the address, which is the first line that `grove view` prints. */
const start = (words: ReadonlyArray<string>): Effect.Effect<string, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = Errand.command(words)
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] })
    running = child
    const end = () => child.kill()
    process.once("exit", end)
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
    child.once("exit", () => {
      process.off("exit", end)
      resume(Effect.fail(new Failure({ message: Errand.reason(problem) })))
    })
  })

/** Opens it on a session, and on an entry of it. */
export const open = (session: string, entry: string | null): Effect.Effect<string, Failure> => {
  const words = ["view", "--session", session, ...(entry === null ? [] : ["--entry", entry])]
  return Effect.andThen(stop, start(words)).pipe(
    Effect.mapError(({ message }) => new Failure({ message: `the web viewer could not be started: ${message}` }))
  )
}
