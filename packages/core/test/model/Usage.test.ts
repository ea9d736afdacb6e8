import { assert, describe, it } from "@effect/vitest"
import { type Entry, SessionTree, TreeUsage, Usage } from "../../src/model/index.ts"
import { type Chance, entry, forSeeds, type Json, reply, user, wildLines } from "../support.ts"

const stored = (input: number, dollars?: number): Json => ({
  input,
  output: 1,
  cacheRead: 2,
  cacheWrite: 3,
  reasoning: 1,
  ...(dollars === undefined ? {} : { cost: { total: dollars } })
})
const sum = (requests: number, input: number, costMicros: number | null): Usage.UsageSum => ({
  requests,
  input,
  output: requests,
  cacheRead: 2 * requests,
  cacheWrite: 3 * requests,
  reasoning: requests,
  costMicros
})

describe("a stored usage", () => {
  it("is one request, in millionths of a dollar", () => {
    assert.deepStrictEqual(Usage.fromStored(stored(10, 0.0034)), sum(1, 10, 3400))
  })
  it("without a price costs we do not know how much", () => {
    assert.strictEqual(Usage.fromStored(stored(10))?.costMicros, null)
    assert.strictEqual(Usage.fromStored({ ...stored(10), cost: { total: "1" } })?.costMicros, null)
  })
  it("without a price and without tokens costs nothing", () => {
    assert.deepStrictEqual(Usage.fromStored({ input: 0 }), { ...Usage.zero, requests: 1 })
  })
  it("counts what is no number as nothing", () => {
    assert.strictEqual(Usage.fromStored({ input: "many", output: null, cacheRead: 5 })?.input, 0)
  })
  it.each([undefined, null, 7, "x", []])("is none where there is %j", (value) => {
    assert.strictEqual(Usage.fromStored(value), undefined)
  })
  it("is subtracted as it was added", () => {
    const [a, b] = [sum(3, 30, 5), sum(1, 10, 2)]
    assert.deepStrictEqual(Usage.subtract(Usage.add(a, b), b), a)
  })
})

describe("the usage of a session", () => {
  const paid = (id: string, parentId: string, input: number, dollars?: number) =>
    reply(id, parentId, { usage: stored(input, dollars) })
  const session = [
    user("ask", null),
    paid("r1", "ask", 10, 0.001),
    user("more", "r1"),
    paid("r2", "more", 20, 0.002),
    user("again", "r1"),
    paid("r3", "again", 40, 0.004)
  ]
  const sumsAt = (entries: ReadonlyArray<Entry.Entry>, leaf: string | null) =>
    TreeUsage.sums(SessionTree.from(entries), leaf)

  it("is told for the path, for the tree, and for what was abandoned", () => {
    assert.deepStrictEqual(sumsAt(session, "r3"), {
      path: sum(2, 50, 5000),
      tree: sum(3, 70, 7000),
      abandoned: sum(1, 20, 2000)
    })
  })
  it("counts what branches share once", () => {
    const { path: a } = sumsAt(session, "r2")
    const { path: b, tree } = sumsAt(session, "r3")
    assert.strictEqual(a.input + b.input - tree.input, 10)
  })
  it("counts an entry that is written twice once", () => {
    assert.deepStrictEqual(sumsAt([...session, ...session], "r3"), sumsAt(session, "r3"))
  })
  it("is all abandoned where the person stands nowhere", () => {
    const { path, tree, abandoned } = sumsAt(session, null)
    assert.deepStrictEqual(path, Usage.zero)
    assert.deepStrictEqual(abandoned, tree)
  })
  it("is priced only as far as every request in it is", () => {
    const { path, tree, abandoned } = sumsAt([...session, paid("r4", "more", 80)], "r3")
    assert.deepStrictEqual([path.costMicros, tree.costMicros, abandoned.costMicros], [5000, null, null])
    assert.strictEqual(tree.input, 150)
  })
  it("counts summaries and usage entries as the requests they were", () => {
    const others = ["compaction", "branch_summary", "usage"].map((type) =>
      entry(type, "r3", { type, usage: stored(1, 0) })
    )
    assert.strictEqual(sumsAt([...session, ...others], "usage").tree.requests, 6)
  })
  it("of any forest is the path and what was abandoned, each entry once", () => {
    const withUsage = (line: Entry.Entry, chance: Chance): Entry.Entry =>
      line.type === "message" && chance.oneIn(2)
        ? {
            ...paid(line.id, "", chance.below(100), chance.oneIn(20) ? undefined : chance.below(100) / 1000),
            parentId: line.parentId
          }
        : line
    forSeeds(300, (chance) => {
      const tree = SessionTree.from(wildLines(chance).map((line) => withUsage(line, chance)))
      const leaf = chance.pick(tree.entries).id
      const { path, abandoned, ...sums } = TreeUsage.sums(tree, leaf)
      assert.deepStrictEqual(sums.tree, Usage.add(path, abandoned))
      const total = (entries: ReadonlyArray<Entry.Entry>) =>
        entries.reduce((all, it) => Usage.add(all, TreeUsage.ofEntry(it) ?? Usage.zero), Usage.zero)
      assert.deepStrictEqual(sums.tree, total(tree.entries))
      assert.deepStrictEqual(path, total(tree.path(leaf)))
    })
  })
})
