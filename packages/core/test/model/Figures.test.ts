import { assert, it } from "@effect/vitest"
import { Figures } from "../../src/model/index.ts"

it("figures are told as people read them", () => {
  assert.deepStrictEqual(
    [Figures.count(1, "entry", "entries"), Figures.count(1204, "entry", "entries"), Figures.count(2, "turn")],
    ["1 entry", "1,204 entries", "2 turns"]
  )
  assert.deepStrictEqual([12, 1234, 38_400, 1_200_000].map(Figures.tokens), ["12", "1.2k", "38k", "1.2M"])
  assert.deepStrictEqual([0, 400, 3_180_000].map(Figures.dollars), ["$0.00", "$0.0004", "$3.18"])
  assert.deepStrictEqual([900, 45_000, 130_000, 3_720_000].map(Figures.duration), ["0.9s", "45s", "2m 10s", "1h 2m"])
  assert.deepStrictEqual([5, 2048, 3 << 20].map(Figures.bytes), ["5 B", "2 kB", "3.0 MB"])
})

it("an age has one unit, and a time that nobody wrote down has none", () => {
  const now = Date.UTC(2026, 0, 1)
  const ages = [0, 5, 60, 23 * 60, 24 * 60, 13 * 1440, 14 * 1440, 364 * 1440, 365 * 1440, 800 * 1440]
  assert.deepStrictEqual(
    ages.map((minutes) => Figures.age(now - minutes * 60_000, now)),
    ["now", "5m", "1h", "23h", "1d", "13d", "2w", "52w", "1y", "2y"]
  )
  assert.deepStrictEqual(
    [Figures.age(0, now), Figures.age(Number.NaN, now), Figures.age(now + 1e9, now)],
    ["?", "?", "now"]
  )
})
