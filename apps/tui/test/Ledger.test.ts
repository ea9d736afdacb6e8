import { assert, it } from "@effect/vitest"
import { ContextSize, SessionTree, TreeUsage, type Usage } from "@grove/core"
import { Ledger } from "../src/Ledger.ts"
import { reply, user } from "./support.ts"

const priced = (id: string, parentId: string, total: number) => {
  const entry = reply(id, parentId, "x")
  const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total } }
  return { ...entry, message: { ...(entry.message as object), usage } } as typeof entry
}

it("costs are those of the whole tree, the path and the rest, as it is and as it grows", () => {
  const tree = SessionTree.from([user("u1", null, "a"), priced("a1", "u1", 0.5), priced("a2", "u1", 0.25)])
  const ledger = new Ledger(tree, () => undefined)
  assert.isFalse(ledger.isWhole)
  ledger.read()
  assert.isTrue(ledger.isWhole)
  assert.deepStrictEqual(ledger.costsAt(tree.leaf), TreeUsage.sums(tree, tree.leaf))
  tree.put(priced("a3", "a2", 1))
  ledger.read()
  assert.deepStrictEqual(ledger.costsAt(tree.leaf), TreeUsage.sums(tree, tree.leaf))
  assert.strictEqual(ledger.costsAt(tree.leaf).abandoned.costMicros, 500_000)
})

it("costs are told by the prices of today, and where one is unknown so is the sum", () => {
  const tree = SessionTree.from([user("u1", null, "a"), priced("a1", "u1", 0.5)])
  const at = (price: Usage.Pricer) => {
    const ledger = new Ledger(tree, price)
    ledger.read()
    return ledger.costsAt(tree.leaf).tree.costMicros
  }
  assert.deepStrictEqual(
    [at(({ model }, { input }) => (model === "sprout" ? input : null)), at(() => null)],
    [10, null]
  )
})

it("failures are known once they are read, and the size of a context is then told without reading", () => {
  const failed = { ...reply("a1", "u1", "x") }
  const tree = SessionTree.from([
    user("u1", null, "a"),
    { ...failed, message: { ...(failed.message as object), stopReason: "error" } } as typeof failed,
    reply("a2", "u1", "fine")
  ])
  const ledger = new Ledger(tree, () => undefined)
  assert.deepStrictEqual([...ledger.errors], [])
  ledger.read()
  assert.deepStrictEqual<Array<string>>([...ledger.errors], ["a1"])
  const size = ContextSize.at(SessionTree.from(tree.entries), tree.leaf)
  tree.entriesAt = (rows) => (rows.length > 0 ? assert.fail("read again") : [])
  assert.deepStrictEqual(ContextSize.at(tree, tree.leaf), size)
})
