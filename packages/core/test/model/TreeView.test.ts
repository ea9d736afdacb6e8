import { assert, describe, it } from "@effect/vitest"
import { type Entry, Mark, NONE, SessionTree, TreeView } from "../../src/model/index.ts"
import { at, call, chain, entry, forSeeds, mark, message, reply, result, user, wildLines } from "../support.ts"

const viewOf = (entries: ReadonlyArray<Entry.Entry>, filter: TreeView.Filter, options?: TreeView.Options) => {
  const view = TreeView.make(SessionTree.from(entries), filter, options)
  const id = (row: number) => view.tree.idAt(row) as string | null
  const row = (name: string) => view.tree.rowOf(name)
  return {
    view,
    shown: view.rows.map(id),
    roots: view.childrenOf(NONE).map(id),
    parent: (name: string) => id(view.parentOf(row(name))),
    children: (name: string) => view.childrenOf(row(name)).map(id),
    hidden: (name: string) => view.hiddenAbove(row(name)),
    tools: (name: string) => view.toolsOf(row(name)),
    nearest: (name: string) => id(view.nearest(row(name)))
  }
}

/** A prompt, three replies that use tools, and the reply that ends the turn. */
const turn = [
  user("ask", null),
  reply("r1", "ask", call("read", "grep")),
  result("t1", "r1"),
  result("t2", "t1"),
  reply("r2", "t2", call("bash")),
  result("t3", "r2"),
  entry("think", "t3", { type: "thinking_level_change", thinkingLevel: "high" }),
  reply("done", "think")
]

describe("a view that is skimmed", () => {
  const skimmed = (entries: ReadonlyArray<Entry.Entry>, filter: TreeView.Filter) => {
    const tree = SessionTree.from(entries)
    return TreeView.make(tree, filter, { skim: true }).rows.map((row) => tree.idAt(row) as string)
  }
  const failed = (...run: ReadonlyArray<Entry.Entry>) => [user("ask", null), ...run]

  it("shows the same turns, and a reply that failed and was tried again", () => {
    const retried = failed(reply("bad", "ask", { stopReason: "error" }), reply("good", "bad"))
    assert.deepStrictEqual(skimmed(retried, "turns"), ["ask", "bad", "good"])
    assert.deepStrictEqual(skimmed(turn, "turns"), viewOf(turn, "turns").shown)
  })
  it("overlooks only a failure that tools answered", () => {
    const answered = failed(
      reply("bad", "ask", { ...call("a"), stopReason: "aborted" }),
      result("t", "bad"),
      reply("good", "t")
    )
    assert.deepStrictEqual(viewOf(answered, "turns").shown, ["ask", "bad", "good"])
    assert.deepStrictEqual(skimmed(answered, "turns"), ["ask", "good"])
    assert.deepStrictEqual(skimmed(answered, "errors"), ["bad"])
  })
})

