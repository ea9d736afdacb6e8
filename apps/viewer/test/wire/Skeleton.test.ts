/** A tree that was sent without its words is the tree that was sent. */

import { assert, describe, it } from "@effect/vitest"
import { type Entry, SessionTree, TreeView } from "@grove/core/model"
import * as TreeRows from "../../src/session/TreeRows.ts"
import * as Skeleton from "../../src/wire/Skeleton.ts"

const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
const message = (id: string, parentId: string | null, n: number, body: object) =>
  ({ type: "message", id, parentId, timestamp: at(n), message: body }) as unknown as Entry.Entry
const user = (id: string, parentId: string | null, n: number) => message(id, parentId, n, { role: "user", content: id })
const reply = (id: string, parentId: string, n: number, more: object = {}) =>
  message(id, parentId, n, { role: "assistant", content: [{ type: "text", text: id }], ...more })
const mark = (id: string, parentId: string, n: number, customType: string, data: object) =>
  ({ type: "custom", id, parentId, timestamp: at(n), customType, data }) as unknown as Entry.Entry

const calls = {
  content: [
    { type: "toolCall", id: "c1", name: "read", arguments: {} },
    { type: "toolCall", id: "c2" }
  ]
}
const result = (id: string, parentId: string, n: number, toolCallId: string, isError = false) =>
  message(id, parentId, n, { role: "toolResult", toolCallId, isError, content: [] })

const entries: ReadonlyArray<Entry.Entry> = [
  user("u1", null, 1),
  reply("a1", "u1", 2, calls),
  result("r1", "a1", 3, "c1"),
  result("r2", "r1", 4, "c2", true),
  reply("a2", "r2", 5),
  user("u2", "a2", 6),
  reply("a3", "u2", 7, { stopReason: "aborted" }),
  reply("a4", "a3", 8),
  user("u3", "a2", 9),
  reply("a5", "u3", 10),
  {
    type: "label",
    id: "l1",
    parentId: "a5",
    timestamp: at(11),
    targetId: "u3",
    label: "plan"
  } as unknown as Entry.Entry,
  mark("m1", "l1", 12, "grove.state", { targetIds: ["a1", "r1", "r2"], asked: ["a1"], enabled: false }),
  user("u4", "l1", 13),
  mark("m2", "l1", 14, "grove.edit", { op: "prune", targetId: "l1", roots: ["u4"] }),
  {
    type: "custom_message",
    id: "n1",
    parentId: "l1",
    timestamp: at(15),
    display: false,
    content: "x",
    customType: "q"
  } as unknown as Entry.Entry,
  user("orphan", "nobody", 16),
  mark("m3", "a4", 17, "grove.leaf", { targetId: "a4" })
]

const told = (tree: SessionTree) =>
  TreeView.filters.map((filter) => TreeRows.make(tree, filter, tree.leaf, () => true).lines)

const sent = (tree: SessionTree, isLarge = false) =>
  Skeleton.treeOf(JSON.parse(JSON.stringify(Skeleton.of(tree, { isLarge }))) as Skeleton.Skeleton)

describe("a skeleton", () => {
  const tree = SessionTree.from(entries)

  it("draws the same rows under every filter, folds, failures, tools and stash included", () => {
    assert.deepStrictEqual(told(sent(tree)), told(tree))
  })

  it("says what is labelled, switched off, pruned, and where the person stands", () => {
    const far = sent(tree)
    assert.deepStrictEqual(far.facts.labels, tree.facts.labels)
    assert.deepStrictEqual(far.facts.disabled, tree.facts.disabled)
    assert.deepStrictEqual(far.edits.stash, tree.edits.stash)
    assert.strictEqual(far.leaf, "a4")
  })

  it("of a large session shows the same turns, though most bodies are not read", () => {
    const turns = (each: SessionTree) => TreeRows.make(each, "turns", each.leaf, () => true).lines
    assert.deepStrictEqual(turns(sent(tree, true)), turns(tree))
  })

  it("takes what is appended later, as the file would have it", () => {
    for (const size of [1, 4, 9, 13]) {
      const far = sent(SessionTree.from(entries.slice(0, size)))
      for (const entry of entries.slice(size)) far.put(JSON.parse(JSON.stringify(Skeleton.slim(entry))))
      assert.deepStrictEqual(told(far), told(tree), `${size} at first`)
      assert.strictEqual(far.leaf, tree.leaf)
    }
  })

  it("of nothing is nothing", () => {
    const far = sent(SessionTree.from([]))
    assert.deepStrictEqual([far.size, far.leaf], [0, null])
  })

  it("of a cycle is cut where the file is cut", () => {
    const looped = SessionTree.from([user("a", "b", 1), user("b", "a", 2), user("c", "b", 3)])
    assert.deepStrictEqual(told(sent(looped)), told(looped))
  })
})
