/** Questions that only the person at the terminal can answer. */
import { createInterface } from "node:readline"
import { Context, Effect } from "effect"
import { Failure } from "./CliError.ts"

export interface Asker {
  /** Whether there is anybody to ask. */
  readonly isThere: () => boolean
  readonly ask: (question: string) => Promise<string>
}

/** Asks on standard error, so that standard output holds the answer to the command alone. */
const terminal: Asker = {
  isThere: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
  ask: (question) =>
    new Promise((answer) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      lines.on("SIGINT", () => {
        lines.close()
        process.kill(process.pid, "SIGINT")
      })
      let text: string | undefined
      lines.on("close", () => {
        // Without an answer the cursor still stands behind the question.
        if (text === undefined) process.stderr.write("\n")
        answer(text ?? "")
      })
      lines.question(question, (typed) => {
        text = typed
        lines.close()
      })
    })
}

export const Asker = Context.Reference<Asker>("@grove/cli/Asker", { defaultValue: () => terminal })

/** Goes on only if the person agrees now, or did so with `--yes`. */
export const confirm = Effect.fnUntraced(function* (options: {
  readonly about: string
  readonly isAgreed: boolean
  readonly otherwise: string
}) {
  if (options.isAgreed) return
  const asker = yield* Asker
  if (!asker.isThere()) {
    return yield* new Failure({ message: `${options.about} There is no terminal to ask on; --yes does it unasked` })
  }
  const answer = yield* Effect.promise(() => asker.ask(`${options.about} Go on? [y/N] `))
  if (!/^\s*y(es)?\s*$/i.test(answer)) return yield* new Failure({ message: options.otherwise })
})
