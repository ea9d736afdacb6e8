/** `grove usage` and `grove models`. */
import { dirname } from "node:path"
import { assert, it } from "@effect/vitest"
import { fileOf, header, reply, sandbox } from "../support.ts"

const box = sandbox()
const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 99 } }
const said = (id: string, model: string) => reply(id, null, "x", { provider: "anthropic", model, usage })

it("usage counts what a fork shares with its parent once, prices it today, and names what has no price", async () => {
  const kept = [said("aaaa0001", "claude-haiku-4-5"), said("aaaa0002", "claude-yew-9")]
  const priceless = { ...usage, cost: { total: null } }
  const parent = header({ id: "parent-0001" })
  const file = box.write("usage/parent.jsonl", fileOf(parent, ...kept))
  box.write(
    "usage/fork.jsonl",
    fileOf(
      header({ id: "fork-0001", timestamp: "2026-02-01T00:00:00.000Z", parentSession: "parent-0001" }),
      ...kept,
      reply("aaaa0003", null, "x", { provider: "oak", model: "1", usage: priceless })
    )
  )
  const answer = await box.json<{
    by: string
    rows: ReadonlyArray<{ key: string; requests: number; costMicros: number | null }>
    unpriced: unknown
  }>(["usage", "--by", "model", "--session-dir", dirname(file)])
  assert.deepStrictEqual(
    answer.rows.map(({ key, requests, costMicros }) => [key, requests, costMicros]),
    [
      ["oak/1", 1, null],
      ["anthropic/claude-yew-9", 1, 99_000_000],
      ["anthropic/claude-haiku-4-5", 1, 1_000_000]
    ]
  )
  assert.deepStrictEqual([answer.by, answer.unpriced], ["model", ["oak/1"]])
})

it("models are listed with the reason why they would not answer, and sprout always would", async () => {
  const listed = await box.json<ReadonlyArray<{ provider: string; problem: string | null }>>(["models"])
  assert.strictEqual(listed.find(({ provider }) => provider === "grove")?.problem, null)
  assert.isTrue(listed.some(({ provider }) => provider === "anthropic"))
})
