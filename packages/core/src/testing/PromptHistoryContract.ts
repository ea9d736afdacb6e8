/** What every `PromptHistory` promises. Nothing is taken for granted about what is already in the history. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { PromptHistory, type PromptQuery, type PromptUse } from "../PromptHistory.ts"

/** A word that no other prompt holds. */
const fresh = (): string => `w${crypto.randomUUID().replaceAll("-", "")}`

const NOON = Date.UTC(2026, 0, 1, 12)

const use = (prompt: string, fields: Partial<PromptUse> = {}): PromptUse => ({
  prompt,
  at: NOON,
  cwd: "/contract",
  session: "a session",
  entry: "an entry",
  author: "user",
  ...fields
})

const add = (prompt: string, fields?: Partial<PromptUse>) =>
  PromptHistory.use((history) => history.add(use(prompt, fields)))

const search = (text: string, scope: Partial<PromptQuery> = {}) =>
  PromptHistory.use((history) => history.search({ text, limit: 100, ...scope }))

const found = (text: string, scope?: Partial<PromptQuery>) =>
  Effect.map(search(text, scope), (hits) => hits.map(({ prompt }) => prompt))

/** Comes between two prompts, so that the second is no repeat. */
const somethingElse = Effect.suspend(() => add(`something else ${fresh()}`))

