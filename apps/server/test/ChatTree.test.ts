import { assert, describe, it } from "@effect/vitest"
import { type Entry, SessionTree } from "@grove/core"
import { EntryArbitrary } from "@grove/core/testing"
import { Schema } from "effect"
import * as ChatTree from "../src/ChatTree.ts"

type Json = { readonly [key: string]: unknown }

const at = (seconds: number): string => new Date(seconds * 1000).toISOString()

const line = (id: string, parentId: string | null, type: string, more: Json = {}, seconds = 0): Entry.Entry =>
  ({ type, id, parentId, timestamp: at(seconds), ...more }) as Entry.Entry

const said = (id: string, parentId: string | null, role: string, more: Json = {}) =>
  line(id, parentId, "message", { message: { role, content: [{ type: "text", text: `${id} says` }], ...more } })

const mark = (id: string, parentId: string | null, kind: string, data: Json) =>
  line(id, parentId, "custom", { customType: `grove.${kind}`, data })

const of = (entries: ReadonlyArray<Entry.Entry>, growing: ReadonlyArray<ChatTree.Growing> = []) =>
  ChatTree.of({ sessionId: "s", header: null, tree: SessionTree.from(entries, undefined, "s"), growing, seq: 0 })

const encode = Schema.encodeUnknownSync(Schema.toCodecJson(ChatTree.ChatHistoryTree))

