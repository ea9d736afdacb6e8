import { assert, it } from "@effect/vitest"
import { type Entry, EntryTable, SessionTree } from "../../src/model/index.ts"
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

it("1,000 edits of 100,000 entries are folded by reading the bodies of what they name, each a few times at most", () => {
  const table = EntryTable.fromArray(edited())
  const read = new Map<number, number>()
  const noted = (row: number) => read.set(row, (read.get(row) ?? 0) + 1)
  const tree = SessionTree.over(
    {
      ...table,
      entry: (row) => {
        noted(row)
        return table.entry(row)
      },
      entries: (rows) => {
        rows.forEach(noted)
        return table.entries(rows)
      }
    },
    table.entry(table.size - 1)!
  )
  assert.deepStrictEqual(tree.edits.problems, [])
  assert.strictEqual(tree.facts.disabled.size, 2 * Math.ceil(EDITS / 3))
  assert.isAtMost(read.size, 4 * EDITS)
  assert.isAtMost(Math.max(...read.values()), 4)
})
