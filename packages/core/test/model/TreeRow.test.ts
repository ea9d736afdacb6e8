import { assert, it } from "@effect/vitest"
import {
  type Entry,
  Preview,
  SessionTree,
  Symbols,
  TreeLayout,
  TreeRow,
  TreeView,
  Width
} from "../../src/model/index.ts"
import { at, entry, mark, reply, user } from "../support.ts"

const session: ReadonlyArray<Entry.Entry> = [
  user("u1", null, "add rate limiting"),
  reply("a1", "u1", { stopReason: "aborted", content: [] }, { timestamp: at(1) }),
  user("u2", "u1", "use redis", { timestamp: at(2) }),
  reply("a2", "u2", {}, { timestamp: at(3) }),
  entry("c1", "a2", { type: "compaction", summary: "x".repeat(24_000), tokensBefore: 48_000, timestamp: at(4) }),
  user("u3", "c1", "now the tests", { timestamp: at(5) }),
  entry("l1", "u3", { type: "label", targetId: "a1", label: "a name that is much longer than there is room for" }),
  mark("m1", "u3", "annotation", { targetId: "a1", rating: 4 })
]

const tree = SessionTree.from(session)
const view = TreeView.make(tree, "turns")
const rows = TreeLayout.layout(view, { leaf: tree.leaf })

/** A row as anybody would draw it, without its remarks. */
const drawn = (symbols: Symbols.Symbols): ReadonlyArray<string> =>
  rows.map((row) => {
    const found = tree.entryAt(row.row)
    const speaker = TreeRow.speakerOf(found)
    const before = TreeRow.barsOf(row.depth, 0, symbols) + TreeRow.signOf(row, found, false, symbols)
    return `${before}${speaker === "" ? "" : speaker.padEnd(TreeRow.SPEAKER_COLUMNS)}${TreeRow.wordsOf(found, 60, symbols)}`
  })

it("a row says who speaks, what, and where it stands", () => {
  assert.deepStrictEqual(
    drawn(Symbols.unicode),
    [
      "● you  add rate limiting",
      "├▸ ai   (aborted) ",
      "● you  use redis",
      "│ ai   a2",
      "⊙ compacted 48k → 6.0k tokens",
      "◆ you  now the tests"
    ].map((line) => line.trimEnd())
  )
})

it("all of it can be said in ASCII", () => {
  for (const line of drawn(Symbols.ascii)) assert.match(line, /^[ -~]*$/)
  for (const sign of Object.values(Symbols.ascii).flat()) assert.match(sign, /^[ -~]+$/)
})

const remarks = (room: number, ...more: ReadonlyArray<TreeRow.Remark>): ReadonlyArray<string> => {
  const row = rows[1]!
  const given = {
    tree,
    row,
    entry: tree.entryAt(row.row),
    tools: 3,
    isForked: true,
    now: Date.parse(at(1)) + 2 * 86_400_000,
    symbols: Symbols.unicode,
    line: Preview.line
  }
  return TreeRow.remarksOf(given, room, ...more).map(({ text }) => text)
}

it("remarks give way from the left, a label is cut first, and all keep to the room there is", () => {
  const size = "1 entry · 1 leaf · 2d"
  assert.deepStrictEqual(remarks(80), ["[a name that is much lon…]", "⚙3", "★4", "⇢", "✕", size])
  assert.deepStrictEqual(remarks(80, { kind: "here", text: "← here" }).at(-1), "← here")
  assert.deepStrictEqual(remarks(50), ["[a name t…]", "⚙3", "★4", "⇢", "✕", size])
  assert.deepStrictEqual(remarks(26), ["✕", size])
  for (let room = -5; room < 90; room++) {
    const wide = remarks(room).reduce((sum, text) => sum + Width.of(text) + TreeRow.GAP_COLUMNS, 0)
    assert.isAtMost(wide, Math.max(0, room))
  }
})

it("however deep a row is, its words keep half of the columns, or 24", () => {
  for (const columns of [40, 80, 120]) {
    for (const depth of [0, 1, 5, 10, 40, 200]) {
      const shift = TreeRow.shiftOf(depth, columns)
      const bars = Width.of(TreeRow.barsOf(depth, shift, Symbols.unicode))
      assert.isAtLeast(columns - bars - 3 - TreeRow.SPEAKER_COLUMNS, TreeRow.textColumns(columns))
      assert.strictEqual(shift === 0, bars === 2 * depth)
    }
  }
})
