import { assert, it } from "@effect/vitest"
import { JsonText } from "../../src/model/index.ts"

const nested = (depth: number): unknown => {
  let value: unknown = { text: '日本語 "quoted"', n: [1, null, true, {}], gone: undefined, empty: [] }
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { inner: value, more: i % 5 }
  return value
}

it("a value is the same JSON however deeply it is nested", () => {
  const deep = JsonText.stringify(nested(100_000))
  const shallow = JsonText.stringify(nested(100))
  assert.strictEqual(shallow, JSON.stringify(nested(100)))
  assert.strictEqual(deep.length > shallow.length, true)
  assert.strictEqual(JsonText.stringify(JSON.parse(deep)), deep)
})
