/** Several programs on one history, and programs that are killed. */
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PromptHistory } from "@grove/core"
import { Effect } from "effect"
import * as SqlitePromptHistory from "../src/SqlitePromptHistory.ts"
import * as Writers from "./support/Writers.ts"
import { drivers, temporary } from "./support.ts"

const LONG = { timeout: 300_000 }

let writers: Awaited<ReturnType<typeof Writers.bundled>>
beforeAll(async () => {
  writers = await Writers.bundled()
})
afterAll(() => writers.clean())

const promptsIn = (path: string) =>
  Effect.runPromise(
    PromptHistory.use((history) =>
      history.search({ text: "", limit: Number.POSITIVE_INFINITY, exhaustive: true })
    ).pipe(
      Effect.map((hits) => new Set(hits.map(({ prompt }) => prompt))),
      Effect.provide(SqlitePromptHistory.layer({ path }))
    )
  )

describe.each(drivers.map(({ name }) => name))("by %s", (driver) => {
  it("two programs add 10,000 prompts each, and all are there", LONG, async () => {
    const path = join(temporary(), "history.db")
    const started = ["a", "b"].map((name) => writers.start({ path, name, count: 10_000, together: 100, driver }))
    await Promise.all(started.map(({ ended }) => ended))
    assert.deepStrictEqual(
      started.map(({ acknowledged }) => acknowledged.length),
      [10_000, 10_000]
    )
    assert.strictEqual((await promptsIn(path)).size, 20_000)
  })

  it("what was acknowledged is there after a kill, however often", LONG, async () => {
    const path = join(temporary(), "history.db")
    const expected: Array<string> = []
    for (let round = 0; round < 6; round++) {
      const name = `round${round}`
      const { child, acknowledged, ended } = writers.start({ path, name, count: 1_000_000, together: 7, driver })
      while (acknowledged.length < 50 + round * 40) await once(child.stdout!, "data")
      child.kill("SIGKILL")
      await ended
      expected.push(...acknowledged.map((n) => `prompt ${name} number ${n}`))
    }
    const kept = await promptsIn(path)
    assert.deepStrictEqual(
      expected.filter((prompt) => !kept.has(prompt)),
      []
    )
    assert.isAbove(expected.length, 300)
  })
})
