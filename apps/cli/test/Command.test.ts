/** Words turned into what they mean, and what is said of words that mean nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Command from "../src/Command.ts"

const command: Command.Command = {
  name: "tree",
  about: "Draws.",
  arguments: [{ name: "s", required: true, about: "a session" }],
  flags: {
    filter: { type: "string", choices: ["turns", "all"], about: "which" },
    leaf: { type: "string", value: "entry", about: "where" },
    unfold: { type: "boolean", short: "u", about: "whole" }
  }
}
const several: Command.Command = {
  ...command,
  name: "check",
  arguments: [{ name: "file", required: true, many: true, about: "files" }]
}

const parsed = (words: ReadonlyArray<string>, of = command) => Result.getOrThrow(Command.parse(of, words))
const refused = (words: ReadonlyArray<string>, of = command): string => {
  const result = Command.parse(of, words)
  assert(Result.isFailure(result), `${words.join(" ")} is wrong`)
  return result.failure.message
}

describe("words are parsed", () => {
  it("flags may stand anywhere, and their values may be glued on", () => {
    const expected = { arguments: ["abc"], unguarded: 1, flags: { filter: "all", json: true } }
    assert.deepStrictEqual(parsed(["abc", "--filter", "all", "--json"]), expected)
    assert.deepStrictEqual(parsed(["--json", "--filter=all", "abc"]), expected)
    assert.deepStrictEqual(parsed(["-u", "abc"]).flags, { unfold: true })
  })

  it("what follows -- is no flag", () => {
    assert.deepStrictEqual(parsed(["--", "--json"]), { arguments: ["--json"], unguarded: 0, flags: {} })
  })

  it("a value that begins with a dash is glued on", () => {
    assert.deepStrictEqual(parsed(["abc", "--leaf=-1"]).flags, { leaf: "-1" })
  })

  it("of a flag given twice the last counts", () => {
    assert.deepStrictEqual(parsed(["abc", "--leaf", "a", "--leaf", "b"]).flags, { leaf: "b" })
  })

  it("help is given whatever else is missing", () => {
    assert.strictEqual(parsed(["--help"]).flags.help, true)
    assert.strictEqual(parsed(["-h"]).flags.help, true)
  })

  it("a command that takes many takes many", () => {
    assert.deepStrictEqual(parsed(["a", "b", "c"], several).arguments, ["a", "b", "c"])
  })
})

describe("wrong words are refused, and the refusal says what to do", () => {
  it.each([
    [["--fliter", "all", "abc"], "unknown flag --fliter; did you mean --filter?"],
    [["--jsn", "abc"], "unknown flag --jsn; did you mean --json?"],
    [["--xyzzy", "abc"], "unknown flag --xyzzy; see grove tree --help"],
    [["-x", "abc"], "unknown flag -x; see grove tree --help"],
    [["--constructor", "abc"], "unknown flag --constructor; see grove tree --help"],
    [["--__proto__", "abc"], "unknown flag --__proto__; see grove tree --help"],
    [["abc", "--json=yes"], "--json takes no value; see grove tree --help"],
    [["abc", "--leaf"], "--leaf needs a value; see grove tree --help"],
    [["abc", "--leaf", "--json"], "--leaf needs a value; see grove tree --help"],
    [["abc", "--filter", "usr"], '--filter is one of turns, all, not "usr"'],
    [[], "tree needs <s>; usage: grove tree <s> [--filter turns|all] [--leaf <entry>] [-u, --unfold]"],
    [["a", "b"], 'tree does not take "b"; usage: grove tree <s> [--filter turns|all] [--leaf <entry>] [-u, --unfold]']
  ] as const)("%j", (words, message) => {
    assert.strictEqual(refused(words), message)
  })

  it("a command that needs some needs one", () => {
    assert.match(refused([], several), /^check needs <file>; usage: grove check <file>\.\.\. /)
  })
})

describe("a slip of the finger is understood", () => {
  const known = ["ls", "show", "tree", "branches", "context", "check", "migrate"]

  it.each([
    ["shwo", "show"],
    ["sohw", "show"],
    ["tre", "tree"],
    ["treee", "tree"],
    ["branch", "branches"],
    ["brnaches", "branches"],
    ["contxet", "context"],
    ["chek", "check"],
    ["migrat", "migrate"],
    ["LS", "ls"],
    ["l", "ls"]
  ])("%s is taken for %s", (word, meant) => {
    assert.strictEqual(Command.didYouMean(word, known), `; did you mean ${meant}?`)
  })

  it.each(["serve", "xyzzy", "a prompt with spaces", "", "x".repeat(100_000)])("%s is taken for nothing", (word) => {
    assert.strictEqual(Command.didYouMean(word, known), "")
  })
})
