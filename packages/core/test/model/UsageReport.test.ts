import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "../../src/model/Entry.ts"
import { SessionTree } from "../../src/model/SessionTree.ts"
import type * as Usage from "../../src/model/Usage.ts"
import { type Grouping, type Reported, UsageReport } from "../../src/model/UsageReport.ts"

const session = (id: string, parentSession: string | null = null): Reported => ({
  id,
  path: `/s/${id}.jsonl`,
  cwd: `/work/${id}`,
  parentSession
})
const reply = (id: string, day: number, input: number, fields: object = {}, total: number | null = input / 1e6) =>
  ({
    type: "message",
    id,
    parentId: null,
    timestamp: `2026-01-0${day}T00:00:00.000Z`,
    message: {
      role: "assistant",
      content: [],
      provider: "oak",
      model: "1",
      usage: { input, output: 0, cacheRead: 0, cacheWrite: 0, cost: { total } }
    },
    ...fields
  }) as unknown as Entry.Entry

const reportOf = (
  by: Grouping,
  sessions: ReadonlyArray<readonly [Reported, ReadonlyArray<Entry.Entry>]>,
  price?: Usage.Pricer
) => {
  const report = new UsageReport(
    by,
    sessions.map(([each]) => each),
    price
  )
  for (const [each, entries] of sessions) report.add(each, SessionTree.from(entries))
  const { rows, unpriced } = report.report()
  return { rows: rows.map(({ key, requests, input, costMicros }) => [key, requests, input, costMicros]), unpriced }
}

describe("a request", () => {
  const parent = [reply("a", 1, 10), reply("b", 1, 20)]

  it("is charged once in a lineage, to the day it was made and to the session it was made in", () => {
    const family = [
      [session("p"), parent],
      [session("c", "/s/p.jsonl"), [...parent, reply("c", 3, 5)]],
      [session("g", "c"), [...parent, reply("d", 3, 1)]]
    ] as const
    assert.deepStrictEqual(reportOf("day", family).rows, [
      ["2026-01-01", 2, 30, 30],
      ["2026-01-03", 2, 6, 6]
    ])
    assert.deepStrictEqual(reportOf("session", family).rows, [
      ["p", 2, 30, 30],
      ["c", 1, 5, 5],
      ["g", 1, 1, 1]
    ])
    assert.deepStrictEqual(reportOf("project", family).rows[0], ["/work/p", 2, 30, 30])
  })

  it("is charged once also where the session that two were forked from is gone", () => {
    const rows = reportOf("model", [
      [session("x", "gone"), parent],
      [session("y", "gone"), parent]
    ]).rows
    assert.deepStrictEqual(rows, [["oak/1", 2, 30, 30]])
  })

  it("of a session that is not related is another one, also with the same id; so is one at another time", () => {
    assert.strictEqual(
      reportOf("model", [
        [session("x"), parent],
        [session("y"), parent]
      ]).rows[0]![1],
      4
    )
    const later = [reply("a", 2, 10)]
    assert.strictEqual(
      reportOf("model", [
        [session("x"), parent],
        [session("y", "x"), later]
      ]).rows[0]![1],
      3
    )
  })

  it("that was copied carries no usage and is none; one that was imported does", () => {
    const origin = { origin: { entry: "a" } }
    const { rows } = reportOf("model", [[session("x"), [reply("a", 1, 0, origin), reply("b", 1, 7, origin)]]])
    assert.deepStrictEqual(rows, [["oak/1", 1, 7, 7]])
  })

  it("of an unknown price makes the sum unknown, and its model is named", () => {
    const { rows, unpriced } = reportOf("day", [[session("x"), [reply("a", 1, 1), reply("b", 1, 1, {}, null)]]])
    assert.deepStrictEqual(rows, [["2026-01-01", 2, 2, null]])
    assert.deepStrictEqual(unpriced, ["oak/1"])
  })

  it("has the price of today where there is one, and the stored one elsewhere", () => {
    const twice: Usage.Pricer = ({ model }, { input }) => (model === "1" ? input * 2 : undefined)
    assert.deepStrictEqual(reportOf("model", [[session("x"), parent]], twice).rows, [["oak/1", 2, 30, 60]])
    assert.deepStrictEqual(reportOf("model", [[session("x"), parent]], () => undefined).rows, [["oak/1", 2, 30, 30]])
    assert.deepStrictEqual(reportOf("model", [[session("x"), parent]], () => null).rows, [["oak/1", 2, 30, null]])
  })
})
