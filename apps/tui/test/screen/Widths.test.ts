import { assert, it } from "@effect/vitest"
import { eastAsianWidth } from "get-east-asian-width"
import { wideRanges } from "../../src/screen/Widths.ts"

it("the wide characters are those of Unicode, every one and no other", () => {
  const wide = new RegExp(`^[${wideRanges()}]$`, "u")
  const wrong: Array<string> = []
  for (let code = 0; code <= 0x3ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    if (wide.test(String.fromCodePoint(code)) !== (eastAsianWidth(code) === 2)) wrong.push(code.toString(16))
  }
  assert.deepStrictEqual(wrong, [])
})
