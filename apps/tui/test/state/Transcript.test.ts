import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Row from "../../src/state/Row.ts"
import * as Transcript from "../../src/state/Transcript.ts"

const HEIGHT = 10

const counted = (lengths: ReadonlyArray<number>) => {
  let drawn = 0
  const content: Transcript.Content = {
    count: lengths.length,
    rows: (block) => {
      drawn++
      return Array.from({ length: lengths[block]! }, (_, i) => Row.row(`${block}.${i}`))
    }
  }
  return { content, drawn: () => drawn }
}

const texts = (lines: ReadonlyArray<Transcript.Line>) => lines.map(({ spans }) => Row.textOf(spans))

it("of ten thousand entries only those in sight are drawn", () => {
  const { content, drawn } = counted(Array.from({ length: 10_000 }, () => 3))
  const lines = Transcript.visible(content, null, HEIGHT)
  assert.strictEqual(texts(lines).at(-1), "9999.2")
  let position: Transcript.Position = null
  for (let i = 0; i < 20; i++) position = Transcript.scroll(content, position, HEIGHT, -HEIGHT)
  Transcript.visible(content, position, HEIGHT)
  assert.isBelow(drawn(), 400)
})

const Lengths = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 15 }))).pipe(
  Schema.check(Schema.isMaxLength(12))
)
const Steps = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -30, maximum: 30 }))).pipe(
  Schema.check(Schema.isMaxLength(12))
)

it.prop("a window over blocks shows what a window over all rows would", [Lengths, Steps], ([lengths, steps]) => {
  const { content } = counted(lengths)
  const all = lengths.flatMap((length, block) => Array.from({ length }, (_, i) => `${block}.${i}`))
  const last = Math.max(0, all.length - HEIGHT)
  let position: Transcript.Position = null
  let top = last
  for (const by of steps) {
    position = Transcript.scroll(content, position, HEIGHT, by)
    top = Math.max(0, Math.min(top + by, last))
    assert.deepStrictEqual(texts(Transcript.visible(content, position, HEIGHT)), all.slice(top, top + HEIGHT))
    assert.strictEqual(position === null, top === last)
  }
})
