import { assert, it } from "@effect/vitest"
import { Check } from "../../src/model/index.ts"
import { entry, fileOf, header, load, mark, message, user } from "../support.ts"

const problemsOf = (text: string) => {
  const { file, tree } = load(text)
  return Check.problems(file, tree).map(({ line, kind }) => [line, kind])
}

it("a sound session has no problems", () => {
  const state = mark("m", "a", "state", { targetIds: ["a"], enabled: false })
  assert.deepStrictEqual(problemsOf(fileOf(header, user("a", null), state)), [])
})

it("everything wrong with a file is told by its line, in file order", () => {
  const text = fileOf(
    header,
    user("a", "nobody"),
    "junk",
    user("b", "c"),
    user("c", "b"),
    message("d", "a", { role: "user" }),
    mark("e", "d", "state", { targetIds: "all" }),
    user("a", "nobody", "again"),
    '{"torn'
  ).slice(0, -1)
  assert.deepStrictEqual(problemsOf(text), [
    [3, "not-json"],
    [4, "cycle"],
    [6, "bad-body"],
    [7, "bad-body"],
    [8, "duplicate-id"],
    [8, "unknown-parent"],
    [9, "torn-tail"]
  ])
})

it("types and marks we do not know promise nothing", () => {
  const text = fileOf(header, entry("a", null, { type: "hologram", beam: 1 }), mark("m", "a", "future", { x: 1 }))
  assert.deepStrictEqual(problemsOf(text), [])
})
