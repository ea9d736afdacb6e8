import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Nul from "../src/Nul.ts"

const PIECES = ["\0", "\ufdd0", "\ufdd1", "a", "折", ""]

it.prop(
  "any text comes back as it was, and is written without a NUL",
  [Schema.Array(Schema.Literals(PIECES))],
  ([pieces]) => {
    const text = pieces.join("")
    const kept = Nul.written(text)
    assert.notInclude(kept as string, "\0")
    assert.deepStrictEqual(Nul.read({ text: kept as string, n: 1 }), { text, n: 1 })
  }
)
