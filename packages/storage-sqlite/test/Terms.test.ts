import { assert, describe, it } from "@effect/vitest"
import { grams, termsOf, vocabulary } from "../src/Terms.ts"

describe("what is added to a text for the index", () => {
  it.each([
    ["plain words need nothing", ""],
    ["折叠树", "折叠 叠树 树"],
    ["树", "树"],
    ["修复,错误", "修复 复 错误 误"],
    ["ツリーを", "ツリ リー ーを を"],
    ["세션", "세션 션"],
    ["𠮷野家", "𠮷野 野家 家"],
    ["重跑gen后", "重跑 跑 gen 后"],
    ["getUserById", "userbyid byid id"],
    ["parseHTTPRequest2", "httprequest2 request2 2"],
    ["session_tree v2", "2"],
    ["ＡＢＣ", "abc"]
  ])("%s: %s", (text, expected) => assert.strictEqual(grams(text), expected))

  it("the words of a text are what it is found by, each once", () => {
    const text = "Café café getUser 折叠"
    assert.deepStrictEqual([...vocabulary(text, grams(text))].sort(), ["cafe", "getuser", "user", "叠", "折叠"])
    assert.deepStrictEqual([...vocabulary("x".repeat(65), "")], [])
  })
})

describe("what is asked of the index for a word", () => {
  const told = (word: string, isWhole = false) => termsOf(word, isWhole).map(({ is, text }) => `${is} ${text}`)
  it.each([
    ["tree", ["prefix tree"]],
    ["c++", ["word c"]],
    ["foo-bar", ["word foo", "prefix bar"]],
    ["折", ["prefix 折"]],
    ["折叠", ["phrase 折叠"]],
    ["修复会话", ["phrase 修复 复会 会话"]],
    ["itgc后", ["word itgc", "prefix 后"]],
    ["++", []],
    ["🚀", []]
  ])("%s", (word, expected) => assert.deepStrictEqual(told(word), expected))

  it("a whole word does not go on", () => assert.deepStrictEqual(told("tree", true), ["word tree"]))
})
