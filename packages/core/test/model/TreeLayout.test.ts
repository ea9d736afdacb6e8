import { assert, describe, it } from "@effect/vitest"
import { type Entry, type EntryId, SessionTree, TreeLayout, TreeView } from "../../src/model/index.ts"
import { at, type Chance, chain, forSeeds, mark, user, wildLines } from "../support.ts"

interface Options {
  readonly leaf?: string | null
  readonly unfolded?: (id: string) => boolean
  readonly filter?: TreeView.Filter
}

const layoutOf = (
  entries: ReadonlyArray<Entry.Entry>,
  { leaf = null, unfolded = () => false, filter = "all" }: Options = {}
) => TreeLayout.layout(TreeView.make(SessionTree.from(entries), filter), { leaf: leaf as EntryId | null, unfolded })

/** One text a row: a column is two spaces, ▸ a folded side branch, ▾ an unfolded one. */
const drawn = (entries: ReadonlyArray<Entry.Entry>, options?: Options) =>
  layoutOf(entries, options).map(
    ({ depth, kind, folded, id }) => `${"  ".repeat(depth)}${kind === "trunk" ? "" : folded ? "▸" : "▾"}${id}`
  )

const everything = () => true
const deepest = (rows: ReadonlyArray<TreeLayout.LayoutRow>) =>
  rows.reduce((most, { depth }) => Math.max(most, depth), 0)

/** A long conversation in which a person went back again and again. */
const rewinds = (chance: Chance, times: number): ReadonlyArray<Entry.Entry> => {
  const made: Array<Entry.Entry> = []
  let leaf: string | null = null
  for (let n = 0; n < times; n++) {
    if (made.length > 0) leaf = chance.pick(made.slice(chance.oneIn(3) ? 0 : -12)).id
    for (let turns = 1 + chance.below(6); turns > 0; turns--) {
      const id = `e${made.length}`
      made.push(user(id, leaf, id, { timestamp: at(made.length) }))
      leaf = id
    }
  }
  return made
}

it("a chain never indents", () => {
  const ids = Array.from({ length: 1000 }, (_, i) => `e${i}`)
  assert.deepStrictEqual(drawn(chain(...ids)), ids)
})

describe("of several children", () => {
  const fork = [...chain("a", "b"), user("c", "a"), user("d", "c"), user("e", "d")]
  it("the one on the active path goes on in its column", () => {
    assert.deepStrictEqual(drawn(fork, { leaf: "b" }), ["a", "▸c", "b"])
    assert.deepStrictEqual(drawn(fork, { leaf: "d" }), ["a", "▸b", "c", "d", "e"])
  })
  it("the one with most below it goes on where none is on the active path", () => {
    assert.deepStrictEqual(drawn(fork), ["a", "▸b", "c", "d", "e"])
    assert.deepStrictEqual(drawn(fork, { leaf: "a" }), ["a", "▸b", "c", "d", "e"])
  })
  it("the one with the newest entry goes on where they are equal", () => {
    const later = (id: string, parentId: string, minute: number) => user(id, parentId, id, { timestamp: at(minute) })
    const equal = [...chain("a"), later("b", "a", 1), later("c", "a", 2), later("x", "b", 9), later("y", "c", 3)]
    assert.deepStrictEqual(drawn(equal), ["a", "▸c", "b", "x"])
  })
})

