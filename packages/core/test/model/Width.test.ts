import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Width } from "../../src/model/index.ts"
import { type Chance, forSeeds } from "../support.ts"

const pieces = [
  "a",
  " ",
  "é",
  "e\u0301",
  "你",
  "한",
  "ｗ",
  "ﾊ",
  "😀",
  "👍🏽",
  "👩‍👩‍👧‍👦",
  "🇩🇪",
  "1️⃣",
  "☺️",
  "\u0301",
  "\u200d",
  "ไทย",
  "…",
  "─"
]
const textOf = (chance: Chance) => Array.from({ length: chance.below(30) }, () => chance.pick(pieces)).join("")

describe("the width of", () => {
  it.each([
    ["nothing", "", 0],
    ["ASCII", "hello", 5],
    ["accented letters", "é", 1],
    ["combining marks on a letter", "e\u0301\u0323", 1],
    ["a combining mark alone", "\u0301", 0],
    ["a joiner alone", "\u200d", 0],
    ["Chinese", "你好", 4],
    ["Korean", "한글", 4],
    ["Korean in parts", "\u1112\u1161\u11ab", 2],
    ["full-width letters", "ｗ", 2],
    ["half-width kana", "ﾊ", 1],
    ["an emoji", "😀", 2],
    ["an emoji with a skin tone", "👍🏽", 2],
    ["a family joined into one", "👩‍👩‍👧‍👦", 2],
    ["a flag", "🇩🇪", 2],
    ["two flags", "🇩🇪🇫🇷", 4],
    ["a keycap", "1️⃣", 2],
    ["a sign shown as an emoji", "☺️", 2],
    ["box lines", "├─", 2],
    ["an ellipsis", "…", 1]
  ])("%s", (_, text, columns) => {
    assert.strictEqual(Width.of(text), columns)
  })

  it.prop("any text is no more than two columns a unit, and none of it counts backwards", [Schema.String], ([text]) => {
    assert.isTrue(Width.of(text) >= 0 && Width.of(text) <= 2 * text.length)
  })
})

describe("a text cut to a width", () => {
  it.each([
    ["hello", 5, "hello"],
    ["hello", 4, "hel…"],
    ["hello", 1, "…"],
    ["hello", 0, ""],
    ["hello", -1, ""],
    ["", 3, ""],
    ["你好吗", 6, "你好吗"],
    ["你好吗", 5, "你好…"],
    ["你好吗", 4, "你…"],
    ["你好吗", 2, "…"],
    ["a👩‍👩‍👧‍👦b", 4, "a👩‍👩‍👧‍👦b"],
    ["a👩‍👩‍👧‍👦b", 3, "a…"],
    ["🇩🇪🇫🇷", 3, "🇩🇪…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["ab\u0301", 2, "ab\u0301"]
  ])("%s in %i columns is %s", (text, columns, expected) => {
    assert.strictEqual(Width.cut(text, columns), expected)
  })

  it("fits, is the text itself if that fits, and else ends in an ellipsis", () => {
    forSeeds(3000, (chance) => {
      const text = textOf(chance)
      const columns = chance.below(40)
      const cut = Width.cut(text, columns)
      assert.isAtMost(Width.of(cut), columns)
      if (columns > 0 && Width.of(text) <= columns) assert.strictEqual(cut, text)
      else if (columns > 0) assert.isTrue(cut.endsWith("…") && text.startsWith(cut.slice(0, -1)))
    })
  })
  it("wastes no more than one column", () => {
    forSeeds(500, (chance) => {
      const text = textOf(chance)
      const columns = 1 + chance.below(Width.of(text) + 1)
      if (Width.of(text) > columns) assert.isAtLeast(Width.of(Width.cut(text, columns)), columns - 1)
    })
  })
  it("and padded is exactly that wide", () => {
    forSeeds(1000, (chance) => {
      const columns = chance.below(40)
      assert.strictEqual(Width.of(Width.pad(textOf(chance), columns)), columns)
    })
  })
})

it("a character is as wide alone as beside one that nobody sees, whichever way it is looked at", () => {
  for (let code = 0x20; code < 0xd800; code++) {
    const character = String.fromCharCode(code)
    // Behind an invisible one every text is looked at grapheme by grapheme.
    if (!/\p{M}/u.test(character))
      assert.strictEqual(Width.of(character), Width.of(`\u2060${character}`), code.toString(16))
  }
})

it("each character that is counted without looking takes one column and joins no neighbour", () => {
  let simple = 0
  for (let code = 0x20; code < 0x10000; code++) {
    const character = String.fromCharCode(code)
    if (!Width.SIMPLE.test(character)) continue
    simple++
    // A wide character beside it makes the whole text be looked at.
    assert.strictEqual(Width.of(`你${character}b${character}${character}`), 6, code.toString(16))
    assert.strictEqual(Width.cut(`${character}你`, 2), `${character}…`, code.toString(16))
  }
  assert.isAbove(simple, 900)
})

it("pieces of a text are as wide as fits, lose nothing and cut no character in two", () => {
  assert.deepStrictEqual(Width.pieces("short", 5), ["short"])
  assert.deepStrictEqual(Width.pieces("", 5), [""])
  assert.deepStrictEqual(Width.pieces("longer", 4), ["long", "er"])
  assert.deepStrictEqual(Width.pieces("限制限制x", 5), ["限制", "限制x"])
  assert.deepStrictEqual(Width.pieces("👨‍👩‍👧👨‍👩‍👧", 3), ["👨‍👩‍👧", "👨‍👩‍👧"])
  assert.deepStrictEqual(Width.pieces("限", 1), ["限"])
})

it("every picture that is one character takes two columns", () => {
  let pictures = 0
  for (let code = 0xa0; code < 0x20000; code++) {
    const character = String.fromCodePoint(code)
    if (!/^\p{RGI_Emoji}$/v.test(character)) continue
    pictures++
    assert.strictEqual(Width.of(character), 2, code.toString(16))
  }
  assert.isAbove(pictures, 1000)
})
