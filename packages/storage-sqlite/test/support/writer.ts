/** A program that adds prompts one batch after the other, and says of each number when it is sure to be kept. */
import { writeSync } from "node:fs"
import { PromptHistory } from "@grove/core"
import { Effect } from "effect"
import * as SqliteDriver from "../../src/SqliteDriver.ts"
import * as SqlitePromptHistory from "../../src/SqlitePromptHistory.ts"

const [path, name, count, together, driverName] = process.argv.slice(2)

const driver = SqliteDriver.available().find((one) => one.name === driverName)

const program = Effect.gen(function* () {
  const history = yield* PromptHistory
  const use = (i: number) => ({
    prompt: `prompt ${name} number ${i}`,
    at: i,
    cwd: "/w",
    session: name!,
    entry: null,
    author: "user"
  })
  for (let i = 0; i < Number(count); i += Number(together)) {
    const numbers = Array.from({ length: Number(together) }, (_, k) => i + k)
    yield* Effect.forEach(
      numbers,
      (n) =>
        Effect.andThen(
          history.add(use(n)),
          Effect.sync(() => writeSync(1, `${n}\n`))
        ),
      { concurrency: "unbounded", discard: true }
    )
  }
})

await Effect.runPromise(program.pipe(Effect.provide(SqlitePromptHistory.layer({ path: path!, driver }))))
