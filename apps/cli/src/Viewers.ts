/** Web viewers beside a chat, which end with it. */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"
import * as Browser from "./Browser.ts"
import { Failure } from "./CliError.ts"
import type { Surroundings } from "./Environment.ts"
import * as Errand from "./Errand.ts"

/** Answers the link, which is the first line that `grove view` prints. */
const start = (running: Set<ChildProcess>, words: ReadonlyArray<string>): Effect.Effect<string, Failure> =>
  Effect.callback((resume) => {
    const [program, rest] = Errand.command(words)
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] })
    running.add(child)
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
    child.once("close", () => {
      running.delete(child)
      resume(Effect.fail(new Failure({ message: Errand.reason(problem) })))
    })
  })

/** Opens a viewer on a session, and on an entry of it; answers the link. */
export const make = (surroundings: Surroundings) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Set<ChildProcess>()),
      (running) =>
        Effect.sync(() => {
          for (const child of running) child.kill()
        })
    ),
    (running) =>
      (session: string, entry: string | null): Effect.Effect<string, Failure> =>
        start(running, ["view", "--no-open", "--session", session, ...(entry === null ? [] : ["--entry", entry])]).pipe(
          Effect.mapError(({ message }) => new Failure({ message: `the web viewer could not be started: ${message}` })),
          Effect.tap((link) => Browser.show(link, surroundings))
        )
  )