export const suite = (name: string, layer: Layer.Layer<PromptHistory, unknown>) =>
  it.layer(layer, { excludeTestServices: true, concurrent: false })(
    `${name} keeps the PromptHistory promises`,
    (it) => {
      it.effect("a prompt is found as soon as it is added, with its place and time", () =>
        Effect.gen(function* () {
          const prompt = `explain ${fresh()} to me`
          yield* add(prompt, { at: NOON + 7, cwd: "/there", session: "s1", entry: "e1" })
          const [hit, ...others] = yield* search(prompt)
          assert.deepStrictEqual(others, [])
          const { id, ...told } = hit!
          assert.isTrue(Number.isInteger(id))
          const at = { firstUsed: NOON + 7, lastUsed: NOON + 7, cwd: "/there", session: "s1", entry: "e1" }
          assert.deepStrictEqual(told, { prompt, uses: 1, ...at, fit: "phrase" })
        })
      )

      it.effect("a prompt may have no place", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { cwd: null, session: null, entry: null })
          const [hit] = yield* search(word)
          assert.deepStrictEqual([hit?.cwd, hit?.session, hit?.entry], [null, null, null])
          assert.deepStrictEqual(yield* found(word, { cwd: "null" }), [])
        })
      )

      it.effect("blanks alone are no prompt", () =>
        Effect.gen(function* () {
          const cwd = `/${fresh()}`
          for (const blank of ["", "  ", "\r\n\t\n"]) yield* add(blank, { cwd })
          assert.deepStrictEqual(yield* found("", { cwd }), [])
        })
      )

      it.effect("a repeat of the very last prompt counts as one use, from the first time to the last", () =>
        Effect.gen(function* () {
          const word = fresh()
          for (const at of [NOON, NOON + 1, NOON + 2]) yield* add(word, { at, entry: `at ${at}` })
          const [hit, ...others] = yield* search(word)
          assert.deepStrictEqual(others, [])
          assert.deepStrictEqual([hit?.uses, hit?.firstUsed, hit?.lastUsed], [1, NOON, NOON + 2])
          assert.strictEqual(hit?.entry, `at ${NOON + 2}`)
        })
      )

      it.effect("a prompt that comes again after another counts again", () =>
        Effect.gen(function* () {
          const word = fresh()
          for (const at of [NOON, NOON + 10, NOON + 20]) {
            yield* add(word, { at })
            yield* add(word, { at: at + 1 })
            yield* somethingElse
          }
          const [hit] = yield* search(word)
          assert.deepStrictEqual([hit?.uses, hit?.firstUsed, hit?.lastUsed], [3, NOON, NOON + 21])
        })
      )

      it.effect("the place told of a prompt is that of its last use, in whatever order uses are added", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { at: NOON + 5, cwd: "/last", session: "last", entry: "last" })
          yield* somethingElse
          yield* add(word, { at: NOON, cwd: "/first", session: "first", entry: "first" })
          const [hit] = yield* search(word)
          assert.deepStrictEqual([hit?.cwd, hit?.session, hit?.entry], ["/last", "last", "last"])
          assert.deepStrictEqual([hit?.firstUsed, hit?.lastUsed], [NOON, NOON + 5])
        })
      )

      it.effect("of prompts that fit equally well the newest comes first", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompts = ["aaa", "bbb", "ccc", "ddd"].map((end) => `${word} ${end}`)
          for (const [i, at] of [3, 1, 4, 2].entries()) yield* add(prompts[i]!, { at: NOON + at })
          assert.deepStrictEqual(yield* found(word), [prompts[2], prompts[0], prompts[3], prompts[1]])
        })
      )

      it.effect("at most as many come as were asked for, the newest of them", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompts = ["aaa", "bbb", "ccc"].map((end) => `${word} ${end}`)
          for (const [i, prompt] of prompts.entries()) yield* add(prompt, { at: NOON + i })
          assert.deepStrictEqual(yield* found(word, { limit: 2 }), [prompts[2], prompts[1]])
          assert.deepStrictEqual(yield* found(word, { limit: 0 }), [])
        })
      )

      it.effect("a prompt is found in every place where it was ever used", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { cwd: "/a", session: "s1", at: NOON })
          yield* somethingElse
          yield* add(word, { cwd: "/b", session: "s2", at: NOON + 1 })
          for (const scope of [{}, { cwd: "/a" }, { cwd: "/b" }, { session: "s1" }, { session: "s2" }]) {
            assert.deepStrictEqual(yield* found(word, scope), [word], JSON.stringify(scope))
          }
          for (const scope of [{ cwd: "/c" }, { cwd: "/" }, { session: "s" }, { session: "s3" }]) {
            assert.deepStrictEqual(yield* found(word, scope), [], JSON.stringify(scope))
          }
        })
      )

      it.effect("a repeat elsewhere is found there and where it was before", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { cwd: "/a", session: "s1", at: NOON })
          yield* add(word, { cwd: "/b", session: "s2", at: NOON + 1 })
          for (const scope of [{ cwd: "/a" }, { cwd: "/b" }, { session: "s1" }, { session: "s2" }]) {
            const [hit] = yield* search(word, scope)
            assert.deepStrictEqual([hit?.uses, hit?.cwd, hit?.session], [1, "/b", "s2"], JSON.stringify(scope))
          }
        })
      )

      it.effect("a directory and a session together mean one use in both", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { cwd: "/a", session: "s1" })
          yield* somethingElse
          yield* add(word, { cwd: "/b", session: "s2" })
          assert.deepStrictEqual(yield* found(word, { cwd: "/b", session: "s2" }), [word])
          assert.deepStrictEqual(yield* found(word, { cwd: "/a", session: "s2" }), [])
        })
      )

      it.effect("an empty query finds every prompt of its place", () =>
        Effect.gen(function* () {
          const cwd = `/${fresh()}`
          yield* add("older", { cwd, at: NOON })
          yield* add("newer", { cwd, at: NOON + 1 })
          assert.deepStrictEqual((yield* found("", { cwd })).sort(), ["newer", "older"])
          assert.deepStrictEqual((yield* found(" \n", { cwd })).sort(), ["newer", "older"])
        })
      )

      it.effect("what nobody typed is not found, and does not disturb what somebody did", () =>
        Effect.gen(function* () {
          const [word, typed] = [fresh(), fresh()]
          yield* add(`${word} by an agent`, { author: "agent" })
          assert.deepStrictEqual(yield* found(word), [])
          yield* add(typed, { at: NOON, cwd: "/typed" })
          yield* add(typed, { at: NOON + 1, cwd: "/by an agent", author: "agent" })
          const [hit] = yield* search(typed)
          assert.deepStrictEqual([hit?.uses, hit?.lastUsed, hit?.cwd], [1, NOON, "/typed"])
          assert.deepStrictEqual(yield* found(typed, { cwd: "/by an agent" }), [])
        })
      )

      it.effect("what an agent wrote first is found once a person types it", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { author: "agent" })
          yield* add(word)
          assert.deepStrictEqual(
            (yield* search(word)).map(({ uses }) => uses),
            [1]
          )
        })
      )

      it.effect("all words must occur, in any order and any case", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompt = `Rename the Parser of ${word}`
          yield* add(prompt)
          for (const query of [`${word} parser`, `  PARSER \n ${word.toUpperCase()} rename `]) {
            assert.deepStrictEqual(yield* found(query), [prompt], query)
          }
          assert.deepStrictEqual(yield* found(`${word} parser lexer`), [])
        })
      )

      it.effect("a word is found inside longer ones, also where words are not parted by spaces", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompt = `${word} please recommit 折叠树的分支 ok`
          yield* add(prompt)
          for (const part of ["mit", "commit", "折叠", "叠树", "的分支", "分"]) {
            assert.deepStrictEqual(yield* found(`${word} ${part}`), [prompt], part)
          }
          assert.deepStrictEqual(yield* found(`${word} 折树`), [])
        })
      )

      it.effect.each([
        "C++",
        '"open',
        '"',
        "AND",
        "OR",
        "NOT",
        "foo-bar",
        "NEAR(",
        "NEAR(a,b)",
        "(",
        "foo*",
        "%",
        "_",
        "a_b%c",
        "\\",
        "--",
        "prompt;drop",
        "👩‍👩‍👧"
      ])("%s is a text like any other", (text) =>
        Effect.gen(function* () {
          const word = fresh()
          const prompt = `${word} says ${text} here`
          yield* add(prompt)
          yield* add(`${word} plain open foo bar near C axbyc`)
          assert.deepStrictEqual(yield* found(`${word} ${text}`), [prompt])
          assert.include(yield* found(text, { limit: 100_000 }), prompt)
        })
      )

      it.effect("copies that differ in line ends, trailing blanks or composition are one prompt", () =>
        Effect.gen(function* () {
          const word = fresh()
          const copies = [
            `${word} caf\u00e9\nsecond line`,
            `${word} caf\u00e9\r\nsecond line`,
            `${word} caf\u00e9  \nsecond line\t\n\n`,
            `\n${word} cafe\u0301\rsecond line `
          ]
          for (const copy of copies) {
            yield* add(copy)
            yield* somethingElse
          }
          const hits = yield* search(word)
          assert.deepStrictEqual(
            hits.map(({ prompt, uses }) => [prompt, uses]),
            [[copies[0], 4]]
          )
          assert.deepStrictEqual(yield* found(`${word} cafe\u0301`), [copies[0]])
        })
      )

      it.effect("prompts that differ in anything else are two", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompts = [`${word} a b`, `${word} a  b`, `${word} A b`, `${word} a\nb`]
          for (const prompt of prompts) yield* add(prompt)
          assert.deepStrictEqual((yield* found(word)).sort(), [...prompts].sort())
        })
      )

      it.effect(
        "a long prompt with long blanks is kept whole, and quickly",
        () =>
          Effect.gen(function* () {
            const word = fresh()
            const prompt = `${word}${" ".repeat(200_000)}end`
            yield* add(prompt)
            assert.deepStrictEqual(yield* found(word), [prompt])
          }),
        5000
      )

      it.effect("what is removed is found no more, in no place; the rest stays", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          for (const end of ["aaa", "bbb", "ccc"]) yield* add(`${word} ${end}`, { cwd: `/${end}` })
          const hits = yield* search(word)
          const gone = hits.filter(({ prompt }) => !prompt.endsWith("bbb")).map(({ id }) => id)
          assert.strictEqual(yield* history.remove(gone), 2)
          assert.deepStrictEqual(yield* found(word), [`${word} bbb`])
          assert.deepStrictEqual(yield* found(word, { cwd: "/aaa" }), [])
        })
      )

      it.effect("removing what is not there removes nothing", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          yield* add(word)
          const [hit] = yield* search(word)
          assert.strictEqual(yield* history.remove([]), 0)
          assert.strictEqual(yield* history.remove([hit!.id, hit!.id]), 1)
          assert.strictEqual(yield* history.remove([hit!.id]), 0)
        })
      )

      it.effect("what was removed can be typed again, and its past is gone", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          yield* add(word, { at: NOON, cwd: "/past" })
          yield* somethingElse
          yield* add(word, { at: NOON + 1 })
          yield* history.remove((yield* search(word)).map(({ id }) => id))
          yield* add(word, { at: NOON + 2 })
          const [hit] = yield* search(word)
          assert.deepStrictEqual([hit?.prompt, hit?.uses, hit?.firstUsed], [word, 1, NOON + 2])
          assert.deepStrictEqual(yield* found(word, { cwd: "/past" }), [])
        })
      )

      it.effect("many come in their order, as if one after the other, and are counted", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const [word, twice] = [fresh(), fresh()]
          const uses = [
            use(`${word} one`, { at: NOON }),
            use(" \n", { at: NOON + 1 }),
            use(`${word} ${twice}`, { at: NOON + 2 }),
            use(`${word} ${twice}`, { at: NOON + 3, cwd: "/again" }),
            use(`${word} one`, { at: NOON + 4 })
          ]
          assert.deepStrictEqual(yield* history.addAll(uses), { added: 4, known: 0, blank: 1 })
          const hits = yield* search(word)
          assert.deepStrictEqual(
            hits.map(({ prompt, uses, lastUsed }) => [prompt, uses, lastUsed]),
            [
              [`${word} one`, 2, NOON + 4],
              [`${word} ${twice}`, 1, NOON + 3]
            ]
          )
          assert.deepStrictEqual(yield* found(twice, { cwd: "/again" }), [`${word} ${twice}`])
        })
      )

      it.effect("what is imported again is known, and changes nothing", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          const uses = ["a", "b", "a"].map((end, i) => use(`${word} ${end}`, { at: NOON + i, entry: `e${i}` }))
          const skipKnown = { skipKnown: true }
          assert.deepStrictEqual(yield* history.addAll(uses, skipKnown), { added: 3, known: 0, blank: 0 })
          const before = yield* search(word)
          assert.deepStrictEqual(yield* history.addAll(uses, skipKnown), { added: 0, known: 3, blank: 0 })
          assert.deepStrictEqual(yield* search(word), before)
          const more = [...uses, use(`${word} c`, { at: NOON + 9 }), use(`${word} c`, { at: NOON + 9 })]
          const rehearsed = yield* history.addAll(more, { skipKnown: true, dryRun: true })
          assert.deepStrictEqual(rehearsed, { added: 1, known: 4, blank: 0 })
          assert.deepStrictEqual(yield* search(word), before)
          assert.deepStrictEqual(yield* history.addAll(more, skipKnown), { added: 1, known: 4, blank: 0 })
          // Noted when it was typed, and read again from the session, whose clock was looked at a moment earlier.
          yield* add(`${word} typed`, { at: NOON + 20, session: "s", entry: "e1" })
          yield* somethingElse
          const read = ["s", "its fork"].map((session) => use(`${word} typed`, { at: NOON + 18, session, entry: "e1" }))
          assert.deepStrictEqual(yield* history.addAll(read, skipKnown), { added: 0, known: 2, blank: 0 })
          assert.strictEqual((yield* search(`${word} typed`))[0]?.uses, 1)
        })
      )

      it.effect("the words of a query can be whole, first, last, absent or one of several", () =>
        Effect.gen(function* () {
          const word = fresh()
          const prompts = [`fold ${word} tree`, `${word} folder leaf`, `unfold ${word} tree leaf`]
          yield* Effect.forEach(prompts, (prompt, i) => add(prompt, { at: NOON + i }))
          const asked: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
            ["'fold", [0]],
            ["^fold", [0]],
            ["leaf$", [1, 2]],
            ["!leaf", [0]],
            ["folder | unfold", [1, 2]],
            ["re:/^.{0,3}fold /", [0, 2]],
            ["re:/fold$/", []],
            ["after:2026-01-01", [0, 1, 2]],
            ["before:2026-01-01", []],
            ["cwd:contra", [0, 1, 2]],
            ["cwd:elsewhere", []],
            ["session:elsewhere", []],
            ["author:agent", []]
          ]
          for (const [text, expected] of asked) {
            const answer = [...(yield* found(`${word} ${text}`))].sort()
            assert.deepStrictEqual(answer, expected.map((i) => prompts[i]!).sort(), text)
          }
        })
      )

      it.effect("who wrote it, where and when are asked of one use", () =>
        Effect.gen(function* () {
          const word = fresh()
          yield* add(word, { at: NOON, cwd: "/first/place", session: "s-one" })
          yield* somethingElse
          yield* add(word, { at: NOON + 86_400_000, cwd: "/second/place", session: "s-two" })
          yield* add(word, { at: NOON + 1, author: "agent", cwd: "/third" })
          const cases: ReadonlyArray<readonly [string, boolean]> = [
            ["cwd:first before:2026-01-02", true],
            ["cwd:first after:2026-01-02", false],
            ["cwd:SECOND session:two after:2026-01-02", true],
            ["session:two before:2026-01-02", false],
            ["cwd:third", false],
            ["cwd:third author:agent", true]
          ]
          for (const [text, expected] of cases) {
            assert.deepStrictEqual(yield* found(`${word} ${text}`), expected ? [word] : [], text)
          }
          const [byAgent] = yield* search(`${word} author:agent`)
          assert.deepStrictEqual([byAgent?.uses, byAgent?.cwd, byAgent?.lastUsed], [1, "/third", NOON + 1])
          yield* add(`${word} alone`, { author: "agent", cwd: "/fourth" })
          const { search: all } = yield* PromptHistory
          const text = `${word} author:agent`
          const everywhere = yield* all({ text, exhaustive: true, limit: 9 })
          const there = yield* all({ text, exhaustive: true, limit: 9, cwd: "/fourth" })
          assert.deepStrictEqual(everywhere.map(({ prompt }) => prompt).sort(), [word, `${word} alone`])
          assert.deepStrictEqual(
            there.map(({ prompt }) => prompt),
            [`${word} alone`]
          )
        })
      )

      it.effect("what fits better comes first, then what is used more often, then what was used here", () =>
        Effect.gen(function* () {
          const word = fresh()
          const [phrase, apart, often, here] = [`${word} tree`, `${word} old tree`, `${word} x tree`, `${word} y tree`]
          for (let i = 0; i < 8; i++) {
            yield* add(often, { at: NOON + i })
            yield* somethingElse
          }
          yield* add(here, { at: NOON - 5, cwd: "/here" })
          yield* add(apart, { at: NOON + 50 })
          yield* add(phrase, { at: NOON - 9 })
          assert.deepStrictEqual(yield* found(`${word} tree`), [phrase, often, apart, here])
          assert.deepStrictEqual(yield* found(`${word} tree`, { near: { cwd: "/here" } }), [phrase, here, often, apart])
        })
      )

      it.effect("a scope that shows nothing can be compared with a wider one", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          for (const [i, cwd] of ["/a", "/a", "/b"].entries()) yield* add(`${word} ${i}`, { cwd, session: "s1" })
          assert.strictEqual(yield* history.count({ text: word, cwd: "/c" }), 0)
          assert.strictEqual(yield* history.count({ text: word, cwd: "/a" }), 2)
          assert.strictEqual(yield* history.count({ text: word, session: "s1" }), 3)
          assert.strictEqual(yield* history.count({ text: word }), 3)
        })
      )

      it.effect("an exhaustive search overlooks nothing, and takes nothing for what it nearly is", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          const uses = Array.from({ length: 1200 }, (_, i) => use(`${word} number${i}`, { at: NOON + i }))
          yield* history.addAll(uses)
          const all = yield* search(word, { exhaustive: true, limit: Number.POSITIVE_INFINITY })
          assert.strictEqual(all.length, uses.length)
          const nearly = `${word.slice(0, -1)}${word.endsWith("0") ? "1" : "0"}`
          assert.deepStrictEqual(yield* found(nearly, { exhaustive: true }), [])
          assert.strictEqual(yield* history.remove(all.map(({ id }) => id)), uses.length)
          assert.deepStrictEqual(yield* found(word), [])
        })
      )

      it.effect("what was used in a session is forgotten there, and stays known where else it was used", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const [word, session] = [fresh(), fresh()]
          yield* add(`${word} only there`, { session, entry: "e1" })
          yield* add(`${word} also there`, { session, entry: "e2", at: NOON + 5, cwd: "/there" })
          yield* add(`${word} also there`, { session: "another", entry: "e3", at: NOON + 1, cwd: "/elsewhere" })
          yield* add(`${word} by an agent`, { session, author: "agent" })
          const what = { is: "session", session } as const
          assert.strictEqual(yield* history.forget(what, { dryRun: true }), 3)
          assert.strictEqual((yield* search(word)).length, 2)
          assert.strictEqual(yield* history.forget({ ...what, entry: "e1" }), 1)
          assert.deepStrictEqual(yield* found(word), [`${word} also there`])
          assert.strictEqual(yield* history.forget(what), 2)
          const [hit] = yield* search(word)
          assert.deepStrictEqual([hit?.uses, hit?.firstUsed, hit?.lastUsed], [1, NOON + 1, NOON + 1])
          assert.deepStrictEqual([hit?.cwd, hit?.session, hit?.entry], ["/elsewhere", "another", "e3"])
          assert.deepStrictEqual(yield* found(word, { cwd: "/there" }), [])
          assert.deepStrictEqual(yield* found(word, { cwd: "/elsewhere" }), [`${word} also there`])
          assert.deepStrictEqual(yield* found(`${word} author:agent`), [])
          assert.strictEqual(yield* history.forget(what), 0)
        })
      )

      it.effect("every prompt that holds a text is forgotten, whoever wrote it", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const word = fresh()
          yield* add(`the key is x${word}y`)
          yield* add(`an agent has ${word}`, { author: "agent" })
          yield* add("nothing to hide")
          const what = { is: "text", text: word } as const
          assert.strictEqual(yield* history.forget(what, { dryRun: true }), 2)
          assert.strictEqual(yield* history.forget(what), 2)
          assert.strictEqual(yield* history.forget(what), 0)
          assert.deepStrictEqual(yield* found("nothing to hide"), ["nothing to hide"])
        })
      )

      it.effect("the statistics count what a person typed, repeats once", () =>
        Effect.gen(function* () {
          const history = yield* PromptHistory
          const [word, cwd] = [fresh(), `/${fresh()}`]
          yield* somethingElse
          const before = yield* history.stats
          const day = Date.UTC(2001, 8, 9)
          yield* add(`${word} a`, { at: day, cwd })
          yield* add(`${word} a`, { at: day + 1, cwd })
          yield* add(`${word} b`, { at: day + 86_400_000, cwd })
          yield* add(`${word} a`, { at: day + 86_400_001, cwd })
          yield* add(`${word} c`, { at: 5, cwd, author: "agent" })
          const after = yield* history.stats
          assert.strictEqual(after.prompts - before.prompts, 2)
          assert.strictEqual(after.uses - before.uses, 3)
          assert.strictEqual(after.firstUsed, day)
          const days = after.days.filter(({ day }) => day.startsWith("2001-09"))
          assert.deepStrictEqual(days, [
            { day: "2001-09-09", uses: 1 },
            { day: "2001-09-10", uses: 2 }
          ])
          assert.isTrue(after.top.every(({ uses }, i) => i === 0 || uses <= after.top[i - 1]!.uses))
          yield* history.remove((yield* search(word)).map(({ id }) => id))
        })
      )
    }
  )
