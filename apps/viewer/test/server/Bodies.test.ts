/** Entries as pages are given them. */
import { assert, it } from "@effect/vitest"
import { type Entry, isObject } from "@grove/core/model"
import { bodyOf, valueAt } from "../../src/server/Bodies.ts"

const entry = (fields: object) =>
  ({ type: "message", id: "a", parentId: null, timestamp: "", ...fields }) as unknown as Entry.Entry

it("what is short and shallow is sent as it is, unknown fields and strange names included", () => {
  const odd = JSON.parse(
    '{"type":"x","id":"a","parentId":null,"timestamp":"","__proto__":{"a":1},"a/b~c":[1,null,true,"x"]}'
  ) as Entry.Entry
  const { entry: sent, cut } = bodyOf(odd)
  assert.strictEqual(JSON.stringify(sent), JSON.stringify(odd))
  assert.deepStrictEqual(cut, {})
  assert.isUndefined((sent as { a?: unknown }).a)
})

it("a long text is cut between characters, and its place and length are told", () => {
  const { entry: sent, cut } = bodyOf(entry({ message: { content: [{ text: `abc😀${"x".repeat(20)}` }] } }), 4)
  assert.deepStrictEqual(cut["/message/content/0/text"], 25)
  assert.deepStrictEqual((sent.message as { content: ReadonlyArray<{ text: string }> }).content[0]!.text, "abc")
})

it("the data of a picture is left to be fetched by its place, and no other data", () => {
  const { entry: sent } = bodyOf(
    entry({
      message: {
        content: [
          { type: "image", data: "QUJD" },
          { type: "other", data: "QUJD" }
        ]
      }
    })
  )
  assert.deepStrictEqual((sent.message as { content: unknown }).content, [
    { type: "image", data: "image:/message/content/0/data" },
    { type: "other", data: "QUJD" }
  ])
})

it("a place names a value of the entry's own, or none", () => {
  const given = entry({ "a/b": { "~": ["x"] } })
  assert.strictEqual(valueAt(given, "/a~1b/~0/0").value, "x")
  for (const pointer of ["/toString", "/__proto__", "/a~1b/length", "/type/0/0", "/nothing/at/all"]) {
    assert.isFalse(isObject(valueAt(given, pointer).value), pointer)
  }
})
