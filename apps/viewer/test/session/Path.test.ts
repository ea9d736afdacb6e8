/** A path as a list of items. */

import { assert, describe, it } from "@effect/vitest"
import { type Entry, SessionTree } from "@grove/core/model"
import * as Path from "../../src/session/Path.ts"

const message = (id: string, parentId: string | null, role: string) =>
  ({
    type: "message",
    id,
    parentId,
    timestamp: `2026-01-01T00:00:${id.slice(1).padStart(2, "0")}Z`,
    message: { role, content: [] }
  }) as unknown as Entry.Entry

const tree = SessionTree.from([
  message("e1", null, "user"),
  message("e2", "e1", "assistant"),
  message("e3", "e2", "toolResult"),
  message("e4", "e3", "toolResult"),
  message("e5", "e4", "assistant"),
  message("e6", "e5", "user"),
  message("e7", "e5", "user"),
  message("e8", "e7", "assistant"),
  message("e9", "e8", "toolResult"),
  message("e10", "e8", "toolResult"),
  {
    type: "custom",
    id: "m11",
    parentId: "e6",
    timestamp: "",
    customType: "grove.leaf",
    data: { targetId: "e6" }
  } as unknown as Entry.Entry
])
const row = (id: string) => tree.rowOf(id)
const shape = (leaf: string) =>
  Path.items(tree, row(leaf)).map(({ id, results, fork }) =>
    [id, ...results, ...(fork ? [`${fork.at + 1}/${fork.siblings.length}`] : [])].join(" ")
  )

describe("the items of a path", () => {
  it("hold results with the reply that asked for them, and say where branches part", () => {
    assert.deepStrictEqual(shape("e6"), ["e1", "e2 e3 e4", "e5", "e6 1/2"])
  })

  it("show a result by itself where branches part at it", () => {
    assert.deepStrictEqual(shape("e10"), ["e1", "e2 e3 e4", "e5", "e7 2/2", "e8", "e10 2/2"])
  })

  it("are found by every entry they hold", () => {
    const places = Path.placesOf(Path.items(tree, row("e6")))
    assert.deepStrictEqual([places.get("e4"), places.get("e6"), places.get("e8")], [1, 3, undefined])
  })

  it("lead through an entry to where one stands, else to where the session does, else to the newest end", () => {
    const through = (id: string, current: string) => tree.idAt(Path.leafThrough(tree, row(id), row(current)))
    assert.strictEqual(through("e2", "e9"), "e9")
    assert.strictEqual(through("e6", "e9"), "e6")
    assert.strictEqual(through("e7", "e6"), "e10")
  })
})
