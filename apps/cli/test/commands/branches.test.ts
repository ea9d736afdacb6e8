/** `grove branches`: every path to an entry without children. */
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Width } from "@grove/core/model"
import { type PiNode, piSessions } from "../fixtures.ts"
import { at, entry, fileOf, header, inTurn, reply, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Branch {
  readonly leaf: string
  readonly length: number
  readonly preview: string
  readonly updated: string | null
  readonly active: boolean
}
const branchesOf = (file: string): Promise<ReadonlyArray<Branch>> => box.json(["branches", file])

const leavesOf = (nodes: ReadonlyArray<PiNode>, depth = 1): ReadonlyArray<readonly [id: string, length: number]> =>
  nodes.flatMap(({ id, children }) => (children.length === 0 ? [[id, depth] as const] : leavesOf(children, depth + 1)))

it("Pi's sessions have the branches of the trees that Pi sees, as long as they are there", async () => {
  const found = await inTurn(piSessions, ({ file }) => branchesOf(join(box.fixtures, "pi", file)))
  for (const [i, { file, tree, defaultLeafId }] of piSessions.entries()) {
    const lengths = Object.fromEntries(found[i]!.map(({ leaf, length }) => [leaf, length]))
    assert.deepStrictEqual(lengths, Object.fromEntries(leavesOf(tree)), file)
    const active = found[i]!.filter(({ active }) => active).map(({ leaf }) => leaf)
    assert.deepStrictEqual(active, leavesOf(tree).some(([id]) => id === defaultLeafId) ? [defaultLeafId!] : [], file)
  }
})

it("its answer has exactly these keys, in file order, marks neither counted nor listed", async () => {
  const file = box.write(
    "branches.jsonl",
    fileOf(
      header(),
      user("aaaa0001", null, "question"),
      reply("aaaa0002", "aaaa0001", "first\nanswer", {}, { timestamp: at(3) }),
      entry("aaaa0003", "aaaa0001", { type: "custom", customType: "grove.leaf", data: { targetId: "aaaa0001" } }),
      reply("aaaa0004", "aaaa0003", "second answer", {}, { timestamp: at(4) }),
      entry("aaaa0005", "aaaa0004", { type: "thinking_level_change", thinkingLevel: "high", timestamp: undefined })
    )
  )
  assert.deepStrictEqual(await branchesOf(file), [
    { leaf: "aaaa0002", length: 2, preview: "first answer", updated: at(3), active: false },
    { leaf: "aaaa0005", length: 3, preview: "second answer", updated: null, active: true }
  ])
})

it("previews are at most fifty characters, by any count and in any script", async () => {
  const texts = ["word ".repeat(40), "あ".repeat(200), "👩‍👩‍👧‍👦".repeat(100), "e\u0301\u0301\u0301".repeat(300)]
  const file = box.write("wide.jsonl", fileOf(header(), ...texts.map((text, i) => user(`aaaa000${i}`, null, text))))
  for (const { preview } of await branchesOf(file)) {
    assert.isAtMost(preview.length, 50)
    assert.match(preview, /….?$|…$/u)
    assert.isAtLeast(preview.length, 12)
  }
})

it("people see the end, the length, the age and the last words of each, the active one marked", async () => {
  const file = box.write(
    "people.jsonl",
    fileOf(
      header(),
      user("0123456789ab", null, "問い ".repeat(60)),
      user("0195d1a0-0000-7000-8000-0123456789ef", null, "an id longer than ours is shown in its short form")
    )
  )
  for (const columns of [40, 80, 120]) {
    const lines = (await box.text(["branches", file], { env: { COLUMNS: String(columns) } })).trimEnd().split("\n")
    assert.match(lines[0]!, /^ {2}0123456789ab {7}1 {2} *\d+w {2}問い .*…$/)
    assert.match(lines[1]!, /^◆ 456789ef {11}1 {2} *\d+w {2}an id /)
    for (const line of lines) assert.isAtMost(Width.of(line), columns)
  }
  assert.match(await box.text(["branches", file], { env: { LANG: "C" } }), /\.\.\.\n@ 456789ef/)
})

it("an empty session says so, and what to do", async () => {
  const file = join(box.fixtures, "omp/sessions/header-only.jsonl")
  assert.deepStrictEqual(await branchesOf(file), [])
  assert.strictEqual(
    await box.text(["branches", file]),
    "This session is empty: it has no branches yet. grove ls lists the others.\n"
  )
})
