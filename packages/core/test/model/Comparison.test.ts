import { assert, describe, it } from "@effect/vitest"
import { Comparison, SessionTree } from "../../src/model/index.ts"
import { call, chain, reply, result, user } from "../support.ts"

const compare = (a: string, b: string, ...lines: ReadonlyArray<ReturnType<typeof user>>) =>
  Comparison.compare(SessionTree.from(lines), a as never, b as never)

describe("two branches", () => {
  it("share a prefix; turns with the same prompt are set side by side, whatever came between", () => {
    const { common, turns } = compare(
      "a4",
      "b2",
      ...chain("root"),
      user("a1", "root", "first"),
      reply("a2", "a1"),
      user("a3", "a2", "again"),
      reply("a4", "a3", { content: [{ type: "text", text: "one\ntwo" }] }),
      user("b1", "root", "again"),
      reply("b2", "b1", { content: [{ type: "text", text: "one\n2" }] })
    )
    assert.deepStrictEqual(common, ["root"] as never)
    assert.deepStrictEqual(turns, [
      { a: "a1", b: null, diff: [{ kind: "removed", text: "first\na2\n" }] },
      {
        a: "a3",
        b: "b1",
        diff: [
          { kind: "same", text: "again\none\n" },
          { kind: "removed", text: "two\n" },
          { kind: "added", text: "2\n" }
        ]
      }
    ] as never)
  })

  it("of which one continues the other have nothing of their own on one side", () => {
    const { a, b, turns } = compare("x", "z", ...chain("x", "y", "z"))
    assert.deepStrictEqual([a.entries, b.entries], [[], ["y", "z"]] as never)
    assert.strictEqual(turns.length, 2)
  })

  it("with different roots share nothing", () => {
    assert.deepStrictEqual(compare("a", "b", user("a", null), user("b", null)).common, [])
  })

  it("are charged what is theirs alone, and name the files their tools were called with", () => {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } }
    const { a, b } = compare(
      "c",
      "u",
      reply("u", null, { usage }),
      reply("b", "u", { ...call("read", "write"), usage }),
      result("c", "b")
    )
    assert.deepStrictEqual([a.costMicros, a.files, b.costMicros], [500_000, ["a.txt"], 0])
  })

  it("are priced by today's prices where there are some", () => {
    const usage = { input: 3, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } }
    const lines = [user("u", null), reply("a", "u", { model: "oak", usage }), reply("b", "u", { model: "elm", usage })]
    const tree = SessionTree.from(lines)
    const price = ({ model }: { model: string }, { input }: { input: number }) => (model === "oak" ? input : undefined)
    const { a, b } = Comparison.compare(tree, "a" as never, "b" as never, price)
    assert.deepStrictEqual([a.costMicros, b.costMicros], [3, 500_000])
  })

  it("that differ in everything are told as two texts in bounded time", () => {
    const text = (from: number) => Array.from({ length: 20_000 }, (_, n) => `line ${from + n}`).join("\n")
    const { turns } = compare("a", "b", user("a", null, text(0)), user("b", null, text(1_000_000)))
    assert.deepStrictEqual(
      turns[0]!.diff.map(({ kind }) => kind),
      ["removed", "added"]
    )
  })
})
