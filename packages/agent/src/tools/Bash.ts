/** The tool `bash`, and the commands that a person runs with `!`. */
import type { Message } from "@grove/core"
import { Clock, Duration, Effect, Schema } from "effect"
import { failed, succeeded, type Tool, type ToolOutcome, type ToolPlace } from "../Tool.ts"
import type { Printed } from "./OutputTail.ts"
import * as Shell from "./Shell.ts"
import * as TypedTool from "./TypedTool.ts"

export interface Options extends Pick<Shell.Options, "environment" | "folder" | "limits"> {
  /** Seconds, where a call names none. */
  readonly timeout?: number
}

const TIMEOUT = 120
const LONGEST_TIMEOUT = 3_600

const Seconds = Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(LONGEST_TIMEOUT))
const parameters = Schema.Struct({
  command: Schema.String.annotate({ description: "The command, for bash -c" }),
  timeout: Schema.optionalKey(
    Seconds.annotate({ description: `Seconds after which it is ended, at most ${LONGEST_TIMEOUT}` })
  )
})

// ------------------------------------------------------------------------------------------------ the tool

/** Where the rest of a long output is. */
const cutNote = ({ isCut, bytes, file, isFileWhole }: Printed): string => {
  if (!isCut) return ""
  const size = `of ${bytes} bytes only the end is shown`
  if (file === undefined) return `[${size}]\n`
  return `[${size}; ${isFileWhole ? "all of it is" : "the beginning is"} in ${file}]\n`
}

const endNote = ({ ended, exitCode, signal }: Shell.Ran, seconds: number): string => {
  if (ended === "timeout") return `[ended after ${seconds} s: the time was up]`
  if (ended === "stopped") return "[ended by the person]"
  if (signal !== null) return `[ended by ${signal}]`
  return exitCode === 0 ? "" : `[exit code ${exitCode}]`
}

const heldNote = ({ isHeld, ended }: Shell.Ran): string =>
  isHeld && ended === "exit" ? "[something it started still runs; what that prints from now on is not heard]" : ""

const told = (ran: Shell.Ran, seconds: number): string => {
  const { text } = ran.printed
  const notes = [heldNote(ran), endNote(ran, seconds)].filter((note) => note !== "").join("\n")
  const said = cutNote(ran.printed) + (text === "" ? "(no output)" : text)
  return notes === "" ? said : `${said}${said.endsWith("\n") ? "" : "\n"}${notes}`
}

const outcomeOf = (ran: Shell.Ran, seconds: number): ToolOutcome => {
  const { ended, exitCode, signal, printed } = ran
  const details = {
    exitCode,
    ...(signal !== null && { signal }),
    ...(ended === "timeout" && { timedOut: true }),
    truncated: printed.isCut,
    ...(printed.file !== undefined && { fullOutputPath: printed.file })
  }
  const isError = ended !== "exit" || exitCode !== 0
  return (isError ? failed : succeeded)(told(ran, seconds), details)
}

const notStarted = (cwd: string, { message }: Shell.NotStarted): string =>
  `the command could not be started in ${cwd}: ${message}`

export const make = ({ timeout: usual = TIMEOUT, ...options }: Options = {}): Tool =>
  TypedTool.make({
    name: "bash",
    description: `Runs a command in the working directory and answers with what it prints, of long outputs the end. It has no terminal and no standard input, and is ended after ${usual} s unless timeout says otherwise. Redirect the output of what is to go on running in the background.`,
    kind: "command",
    parameters,
    describe: ({ command }) =>
      Effect.succeed({
        line: `bash ${command.split("\n", 1)[0]}${command.includes("\n") ? " …" : ""}`,
        preview: { kind: "command", text: command },
        paths: []
      }),
    run: ({ command, timeout: seconds = usual }, { cwd }) =>
      Shell.run({ ...options, command, cwd, timeout: Duration.seconds(seconds) }).pipe(
        Effect.map((ran) => outcomeOf(ran, seconds)),
        Effect.catch((error) => Effect.succeed(failed(notStarted(cwd, error))))
      )
  })

export const bash: Tool = make()

// ------------------------------------------------------------------------------------------------ what a person runs

export type BashExecution = typeof Message.BashExecutionMessage.Type

export interface PersonalCommand {
  readonly command: string
  /** The model is not to see it: `!!`. */
  readonly excludeFromContext: boolean
}

/** `!command` or `!!command`; `undefined` for a prompt. What is said to sprout begins with `!sprout ` and is a prompt. */
export const commandIn = (prompt: string): PersonalCommand | undefined => {
  const text = prompt.trim()
  if (!text.startsWith("!") || /^!sprout(\s|$)/.test(text)) return undefined
  const excludeFromContext = text.startsWith("!!")
  const command = text.slice(excludeFromContext ? 2 : 1).trim()
  return command === "" ? undefined : { command, excludeFromContext }
}

export interface ExecuteOptions
  extends Pick<Shell.Options, "environment" | "folder" | "limits" | "onOutput" | "stop"> {}

/**
 * Runs what a person typed after `!`, without a limit of time: `stop` ends it. Always a message to be stored, also of a
 * command that failed, was stopped or could not be started.
 */
export const execute = Effect.fn("Bash.execute")(function* (
  { command, excludeFromContext }: PersonalCommand,
  { cwd }: ToolPlace,
  options: ExecuteOptions = {}
) {
  const ran = yield* Effect.result(Shell.run({ ...options, command, cwd }))
  const timestamp = yield* Clock.currentTimeMillis
  const common = {
    role: "bashExecution",
    command,
    timestamp,
    ...(excludeFromContext && { excludeFromContext })
  } as const
  if (ran._tag === "Failure") {
    const output = notStarted(cwd, ran.failure)
    return { ...common, output, exitCode: null, cancelled: false, truncated: false } satisfies BashExecution
  }
  const { ended, exitCode, printed } = ran.success
  return {
    ...common,
    output: printed.text,
    exitCode,
    cancelled: ended === "stopped",
    truncated: printed.isCut,
    ...(printed.file !== undefined && { fullOutputPath: printed.file })
  } satisfies BashExecution
})
