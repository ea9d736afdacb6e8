import { assert, it } from "@effect/vitest"
import { SessionTree, TreeUsage, type Usage } from "@grove/core"
import { Costs } from "../src/Costs.ts"
import { reply, user } from "./support.ts"

const priced = (id: string, parentId: string, total: number) => {
  const entry = reply(id, parentId, "x")
  const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total } }
  return { ...entry, message: { ...(entry.message as object), usage } } as typeof entry
}

it("costs are those of the whole tree, the path and the rest, as it is and as it grows", () => {
  const tree = SessionTree.from([user("u1", null, "a"), priced("a1", "u1", 0.5), priced("a2", "u1", 0.25)])
  const costs = new Costs(tree, () => undefined)
  assert.isFalse(costs.isWhole)
  costs.read()
  assert.isTrue(costs.isWhole)
  assert.deepStrictEqual(costs.at(tree.leaf), TreeUsage.sums(tree, tree.leaf))
  tree.put(priced("a3", "a2", 1))
  costs.read()
  assert.deepStrictEqual(costs.at(tree.leaf), TreeUsage.sums(tree, tree.leaf))
  assert.strictEqual(costs.at(tree.leaf).abandoned.costMicros, 500_000)
})

it("costs are told by the prices of today, and where one is unknown so is the sum", () => {
  const tree = SessionTree.from([user("u1", null, "a"), priced("a1", "u1", 0.5)])
  const at = (price: Usage.Pricer) => {
    const costs = new Costs(tree, price)
    costs.read()
    return costs.at(tree.leaf).tree.costMicros
  }
  assert.deepStrictEqual(
    [at(({ model }, { input }) => (model === "sprout" ? input : null)), at(() => null)],
    [10, null]
  )
})
