/** What is printed: text for people or one JSON value, gathered and written by whoever runs the command. */
import { JsonText } from "@grove/core"
import { Console, Effect } from "effect"
import * as Words from "./Words.ts"

/** One JSON value and nothing else. */
export const json = (value: unknown): Effect.Effect<void> => Console.log(JsonText.stringify(value))

export const lines = (text: ReadonlyArray<string>): Effect.Effect<void> => Console.log(text.join("\n"))

/** A line for people beside what is printed, on standard error. */
export const note = (line: string): Effect.Effect<void> =>
  Effect.sync(() => void process.stderr.write(`grove: ${Words.safe(line)}\n`))
