/** `grove usage` and `grove models`. */
import { rmSync } from "node:fs"
import { dirname } from "node:path"
import { assert, it } from "@effect/vitest"
import { assertInert, assertRefused, fileOf, header, onlyValue, reply, sandbox, user } from "../support.ts"

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

it("usage names what it cannot read, counts the rest, and exits 1", async () => {
  const file = box.write("broken/good.jsonl", fileOf(header(), said("aaaa0001", "claude-haiku-4-5")))
  box.write("broken/bad.jsonl", "no session\n")
  box.write("broken/empty.jsonl", "")
  const ran = await box.grove(["usage", "--json", "--session-dir", dirname(file)])
  assert.strictEqual(ran.code, 1)
  assert.match(ran.stderr, /^grove: \S+bad\.jsonl is not a session: [^\n]+ \(not counted\)\n$/)
  assert.strictEqual(onlyValue<{ rows: ReadonlyArray<{ requests: number }> }>(ran.stdout).rows[0]!.requests, 1)
})

/** While `config.json` says that. */
const configured = async (config: string, work: () => Promise<void>) => {
  const file = box.write("home/config.json", config)
  await work()
  box.prepare(() => rmSync(file))
}

const prices = { input: 2, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
const costsIn = async (file: string) => {
  type Cost = { readonly costMicros: number | null }
  const { rows } = await box.json<{ rows: ReadonlyArray<Cost> }>(["usage", "--session-dir", dirname(file)])
  const shown = await box.json<{ usage: { tree: Cost } }>(["show", file])
  const { a } = await box.json<{ a: Cost }>(["compare", file, "aaaa0002", "aaaa0001"])
  return [rows[0], shown.usage.tree, a].map((cost) => cost?.costMicros)
}

it("usage, show, compare and tree price a request alike: as configured, else by the table", async () => {
  const reply = { ...said("aaaa0002", "claude-haiku-4-5"), parentId: "aaaa0001" }
  const file = box.write("priced/one.jsonl", fileOf(header(), user("aaaa0001", null, "x"), reply))
  assert.deepStrictEqual(await costsIn(file), [1_000_000, 1_000_000, 1_000_000])
  const config = { models: { overrides: { "anthropic/claude-haiku-4-5": { prices } } } }
  await configured(JSON.stringify(config), async () => {
    assert.deepStrictEqual(await costsIn(file), [2_000_000, 2_000_000, 2_000_000])
    assert.include(await box.text(["tree", file]), "2 entries · 1 branch · $2.00")
  })
})

it.each([
  ["no JSON", "{ models", /config\.json could not be read: .+; mend or remove it/],
  ["a list", "[]", /config\.json is not as it should be: .+; mend or remove it/],
  ["a price that is a word", '{"models":{"overrides":{"oak/1":{"prices":"dear"}}}}', /config\.json .+prices/]
])(
  "a config that is %s is told in a line; costs go on by the table, and no model is asked",
  async (_, config, says) => {
    const file = box.write("priced/one.jsonl", fileOf(header(), said("aaaa0001", "claude-haiku-4-5")))
    await configured(config, async () => {
      const shown = await box.grove(["show", file, "--json"])
      assert.strictEqual(shown.code, 0)
      assert.match(shown.stderr, /^grove: [^\n]+ \(its prices are not used\)\n$/)
      assert.match(shown.stderr, says)
      assertInert(shown.stderr)
      onlyValue(shown.stdout)
      for (const args of [["models"], ["-p", "a b", "--no-session"]]) assertRefused(await box.grove(args), 1, says)
    })
  }
)

it("models configured as servers of one's own are listed as the chat would ask them", async () => {
  const config = { providers: [{ id: "oak", baseUrl: "http://127.0.0.1:9/v1" }] }
  await configured(JSON.stringify(config), async () => {
    const listed = await box.json<ReadonlyArray<{ provider: string }>>(["models"])
    assert.isTrue(listed.some(({ provider }) => provider === "oak"))
  })
})