describe("the view of turns", () => {
  it("shows of a run of tools only the reply that ends it, with the number of its tools", () => {
    const { shown, tools, hidden, parent } = viewOf(turn, "turns")
    assert.deepStrictEqual(shown, ["ask", "done"])
    assert.strictEqual(tools("done"), 3)
    assert.strictEqual(tools("ask"), 0)
    assert.strictEqual(hidden("done"), 6)
    assert.strictEqual(parent("done"), "ask")
  })
  it("shows a turn that is not over by its last reply", () => {
    const { shown, tools, nearest } = viewOf(turn.slice(0, 6), "turns")
    assert.deepStrictEqual(shown, ["ask", "r2"])
    assert.strictEqual(tools("r2"), 3)
    assert.strictEqual(nearest("t3"), "r2")
  })
  it.each(["error", "aborted"])("always shows a reply that ended in %s", (stopReason) => {
    const failed = [user("ask", null), reply("bad", "ask", { stopReason }), reply("good", "bad")]
    assert.deepStrictEqual(viewOf(failed, "turns").shown, ["ask", "bad", "good"])
  })
  it("tells the tools of each reply apart where a failed one stands between", () => {
    const run = [
      user("ask", null),
      reply("r1", "ask", call("a")),
      result("t1", "r1"),
      reply("bad", "t1", { ...call("b", "c"), stopReason: "error" }),
      reply("good", "bad", call("d"))
    ]
    const { shown, tools } = viewOf(run, "turns")
    assert.deepStrictEqual(shown, ["ask", "bad", "good"])
    assert.deepStrictEqual([tools("bad"), tools("good")], [3, 1])
  })
  it("shows where a run forks, and counts its tools once", () => {
    const forked = [
      user("ask", null),
      reply("r1", "ask", call("a")),
      result("t1", "r1"),
      reply("x", "t1"),
      reply("y", "t1", call("b"))
    ]
    const { shown, tools, children } = viewOf(forked, "turns")
    assert.deepStrictEqual(shown, ["ask", "r1", "x", "y"])
    assert.deepStrictEqual([tools("r1"), tools("x"), tools("y")], [1, 0, 1])
    assert.deepStrictEqual(children("r1"), ["x", "y"])
  })
  it("shows prompts, commands, summaries and what an extension displays, each on its own", () => {
    const alone = [
      user("ask", null),
      message("bash", "ask", { role: "bashExecution", command: "ls", output: "" }),
      entry("k", "bash", { type: "compaction", summary: "s" }),
      entry("b", "k", { type: "branch_summary", summary: "s" }),
      entry("seen", "b", { type: "custom_message", customType: "x", content: "x", display: true }),
      entry("unseen", "seen", { type: "custom_message", customType: "x", content: "x", display: false }),
      entry("model", "unseen", { type: "model_change", model: "p/m" })
    ]
    assert.deepStrictEqual(viewOf(alone, "turns").shown, ["ask", "bash", "k", "b", "seen"])
  })
  it("shows what has a label", () => {
    const labeled = [...turn, entry("l", "done", { type: "label", targetId: "t1", label: "here" })]
    const { shown, hidden } = viewOf(labeled, "turns")
    assert.deepStrictEqual(shown, ["ask", "t1", "done"])
    assert.deepStrictEqual([hidden("t1"), hidden("done")], [1, 4])
  })
})

describe("a view that keeps forks", () => {
  const label = (target: string) => entry(`l-${target}`, "y2", { type: "label", targetId: target, label: "x" })
  const forked = [
    user("ask", null),
    reply("r1", "ask"),
    user("x1", "r1"),
    reply("x2", "x1"),
    user("y1", "r1"),
    reply("y2", "y1")
  ]
  it("shows where the ways to its entries part, and no other entry", () => {
    const both = [...forked, label("x2"), label("y2")]
    const { shown, children, hidden, roots } = viewOf(both, "labeled", { forks: true })
    assert.deepStrictEqual(shown, ["r1", "x2", "y2"])
    assert.deepStrictEqual([roots, children("r1"), hidden("x2")], [["r1"], ["x2", "y2"], 1])
    assert.deepStrictEqual(viewOf(both, "labeled").shown, ["x2", "y2"])
  })
  it("keeps nothing above entries of one branch", () => {
    const one = [...forked, label("x1"), label("x2")]
    assert.deepStrictEqual(viewOf(one, "labeled", { forks: true }).shown, ["x1", "x2"])
    assert.deepStrictEqual(viewOf(forked, "errors", { forks: true }).shown, [])
  })
})

