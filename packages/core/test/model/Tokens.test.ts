import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, type Entry, SessionTree, Tokens } from "../../src/model/index.ts"
import { entry, type Json, mark, message, reply, user } from "../support.ts"

const text = (length: number): string => "x".repeat(length)

describe("the estimate of a message", () => {
  const estimates: ReadonlyArray<readonly [string, Json, number]> = [
    ["counts four characters a token, rounded up", { role: "user", content: text(9) }, 3],
    [
      "adds up text blocks before it rounds",
      { role: "user", content: [1, 1, 1].map(() => ({ type: "text", text: "a" })) },
      1
    ],
    [
      "takes an image for 1200 tokens",
      { role: "user", content: [{ type: "image", data: text(9), mimeType: "image/png" }] },
      1200
    ],
    [
      "takes an image in a tool result for as much",
      { role: "toolResult", content: [{ type: "image", data: "" }] },
      1200
    ],
    ["counts thinking", { role: "assistant", content: [{ type: "thinking", thinking: text(8) }] }, 2],
    [
      "counts thinking that is hidden",
      { role: "assistant", content: [{ type: "redactedThinking", data: text(8) }] },
      2
    ],
    [
      "counts a tool call by its name and the JSON of its arguments",
      { role: "assistant", content: [{ type: "toolCall", id: "c", name: "read", arguments: { path: "a" } }] },
      4
    ],
    ["counts a command and what it printed", { role: "bashExecution", command: text(4), output: text(8) }, 3],
    [
      "counts nothing for a command kept from the model",
      { role: "bashExecution", command: "ls", output: text(99), excludeFromContext: true },
      0
    ],
    ["counts code and what it printed", { role: "pythonExecution", code: text(4), output: text(8) }, 3],
    ["counts mentioned files", { role: "fileMention", files: [{ path: text(4), content: text(8) }, 7] }, 3],
    ["counts the summary of a compaction", { role: "compactionSummary", summary: text(8), tokensBefore: 5 }, 2],
    ["counts the summary of a branch", { role: "branchSummary", summary: text(8) }, 2],
    ["counts the content of a role we do not know", { role: "oracle", content: text(8) }, 2],
    [
      "counts nothing where there is nothing to count",
      { role: "user", content: [null, 7, { type: "text" }, { type: "odd" }] },
      0
    ],
    ["counts nothing where there is no role", {}, 0]
  ]
  it.each(estimates)("%s", (_, of, expected) => {
    assert.strictEqual(Tokens.estimate(of), expected)
  })
  it("does not run out of stack over arguments nested 100,000 deep", () => {
    const args = JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)
    const content = [{ type: "toolCall", id: "c", name: "", arguments: args }]
    assert.strictEqual(Tokens.estimate({ role: "assistant", content }), Math.ceil(200_006 / 4))
  })
})

describe("what a usage counts", () => {
  it("is its total", () => assert.strictEqual(Tokens.ofUsage({ totalTokens: 7, input: 1 }), 7))
  it("is the sum of its buckets where it has no total", () => {
    assert.strictEqual(Tokens.ofUsage({ input: 1, output: 2, cacheRead: 4, cacheWrite: 8, totalTokens: 0 }), 15)
  })
  it.each([null, undefined, 7, {}, { input: "1" }, { totalTokens: -3 }, { totalTokens: Number.NaN }])(
    "is nothing for %j",
    (usage) => {
      assert.strictEqual(Tokens.ofUsage(usage), 0)
    }
  )
})

