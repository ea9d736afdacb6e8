/** Several programs on one session. `scripts/writers.mjs` runs the same for longer. */
import { assert, describe, it } from "@effect/vitest"
import * as Writers from "./support/Writers.ts"

const LONG = { timeout: 300_000 }

/** Nothing is lost, no line has anything of another in it, and every tree is what the file is. */
const isWhole = ({ expected, found, trees }: Writers.Written): void => {
  assert.strictEqual(found.ids.size, expected)
  assert.deepStrictEqual([found.problems, found.isSound], [[], true])
  for (const tree of trees) assert.deepStrictEqual([tree.size, tree.own, tree.twice], [expected, 0, 0])
  assert.strictEqual(new Set(trees.map(({ digest }) => digest)).size, 1)
}

describe("programs that append to one session at once", () => {
  it.each([2, 4])("%i of them lose nothing of 10,000 entries each", LONG, async (writers) => {
    isWhole(await Writers.write({ writers, appends: 10_000, durability: "never" }))
  })

  it("2 of them lose nothing of 2,000 durable entries each", LONG, async () => {
    isWhole(await Writers.write({ writers: 2, appends: 2_000, durability: "always" }))
  })

  it("lose nothing while another replaces the file 200 times", LONG, async () => {
    isWhole(await Writers.write({ writers: 2, appends: 2_000, durability: "never", rewrites: 200 }))
  })

  it("lose nothing durable while another replaces the file", LONG, async () => {
    isWhole(await Writers.write({ writers: 2, appends: 500, durability: "always", rewrites: 50 }))
  })

  it("lose nothing while others are killed inside lines of 10 MB", LONG, async () => {
    const { acknowledged, lost } = await Writers.writeAmongTorn(12)
    assert.deepStrictEqual(lost, [])
    assert.isAbove(acknowledged, 100)
  })
})