describe("a view", () => {
  const mixed = [
    ...turn,
    user("more", "done"),
    reply("bad", "more", { stopReason: "error" }),
    result("failed", "bad", { isError: true }),
    message("sh", "failed", { role: "bashExecution", command: "x", exitCode: 1 }),
    message("ok", "sh", { role: "bashExecution", command: "x", exitCode: 0 }),
    message("stopped", "ok", { role: "bashExecution", command: "x", cancelled: true }),
    entry("l", "stopped", { type: "label", targetId: "r2", label: "x" }),
    mark("m", "l", "leaf")
  ]
  it("of all shows every entry but marks", () => {
    assert.deepStrictEqual(viewOf(mixed, "all").shown, mixed.slice(0, -1).map(({ id }) => id) as Array<string>)
  })
  it("of user shows prompts", () => {
    const { shown, parent, hidden } = viewOf(mixed, "user")
    assert.deepStrictEqual(shown, ["ask", "more"])
    assert.deepStrictEqual([parent("more"), hidden("more"), hidden("ask")], ["ask", 7, 0])
  })
  it("of labeled shows labelled entries", () => {
    assert.deepStrictEqual(viewOf(mixed, "labeled").shown, ["r2"])
  })
  it("of errors shows what failed or was stopped", () => {
    const { shown, roots, hidden } = viewOf(mixed, "errors")
    assert.deepStrictEqual(shown, ["bad", "failed", "sh", "stopped"])
    assert.deepStrictEqual(roots, ["bad"])
    assert.strictEqual(hidden("bad"), 9)
  })
  it("counts tools before a fork for neither of its branches", () => {
    const failed = (id: string) => reply(id, "t1", { ...call("b"), stopReason: "error" })
    const forked = [reply("r1", null, call("a")), result("t1", "r1"), failed("x"), failed("y")]
    const { shown, tools } = viewOf(forked, "errors")
    assert.deepStrictEqual([shown, tools("x"), tools("y")], [["x", "y"], 1, 1])
  })
  it("hangs what it shows on the nearest shown ancestor, by time, then in file order", () => {
    const late = user("late", "r1", "", { timestamp: at(9) })
    const soon = user("soon", "t1", "", { timestamp: at(1) })
    const same = user("same", "ask", "", { timestamp: at(1) })
    const { children, roots } = viewOf([...turn.slice(0, 3), late, soon, same], "user")
    assert.deepStrictEqual(children("ask"), ["soon", "same", "late"])
    assert.deepStrictEqual(roots, ["ask"])
  })
  it("finds for a mark the entry that it hangs on", () => {
    assert.strictEqual(viewOf([...chain("a"), mark("m", "a", "leaf")], "all").nearest("m"), "a")
  })
  it("may show nothing at all", () => {
    const { shown, roots, nearest } = viewOf(chain("a", "b"), "errors")
    assert.deepStrictEqual([shown, roots, nearest("b")], [[], [], null])
  })
  it("of no entries is empty", () => {
    for (const filter of TreeView.filters) assert.deepStrictEqual(viewOf([], filter).shown, [])
  })

  it("of any forest, whatever the filter, agrees with a plain walk up", () => {
    forSeeds(200, (chance) => {
      const lines = wildLines(chance).map((line, i) =>
        i % 3 === 0 && line.type === "message"
          ? { ...reply(line.id, line.parentId, chance.oneIn(3) ? call("x") : {}), timestamp: line.timestamp }
          : line
      )
      const tree = SessionTree.from(lines)
      for (const filter of TreeView.filters) {
        const view = TreeView.make(tree, filter)
        const shown = new Set(view.rows)
        const below = new Map<number, number>()
        for (const row of view.rows) {
          const above = tree
            .pathRows(row)
            .slice(0, -1)
            .filter((it) => !Mark.isMark(tree.entryAt(it)))
          const parent = above.findLastIndex((it) => shown.has(it))
          assert.strictEqual(view.parentOf(row), above[parent] ?? NONE)
          assert.strictEqual(view.hiddenAbove(row), above.length - 1 - parent)
          assert.include(view.childrenOf(view.parentOf(row)), row)
          below.set(view.parentOf(row), (below.get(view.parentOf(row)) ?? 0) + 1)
        }
        for (const [parent, count] of below) assert.strictEqual(view.childrenOf(parent).length, count)
        assert.deepStrictEqual(
          [...view.rows],
          [...shown].sort((a, b) => a - b)
        )
      }
    })
  })
})

it("failures that are known already are taken as they are, and nothing is read", () => {
  const tree = SessionTree.from([user("u1", null), reply("a1", "u1"), reply("a2", "u1", { stopReason: "error" })])
  tree.entriesAt = (rows) => (rows.length > 0 ? assert.fail("read") : [])
  const shown = TreeView.make(tree, "errors", { errors: new Set([tree.idAt(1)!]) })
  assert.deepStrictEqual(shown.rows, [1])
})