describe("a side branch", () => {
  const tree = [
    ...chain("a", "b", "c", "d", "e"),
    user("s", "b"),
    user("s1", "s"),
    user("s2", "s1"),
    user("t", "s"),
    user("u", "d")
  ]
  it("is drawn at its fork, above the next row of the trunk, as one folded row", () => {
    assert.deepStrictEqual(drawn(tree, { leaf: "e" }), ["a", "b", "▸s", "c", "d", "▸u", "e"])
  })
  it("unfolds where it is, and nothing else moves", () => {
    const only = (id: string) => (it: string) => it === id
    assert.deepStrictEqual(drawn(tree, { leaf: "e", unfolded: only("s") }), [
      "a",
      "b",
      "▾s",
      "  ▸t",
      "  s1",
      "  s2",
      "c",
      "d",
      "▸u",
      "e"
    ])
    assert.deepStrictEqual(drawn(tree, { leaf: "e", unfolded: only("u") }), ["a", "b", "▸s", "c", "d", "▾u", "e"])
    assert.deepStrictEqual(drawn(tree, { leaf: "e", unfolded: only("t") }), drawn(tree, { leaf: "e" }))
  })
  it("tells what it holds: entries, ends and the newest time", () => {
    const timed = tree.map((it, i) => ({ ...it, timestamp: at(i) }))
    const side = layoutOf(timed, { leaf: "e" }).find(({ id }) => id === "s")
    assert.deepStrictEqual([side?.entries, side?.leaves, side?.newest], [4, 2, Date.parse(at(8))])
  })
})

describe("the layout", () => {
  it("marks the path and where the person stands", () => {
    const rows = layoutOf([...chain("a", "b", "c"), user("x", "a")], { leaf: "b" })
    assert.deepStrictEqual(
      rows.map(({ id, onPath, here, isRoot }) => [id as string, onPath, here, isRoot]),
      [
        ["a", true, false, true],
        ["x", false, false, false],
        ["b", true, true, false],
        ["c", false, false, false]
      ]
    )
  })
  it("marks the nearest shown ancestor where the leaf is left out by the filter", () => {
    const entries = [...chain("a", "b"), { ...user("c", "b"), type: "hologram" }]
    const here = layoutOf(entries, { leaf: "c", filter: "user" }).filter((row) => row.here)
    assert.deepStrictEqual(
      here.map(({ id }) => id),
      ["b"] as never
    )
  })
  it("draws further roots as side branches of nothing, in file order", () => {
    const roots = [...chain("a", "b"), ...chain("x", "y", "z")]
    assert.deepStrictEqual(drawn(roots), ["▸a", "x", "y", "z"])
    assert.deepStrictEqual(drawn(roots, { leaf: "b" }), ["a", "b", "▸x"])
    assert.deepStrictEqual(drawn(roots, { leaf: "b", unfolded: everything }), ["a", "b", "▾x", "  y", "  z"])
    assert.isTrue(
      layoutOf(roots)
        .filter(({ id }) => id === "a" || id === "x")
        .every(({ isRoot }) => isRoot)
    )
  })
  it("draws no marks, and tells how many entries a filter left out above a row", () => {
    const entries = [...chain("a"), mark("m", "a", "leaf"), { ...user("h", "m"), type: "hologram" }, user("b", "h")]
    assert.deepStrictEqual(drawn(entries), ["a", "h", "b"])
    assert.deepStrictEqual(
      layoutOf(entries, { filter: "user" }).map(({ hiddenAbove }) => hiddenAbove),
      [0, 1]
    )
  })
  it("of nothing is nothing", () => {
    assert.deepStrictEqual(layoutOf([]), [])
  })

  it("keeps eighty rewinds in one column while side branches are folded", () => {
    forSeeds(50, (chance) => {
      const entries = rewinds(chance, 80)
      assert.strictEqual(deepest(layoutOf(entries, { leaf: entries.at(-1)!.id })), 0)
    })
  })
  it("is never deeper than 2 + log2 of the entries, whatever was unfolded and wherever the person stands", () => {
    forSeeds(150, (chance) => {
      const entries = chance.oneIn(2) ? rewinds(chance, 120) : wildLines(chance)
      const rows = layoutOf(entries, { leaf: chance.pick(entries).id, unfolded: everything })
      assert.isAtMost(deepest(rows), 2 + Math.log2(entries.length))
    })
    const full = Array.from({ length: 4095 }, (_, i) => user(`e${i}`, i === 0 ? null : `e${(i - 1) >> 1}`))
    assert.isAtMost(deepest(layoutOf(full, { leaf: "e4094", unfolded: everything })), 14)
  })
  it("unfolded shows every entry once, under its parent and above the trunk that goes on", () => {
    forSeeds(150, (chance) => {
      const entries = chance.oneIn(2) ? rewinds(chance, 40) : wildLines(chance)
      const filter = chance.pick(TreeView.filters)
      const view = TreeView.make(SessionTree.from(entries), filter)
      const rows = TreeLayout.layout(view, { leaf: chance.pick(entries).id, unfolded: everything })
      assert.deepStrictEqual(
        rows.map(({ row }) => row).sort((a, b) => a - b),
        [...view.rows]
      )
      const place = new Map(rows.map((row, i) => [row.row, { ...row, i }]))
      for (const { row, depth, i, kind } of place.values()) {
        const parent = place.get(view.parentOf(row))
        if (parent === undefined) continue
        assert.isAbove(i, parent.i)
        assert.strictEqual(depth, parent.kind === "side" ? parent.depth + 1 : parent.depth)
        const siblings = view.childrenOf(parent.row).map((child) => place.get(child)!)
        assert.strictEqual(siblings.filter((it) => it.kind === "trunk").length, 1)
        if (kind === "trunk") assert.isTrue(siblings.every((it) => it.i <= i))
      }
    })
  })
  it("changes only below a side branch when that is unfolded", () => {
    forSeeds(60, (chance) => {
      const entries = rewinds(chance, 30)
      const leaf = entries.at(-1)!.id
      const before = drawn(entries, { leaf })
      const heads = layoutOf(entries, { leaf }).filter(({ folded }) => folded)
      if (heads.length === 0) return
      const { id, depth } = chance.pick(heads)
      const after = drawn(entries, { leaf, unfolded: (it) => it === id })
      const head = before.indexOf(`${"  ".repeat(depth)}▸${id}`)
      assert.deepStrictEqual(after.slice(0, head), before.slice(0, head))
      assert.deepStrictEqual(after.slice(after.length - (before.length - head - 1)), before.slice(head + 1))
      const inside = after.slice(head + 1, after.length - (before.length - head - 1))
      assert.isTrue(inside.every((text) => text.startsWith("  ".repeat(depth + 1))))
    })
  })
})

