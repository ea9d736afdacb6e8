import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, SessionTree, TreeView } from "../../src/model/index.ts"
import { call, chain, entry, fileOf, header, load, mark, message, reply, result, user } from "../support.ts"

type Line = ReturnType<typeof entry>

const treeOf = (...lines: ReadonlyArray<Line>): SessionTree => SessionTree.from(lines, undefined, "s1")
const sourcesOf = (tree: SessionTree, leaf?: string): ReadonlyArray<string> => ContextBuilder.build(tree, leaf).sources
const disable = (id: string, parentId: string | null, ...targetIds: ReadonlyArray<string>) =>
  mark(id, parentId, "state", { targetIds, enabled: false })
const enable = (id: string, parentId: string | null, ...targetIds: ReadonlyArray<string>) =>
  mark(id, parentId, "state", { targetIds, enabled: true })
const undo = (id: string, parentId: string | null, targetId: string) =>
  mark(id, parentId, "edit", { op: "undo", targetId })
const prune = (id: string, parentId: string | null, targetId: string, ...roots: ReadonlyArray<string>) =>
  mark(id, parentId, "edit", { op: "prune", targetId, roots })
const graft = (
  id: string,
  parentId: string | null,
  targetId: string,
  sources: ReadonlyArray<string>,
  copies: ReadonlyArray<string>
) => mark(id, parentId, "edit", { op: "graft", targetId, sources, copies })
const copy = (id: string, parentId: string | null, of: string, session = "s1") =>
  user(id, parentId, of, { origin: { session, entry: of } })

const problemsOf = (tree: SessionTree) => tree.edits.problems.map(({ id }) => id as string)

describe("a state", () => {
  it("holds until a later one names the entry again", () => {
    const lines = [...chain("a", "b", "c"), disable("m", "c", "a", "b"), enable("n", "c", "a")]
    assert.deepStrictEqual(sourcesOf(treeOf(...lines)), ["a", "c"])
  })

  it("takes a whole unit, results on all branches included, whichever part it names", () => {
    const unit = [
      user("u", null),
      reply("c", "u", call("read", "write")),
      result("r0", "c"),
      result("r1", "r0", { toolCallId: "c1" }),
      result("other", "c"),
      reply("end", "r1"),
      result("again", "end")
    ]
    for (const part of ["c", "r0", "r1", "other"]) {
      const tree = treeOf(...unit, disable("m", "end", part))
      assert.deepStrictEqual([...tree.facts.disabled].sort(), ["c", "other", "r0", "r1"] as never)
      assert.deepStrictEqual(sourcesOf(tree, "end"), ["u", "end"])
    }
    const orphan = treeOf(...unit, disable("m", "end", "again"))
    assert.deepStrictEqual([...orphan.facts.disabled], ["again"] as never)
  })

  it("takes a result that comes after it, too", () => {
    const tree = treeOf(user("u", null), reply("c", "u", call("read")), disable("m", "c", "c"))
    assert.deepStrictEqual(sourcesOf(tree), ["u"])
    tree.put(result("r", "c"))
    assert.deepStrictEqual(sourcesOf(tree), ["u"])
  })

  it("of a compaction shows what it had cut off", () => {
    const cut = entry("k", "b", { type: "compaction", summary: "s", firstKeptEntryId: "b", tokensBefore: 1 })
    const lines = [...chain("a", "b"), cut, user("c", "k")]
    assert.deepStrictEqual(sourcesOf(treeOf(...lines)), ["k", "b", "c"])
    assert.deepStrictEqual(sourcesOf(treeOf(...lines, disable("m", "c", "k"))), ["a", "b", "c"])
  })

  it("about entries that are not there is void, and told of", () => {
    const tree = treeOf(...chain("a"), disable("m", "a", "gone"))
    assert.deepStrictEqual([sourcesOf(tree), problemsOf(tree)], [["a"], ["m"]])
  })
})

