/** What is printed: text for people or one JSON value, gathered and written by whoever runs the command. */
import { JsonText } from "@grove/core"
import { Console, type Effect } from "effect"

/** One JSON value and nothing else. */
export const json = (value: unknown): Effect.Effect<void> => Console.log(JsonText.stringify(value))

export const lines = (text: ReadonlyArray<string>): Effect.Effect<void> => Console.log(text.join("\n"))