describe("a session as a tree of nodes", () => {
  it("maps roles, and says the true type", () => {
    const { nodes } = of([
      said("u", null, "user"),
      said("a", "u", "assistant", { provider: "p", model: "m", stopReason: "stop" }),
      said("t", "a", "toolResult", { toolCallId: "c", toolName: "read" }),
      line("b", "t", "message", { message: { role: "bashExecution", command: "ls", output: "x\ny" } }),
      line("c", "b", "custom_message", { customType: "hint", content: "mind this", display: true }),
      line("s", "c", "branch_summary", {
        fromId: "u",
        summary: "they talked",
        details: { summarizedFrom: ["u", "a"] }
      }),
      line("k", "s", "compaction", { summary: "all of it", tokensBefore: 9 }),
      said("y", "k", "system")
    ])
    assert.deepStrictEqual(
      Object.values(nodes).map(({ id, role, content, metadata: { type } }) => [id, role, type, content]),
      [
        ["u", "user", "user", "u says"],
        ["a", "assistant", "assistant", "a says"],
        ["t", "user", "toolResult", "t says"],
        ["b", "user", "bashExecution", "$ ls\nx\ny"],
        ["c", "user", "custom_message", "mind this"],
        ["s", "system", "branch_summary", "they talked"],
        ["k", "system", "compaction", "all of it"],
        ["y", "system", "system", "y says"]
      ]
    )
    assert.deepStrictEqual(nodes.s!.metadata.summarizedFrom, ["u", "a"])
  })

  it("tells what a reply cost, how long it took, and how it ended", () => {
    const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, cost: { total: 0.0125 } }
    const { nodes } = of([
      said("u", null, "user"),
      said("a", "u", "assistant", { provider: "p", model: "m", usage, latencyMs: 120, stopReason: "length" }),
      said("e", "u", "assistant", { model: "m", stopReason: "error", errorMessage: "cut off" }),
      said("x", "u", "assistant", { model: "m", stopReason: "aborted" }),
      mark("r", "a", "annotation", { targetId: "a", rating: 4, note: "good" }),
      line("l", "a", "label", { targetId: "a", label: "keep" })
    ])
    assert.deepStrictEqual(nodes.a!.metadata, {
      type: "assistant",
      model: "p/m",
      tokenCount: 20,
      cost: 0.0125,
      latency: 120,
      rating: 4,
      note: "good",
      label: "keep",
      isTruncated: true
    })
    assert.deepStrictEqual([nodes.a!.status, nodes.e!.status, nodes.x!.status], ["complete", "error", "error"])
    assert.deepStrictEqual([nodes.e!.metadata.error, nodes.x!.metadata.error], ["cut off", "aborted"])
  })

  it("hangs a node on the nearest node above, whatever lies between, and stands where the session does", () => {
    const tree = of([
      line("i", null, "session_info", { name: "named" }),
      said("u", "i", "user"),
      line("m", "u", "model_change", { model: "p/m" }),
      said("a", "m", "assistant"),
      said("b", "m", "assistant"),
      line("n", "b", "model_change", { model: "p/n" })
    ])
    assert.deepStrictEqual(tree.nodes.u!.childrenIds, ["a", "b"])
    assert.deepStrictEqual([tree.nodes.u!.parentId, tree.nodes.a!.parentId], [null, "u"])
    assert.deepStrictEqual([tree.rootNodeId, tree.rootNodeIds, tree.activeLeafId], ["u", ["u"], "b"])
    assert.strictEqual(tree.title, "named")
  })

  it("keeps fragments in the stash, off the tree", () => {
    const tree = of([
      said("u", null, "user"),
      said("a", "u", "assistant"),
      said("v", "a", "user"),
      said("b", "v", "assistant"),
      mark("p", "a", "edit", { op: "prune", targetId: "a", roots: ["v"] }),
      mark("d", "a", "state", { targetIds: ["u"], enabled: false })
    ])
    assert.deepStrictEqual([tree.nodes.a!.childrenIds, tree.stash, tree.activeLeafId], [[], ["v"], "a"])
    assert.deepStrictEqual(tree.nodes.v!.childrenIds, ["b"])
    assert.deepStrictEqual([tree.nodes.u!.isEnabled, tree.nodes.a!.isEnabled], [false, true])
  })

  it("shows replies that grow among the children, and at the root", () => {
    const growing = { model: "p/m", started: at(9), text: "so f" }
    const tree = of(
      [said("u", null, "user"), line("m", "u", "model_change", { model: "p/m" })],
      [
        { id: "g", parentId: "m", ...growing },
        { id: "h", parentId: null, ...growing }
      ]
    )
    assert.deepStrictEqual([tree.nodes.u!.childrenIds, tree.rootNodeIds], [["g"], ["u", "h"]])
    const { status, content, parentId, metadata } = tree.nodes.g!
    assert.deepStrictEqual([status, content, parentId, metadata.model], ["generating", "so f", "u", "p/m"])
  })

  it("takes ids that mean something to objects, and an empty session", () => {
    const tree = of([said("__proto__", null, "user"), said("constructor", "__proto__", "assistant")])
    assert.deepStrictEqual(Object.keys(tree.nodes), ["__proto__", "constructor"])
    assert.include(JSON.stringify(tree), '"__proto__":{"id":"__proto__"')
    const empty = of([])
    assert.deepStrictEqual(
      [empty.nodes, empty.rootNodeId, empty.activeLeafId, empty.title],
      [Object.create(null), null, null, ""]
    )
  })

  it("walks a chain of 100,000 entries and a node with 100,000 children", () => {
    const many = 100_000
    const chain = Array.from({ length: many }, (_, n) => said(`n${n}`, n === 0 ? null : `n${n - 1}`, "user"))
    const wide = Array.from({ length: many }, (_, n) => said(`n${n}`, n === 0 ? null : "n0", "user"))
    const between = Array.from({ length: many }, (_, n) =>
      n === many - 1 ? said(`n${n}`, `n${n - 1}`, "user") : line(`n${n}`, n === 0 ? null : `n${n - 1}`, "model_change")
    )
    assert.strictEqual(Object.keys(of(chain).nodes).length, many)
    assert.lengthOf(of(wide).nodes.n0!.childrenIds, many - 1)
    assert.deepStrictEqual(of(between).rootNodeIds, [`n${many - 1}`])
  })

  it.prop(
    "is a forest of all that speaks, whatever the session holds, and is what its schema says",
    [EntryArbitrary.entries],
    ([entries]) => {
      const tree = of(entries)
      const speaking = entries.filter(({ type }) =>
        ["message", "custom_message", "branch_summary", "compaction"].includes(type)
      )
      assert.deepStrictEqual(Object.keys(tree.nodes).sort(), speaking.map(({ id }) => id as string).sort())
      for (const node of Object.values(tree.nodes)) {
        for (const child of node.childrenIds) assert.strictEqual(tree.nodes[child]!.parentId, node.id)
        if (node.parentId === null) assert.include(tree.rootNodeIds, node.id)
        else assert.include(tree.nodes[node.parentId]!.childrenIds, node.id)
      }
      assert.isTrue(tree.activeLeafId === null || tree.activeLeafId in tree.nodes)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(encode(tree))), JSON.parse(JSON.stringify(tree)))
    }
  )
})
