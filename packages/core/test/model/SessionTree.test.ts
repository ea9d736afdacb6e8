import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Entry, Facts, Mark, SessionTree } from "../../src/model/index.ts"
import { at, chain, entry, forSeeds, idsOf, mark, user, wildLines } from "../support.ts"

// ---------------------------------------------------------------------------------------- a model of the tree

/** The rules of the tree as slowly and plainly as they can be said. */
class Plain {
  readonly entries: ReadonlyArray<Entry.Entry>
  readonly last: Entry.Entry | undefined
  readonly #byId: ReadonlyMap<string | null, Entry.Entry>
  readonly #parents: ReadonlyMap<string, string | null>
  constructor(lines: ReadonlyArray<Entry.Entry>) {
    this.entries = lines.filter((line, i) => !lines.slice(i + 1).some(({ id }) => id === line.id))
    this.last = lines.at(-1)
    this.#byId = new Map(this.entries.map((it) => [it.id, it]))
    this.#parents = new Map(
      this.entries.map(({ id, parentId }) => [id, this.isCut(id) ? null : (this.get(parentId)?.id ?? null)])
    )
  }
  get(id: string | null) {
    return this.#byId.get(id)
  }
  /** The ids one meets going up from `id` by what is written, until they end or come again. */
  above(id: string): ReadonlyArray<string> {
    const met: Array<string> = []
    let up = this.get(id)?.parentId ?? null
    while (up !== null && this.get(up) !== undefined && !met.includes(up)) {
      met.push(up)
      up = this.get(up)!.parentId
    }
    return met
  }
  isCut(id: string): boolean {
    const above = this.above(id)
    if (!above.includes(id)) return false
    const cycle = this.entries.filter((it) => above.includes(it.id) && this.above(it.id).includes(id))
    return cycle[0]?.id === id
  }
  parent(id: string): string | null {
    return this.#parents.get(id) ?? null
  }
  path(id: string): ReadonlyArray<string> {
    const path: Array<string> = []
    for (let up: string | null = this.get(id)?.id ?? null; up !== null; up = this.parent(up)) path.unshift(up)
    return path
  }
  shownOn(path: ReadonlyArray<string>): string | null {
    return path.findLast((id) => !Mark.isMark(this.get(id)!)) ?? null
  }
  shownParent(id: string): string | null {
    return this.shownOn(this.path(id).slice(0, -1))
  }
  shown(): ReadonlyArray<string> {
    return idsOf(this.entries.filter((it) => !Mark.isMark(it)))
  }
  roots(): ReadonlyArray<string> {
    return this.shown().filter((id) => this.shownParent(id) === null)
  }
  children(id: string): ReadonlyArray<string> {
    const time = (child: string) => Date.parse(this.get(child)!.timestamp) || 0
    return this.shown()
      .filter((child) => this.shownParent(child) === id)
      .sort((a, b) => time(a) - time(b))
  }
  commonAncestor(a: string, b: string): string | null {
    const other = this.path(b)
    return this.path(a).findLast((id) => other.includes(id)) ?? null
  }
  problems(): ReadonlyArray<[string, string]> {
    return this.entries.flatMap(({ id, parentId }): Array<[string, string]> => {
      if (parentId !== null && this.get(parentId) === undefined) return [[id, "unknown-parent"]]
      return this.isCut(id) ? [[id, "cycle"]] : []
    })
  }
  leaf(): string | null {
    if (this.last === undefined) return null
    const { id, parentId, type, targetId } = this.last
    if (Mark.isMark(this.last)) {
      if (parentId !== null && this.get(parentId) === undefined) return this.shown().at(-1) ?? null
      return parentId === null ? null : this.shownOn(this.path(parentId))
    }
    if (type !== "leaf" || targetId === undefined) return id
    if (targetId === null) return null
    return this.get(String(targetId)) === undefined ? id : this.shownOn(this.path(String(targetId)))
  }
}

