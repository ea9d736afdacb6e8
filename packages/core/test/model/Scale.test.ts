/** Two hundred thousand entries, in the shapes that hurt: everything is linear, and no walk grows the stack. */
import { assert, describe, it } from "@effect/vitest"
import {
  Check,
  ContextBuilder,
  type EntryId,
  SessionTree,
  TreeLayout,
  TreeUsage,
  TreeView
} from "../../src/model/index.ts"
import { bytes, type Loaded, load, mark, reply, treeOf, user } from "../support.ts"

const HEADER = '{"type":"session","version":3,"id":"s1"}\n'
const line = (n: number, parent: number | null) =>
  `{"type":"message","id":"e${n}","parentId":${parent === null ? null : `"e${parent}"`},"timestamp":"2026-01-01T00:00:00.000Z",` +
  (n % 2 === 0
    ? `"message":{"role":"user","content":"hi"}}\n`
    : `"message":{"role":"assistant","provider":"p","model":"m","content":[],"usage":{"input":1,"output":1}}}\n`)

const fileOf = (size: number, lineOf: (n: number) => string): Uint8Array => {
  const parts = [HEADER]
  for (let n = 0; n < size; n++) parts.push(lineOf(n))
  return bytes(parts.join(""))
}

const before = (n: number) => (n === 0 ? null : n - 1)
/** How many entries the lines make, and how many of them are on the longest path. */
const shapes = [
  { shape: "in one chain", lineOf: (n: number) => line(n, before(n)), entries: 1, path: 1 },
  { shape: "under one parent", lineOf: (n: number) => line(n, n === 0 ? null : 0), entries: 1, path: 0 },
  { shape: "that are orphans", lineOf: (n: number) => line(n, -1 - n), entries: 1, path: 0 },
  { shape: "in one chain, children before parents", lineOf: (n: number) => line(n, n + 1), entries: 1, path: 1 },
  {
    shape: "in one chain, each there twice with other bytes",
    lineOf: (n: number) => line(n >> 1, before(n >> 1)).replace("{", n % 2 === 0 ? "{" : "{ "),
    entries: 0.5,
    path: 0.5
  }
]

/**
 * Times each kind of work on its own, so that a slow one does not hide behind the others: in milliseconds of this
 * process, so that what else the machine does hardly counts.
 */
class Clock {
  readonly times = new Map<string, number>()
  time<A>(what: string, work: () => A): A {
    const start = process.cpuUsage()
    const made = work()
    const { user, system } = process.cpuUsage(start)
    this.times.set(what, (this.times.get(what) ?? 0) + (user + system) / 1000)
    return made
  }
}

/** All that a view of a session asks for. */
const useAll = (data: Uint8Array, clock: Clock): Loaded => {
  const file = clock.time("reading", () => load(data).file)
  const tree = clock.time("making the tree", () => treeOf(file))
  const leaf = clock.time("the leaf", () => tree.leaf)
  clock.time("the path", () => tree.path(leaf!))
  clock.time("children", () => [tree.children("e0"), tree.leaves(), tree.forkPoints()])
  clock.time("the common ancestor", () => tree.commonAncestor(leaf!, "e0"))
  clock.time("the context", () => ContextBuilder.build(tree))
  clock.time("usage", () => TreeUsage.sums(tree, leaf))
  clock.time("checking", () => Check.problems(file, tree))
  for (const filter of TreeView.filters) {
    const view = clock.time(`the view of ${filter}`, () => TreeView.make(tree, filter))
    clock.time(`the layout of ${filter}`, () => TreeLayout.layout(view, { leaf, unfolded: () => true }))
    clock.time(`the folded layout of ${filter}`, () => TreeLayout.layout(view, { leaf }))
  }
  return { file, tree }
}

const patience = { retry: 2 }

/** Ten times as much takes about ten times as long; quadratic would be a hundred times. A pause of the collector is neither. */
const isLinear = (work: (size: number, clock: Clock) => void, size = 200_000) => {
  const timed = (size: number) => {
    const clock = new Clock()
    clock.time("all of it", () => work(size, clock))
    return clock.times
  }
  timed(size / 20)
  const small = timed(size / 10)
  for (const [what, time] of timed(size)) assert.isBelow(time / Math.max(40, small.get(what)!), 25, what)
}

describe.each(shapes)("200,000 lines $shape", ({ lineOf, entries, path }) => {
  it("are read, walked, drawn, built and summed in linear time", patience, () => {
    const files = new Map([200_000, 20_000, 10_000].map((size) => [size, fileOf(size, lineOf)]))
    isLinear((size, clock) => {
      const { tree } = useAll(files.get(size)!, clock)
      assert.strictEqual(tree.size, size * entries)
      const longest = Math.max(tree.path(tree.leaf!).length, tree.path("e0").length)
      if (path > 0) assert.strictEqual(longest, size * path)
    })
  })
})

describe("200,000 entries one by one", () => {
  it("are appended and asked about in linear time, in a chain", patience, () => {
    isLinear((size) => {
      const tree = SessionTree.from([])
      for (let n = 0; n < size; n++) {
        tree.append(n % 2 === 0 ? user(`e${n}`, n === 0 ? null : `e${n - 1}`) : reply(`e${n}`, `e${n - 1}`))
        assert(tree.parentRow(n) === n - 1 && tree.leaf === `e${n}`)
      }
    })
  })
  it("are appended and asked about in linear time, under one parent", patience, () => {
    isLinear((size) => {
      const tree = SessionTree.from([user("e0", null)])
      for (let n = 1; n < size; n++) {
        tree.append(user(`e${n}`, "e0"))
        assert(tree.childRows(0).length === n)
      }
    })
  })
})

describe("200,000 marks in a chain", patience, () => {
  const chainOf = (size: number) =>
    Array.from({ length: size }, (_, n) => mark(`m${n}`, n === 0 ? "root" : `m${n - 1}`, "leaf"))
  it("are walked through in linear time when they are read at once", patience, () => {
    isLinear((size) => {
      const tree = SessionTree.from([user("root", null), ...chainOf(size), user("end", `m${size - 1}`)])
      assert.deepStrictEqual(tree.children("root"), ["end" as EntryId])
    })
  })
})

it("marks that follow each other are walked through in linear time when they come one by one", () => {
  isLinear((size) => {
    const tree = SessionTree.from([user("root", null)])
    tree.roots()
    for (let n = 0; n < size; n++) tree.append(mark(`m${n}`, n === 0 ? "root" : `m${n - 1}`, "leaf"))
    assert.strictEqual(tree.leaf, "root")
    assert.strictEqual(tree.shownParentRow(size), 0)
  }, 10_000)
})
