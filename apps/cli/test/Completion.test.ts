import { assert, describe, it } from "@effect/vitest"
import { next } from "../src/Completion.ts"
import { chat, commands } from "../src/commands.ts"

const table = commands.map(({ command }) => command)
const after = (...words: ReadonlyArray<string>) => next(chat.command, table, words.slice(0, -1), words.at(-1)!)

describe("what may stand next", () => {
  it("is a command at first, or a flag of the chat", () => {
    assert.includeMembers([...after("").words], ["ls", "tree", "edit", "help"])
    assert.includeMembers([...after("-").words], ["--print", "-p", "--model"])
  })

  it("is a flag of the command where a dash was typed", () => {
    assert.includeMembers([...after("tree", "--f").words], ["--filter", "--json"])
    assert.notInclude(after("tree", "-").words, "--older-than")
  })

  it("is a value that the flag takes", () => {
    assert.deepStrictEqual(after("tree", "--filter", "").words, ["turns", "user", "labeled", "errors", "all"])
    assert.isTrue(after("--session", "").sessions)
  })

  it("is a session where the command takes one", () => {
    assert.isTrue(after("tree", "").sessions)
    assert.isTrue(after("tree", "--filter", "all", "").sessions)
    assert.isFalse(after("tree", "3f9c", "").sessions)
  })

  it("is a word that the argument is known to take", () => {
    assert.include(after("edit", "@last", "").words, "prune")
    assert.include(after("config", "get", "").words, "compaction.enabled")
    assert.deepStrictEqual(after("completions", "").words, ["bash", "zsh", "fish"])
  })

  it("is nothing behind words that are no command", () => {
    assert.deepStrictEqual(after("nonsense", ""), { words: [], sessions: false, files: false })
  })
})