const agree = (tree: SessionTree, plain: Plain, ids: ReadonlyArray<string>) => {
  assert.strictEqual(tree.leaf, plain.leaf())
  assert.deepStrictEqual(tree.roots(), plain.roots() as never)
  assert.deepStrictEqual(
    tree.problems().map((it) => [it.id as string, it.kind]),
    plain.problems() as never
  )
  for (const id of ids) {
    assert.deepStrictEqual(idsOf(tree.path(id)), plain.path(id))
    if (!tree.has(id)) continue
    assert.strictEqual(tree.idAt(tree.parentRow(tree.rowOf(id))), plain.parent(id))
    assert.strictEqual(tree.idAt(tree.shownParentRow(tree.rowOf(id))), plain.shownParent(id))
    assert.deepStrictEqual(tree.children(id), plain.children(id) as never)
  }
}

describe("any forest", () => {
  it("has the paths, children, roots, problems and leaf of the plain model", () => {
    forSeeds(600, (chance) => {
      const all = wildLines(chance)
      const plain = new Plain(all)
      const tree = SessionTree.from(all)
      assert.deepStrictEqual(tree.entries, plain.entries)
      agree(tree, plain, [...idsOf(plain.entries), "nobody"])
      assert.deepStrictEqual(tree.leaves(), plain.shown().filter((id) => plain.children(id).length === 0) as never)
      assert.deepStrictEqual(tree.forkPoints(), plain.shown().filter((id) => plain.children(id).length > 1) as never)
      for (let i = 0; i < 10; i++) {
        const [a, b] = [chance.pick(all).id, chance.pick(all).id]
        assert.strictEqual(tree.commonAncestor(a, b), plain.commonAncestor(a, b))
      }
    })
  })

  it("is the same whether it is read at once or grows line by line", () => {
    forSeeds(500, (chance) => {
      const all = wildLines(chance)
      const tree = SessionTree.from([])
      for (let size = 1; size <= all.length; size++) {
        tree.put(all[size - 1]!)
        if (tree.size > 1 && chance.oneIn(3))
          agree(tree, new Plain(all.slice(0, size)), [chance.pick(all).id, chance.pick(all).id])
      }
      agree(tree, new Plain(all), idsOf(all))
    })
  })

  it("has the same facts whether it is read at once or grows line by line", () => {
    const tree = SessionTree.from([])
    const all = [
      user("a", null),
      entry("l", "a", { type: "label", targetId: "a", label: "x" }),
      mark("m", "a", "annotation", { targetId: "a", rating: 3 })
    ]
    for (const [i, it] of all.entries()) {
      tree.put(it)
      assert.deepStrictEqual(tree.facts, SessionTree.from(all.slice(0, i + 1)).facts)
    }
  })
})

it("an entry that is replaced takes its problems with it", () => {
  const tree = SessionTree.from([user("a", "nobody")])
  assert.strictEqual(tree.problems().length, 1)
  tree.put(user("a", null))
  assert.deepStrictEqual(tree.problems(), [])
})

// ------------------------------------------------------------------------------------------------------ rules

describe("appending", () => {
  const tree = SessionTree.from(chain("a", "b"))
  it("a taken id is refused", () => {
    const refused = tree.append(user("a", "b"))
    assert(Result.isFailure(refused))
    assert.deepStrictEqual([refused.failure.id as string, refused.failure.problem], ["a", "duplicate id"])
  })
  it("under an unknown parent is refused", () => {
    const refused = tree.append(user("c", "nobody"))
    assert(Result.isFailure(refused))
    assert.deepStrictEqual([refused.failure.id as string, refused.failure.problem], ["c", "unknown parent"])
  })
  it("under oneself is refused", () => {
    assert.isTrue(Result.isFailure(tree.append(user("c", "c"))))
  })
  it("that is refused changes nothing", () => {
    assert.deepStrictEqual([tree.size, tree.leaf as string], [2, "b"])
  })
  it("moves the leaf to the new entry", () => {
    assert.isTrue(Result.isSuccess(tree.append(user("c", "a"))))
    assert.strictEqual(tree.leaf, "c")
    assert.deepStrictEqual(tree.children("a"), ["b", "c"] as never)
    assert.isTrue(Result.isSuccess(tree.append(user("d", null))))
    assert.deepStrictEqual(tree.roots(), ["a", "d"] as never)
  })
})

