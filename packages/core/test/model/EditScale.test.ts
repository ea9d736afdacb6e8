import { assert, it } from "@effect/vitest"
import { type Entry, EntryTable, SessionTree, Units } from "../../src/model/index.ts"
import { mark, reply, result, user } from "../support.ts"

const ENTRIES = 100_000
const EDITS = 1_000

/** Units in a chain with a side branch at every tenth, then edits of all kinds, each about another place. */
const edited = (): ReadonlyArray<Entry.Entry> => {
  const lines: Array<Entry.Entry> = [user("e0", null)]
  for (let n = 1; lines.length < ENTRIES; n++) {
    const content = [{ type: "toolCall", id: "t", name: "ls", arguments: {} }]
    lines.push(reply(`c${n}`, `e${n - 1}`, { content }), result(`e${n}`, `c${n}`, { toolCallId: "t" }))
    if (n % 10 === 0) lines.push(user(`s${n}`, `e${n}`))
  }
  for (let n = 1; n <= EDITS; n++) {
    const at = n * 30
    const data =
      n % 3 === 0 ? { op: "undo", targetId: `m${n - 1}` } : { op: "prune", targetId: `e${at}`, roots: [`s${at}`] }
    if (n % 3 === 1) lines.push(mark(`m${n}`, "e1", "state", { targetIds: [`e${at}`], enabled: false }))
    else lines.push(mark(`m${n}`, "e1", "edit", data))
  }
  return lines
}

/** A tree that notes how often each body is read. */
const watched = (lines: ReadonlyArray<Entry.Entry>) => {
  const table = EntryTable.fromArray(lines)
  const read = new Map<number, number>()
  const noted = (row: number) => read.set(row, (read.get(row) ?? 0) + 1)
  const entry = (row: number) => {
    noted(row)
    return table.entry(row)
  }
  const entries = (rows: ReadonlyArray<number>) => {
    rows.forEach(noted)
    return table.entries(rows)
  }
  const tree = SessionTree.over({ ...table, entry, entries }, table.entry(table.size - 1)!)
  return { tree, read }
}

it("1,000 edits of 100,000 entries are folded by reading the bodies of what they name, each a few times at most", () => {
  const { tree, read } = watched(edited())
  assert.deepStrictEqual(tree.edits.problems, [])
  assert.strictEqual(tree.facts.disabled.size, 2 * Math.ceil(EDITS / 3))
  assert.isAtMost(read.size, 4 * EDITS)
  assert.isAtMost(Math.max(...read.values()), 4)
})

it("a unit of 10,000 results is found from all of its parts by reading each a few times at most", () => {
  const results = Array.from({ length: 10_000 }, (_, n) => `r${n}`)
  const content = results.map((id) => ({ type: "toolCall", id, name: "ls", arguments: {} }))
  const lines = results.map((id, n) => result(id, results[n - 1] ?? "call", { toolCallId: id }))
  const { tree, read } = watched([user("ask", null), reply("call", "ask", { content }), ...lines])
  const units = Units.make(tree)
  assert.strictEqual(units.whole(tree.rows()).length, results.length + 2)
  assert.deepStrictEqual(units.ends(tree.rowOf("call")), [tree.rowOf("r9999")])
  assert.isAtMost(Math.max(...read.values()), 4)
})
