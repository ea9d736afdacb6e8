/** Which sessions are shown, and in what order. */
import { assert, describe, it } from "@effect/vitest"
import * as Filter from "../../src/sessions/Filter.ts"
import type { SessionRow } from "../../src/wire/Wire.ts"

const NOW = Date.parse("2026-03-01T00:00:00Z")
const row = (key: string, more: Partial<SessionRow> = {}): SessionRow => ({
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
  ...more
})
const wanted = (search: string) => Filter.fromAddress(new URLSearchParams(search))
const keys = (rows: ReadonlyArray<SessionRow>, search: string, inText: ReadonlyArray<string> = []) =>
  Filter.apply(rows, wanted(search), new Map(inText.map((key) => [key, 1])), NOW).map(
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
