import { assert, describe, it } from "@effect/vitest"
import { FIT, fitOf, parse } from "../../src/model/SearchQuery.ts"
import { fold } from "../../src/model/SearchText.ts"

const NOW = Date.UTC(2026, 5, 15)
const filters = ["cwd", "session", "author", "label", "after", "before"] as const
const query = (text: string) => parse(text, { filters, now: NOW })
const fits = (text: string, prompt: string) => fitOf(query(text), prompt) !== undefined

describe("folding", () => {
  it.each([
    ["CAFÉ", "cafe"],
    ["cafe\u0301", "cafe"],
    ["ＡＢＣ１２", "abc12"],
    ["İstanbul", "istanbul"],
    ["が", "が"],
    ["각", "각"],
    ["각", "각"],
    ["ﾃｽﾄ", "テスト"],
    ["𠮷野家 A", "𠮷野家 a"]
  ])("%s is compared as %s", (text, folded) => assert.strictEqual(fold(text), folded))
})

describe("a query", () => {
  it("asks for all its words, in any order, case and accent", () => {
    assert.isTrue(fits("tree FOLD", "Fold the session tree"))
    assert.isTrue(fits("cafe", "un café"))
    assert.isTrue(fits("café", "un cafe"))
    assert.isFalse(fits("tree leaf", "Fold the session tree"))
  })

  it.each([
    ["'tree", "the tree is old", true],
    ["'tree", "the treetop", false],
    ["'折叠", "修复折叠的错误", true],
    ["^fix", "fix the parser", true],
    ["^fix", "please fix it", false],
    ["^caret", "a ^caret here", true],
    ["parser$", "fix the parser", true],
    ["parser$", "the parser fails", false],
    ["5$", "costs 5$ a day", true],
    ["tree !leaf", "a tree", true],
    ["tree !leaf", "a tree with a leaf", false],
    ["old tree | leaf", "an old leaf", true],
    ["old tree | leaf", "a young leaf", false],
    ["tree |", "a tree | b", true],
    ["tree |", "a tree", false],
    ["| tree", "a tree | b", true],
    ["re:/a b+c/", "xa bbbcx", true],
    ["re:/a b+c/", "xacx", false],
    ["re:/A B/c", "a b", false],
    ["re:/(/", "a re:/(/ b", true],
    ["foo:bar", "a foo:bar b", true],
    ["foo:bar", "a foo bar b", false],
    ["after:never", "come after:never ok", true],
    ["!", "wow!", true],
    ["'", "it's", true]
  ])("%s on %j: %s", (text, prompt, expected) => assert.strictEqual(fits(text, prompt), expected))

  it("understands where and when", () => {
    const { filters, clauses } = query("fold cwd:grove session:3f9c author:agent label:plan after:7d before:2026-06-01")
    assert.deepStrictEqual(filters, {
      cwd: "grove",
      session: "3f9c",
      author: "agent",
      label: "plan",
      after: NOW - 7 * 86_400_000,
      before: Date.UTC(2026, 5, 1)
    })
    assert.deepStrictEqual(clauses, [[{ is: "part", text: "fold" }]])
  })

  it("fits best as typed, then at the beginning of words, then inside of them", () => {
    const how = (text: string, prompt: string) => fitOf(query(text), prompt)
    assert.strictEqual(how("session tree", "the session tree"), FIT.phrase)
    assert.strictEqual(how("tree session", "the session tree"), FIT.words)
    assert.strictEqual(how("tree ssion", "the session tree"), FIT.inside)
    assert.strictEqual(how("折叠", "修复折叠"), FIT.phrase)
    assert.strictEqual(how("mit", "recommit, then mitigate"), FIT.phrase)
    assert.strictEqual(how("mit", "recommit"), FIT.inside)
  })

  it("is answered quickly by a text that nearly fits everywhere", () => {
    assert.strictEqual(fitOf(query("aaaaab"), "a".repeat(1_000_000)), undefined)
    assert.strictEqual(fitOf(query("aaa"), `b${"a".repeat(1_000_000)}`), FIT.inside)
  })
})
