import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { PromptHistory } from "@grove/core"
import { Arbitrary, Effect, Schema } from "effect"
import * as SqlitePromptHistory from "../src/SqlitePromptHistory.ts"
import { drivers, temporary } from "./support.ts"

const driver = drivers[0]!
const fresh = (name = "history.db") => SqlitePromptHistory.layer({ path: join(temporary(), name), driver })

const NOON = Date.UTC(2026, 0, 1, 12)
const use = (prompt: string, at = NOON) => ({ prompt, at, cwd: "/w", session: "s", entry: null, author: "user" })
const addAll = (prompts: ReadonlyArray<string>) =>
  PromptHistory.use((history) => history.addAll(prompts.map((prompt, i) => use(prompt, NOON + i))))
const search = (text: string, limit = 100) => PromptHistory.use((history) => history.search({ text, limit }))
const found = (text: string) => Effect.map(search(text), (hits) => hits.map(({ prompt }) => prompt))

layer(fresh())("text of every kind", (it) => {
  const prompts = [
    "修复会话树折叠的错误",
    "ツリーの修正",
    "東京都の天気",
    "세션트리 고치기",
    "getUserById fails",
    "open session_tree.ts",
    "C++ templates",
    "Cherry pie",
    "compile TS files",
    "un café noir",
    "cafe without accent",
    "重跑gen-itgc后再看",
    "𠮷野家で食べる",
    "launch 🚀 now",
    "foo-bar and foo bar",
    "test:unit",
    "AND OR NOT NEAR",
    'say "open',
    "NEAR( here",
    "100% of a_b",
    "quick ok",
    "quick only",
    "a\0b with a NUL",
    "half \ud83d pair",
    "parseHTTPRequest2 is slow",
    "recommit it",
    "广西 hills",
    "旅游 plans"
  ]
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["会话树", ["修复会话树折叠的错误"]],
    ["会话", ["修复会话树折叠的错误"]],
    ["折叠", ["修复会话树折叠的错误"]],
    ["错误", ["修复会话树折叠的错误"]],
    ["修复会话", ["修复会话树折叠的错误"]],
    ["叠", ["修复会话树折叠的错误"]],
    ["修折", []],
    ["ツリー", ["ツリーの修正"]],
    ["修正", ["ツリーの修正"]],
    ["リー", ["ツリーの修正"]],
    ["なか", []],
    ["東京", ["東京都の天気"]],
    ["京都", ["東京都の天気"]],
    ["트리", ["세션트리 고치기"]],
    ["세션트리", ["세션트리 고치기"]],
    ["getUser", ["getUserById fails"]],
    ["UserById", ["getUserById fails"]],
    ["user", ["getUserById fails"]],
    ["byid", ["getUserById fails"]],
    ["tree", ["open session_tree.ts"]],
    ["session_tree", ["open session_tree.ts"]],
    [".ts", ["open session_tree.ts"]],
    ["C++", ["C++ templates"]],
    ["'TS", ["compile TS files", "open session_tree.ts"]],
    ["cafe", ["un café noir", "cafe without accent"]],
    ["café", ["un café noir", "cafe without accent"]],
    ["CAFÉ", ["un café noir", "cafe without accent"]],
    ["itgc", ["重跑gen-itgc后再看"]],
    ["重跑gen", ["重跑gen-itgc后再看"]],
    ["gen-itgc后", ["重跑gen-itgc后再看"]],
    ["后再", ["重跑gen-itgc后再看"]],
    ["𠮷野", ["𠮷野家で食べる"]],
    ["𠮷", ["𠮷野家で食べる"]],
    ["🚀", ["launch 🚀 now"]],
    ["foo-bar", ["foo-bar and foo bar"]],
    ["test:unit", ["test:unit"]],
    ["AND OR", ["AND OR NOT NEAR"]],
    ["NEAR(", ["NEAR( here"]],
    ['"open', ['say "open']],
    ["-x", []],
    ["(", ["NEAR( here"]],
    ["%", ["100% of a_b"]],
    ["100%", ["100% of a_b"]],
    ["a_b", ["100% of a_b"]],
    ["quick ok", ["quick ok"]],
    ["a\0b", ["a\0b with a NUL"]],
    ["half \ud83d", ["half \ufffd pair"]],
    ["HTTPReq", ["parseHTTPRequest2 is slow"]],
    ["request2", ["parseHTTPRequest2 is slow"]],
    ["mit", ["recommit it"]],
    ["广西 | 桂林 | 漓江 | 旅游", ["广西 hills", "旅游 plans"]]
  ]
  it.effect("is found by its words, parts, pairs and signs, and by nothing else", () =>
    Effect.gen(function* () {
      yield* addAll(prompts)
      for (const [text, expected] of cases) {
        assert.deepStrictEqual([...(yield* found(text))].sort(), [...expected].sort(), text)
      }
    })
  )

  it.effect("is found nearly where a word was mistyped or a sign is another, and said to be", () =>
    Effect.gen(function* () {
      for (const [text, expected] of [
        ["templtes", "C++ templates"],
        ["tempaltes", "C++ templates"],
        ["compilee", "compile TS files"],
        ["NEAR(here)", "NEAR( here"]
      ] as const) {
        const [hit] = yield* search(text)
        assert.deepStrictEqual([hit?.prompt, hit?.fit], [expected, "near"], text)
      }
      assert.deepStrictEqual(yield* found("zzzzzz"), [])
      assert.deepStrictEqual(yield* found("quick templtes"), [])
    })
  )
})

