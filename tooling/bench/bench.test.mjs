/** The bench's sessions, its arithmetic and its harness; never how long anything takes. */
import assert from "node:assert/strict"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import * as row from "./bench.fixture.mjs"
import { aligned, cells, column, digits, goalText, judge, median } from "./figures.mjs"
import { extendSession, session, writeHome, writeSession } from "./generate.mjs"
import { ChildFailed, disagreements, inChild, measure } from "./harness.mjs"
import * as naive from "./naive.mjs"
import { markdown, README, RESULTS, withFigures } from "./readme.mjs"

/** A folder of its own for each test that writes. @param {(folder: string) => void} use */
const inFolder = (use) => {
  const folder = mkdtempSync(join(tmpdir(), "grove-bench-"))
  try {
    use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const shape = { seed: 7, entries: 3_000, compactEvery: 40 }

test("a seed always makes the same session, and another seed another", () => {
  assert.deepEqual([...session(shape)], [...session(shape)])
  assert.notDeepEqual([...session(shape)], [...session({ ...shape, seed: 8 })])
})

test("a session is one tree: every parent is older, every id new, and some entries have several children", () => {
  const [header, ...entries] = session(shape)
  assert.equal(header.type, "session")
  assert.ok(entries.length >= shape.entries)
  const ids = new Set()
  const children = new Map()
  for (const { id, parentId } of entries) {
    assert.ok(parentId === null || ids.has(parentId))
    assert.ok(!ids.has(id))
    ids.add(id)
    children.set(parentId, (children.get(parentId) ?? 0) + 1)
  }
  assert.ok([...children.values()].some((count) => count > 1))
})

test("a session has the mix of real work, at some 2.7 kB an entry", () => {
  const [, ...entries] = session(shape)
  const types = new Set(entries.map(({ type }) => type))
  for (const type of ["message", "compaction", "model_change", "label", "custom"]) assert.ok(types.has(type), type)
  const size = Buffer.byteLength(entries.map((entry) => JSON.stringify(entry)).join("\n")) / entries.length
  assert.ok(size > 2_400 && size < 3_000, `${size}`)
})

test("a compaction keeps entries that are on its path", () => {
  const [, ...entries] = session(shape)
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  for (const compaction of entries.filter(({ type }) => type === "compaction")) {
    let entry = compaction
    while (entry !== undefined && entry.id !== compaction.firstKeptEntryId) entry = byId.get(entry.parentId)
    assert.notEqual(entry, undefined)
  }
})

test("the naive baseline shows the summary, what was kept and what followed; and all there is without a compaction", () =>
  inFolder((folder) => {
    const path = `${folder}/a.jsonl`
    writeSession(path, shape)
    const { messages, entries } = naive.open(path)
    assert.equal(messages[0].role, "compactionSummary")
    assert.ok(messages.length < 600 && entries.length >= 3_000)
    writeSession(path, { ...shape, compactEvery: 0 })
    assert.ok(naive.open(path).messages.length > 600)
  }))

test("a session that is extended goes on from its last entry", () =>
  inFolder((folder) => {
    const path = `${folder}/a.jsonl`
    writeSession(path, shape)
    const before = naive.open(path)
    extendSession(path, { entries: 100, seed: 9 })
    const after = naive.open(path)
    const added = after.entries.slice(before.entries.length)
    assert.equal(added[0].parentId, before.entries.at(-1)?.id)
    assert.ok(added.length >= 100)
  }))

test("many sessions lie in the folders of their projects", () =>
  inFolder((folder) => {
    writeHome(`${folder}/home`, { sessions: 7, entries: 10, projects: 3, seed: 1 })
    assert.equal(readdirSync(`${folder}/home/sessions`).length, 3)
    const listed = naive.list(`${folder}/home/sessions`)
    assert.equal(listed.length, 7)
    assert.equal(naive.look(`${folder}/home/sessions`).length, 7)
    const [{ path, header, first }] = listed
    assert.equal(JSON.parse(readFileSync(path, "utf8").split("\n")[0]).id, header.id)
    assert.ok(first.length > 100 && statSync(path).size > 0)
  }))

test("a median is the middle, or the mean of the two in the middle", () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.deepEqual(column([{ ms: 3 }, { ms: 1 }, { ms: 8 }]), { median: 3, best: 1 })
  assert.equal(column(undefined), undefined)
})

const only = (/** @type {number} */ value) => ({ median: value, best: value })

test("a goal is judged by the ratio of medians, and not at all where one side is missing", () => {
  const columns = { naive: { median: 80, best: 1 }, grove: { median: 10, best: 9 } }
  assert.deepEqual(judge({ against: "naive", times: 8 }, columns), { ratio: 8, met: true })
  assert.deepEqual(judge({ against: "naive", times: 9 }, columns), { ratio: 8, met: false })
  assert.equal(judge({ against: "pi" }, columns), undefined)
  assert.deepEqual(judge({ against: "naive", within: 3 }, { naive: only(2), grove: only(5) }), {
    ratio: 2.5,
    met: true
  })
  assert.deepEqual(judge({ against: "pi" }, { pi: only(2), grove: only(4) }), { ratio: 0.5, met: false })
})

test("a line tells its goals as the specification does", () => {
  assert.equal(goalText({ against: "naive", times: 8 }, "ms"), "≥ 8× naive")
  assert.equal(goalText({ against: "naive", times: 6 }, "MB"), "≤ 1/6 naive")
  assert.equal(goalText({ against: "pi" }, "ms"), "≤ Pi")
  assert.equal(goalText({ against: "naive", within: 3 }, "ms"), "≤ 3× naive")
  assert.deepEqual([1520.4, 57.66, 1.234, 0.0156].map(digits), ["1,520", "57.7", "1.23", "0.016"])
})

const line = /** @type {const} */ ({
  ...{ row: 1, work: "open", unit: "ms" },
  columns: { naive: only(80), grove: only(10) },
  goals: [{ against: "naive", times: 8 }, { against: "omp" }]
})

test("what was not measured is a dash, and columns are aligned", () => {
  const row = cells(line, ({ median }) => digits(median))
  assert.deepEqual(row, ["open, ms", "80", "–", "–", "–", "10", "8×, –", "≥ 8× naive, ≤ omp", "yes, –"])
  const [first, second] = aligned([row, row.map((cell) => `${cell}…`)])
  assert.equal(first.length, second.length)
})

test("the figures go between their marks in the README, and nowhere else", () => {
  const results = { date: "2026-01-01", node: "v20", size: "usual", rounds: 5, lines: [line] }
  const text = "# Grove\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n"
  const updated = withFigures(text, results)
  assert.equal(updated, `# Grove\n<!-- bench:begin -->\n${markdown(results)}<!-- bench:end -->\nafter\n`)
  assert.equal(withFigures(updated, results), updated)
  assert.equal(withFigures("# Grove\n", results), "# Grove\n")
})

test("the README has the figures of the last whole run", { skip: !existsSync(RESULTS) || !existsSync(README) }, () => {
  const text = readFileSync(README, "utf8")
  assert.equal(withFigures(text, JSON.parse(readFileSync(RESULTS, "utf8"))), text, "node tooling/bench/readme.mjs")
})

const module = new URL("bench.fixture.mjs", import.meta.url).href
const options = { rounds: 3, programs: {}, tell: () => {} }

test("every measurement has a process of its own, and contenders take turns", () => {
  /** @type {Array<string>} */
  const order = []
  const before = { naive: () => order.push("naive"), grove: () => order.push("grove") }
  const { found } = measure(module, /** @type {any} */ ({ ...row, before }), { pi: null, omp: null }, options)
  assert.deepEqual(order, ["naive", "grove", "naive", "grove", "naive", "grove"])
  const ids = [...found.naive, ...found.grove].map(({ id }) => id)
  assert.equal(new Set(ids).size, 6)
})

test("another program that fails is left out with a note; Grove or the baseline failing is an error", () => {
  const { found, notes } = measure(module, row, { pi: "somewhere", omp: null }, options)
  assert.equal(found.pi, undefined)
  assert.deepEqual(notes, ['pi could not do "a row": Error: pi is broken'])
  assert.throws(() => inChild(module, "pi", {}), ChildFailed)
})

test("answers that differ are told", () => {
  const same = { naive: [{ answer: 1 }], grove: [{ answer: 1 }, { answer: 1 }], lazily: [{}] }
  assert.deepEqual(disagreements("a row", same), [])
  const differing = { ...same, pi: [{ answer: 2 }] }
  assert.deepEqual(disagreements("a row", differing), ['"a row": the answers differ: naive 1, grove 1, pi 2'])
})