describe("a plan", () => {
  /** Rows as `walk` visits them, from a place on. */
  const walked = (planned: TreeLayout.Plan, rows: ReadonlyArray<number>, depth: number, isUnfolded = everything) => {
    const seen: Array<string> = []
    TreeLayout.walk(planned, { rows, depth }, isUnfolded, (row, column) =>
      seen.push(`${"  ".repeat(column)}${planned.view.tree.idAt(row)}`)
    )
    return seen
  }

  it("draws any part of the tree as the whole has it", () => {
    forSeeds(20, (chance) => {
      const view = TreeView.make(SessionTree.from(rewinds(chance, 12)), "all")
      const planned = TreeLayout.plan(view, null)
      const whole = TreeLayout.layout(view, { leaf: null, unfolded: everything })
      const head = chance.pick(whole.filter(({ kind }) => kind === "side"))
      const at = whole.indexOf(head)
      const expected = whole.slice(at, at + head.entries).map(({ depth, id }) => `${"  ".repeat(depth)}${id}`)
      assert.deepStrictEqual(walked(planned, [head.row], head.depth), expected)
    })
  })
  it("has fragments as side branches, which the tree leaves out", () => {
    const entries = [...chain("a", "b", "c"), mark("cut", "a", "edit", { op: "prune", targetId: "a", roots: ["b"] })]
    const view = TreeView.make(SessionTree.from(entries), "all")
    const planned = TreeLayout.plan(view, "a" as EntryId)
    const roots = view.fragments.map(({ row }) => row)
    assert.deepStrictEqual(walked(planned, view.childrenOf(-1), 0), ["a"])
    assert.deepStrictEqual(walked(planned, roots, 0), ["b", "  c"])
    assert.deepStrictEqual(
      walked(planned, roots, 0, () => false),
      ["b"]
    )
    assert.strictEqual(planned.sizeOf(roots[0]!).entries, 2)
  })
})