describe("the leaf", () => {
  const leafOf = (...last: ReadonlyArray<Entry.Entry>) => SessionTree.from([...chain("a", "b", "c"), ...last]).leaf

  it("of no entries is none", () => {
    assert.strictEqual(SessionTree.from([]).leaf, null)
  })
  it("is the last entry", () => {
    assert.strictEqual(leafOf(user("d", "a")), "d")
  })
  it.each(["label", "session_info", "custom", "hologram", "model_change"])(
    "advances to a %s as to any entry",
    (type) => {
      assert.strictEqual(leafOf(entry("d", "a", { type, targetId: "a" })), "d")
    }
  )
  it.each(["leaf", "state", "edit", "config", "annotation", "future"])("is the parent of a mark grove.%s", (kind) => {
    assert.strictEqual(leafOf(mark("m", "b", kind)), "b")
  })
  it("follows the parent of a mark, not its data", () => {
    assert.strictEqual(leafOf(mark("m", "b", "leaf", { targetId: "a" })), "b")
  })
  it("is none after a mark without a parent", () => {
    assert.strictEqual(leafOf(mark("m", null, "leaf", { targetId: null })), null)
  })
  it("is never a mark: under a mark, it is what the mark hangs on", () => {
    assert.strictEqual(leafOf(mark("m", "b", "leaf"), mark("n", "m", "state")), "b")
    assert.strictEqual(leafOf(mark("m", null, "leaf"), mark("n", "m", "state")), null)
  })
  it("is the newest entry where a mark hangs on nothing known", () => {
    assert.strictEqual(leafOf(mark("m", "nobody", "leaf")), "c")
  })
  it("is decided by the last entry alone", () => {
    assert.strictEqual(leafOf(mark("m", "a", "leaf"), user("d", "b")), "d")
    assert.strictEqual(leafOf(user("d", "b"), mark("m", "a", "leaf")), "a")
  })
  it("is the target of a foreign leaf entry", () => {
    assert.strictEqual(leafOf(entry("l", "c", { type: "leaf", targetId: "a" })), "a")
    assert.strictEqual(leafOf(entry("l", "c", { type: "leaf", targetId: null })), null)
  })
  it("is a foreign leaf entry itself where that names nothing known", () => {
    assert.strictEqual(leafOf(entry("l", "c", { type: "leaf", targetId: "nobody" })), "l")
    assert.strictEqual(leafOf(entry("l", "c", { type: "leaf" })), "l")
  })
  it("is what the file says is last, also if that line is a repeated one", () => {
    const [a, b] = chain("a", "b") as [Entry.Entry, Entry.Entry]
    assert.strictEqual(SessionTree.from([a, b], a).leaf, "a")
  })
})

describe("marks", () => {
  const tree = SessionTree.from([
    user("a", null),
    mark("m", "a", "leaf"),
    user("b", "m"),
    mark("n", null, "state"),
    user("c", "n")
  ])
  it("are walked through, and stay on the path", () => {
    assert.deepStrictEqual(idsOf(tree.path("b")), ["a", "m", "b"])
  })
  it("are no children, roots or leaves, and what is below hangs on the nearest shown ancestor", () => {
    assert.deepStrictEqual(tree.children("a"), ["b"] as never)
    assert.deepStrictEqual(tree.roots(), ["a", "c"] as never)
    assert.deepStrictEqual(tree.leaves(), ["b", "c"] as never)
    assert.deepStrictEqual(tree.forkPoints(), [])
  })
  it("are counted and listed among the entries", () => {
    assert.strictEqual(tree.size, 5)
  })
})

