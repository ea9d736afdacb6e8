import { assert, describe, it } from "@effect/vitest"
import { BranchSummary, SessionTree } from "../../src/model/index.ts"
import { call, entry, mark, reply, result, user } from "../support.ts"

describe("what a branch leaves behind", () => {
  const entries = [
    user("u1", null),
    reply("a1", "u1"),
    user("u2", "a1"),
    reply("a2", "u2", call("edit")),
    result("r2", "a2"),
    user("b2", "a1")
  ]
  const gathered = (more: ReadonlyArray<ReturnType<typeof entry>> = [], budget = 1000, from = "r2") => {
    const tree = SessionTree.from([...entries, ...more])
    return BranchSummary.gather(tree, BranchSummary.abandoned(tree, from, "b2").rows, budget)
  }
  const contents = ({ messages }: BranchSummary.Gathered) => messages.map(({ content, summary }) => content ?? summary)

  it("is what lies below the deepest entry of both paths, without results", () => {
    const { messages, files } = gathered()
    assert.deepStrictEqual(
      messages.map(({ role }) => role),
      ["user", "assistant"]
    )
    assert.deepStrictEqual(files.modifiedFiles, ["a.txt"])
  })
  it("holds neither what is switched off nor what an edit took out, and the words that edits put in", () => {
    const more = [
      user("u3", "r2"),
      user("u4", "u3"),
      entry("e1", "u4", { type: "context_edit", targetId: "u3", replacement: null }),
      entry("e2", "e1", { type: "context_edit", targetId: "u4", replacement: { content: "edited" } }),
      mark("m", "e2", "state", { targetIds: ["u2", "a2", "r2"], enabled: false })
    ]
    const left = gathered(more, 1000, "e2")
    assert.deepStrictEqual(contents(left), ["edited"])
    assert.deepStrictEqual(left.files.modifiedFiles, [])
  })
  it("carries on what compactions on the way had noted", () => {
    const more = [
      entry("k", "r2", { type: "compaction", summary: "S", tokensBefore: 1, details: { readFiles: ["c.txt"] } })
    ]
    const left = gathered(more, 1000, "k")
    assert.deepStrictEqual(contents(left).at(-1), "S")
    assert.deepStrictEqual(left.files, { readFiles: ["c.txt"], modifiedFiles: ["a.txt"] })
  })
  it("is the newest that fits, with the files of all", () => {
    const left = gathered([user("u3", "r2", "12345678")], 2, "u3")
    assert.deepStrictEqual(contents(left), ["12345678"])
    assert.strictEqual(left.tokens, 2)
    assert.deepStrictEqual(left.files.modifiedFiles, ["a.txt"])
  })
  it("is nothing on the way down, and all of it without a common entry", () => {
    const tree = SessionTree.from(entries)
    assert.deepStrictEqual(BranchSummary.abandoned(tree, "a1", "r2"), { ancestor: "a1", rows: [] } as never)
    assert.strictEqual(BranchSummary.abandoned(tree, "r2", null).rows.length, 5)
    assert.deepStrictEqual(BranchSummary.abandoned(tree, null, "r2").rows, [])
  })
})