describe("what oh-my-pi finds", () => {
  interface Expected {
    readonly [program: string]: { readonly queries: { readonly [text: string]: ReadonlyArray<string> } }
  }
  const fixtures = new URL("../../../fixtures/omp/history/", import.meta.url)
  const { prompts }: { readonly prompts: ReadonlyArray<{ readonly prompt: string }> } = JSON.parse(
    readFileSync(new URL("prompts.json", fixtures), "utf8")
  )
  const expected: Expected = JSON.parse(readFileSync(new URL("expected-search.json", fixtures), "utf8"))
  /** It drops every sign, so `c++` finds all with a c, and `re-run` what has `re` and `run`. */
  const isNoise = (text: string, prompt: string) =>
    /[^\p{L}\p{N}\s]/u.test(text) && !prompt.toLowerCase().includes(text.toLowerCase())

  layer(fresh())("is found here", (it) => {
    for (const [program, { queries }] of Object.entries(expected)) {
      it.effect(`by ${program}`, () =>
        Effect.gen(function* () {
          yield* addAll(prompts.map(({ prompt }) => prompt))
          let compared = 0
          for (const [text, theirs] of Object.entries(queries)) {
            if (text.trim() === "") continue
            const ours = new Set(yield* found(text))
            const nothing = ours.size === 0
            for (const prompt of theirs.filter((prompt) => nothing || !isNoise(text, prompt))) {
              assert.isTrue(ours.has(prompt), `${JSON.stringify(text)} finds ${JSON.stringify(prompt)}`)
              compared++
            }
          }
          assert.isAbove(compared, 50)
        })
      )
    }
  })
})

describe("any prompt", () => {
  const some = (values: ReadonlyArray<string>, minLength: number, maxLength: number) =>
    Arbitrary.array(Arbitrary.schema(Schema.Literals(values)), { minLength, maxLength })
  const prompt = Arbitrary.all({
    words: some(["fix", "Session", "größer", "a1", "naïve", "x", "тест", "Ωmega"], 1, 5),
    cjk: some([..."修复会话树折叠ツリーの세션𠮷"], 2, 8),
    identifier: some(["get", "User", "By", "Id", "HTTP", "v2", "_tree", "Parser"], 1, 4),
    glue: Arbitrary.schema(Schema.Literals([" ", "", ", ", "/"]))
  })
  let next = 0

  layer(fresh())("is kept", (it) => {
    it.effect.prop(
      "is found by each of its words, by any characters of a run, by any beginning of an identifier",
      [prompt],
      ([{ words, cjk, identifier, glue }]) =>
        Effect.gen(function* () {
          const mark = `mark${next++}end`
          const name = identifier.join("")
          const text = `${mark} ${words.join(" ")} ${cjk.join("")}${glue}${name}`
          yield* addAll([text])
          const pieces = [
            ...words,
            ...cjk.slice(0, -1).map((_, i) => cjk.slice(i, i + 2).join("")),
            cjk.join(""),
            ...Array.from({ length: name.length }, (_, i) => name.slice(0, i + 1))
          ]
          for (const piece of pieces)
            assert.deepStrictEqual(yield* found(`${mark} ${piece}`), [text], `${text}: ${piece}`)
        })
    )

    it.effect.prop("is not found once it is deleted, by any of its words", [prompt], ([{ words, cjk, identifier }]) =>
      Effect.gen(function* () {
        const history = yield* PromptHistory
        const mark = `gone${next++}`
        const parts = [...words, cjk.join(""), identifier.join("")]
        const text = `${parts.join(" ")} ${mark}`
        yield* addAll([text])
        const hits = yield* history.search({ text: mark, limit: 5, exhaustive: true })
        assert.strictEqual(yield* history.remove(hits.map(({ id }) => id)), 1)
        for (const word of [...parts, mark]) assert.notInclude(yield* found(word), text)
      })
    )
  })
})

describe("a word that is everywhere", () => {
  layer(fresh())("in thousands of prompts", (it) => {
    it.effect("is found in the newest ones, and in old ones used again lately", () =>
      Effect.gen(function* () {
        const history = yield* PromptHistory
        const many = Array.from({ length: 3000 }, (_, i) => use(`common word number${i}`, NOON + i * 1000))
        yield* history.addAll(many)
        yield* history.add(use("common word number7", NOON + 9_000_000))
        const hits = yield* search("common word")
        assert.strictEqual(hits.length, 100)
        assert.strictEqual(hits[0]?.prompt, "common word number7")
        assert.strictEqual(hits[1]?.prompt, "common word number2999")
        assert.deepStrictEqual(yield* found("common number1234"), ["common word number1234"])
        assert.strictEqual((yield* search("comm number12", 5)).length, 5)
        assert.deepStrictEqual(yield* found("re:/number12.4$/ !1214 !1224 !1254"), [
          ...["common word number1294", "common word number1284", "common word number1274"],
          ...["common word number1264", "common word number1244", "common word number1234", "common word number1204"]
        ])
      })
    )
  })
})
