/** Whatever the links of a source, its entries come out as a forest, parents first. */
import { assert, describe, it } from "@effect/vitest"
import * as Forest from "../../src/read/Forest.ts"
import type { Note } from "../../src/read/Translation.ts"

/** `"b<a"`: b hangs on a; lines count from 1. */
const ordered = (links: ReadonlyArray<string>) => {
  const nodes = links.map((link, i) => {
    const [id, parentId = null] = link.split("<")
    return { id: id!, parentId, line: i + 1 }
  })
  const repaired: Array<Note> = []
  const found = Forest.ordered(nodes, repaired)
  return [
    found.map(({ id, parentId }) => (parentId === null ? id : `${id}<${parentId}`)),
    repaired.map(({ line, kind }) => `${line} ${kind}`)
  ]
}

describe("Forest", () => {
  it("keeps the order of the file where it can", () => {
    assert.deepStrictEqual(ordered(["a", "b<a", "r", "c<a", "d<b"]), [["a", "b<a", "r", "c<a", "d<b"], []])
  })

  it("puts an ancestor that comes later before its descendants", () => {
    assert.deepStrictEqual(ordered(["c<b", "b<a", "x", "a"]), [["a", "b<a", "c<b", "x"], []])
  })

  it("makes a root of what hangs on nothing", () => {
    assert.deepStrictEqual(ordered(["b<gone", "c<b"]), [["b", "c<b"], ["1 unknown-parent"]])
  })

  it("cuts a cycle at its first entry, wherever one comes upon it", () => {
    assert.deepStrictEqual(ordered(["a<a"]), [["a"], ["1 cycle"]])
    assert.deepStrictEqual(ordered(["x<a", "b<a", "a<b"]), [["b", "a<b", "x<a"], ["2 cycle"]])
    assert.deepStrictEqual(ordered(["a<c", "b<a", "c<b", "d<c"]), [["a", "b<a", "c<b", "d<c"], ["1 cycle"]])
  })

  it("is linear, also for a chain that is written backwards", () => {
    const links = Array.from({ length: 200_000 }, (_, i) => (i === 199_999 ? "n199999" : `n${i}<n${i + 1}`))
    const [found] = ordered(links)
    assert.strictEqual(found!.length, 200_000)
    assert.deepStrictEqual([found![0], found![1]], ["n199999", "n199998<n199999"])
  })
})