describe("what a context takes", () => {
  const charged = (id: string, parentId: string | null, totalTokens: number, body: Json = {}, fields: Json = {}) =>
    reply(id, parentId, { usage: { totalTokens }, content: [{ type: "text", text: text(40) }], ...body }, fields)
  const tokens = (entries: ReadonlyArray<Entry.Entry>, leaf?: string) => {
    const tree = SessionTree.from(entries)
    return Tokens.ofContext(tree, ContextBuilder.build(tree, leaf))
  }
  const turn = [user("u1", null, text(8)), charged("a1", "u1", 500), user("u2", "a1", text(400))]

  it("is nothing where nothing was said", () => {
    assert.deepStrictEqual(tokens([]), { tokens: 0, reply: null, counted: 0, estimated: 0 })
  })
  it("is what the last reply was charged for, and a guess for what follows", () => {
    assert.deepStrictEqual(tokens(turn), { tokens: 600, reply: "a1", counted: 500, estimated: 100 } as never)
  })
  it("is all a guess without a usage", () => {
    assert.strictEqual(tokens([user("u1", null, text(8)), user("u2", "u1", text(8))]).tokens, 4)
  })
  it.each([{ stopReason: "error" }, { stopReason: "aborted" }, { usage: { totalTokens: 0, input: 0 } }])(
    "passes over a last reply with %j",
    (body) => assert.strictEqual(tokens([...turn, charged("a2", "u2", 9000, body)]).tokens, 610)
  )
  it("is all a guess where the reply was copied from elsewhere", () => {
    const copied = charged("a1", "u1", 500, {}, { origin: { entry: "x" } })
    assert.strictEqual(tokens([user("u1", null, text(8)), copied]).tokens, 12)
  })
  it("leaves out what replies before a compaction were charged for", () => {
    const compaction = entry("k", "u2", {
      type: "compaction",
      summary: text(80),
      firstKeptEntryId: "a1",
      tokensBefore: 1
    })
    assert.deepStrictEqual(tokens([...turn, compaction]), { tokens: 130, reply: null, counted: 0, estimated: 130 })
    assert.strictEqual(tokens([...turn, compaction, charged("a2", "k", 70)]).tokens, 70)
  })

  const edit = (id: string, parentId: string, targetId: string) =>
    entry(id, parentId, { type: "context_edit", targetId, replacement: { content: text(4) } })

  it("is all a guess once something before the reply was edited", () => {
    assert.strictEqual(tokens([...turn, edit("e", "u2", "u1")]).tokens, 1 + 10 + 100)
  })
  it("is all a guess once the reply itself was edited", () => {
    assert.strictEqual(tokens([...turn, edit("e", "u2", "a1")]).tokens, 2 + 1 + 100)
  })
  it("still counts a reply when only what follows it was edited", () => {
    assert.strictEqual(tokens([...turn, edit("e", "u2", "u2")]).tokens, 501)
  })
  it("counts an older reply that an edit left alone", () => {
    const entries = [...turn, charged("a2", "u2", 900), edit("e", "a2", "u2")]
    assert.deepStrictEqual(tokens(entries), { tokens: 511, reply: "a1", counted: 500, estimated: 11 } as never)
  })
  it("counts a reply made after the edit", () => {
    assert.strictEqual(tokens([...turn, edit("e", "u2", "u1"), charged("a2", "e", 900)]).tokens, 900)
  })

  const state = (id: string, parentId: string, target: string, enabled = false) =>
    mark(id, parentId, "state", { targetIds: [target], enabled })

  it("is all a guess once something on the path was switched off or on again", () => {
    assert.strictEqual(tokens([...turn, state("m", "u2", "u1")]).tokens, 10 + 100)
    assert.strictEqual(tokens([...turn, state("m", "u2", "u1"), state("n", "u2", "u1", true)]).tokens, 2 + 10 + 100)
  })
  it("is all a guess once an edit was taken back", () => {
    assert.strictEqual(tokens([...turn, mark("m", "u2", "edit", { op: "undo", targetId: "m0" })]).tokens, 112)
  })
  it("does not mind what was switched on another branch, or before the reply", () => {
    assert.strictEqual(tokens([...turn, user("b", "a1"), state("m", "u2", "b")]).tokens, 600)
    assert.strictEqual(tokens([turn[0]!, state("m", "u1", "u1"), ...turn.slice(1)]).tokens, 600)
  })
  it("does not mind a move", () => {
    assert.strictEqual(tokens([...turn, mark("m", "u2", "leaf", { targetId: "u2" })]).tokens, 600)
  })
  it("reads a message of any shape", () => {
    assert.strictEqual(tokens([message("m", null, { role: "assistant", content: 7, usage: [] })]).tokens, 0)
  })
  it("looks at each line once, also where edits made every usage void", () => {
    const entries: Array<Entry.Entry> = [user("u", null)]
    for (let i = 0; i < 50_000; i++) entries.push(charged(`a${i}`, entries.at(-1)!.id, 10))
    for (let i = 0; i < 50_000; i++) entries.push(edit(`e${i}`, entries.at(-1)!.id, "u"))
    assert.strictEqual(tokens(entries).tokens, 500_001)
  })
})
