/** Which sessions are shown, and in what order. */
import { assert, describe, it } from "@effect/vitest"
import * as Filter from "../../src/sessions/Filter.ts"
import type { Details, ListedRow } from "../../src/wire/Wire.ts"

const NOW = Date.parse("2026-03-01T00:00:00Z")
const row = (key: string, more: Partial<ListedRow> = {}): ListedRow => ({
  key,
  id: key,
  cwd: "/a",
  name: null,
  created: null,
  modified: "2026-02-28T12:00:00Z",
  messageCount: 1,
  branches: 1,
  firstMessage: null,
  source: "grove",
  draft: false,
  parent: null,
  active: false,
  work: null,
  ...more
})
const wanted = (search: string) => Filter.fromAddress(new URLSearchParams(search))
const keys = (
  rows: ReadonlyArray<ListedRow>,
  search: string,
  inText: ReadonlyArray<string> = [],
  details: ReadonlyMap<string, Details | null> = new Map()
) =>
  Filter.apply(rows, wanted(search), new Map(inText.map((key) => [key, 1])), details, NOW).map(
    ({ row, depth }) => "  ".repeat(depth) + row.key
  )

describe("the list", () => {
  const rows = [
    row("old", { modified: "2026-01-01T00:00:00Z", name: "Zebra", branches: 3 }),
    row("new", { firstMessage: "ＦＵＬＬ width words", cwd: "/b", messageCount: 9 }),
    row("fork", { parent: "old", modified: "2026-02-27T00:00:00Z", source: "pi" })
  ]

  it("is the newest first, unless asked for otherwise", () => {
    assert.deepStrictEqual(keys(rows, ""), ["new", "fork", "old"])
    assert.deepStrictEqual(keys(rows, "sort=oldest"), ["old", "fork", "new"])
    assert.deepStrictEqual(keys(rows, "sort=longest"), ["new", "old", "fork"])
    assert.deepStrictEqual(keys(rows, "sort=nonsense"), ["new", "fork", "old"])
  })

  it("holds what all words are in, whatever their case and width, in titles or in text", () => {
    assert.deepStrictEqual(keys(rows, "q=full+WORDS"), ["new"])
    assert.deepStrictEqual(keys(rows, "q=full+zebra"), [])
    assert.deepStrictEqual(keys(rows, "q=inside", ["old"]), ["old"])
  })

  it("holds what passes every filter", () => {
    assert.deepStrictEqual(keys(rows, "project=/b"), ["new"])
    assert.deepStrictEqual(keys(rows, "source=pi"), ["fork"])
    assert.deepStrictEqual(keys(rows, "branched=1"), ["old"])
    assert.deepStrictEqual(keys(rows, "since=day"), ["new"])
    assert.deepStrictEqual(keys(rows, "since=week"), ["new", "fork"])
  })

  it("holds what is in the state that was asked for; what was said a moment ago is at work", () => {
    const states = [
      row("at-work", { work: "working" }),
      row("just-said", { active: true }),
      row("broken", { work: "unclean" }),
      row("begun", { draft: true }),
      row("done")
    ]
    assert.deepStrictEqual(keys(states, "status=working"), ["at-work", "just-said"])
    assert.deepStrictEqual(keys(states, "status=unclean"), ["broken"])
    assert.deepStrictEqual(keys(states, "status=draft"), ["begun"])
    assert.strictEqual(keys(states, "status=nonsense").length, 5)
    assert.deepStrictEqual(states.map(Filter.statusOf), ["working", "working", "unclean", "draft", null])
  })

  it("holds what a model answered in or a label is in, of those that have been read", () => {
    const details = new Map([
      ["old", { key: "old", turns: 1, costMicros: 0, models: ["a/b", "a/c"], labels: [] }],
      ["new", { key: "new", turns: 1, costMicros: 0, models: ["a/c"], labels: ["good"] }],
      ["fork", null]
    ])
    assert.deepStrictEqual(keys(rows, "model=a/c", [], details), ["new", "old"])
    assert.deepStrictEqual(keys(rows, "model=a/c&label=good", [], details), ["new"])
    assert.deepStrictEqual(keys(rows, "model=a/c"), [])
    assert.deepStrictEqual(
      ["", "status=draft", "model=a/c", "label=good"].map((search) => Filter.needsDetails(wanted(search))),
      [false, false, true, true]
    )
  })

  it("puts forks below what they were made from, and does not hang where they go in a circle", () => {
    assert.deepStrictEqual(keys(rows, "threaded=1"), ["new", "old", "  fork"])
    const circle = [row("a", { parent: "b" }), row("b", { parent: "a" })]
    assert.strictEqual(keys(circle, "threaded=1").length, 2)
  })

  it("counts sessions by folder, the fullest first", () => {
    assert.deepStrictEqual(Filter.projects(rows), [
      { cwd: "/a", count: 2 },
      { cwd: "/b", count: 1 }
    ])
  })
})
