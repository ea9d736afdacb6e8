/** The pages speak three languages, each whole. */
import { assert, describe, it } from "@effect/vitest"
import { ago, choose, languages, money } from "../../src/words/index.ts"

/** Every text of a language by its name; functions are asked with numbers and words. */
const textsOf = (value: unknown, name = ""): ReadonlyArray<readonly [string, string]> => {
  if (typeof value === "string") return [[name, value]]
  if (typeof value === "function")
    return [[name, String((value as (...given: ReadonlyArray<unknown>) => unknown)(2, 3))]]
  return Object.entries(value as object).flatMap(([key, inner]) => textsOf(inner, `${name}.${key}`))
}

describe("words", () => {
  const english = textsOf(languages.en)

  for (const [tag, words] of Object.entries(languages)) {
    it(`of ${tag} are all there, and none is empty or unfinished`, () => {
      const own = textsOf(words)
      assert.deepStrictEqual(
        own.map(([name]) => name),
        english.map(([name]) => name)
      )
      for (const [name, text] of own) assert.notMatch(text, /^$|undefined|TODO|\[object/, name)
    })
  }

  /** Words of a query are the same in every language. */
  const isQuery = (text: string) => /^['!]|^\w+:/.test(text)

  it("of other languages are not English left standing", () => {
    for (const tag of ["zh-CN", "ja"]) {
      const same = textsOf(languages[tag]).filter(
        ([, text], at) => text === english[at]![1] && /[a-z]{3}/i.test(text) && !isQuery(text)
      )
      assert.deepStrictEqual(
        same.map(([, text]) => text),
        ["Markdown"],
        tag
      )
    }
  })

  it("are those of the first language a person reads that there is", () => {
    assert.strictEqual(choose(["fr-FR", "ja-JP", "en"]), "ja")
    assert.strictEqual(choose(["zh-Hant-TW"]), "zh-CN")
    assert.strictEqual(choose(["constructor", "xx"]), "en")
  })

  it("tell ages and money, and never an unknown price as nothing", () => {
    const en = languages.en!
    assert.strictEqual(ago(en, 0, 30_000), "now")
    assert.match(ago(en, 0, 3 * 86_400_000), /3d ago/)
    assert.strictEqual(money(en, 6_000), "$0.006")
    assert.strictEqual(money(en, 1_234_567_000), "$1,234.57")
    assert.strictEqual(money(en, null), "unknown")
  })
})
