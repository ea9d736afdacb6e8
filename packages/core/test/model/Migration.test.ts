import { assert, describe, it } from "@effect/vitest"
import { Entry, Migration } from "../../src/model/index.ts"
import { type Chance, fileOf, forSeeds, idsOf, type Json, load, roundTrip, sha256 } from "../support.ts"

const version1 = { type: "session", id: "s1", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/home/user" }
const version2 = { ...version1, version: 2 }
const timestamp = "2025-01-01T00:01:00.000Z"
const said = (content: string, fields: Json = {}): Json => ({
  type: "message",
  timestamp,
  message: { role: "user", content },
  ...fields
})
const parentsOf = (entries: ReadonlyArray<Entry.Entry>): ReadonlyArray<string | null> =>
  entries.map((it) => it.parentId)
const idOf = (line: number, session = "s1") => sha256(`${session}\n${line}`).slice(0, 8)
const entriesOf = (...lines: ReadonlyArray<object | string>) =>
  load(fileOf(...lines)).file.rows.map(({ entry }) => entry)

describe("a version 1 session", () => {
  it("gets ids that depend on the session and the line alone, and becomes one chain", () => {
    const entries = entriesOf(version1, said("a"), said("b"), said("c"))
    assert.deepStrictEqual(idsOf(entries), [idOf(2), idOf(3), idOf(4)])
    assert.deepStrictEqual(parentsOf(entries), [null, idOf(2), idOf(3)])
  })

  it("is told as version 1 and shown as version 3, with the fields we do not know", () => {
    const { file } = load(fileOf({ ...version1, provider: "p" }, said("a", { mood: "good" })))
    assert.strictEqual(file.version, 1)
    assert.deepStrictEqual(file.header as object, { ...version1, provider: "p", version: 3 })
    assert.strictEqual(file.rows[0]?.entry.mood, "good")
    assert.deepStrictEqual(file.problems, [])
  })

  it("keeps blank and unreadable lines where they are: they have numbers, but no ids", () => {
    const entries = entriesOf(version1, said("a"), "", "junk", '{"no":"type"}', said("b"))
    assert.deepStrictEqual(idsOf(entries), [idOf(2), idOf(6)])
    assert.strictEqual(entries[1]?.parentId, idOf(2))
  })

  it("loses the ids and parents it has by accident", () => {
    const entries = entriesOf(version1, said("a", { id: "x", parentId: "y" }), said("b", { id: "x" }))
    assert.deepStrictEqual(idsOf(entries), [idOf(2), idOf(3)])
    assert.deepStrictEqual(parentsOf(entries), [null, idOf(2)])
  })

  it("never has one id twice, also where the digits clash", () => {
    // Found by search: of session s2, lines 18022 and 21872 begin with the same eight digits.
    assert.strictEqual(idOf(18022, "s2"), idOf(21872, "s2"))
    const objects = [18022, 21872].map((line) => ({ line, value: said("a") }))
    const migrated = Migration.migrate({ header: { ...version1, type: "session", id: "s2" }, objects })
    const [first, second] = migrated.objects.map(({ value }) => value.id)
    assert.strictEqual(first, idOf(18022, "s2"))
    assert.notStrictEqual(second, first)
    assert.match(String(second), /^[0-9a-f]{8}$/)
  })

  /** Of four entries on lines 2 to 5 the last is a compaction; the header counts as 0. */
  const keptBy = (firstKeptEntryIndex: unknown) => {
    const compaction = { type: "compaction", timestamp, summary: "s", tokensBefore: 1, firstKeptEntryIndex }
    return entriesOf(version1, said("a"), said("b"), said("c"), compaction, said("d"))[3]!
  }
  it.each([1, 2, 3])("has compactions that keep from the entry with index %i", (index) => {
    assert.strictEqual(keptBy(index).firstKeptEntryId, idOf(index + 1))
  })
  it.each([0, -1, 5, 99, 1.5])("has compactions that keep nothing where index %d is no entry before them", (index) => {
    assert.notProperty(keptBy(index), "firstKeptEntryId")
  })
  it("counts entries, not lines, in the index of a compaction", () => {
    const compaction = { type: "compaction", timestamp, summary: "s", tokensBefore: 1, firstKeptEntryIndex: 2 }
    const entries = entriesOf(version1, "junk", said("a"), "", said("b"), compaction)
    assert.strictEqual(entries[2]?.firstKeptEntryId, idOf(5))
  })
  it.each([0, 2, 99])("has no index left once it is migrated from %i", (index) => {
    assert.notProperty(keptBy(index), "firstKeptEntryIndex")
  })
})

const hook = said("", { message: { role: "hookMessage", customType: "h", content: "x", display: true } })

it.each([1, 2])("a hookMessage of version %i is a custom message", (version) => {
  const [entry] = entriesOf({ ...version1, version }, { ...hook, id: "a", parentId: null })
  assert.deepStrictEqual(entry?.message as object, { role: "custom", customType: "h", content: "x", display: true })
})

it("a version 2 session keeps its ids and its tree", () => {
  const a = said("a", { id: "a", parentId: null })
  const b = said("b", { id: "b", parentId: "a" })
  const { file } = load(fileOf(version2, a, b))
  assert.deepStrictEqual(
    file.rows.map(({ entry }) => entry as object),
    [a, b]
  )
  assert.strictEqual(file.version, 2)
  assert.strictEqual(file.header?.version, 3)
})

it.each([3, 4, 99, "1", "two", -1])("a session of version %j is left as it is", (version) => {
  const header = { ...version1, type: "session" as const, version: version as number }
  const file = { header, objects: [{ line: 2, value: { ...hook, id: "a" } }] }
  assert.strictEqual(Migration.migrate(file), file)
})

describe("migration", () => {
  const oldFile = (chance: Chance): Migration.Migrated => {
    let line = 1
    const objects = Array.from({ length: chance.below(20) }, () => {
      line += 1 + chance.below(3)
      const body = chance.pick<Json>([
        said("x"),
        hook,
        { type: "message", message: null },
        { type: "compaction", summary: "s", firstKeptEntryIndex: chance.below(25) - 2 },
        { type: "hologram", beam: [1, { deep: true }] }
      ])
      const ids = chance.oneIn(2) ? { id: `e${chance.below(9)}`, parentId: chance.pick([null, "e1", "e2"]) } : {}
      return { line, value: { ...body, ...ids } }
    })
    const version = chance.pick([{}, { version: 1 }, { version: 2 }, { version: 3 }, { version: 7 }])
    return { header: { ...version1, type: "session", id: `s${chance.below(99)}`, ...version }, objects }
  }

  it("done twice is done once", () => {
    forSeeds(1000, (chance) => {
      const once = Migration.migrate(oldFile(chance))
      assert.deepStrictEqual(roundTrip(Migration.migrate(roundTrip(once))), roundTrip(once))
    })
  })

  it("is the same whenever it is done, and changes nothing it is given", () => {
    forSeeds(300, (chance) => {
      const file = oldFile(chance)
      const before = roundTrip(file)
      assert.deepStrictEqual(Migration.migrate(file), Migration.migrate(roundTrip(file)))
      assert.deepStrictEqual(file, before)
    })
  })

  it("keeps every object on its line and makes each an entry", () => {
    forSeeds(300, (chance) => {
      const file = oldFile(chance)
      const { objects } = Migration.migrate({ ...file, header: { ...file.header, version: 1 } })
      assert.deepStrictEqual(
        objects.map(({ line }) => line),
        file.objects.map(({ line }) => line)
      )
      const ids = objects.map(({ value }) => Entry.fromJson(value)?.id)
      assert.strictEqual(new Set(ids).size, file.objects.length)
      assert.notInclude(ids, undefined)
    })
  })
})