describe("children", () => {
  it("stand by time, then in file order", () => {
    const under = (id: string, minute: number) => user(id, "a", id, { timestamp: at(minute) })
    const tree = SessionTree.from([
      user("a", null),
      under("late", 9),
      under("first", 1),
      under("second", 1),
      under("early", 0)
    ])
    assert.deepStrictEqual(tree.children("a"), ["early", "first", "second", "late"] as never)
    tree.put(under("between", 5))
    assert.deepStrictEqual(tree.children("a"), ["early", "first", "second", "between", "late"] as never)
  })
  it("of an unknown id are none", () => {
    assert.deepStrictEqual(SessionTree.from(chain("a")).children("nobody"), [])
    assert.deepStrictEqual(SessionTree.from(chain("a")).path("nobody"), [])
  })
})

describe("an orphan", () => {
  const tree = SessionTree.from([user("b", "a"), user("c", "b")])
  it("begins a path and is reported", () => {
    assert.deepStrictEqual(idsOf(tree.path("c")), ["b", "c"])
    assert.deepStrictEqual(
      tree.problems().map(({ id, kind }) => [id as string, kind]),
      [["b", "unknown-parent"]]
    )
  })
  it("is one no more once its parent has come", () => {
    tree.put(user("a", null))
    assert.deepStrictEqual(idsOf(tree.path("c")), ["a", "b", "c"])
    assert.deepStrictEqual(tree.problems(), [])
  })
})

it("a cycle is cut at its first entry in file order, wherever a walk begins", () => {
  const tree = SessionTree.from([user("x", "b"), user("b", "c"), user("a", "b"), user("c", "a"), user("s", "s")])
  assert.deepStrictEqual(idsOf(tree.path("x")), ["b", "x"])
  assert.deepStrictEqual(idsOf(tree.path("c")), ["b", "a", "c"])
  assert.deepStrictEqual(idsOf(tree.path("b")), ["b"])
  assert.deepStrictEqual(idsOf(tree.path("s")), ["s"])
  assert.deepStrictEqual(
    tree.problems().map(({ id, kind }) => [id as string, kind]),
    [
      ["b", "cycle"],
      ["s", "cycle"]
    ]
  )
})

// ------------------------------------------------------------------------------------------------------ facts