describe("an undo", () => {
  it("strikes what it names, an undo of it brings that back, and so on", () => {
    const lines = [...chain("a", "b"), disable("m", "b", "a")]
    assert.deepStrictEqual(sourcesOf(treeOf(...lines)), ["b"])
    lines.push(undo("u1", "b", "m"))
    assert.deepStrictEqual(sourcesOf(treeOf(...lines)), ["a", "b"])
    lines.push(undo("u2", "b", "u1"))
    assert.deepStrictEqual(sourcesOf(treeOf(...lines)), ["b"])
    lines.push(undo("u3", "b", "u2"))
    const tree = treeOf(...lines)
    assert.deepStrictEqual(sourcesOf(tree), ["a", "b"])
    assert.deepStrictEqual(
      tree.edits.all.map(({ op, live }) => [op, live]),
      [
        ["disable", false],
        ["undo", true],
        ["redo", false],
        ["undo", true]
      ]
    )
  })

  it("of a rating brings the one before back", () => {
    const rated = (id: string, rating: number) => mark(id, "a", "annotation", { targetId: "a", rating })
    const tree = treeOf(...chain("a"), rated("m", 2), rated("n", 5), undo("u", "a", "n"))
    assert.deepStrictEqual(tree.facts.annotations.get("a" as never), { rating: 2, note: null })
  })

  it("of something unknown, later or no edit is void, and told of", () => {
    const lines = [
      ...chain("a", "b"),
      undo("x", "b", "m"),
      disable("m", "b", "a"),
      undo("y", "b", "a"),
      undo("z", "b", "q")
    ]
    const tree = treeOf(...lines)
    assert.deepStrictEqual([sourcesOf(tree), problemsOf(tree)], [["b"], ["x", "y", "z"]])
  })
})

describe("a prune", () => {
  const lines = [...chain("a", "b", "c"), user("d", "b"), user("e", "d")]

  it("cuts off what followed, for every view and for the leaf; what comes later is not affected", () => {
    const tree = treeOf(...lines, prune("m", "b", "b", "c", "d"), user("f", "b"))
    assert.deepStrictEqual(tree.leaves(), ["f"] as never)
    assert.deepStrictEqual(tree.children("b"), ["f"] as never)
    assert.deepStrictEqual(tree.forkPoints(), [])
    assert.deepStrictEqual(
      tree.edits.stash.map(({ root }) => root),
      ["c", "d"] as never
    )
    assert.deepStrictEqual(sourcesOf(tree, "e"), ["a", "b"])
    const view = TreeView.make(tree, "all")
    assert.deepStrictEqual(
      view.rows.map((row) => tree.idAt(row)),
      ["a", "b", "c", "d", "e", "f"] as never
    )
    assert.deepStrictEqual(
      view.fragments.map(({ row }) => tree.idAt(row)),
      ["c", "d"] as never
    )
  })

  it("takes a leaf inside the fragment to its nearest ancestor outside", () => {
    const tree = treeOf(...lines, mark("m", "e", "edit", { op: "prune", targetId: "b", roots: ["d"] }))
    assert.strictEqual(tree.leaf, "b")
  })

  it("is void once another program has appended inside, however deep, but not for a reply from the background", () => {
    const pruned = [...lines, prune("m", "b", "b", "c", "d")]
    const used = treeOf(...pruned, user("x", "e"))
    assert.deepStrictEqual([used.leaf, problemsOf(used)], ["x", ["m"]] as never)
    const background = mark("n", "b", "leaf", { targetId: "b", background: ["x"] })
    const replied = treeOf(...pruned, user("x", "e"), background)
    assert.deepStrictEqual([replied.leaf, problemsOf(replied)], ["b", []] as never)
    const grown = treeOf(...pruned)
    assert.strictEqual(grown.leaf, "b")
    grown.put(user("x", "e"))
    assert.strictEqual(grown.leaf, "x")
  })

  it("made again by a redo does not mind what was said while it was undone", () => {
    const tree = treeOf(...lines, prune("m", "b", "b", "d"), undo("u", "e", "m"), user("x", "e"), undo("r", "b", "u"))
    assert.deepStrictEqual([tree.leaf, problemsOf(tree)], ["b", []] as never)
  })

  it("inside another fragment stays when the outer one comes back", () => {
    const both = [...lines, prune("m", "d", "d", "e"), prune("n", "b", "b", "d")]
    assert.deepStrictEqual(
      treeOf(...both).edits.stash.map(({ root }) => root),
      ["e", "d"] as never
    )
    const tree = treeOf(...both, undo("u", "d", "n"))
    assert.deepStrictEqual(tree.leaves(), ["c", "d"] as never)
  })

  it("at what is not there, or of what does not follow it, is void and told of", () => {
    const tree = treeOf(...lines, prune("m", "e", "nobody", "d"), prune("n", "e", "a", "d"), prune("o", "e", "b"))
    assert.deepStrictEqual([tree.leaf, problemsOf(tree)], ["e", ["m", "n", "o"]] as never)
  })
})

