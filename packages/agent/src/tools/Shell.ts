/** A command and everything it starts: run, listened to, and ended together. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { Deferred, Duration, Effect, Exit } from "effect"
import * as OutputTail from "./OutputTail.ts"

export interface Options {
  readonly command: string
  readonly cwd: string
  /** Absent: what this process has. */
  readonly environment?: { readonly [name: string]: string | undefined }
  readonly timeout?: Duration.Input
  /** Ends the command when it succeeds, as an interruption does, but what was printed is not lost. */
  readonly stop?: Effect.Effect<unknown>
  /** Hears what is printed as it is printed; bytes, as they come. */
  readonly onOutput?: (bytes: Uint8Array) => void
  /** Where output that is too long to be shown is kept, for a week; else with the temporary files of this machine. */
  readonly folder?: string | undefined
  readonly limits?: OutputTail.Limits
}

export interface Ran {
  readonly ended: "exit" | "timeout" | "stopped"
  /** `null` where a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly printed: OutputTail.Printed
  /** Something that the command started still runs, and could still print; nobody hears that any more. */
  readonly isHeld: boolean
}

/** It could not be started at all. */
export class NotStarted extends Error {}

/** How long to wait for a last word after the command has ended, as long as there are some. */
const QUIET = Duration.millis(100)
const LONGEST_WORDS = Duration.seconds(1)
/** How long a command that is told to end may take to clean up. */
const GRACE = Duration.seconds(1)

const shell = ["/bin/bash", "/usr/bin/bash"].find(existsSync) ?? "/bin/sh"

interface Running {
  readonly child: ChildProcess
  readonly tail: OutputTail.OutputTail
  readonly exited: Deferred.Deferred<Pick<Ran, "exitCode" | "signal">, NotStarted>
  /** Nobody can print any more. */
  readonly closed: Deferred.Deferred<void>
  lastHeard: number
  isListening: boolean
}

const start = (options: Options): Running => {
  const { command, cwd, environment, onOutput, folder = tmpdir(), limits } = options
  // A group of its own, so that all it starts can be ended with it, and so that Ctrl-C is ours alone.
  const child = spawn(shell, ["-c", command], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(environment !== undefined && { env: environment as NodeJS.ProcessEnv })
  })
  const running: Running = {
    child,
    tail: new OutputTail.OutputTail(folder, limits),
    exited: Deferred.makeUnsafe(),
    closed: Deferred.makeUnsafe(),
    lastHeard: 0,
    isListening: true
  }
  const hear = (bytes: Buffer) => {
    if (!running.isListening) return
    running.lastHeard++
    running.tail.add(bytes)
    onOutput?.(bytes)
  }
  child.stdout!.on("data", hear)
  child.stderr!.on("data", hear)
  child.on("error", (cause) => Deferred.doneUnsafe(running.exited, Exit.fail(new NotStarted(cause.message))))
  child.on("exit", (exitCode, signal) => Deferred.doneUnsafe(running.exited, Exit.succeed({ exitCode, signal })))
  child.on("close", () => Deferred.doneUnsafe(running.closed, Exit.void))
  return running
}

const signalGroup = ({ child }: Running, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // There is nobody left.
  }
}

/** Asks the whole group to end, and makes it. */
const end = (running: Running): Effect.Effect<void> =>
  Effect.gen(function* () {
    const exited = Effect.timeoutOption(Effect.exit(Deferred.await(running.exited)), GRACE)
    signalGroup(running, "SIGTERM")
    yield* exited
    signalGroup(running, "SIGKILL")
    yield* exited
  })

/** Waits while there is something to hear. What the command left running may hold its output open for ever. */
const lastWords = (running: Running): Effect.Effect<boolean> => {
  const isQuiet = Effect.gen(function* () {
    for (let before = -1; before !== running.lastHeard; ) {
      before = running.lastHeard
      yield* Effect.sleep(QUIET)
    }
  })
  return Effect.raceFirst(
    Effect.as(Deferred.await(running.closed), false),
    Effect.as(Effect.timeoutOption(isQuiet, LONGEST_WORDS), true)
  )
}

/** What is printed from now on goes nowhere, and keeps nobody waiting: neither who prints nor this process. */
const release = (running: Running): void => {
  running.isListening = false
  running.tail.close()
  const { stdout, stderr } = running.child
  for (const stream of [stdout, stderr] as ReadonlyArray<null | { unref?: () => void }>) stream?.unref?.()
  running.child.unref()
}

/** Runs a command to its end. An interruption ends it with everything it started; only what left its group lives on. */
export const run = (options: Options): Effect.Effect<Ran, NotStarted> =>
  Effect.acquireUseRelease(
    Effect.try({ try: () => start(options), catch: (cause) => new NotStarted((cause as Error).message) }),
    (running) =>
      Effect.gen(function* () {
        const { timeout, stop = Effect.never } = options
        const waits = [
          Effect.as(Effect.exit(Deferred.await(running.exited)), "exit" as const),
          Effect.as(stop, "stopped" as const),
          ...(timeout === undefined ? [] : [Effect.as(Effect.sleep(timeout), "timeout" as const)])
        ]
        const ended = yield* Effect.raceAllFirst(waits)
        if (ended !== "exit") yield* end(running)
        const exit = yield* Deferred.await(running.exited)
        const isHeld = yield* lastWords(running)
        return { ended, ...exit, printed: running.tail.printed(), isHeld }
      }),
    (running, exit) =>
      Effect.andThen(
        Exit.isSuccess(exit) ? Effect.void : end(running),
        Effect.sync(() => release(running))
      )
  )
