import { assert, describe, it } from "@effect/vitest"
import { fuzz } from "./support/Fuzz.ts"

describe("20,000 damaged lines", () => {
  it("are read without a crash or a change of the file, and the same whether parsed at once or later", () => {
    const { lines, slowest } = fuzz(20_000)
    assert.isAtLeast(lines, 20_000)
    assert.isBelow(slowest, 5_000)
  })
})