describe("a graft", () => {
  const lines = [...chain("a", "b"), user("c", "a"), copy("x", "c", "b")]

  it("shows its copies; undone, it cuts them off, and they are not in the stash", () => {
    const grafted = [...lines, graft("m", "b", "c", ["b"], ["x"])]
    assert.deepStrictEqual(treeOf(...grafted).leaves(), ["b", "x"] as never)
    const undone = treeOf(...grafted, undo("u", "b", "m"))
    assert.deepStrictEqual([undone.leaves(), undone.edits.stash], [["b", "c"], []] as never)
  })

  it("copies are switched off where their originals are", () => {
    const tree = treeOf(...lines.slice(0, 3), disable("n", "b", "b"), lines[3]!, graft("m", "b", "c", ["b"], ["x"]))
    assert.deepStrictEqual(sourcesOf(tree, "x"), ["a", "c"])
  })

  it("without its mark is hidden and told of, unless somebody went on from there", () => {
    const torn = treeOf(...lines)
    assert.deepStrictEqual([torn.leaf, torn.leaves(), problemsOf(torn)], ["c", ["b", "c"], ["x"]] as never)
    const used = treeOf(...lines, user("y", "x"))
    assert.deepStrictEqual([used.leaf, problemsOf(used)], ["y", ["x"]] as never)
  })

  it("copies of another session, as a fork has them, are no unfinished graft", () => {
    const tree = treeOf(...lines.slice(0, 3), copy("x", "c", "b", "another"))
    assert.deepStrictEqual([tree.leaf, problemsOf(tree)], ["x", []] as never)
  })
})

it("void edits are problems of the file, by their line", () => {
  const { file, tree } = load(fileOf(header, ...chain("a"), undo("u", "a", "gone")))
  assert.deepStrictEqual(problemsOf(tree), ["u"])
  assert.strictEqual(file.rows.length, 2)
})

describe("the linear view", () => {
  const lines = [...chain("a", "b", "c"), user("d", "b"), mark("m", "c", "leaf", { targetId: "c" })]

  it("is the path to the newest entry, with nothing switched or cut off", () => {
    const edited = treeOf(...lines, disable("n", "c", "a"), prune("p", "c", "b", "d"))
    const line = edited.linear()
    assert.deepStrictEqual(sourcesOf(line), ["a", "b", "d"])
    assert.deepStrictEqual([line.leaf, line.leaves(), line.edits.stash], ["d", ["d"], []] as never)
    assert.deepStrictEqual(sourcesOf(edited), ["b", "c"])
  })

  it("does not go where only an edit has copied something", () => {
    const copy = { origin: { session: "s1", entry: "c" } }
    const graft = mark("g", "c", "edit", { op: "graft", sources: ["c"], targetId: "a", copies: ["x"] })
    const tree = treeOf(...lines, user("x", "a", "c", copy), graft).linear()
    assert.deepStrictEqual(sourcesOf(tree), ["a", "b", "d"])
  })

  it("runs through marks that others appended under, and keeps labels", () => {
    const label = entry("l", "d", { type: "label", targetId: "a", label: "start" })
    const tree = treeOf(...lines, user("e", "m"), label, user("f", "e")).linear()
    assert.deepStrictEqual(sourcesOf(tree), ["a", "b", "c", "e", "f"])
    assert.strictEqual(tree.facts.labels.get("a" as never), "start")
  })
})

it("a damaged edit changes nothing", () => {
  const bad = mark("m", "b", "edit", { op: "prune", targetId: 7 })
  const tree = treeOf(...chain("a", "b"), bad, message("n", "b", { role: "user" }))
  assert.deepStrictEqual([tree.edits.all, tree.leaf], [[], "n"] as never)
})