describe("facts", () => {
  const factsOf = (...entries: ReadonlyArray<Entry.Entry>) => SessionTree.from([...chain("a", "b"), ...entries]).facts
  const label = (id: string, targetId: unknown, text?: unknown) =>
    entry(id, "b", { type: "label", targetId, ...(text === undefined ? {} : { label: text }) })
  const named = (id: string, name?: unknown) =>
    entry(id, "b", { type: "session_info", ...(name === undefined ? {} : { name }) })
  const labelsOf = (...entries: ReadonlyArray<Entry.Entry>) => Object.fromEntries(factsOf(...entries).labels)

  it("labels are set, replaced and cleared, and the last line wins", () => {
    assert.deepStrictEqual(labelsOf(label("1", "a", "x"), label("2", "b", "y")), { a: "x", b: "y" })
    assert.deepStrictEqual(labelsOf(label("1", "a", "x"), label("2", "a", "y")), { a: "y" })
    assert.deepStrictEqual(labelsOf(label("1", "a", "x"), label("2", "a")), {})
    assert.deepStrictEqual(labelsOf(label("1", "a", "x"), label("2", "a", "")), {})
    assert.deepStrictEqual(labelsOf(label("1", "a"), label("2", "a", "x")), { a: "x" })
  })
  it("labels hold whatever branch they were written on, also before their target", () => {
    const facts = SessionTree.from([label("1", "a", "x"), user("a", null)]).facts
    assert.deepStrictEqual(Object.fromEntries(facts.labels), { a: "x" })
  })
  it("labels of what is not there, or of nothing, change nothing", () => {
    assert.deepStrictEqual(labelsOf(label("1", "nobody", "x"), label("2", 7, "x"), label("3", undefined, "x")), {})
  })
  it("the name is the last one, trimmed; an empty or absent one clears it", () => {
    assert.strictEqual(factsOf().name, null)
    assert.strictEqual(factsOf(named("1", "one"), named("2", " two ")).name, "two")
    assert.strictEqual(factsOf(named("1", "one"), named("2", "")).name, null)
    assert.strictEqual(factsOf(named("1", "one"), named("2")).name, null)
  })
  it("of the states of an entry the last one wins", () => {
    const state = (id: string, enabled: boolean, ...targetIds: ReadonlyArray<string>) =>
      mark(id, "b", "state", { targetIds, asked: targetIds, enabled })
    assert.deepStrictEqual([...factsOf(state("1", false, "a", "b"), state("2", true, "a")).disabled], ["b"] as never)
    assert.deepStrictEqual(
      [...factsOf(state("1", false, "a"), state("2", true, "a"), state("3", false, "a")).disabled],
      ["a"] as never
    )
  })
  it("config is a fold, field by field, over its defaults", () => {
    assert.deepStrictEqual(factsOf().config, {
      approvalMode: "default",
      approvalTools: [],
      summary: null,
      pastedTextMap: {},
      pastedImageMap: {}
    })
    const one = mark("1", "b", "config", { approvalMode: "yolo", summary: "s", pastedTextMap: { x: "1" } })
    const two = mark("2", "b", "config", { approvalTools: ["bash"], pastedTextMap: { y: "2" } })
    assert.deepStrictEqual(factsOf(one, two).config, {
      approvalMode: "yolo",
      approvalTools: ["bash"],
      summary: "s",
      pastedTextMap: { y: "2" },
      pastedImageMap: {}
    })
  })
  it("annotations keep what a later one does not name, and null takes back", () => {
    const rated = (id: string, data: object) => mark(id, "b", "annotation", { targetId: "a", ...data })
    const of = (...entries: ReadonlyArray<Entry.Entry>) => [...factsOf(...entries).annotations.values()]
    assert.deepStrictEqual(of(rated("1", { rating: 4 }), rated("2", { note: "good" })), [{ rating: 4, note: "good" }])
    assert.deepStrictEqual(of(rated("1", { rating: 4, note: "n" }), rated("2", { rating: null })), [
      { rating: null, note: "n" }
    ])
    assert.deepStrictEqual(of(rated("1", { rating: 1 }), rated("2", { rating: 5 })), [{ rating: 5, note: null }])
  })
  it.each([
    ["state", { targetIds: "a", enabled: false }],
    ["state", { targetIds: ["a"] }],
    ["config", { approvalTools: "bash" }],
    ["annotation", { targetId: "a", rating: 6 }],
    ["annotation", { rating: 3 }]
  ])("a damaged grove.%s changes nothing: %j", (kind, data) => {
    const damaged = mark("m", "b", kind, data)
    assert.isFalse(Mark.hasValidData(damaged))
    assert.deepStrictEqual(factsOf(damaged), factsOf())
  })
  it("only a custom entry is a mark", () => {
    const lookalike = entry("m", "b", {
      type: "custom_message",
      customType: "grove.state",
      data: { targetIds: ["a"], enabled: false }
    })
    assert.isFalse(Mark.isMark(lookalike))
    assert.deepStrictEqual(factsOf(lookalike), factsOf())
  })
  it("a session is called by its info, else its config, else its title slot, else its header", () => {
    const title = { type: "title", title: "slot" } as const
    const header = { type: "session", id: "s", title: "header" } as const
    const summary = mark("m", "b", "config", { summary: "summary" })
    assert.strictEqual(Facts.nameOf(factsOf(summary, named("1", "info")), title, header), "info")
    assert.strictEqual(Facts.nameOf(factsOf(summary, named("1", "")), title, header), "summary")
    assert.strictEqual(Facts.nameOf(factsOf(), title, header), "slot")
    assert.strictEqual(Facts.nameOf(factsOf(), { type: "title", title: "" }, header), "header")
    assert.strictEqual(Facts.nameOf(factsOf(), null, null), null)
  })
})

it("the time of an unreadable timestamp is 0", () => {
  assert.strictEqual(Entry.time("yesterday"), 0)
  assert.strictEqual(Entry.time("2026-01-01T00:00:00.000Z"), Date.UTC(2026, 0, 1))
})
