import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Paste from "../../src/model/Paste.ts"

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i}`).join("\n")

describe("a long paste", () => {
  it("is one of many lines, or of many characters", () => {
    assert.isFalse(Paste.isLong(lines(10)))
    assert.isTrue(Paste.isLong(lines(11)))
    assert.isFalse(Paste.isLong("x".repeat(1_000)))
    assert.isTrue(Paste.isLong("x".repeat(1_001)))
  })

  it("is folded to a placeholder with a number of its own", () => {
    const one = Paste.foldText(lines(40), {})
    const two = Paste.foldText("other", one.map)
    assert.deepStrictEqual(
      [one.placeholder, two.placeholder],
      ["[pasted text #1 +40 lines]", "[pasted text #2 +1 lines]"]
    )
    assert.deepStrictEqual(two.map, { "#1": lines(40), "#2": "other" })
    assert.strictEqual(Paste.foldText("x", { "#7": "", odd: 1 }).placeholder, "[pasted text #8 +1 lines]")
  })

  it.prop("comes back whatever it holds, placeholders and replacement patterns too", [Schema.String], ([text]) => {
    for (const pasted of [text, `$& $1 ${text}`, `[pasted text #1 +1 lines] ${text}`]) {
      const { placeholder, map } = Paste.foldText(pasted, {})
      assert.strictEqual(Paste.expandText(`a ${placeholder} b`, map), `a ${pasted} b`)
    }
  })

  it("that no map knows stays a placeholder", () => {
    const prompt = "[pasted text #1 +2 lines] [pasted text #toString]"
    assert.strictEqual(Paste.expandText(prompt, { "#1": 7 }), prompt)
  })
})

describe("a pasted image", () => {
  it("is sent behind the text that names it, once", () => {
    const { placeholder, map } = Paste.foldImage("blob:sha256:00", "image/png", {})
    assert.strictEqual(placeholder, "[pasted image #1]")
    const image = { type: "image" as const, data: "blob:sha256:00", mimeType: "image/png" }
    const text = Paste.foldText("long", {})
    assert.deepStrictEqual(Paste.expand(`see ${placeholder} ${text.placeholder} ${placeholder}`, text.map, map), [
      { type: "text", text: `see ${placeholder} long ${placeholder}` },
      image
    ])
    assert.strictEqual(Paste.expand("[pasted image #2]", {}, { ...map, "#2": "base64" }), "[pasted image #2]")
  })

  it("that a pasted text names is not sent", () => {
    const { map } = Paste.foldImage("AAAA", "image/png", {})
    assert.strictEqual(Paste.expand("[pasted text #1]", { "#1": "[pasted image #1]" }, map), "[pasted image #1]")
  })
})
