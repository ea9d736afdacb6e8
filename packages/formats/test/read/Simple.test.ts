/** The plain tree: lines without a header. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, type Json, type SessionTree } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, bytesOf, sourceOf, utf8 } from "../support.ts"

const said = (tree: SessionTree): ReadonlyArray<readonly [unknown, string]> =>
  tree.path(tree.leaf!).map(({ message }) => {
    const { role, content } = message as Json
    const [first] = Array.isArray(content) ? content : [{ text: content }]
    return [role, String((first as Json).text ?? (first as Json).name)] as const
  })

describe("the plain tree", () => {
  it("has branches, and results belong to the calls they hang on", () => {
    assert.strictEqual(Readers.detect("tree.jsonl", bytesOf("simple/tree.jsonl")), "simple")
    const { tree } = assertFlawless(Readers.read("simple", sourceOf("simple/tree.jsonl")).sessions[0]!)
    assert.strictEqual(tree.leaves().length, 2)
    assert.deepStrictEqual(said(tree), [
      ["user", "What is in config.json?"],
      ["assistant", "read"],
      ["toolResult", '{"port":8080}'],
      ["assistant", "It sets port 8080."],
      ["user", "Tell me a joke about ports"],
      ["assistant", "joke"]
    ])
    const { message } = tree.get("3")!
    assert.deepStrictEqual([(message as Json).toolCallId, (message as Json).toolName], ["2", "read"])
    assert.strictEqual((tree.get("4")!.message as Json).provider, "acme")
  })

  it("without parents it is one line, and results answer the calls in their order", () => {
    const { tree } = assertFlawless(Readers.read("simple", sourceOf("simple/line.jsonl")).sessions[0]!)
    assert.deepStrictEqual(said(tree), [
      ["user", "Hello"],
      ["assistant", "Hi!"],
      ["toolResult", "{}"]
    ])
    const { tree: row } = opened([
      ...[
        { id: 1, type: "user", content: "Read both" },
        { id: 2, type: "tool_call", content: "read a" }
      ],
      ...[
        { id: 3, type: "tool_call", content: "read b" },
        { id: 4, type: "tool_result", content: "A" }
      ],
      { id: 5, type: "tool_result", content: "B" }
    ])
    assert.deepStrictEqual(answers(row), [
      ["2", "A"],
      ["3", "B"]
    ])
  })

  const opened = (lines: ReadonlyArray<Json>) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    const { sessions, repaired } = Readers.read("simple", alone("/t.jsonl", utf8(text)))
    return { ...assertFlawless(sessions[0]!), repaired }
  }
  const answers = (tree: SessionTree) =>
    (ContextBuilder.build(tree).messages as ReadonlyArray<Json>).flatMap(({ role, toolCallId, content }) =>
      role === "toolResult" ? [[toolCallId, (content as ReadonlyArray<Json>)[0]!.text]] : []
    )
  const line = (id: string, parentId: string | null, type: string, content = id): Json => ({
    id,
    parentId,
    type,
    content
  })

  it("calls made at once are one reply with all their results, however these hang on each other", () => {
    for (const second of ["a", "c1"]) {
      const { tree } = opened([
        ...[
          line("u", null, "user"),
          line("a", "u", "assistant"),
          line("c1", "a", "tool_call"),
          line("c2", second, "tool_call")
        ],
        ...[line("r1", "c1", "tool_result"), line("r2", "c2", "tool_result"), line("b", "r1", "assistant")]
      ])
      assert.deepStrictEqual(answers(tree), [
        ["c1", "r1"],
        ["c2", "r2"]
      ])
      assert.strictEqual(tree.leaves().length, 1)
      assert.deepStrictEqual(
        tree.path(tree.leaf!).map(({ id }) => String(id)),
        ["u", "a", "r1", "r2", "b"]
      )
    }
  })

  it("what a person said in place of a call is a branch without it, and a call run again has two results", () => {
    const { tree } = opened([
      ...[
        line("u", null, "user"),
        line("a", "u", "assistant"),
        line("c", "a", "tool_call"),
        line("r", "c", "tool_result")
      ],
      ...[line("r2", "c", "tool_result"), line("w", "r", "user"), line("v", "a", "user")]
    ])
    const paths = ["w", "r2", "v"].map((id) => tree.path(id).map((entry) => String(entry.id)))
    assert.deepStrictEqual(paths, [
      ["u", "a", "c", "r", "w"],
      ["u", "a", "c", "r2"],
      ["u", "a", "v"]
    ])
  })

  it("nothing is lost: neither lines of other types, nor results of no call, nor what is noted beside", () => {
    const { tree, repaired } = opened([
      { ...line("u", null, "user"), metadata: { mood: "good" } },
      ...[line("n", "u", "note", "remember"), { ...line("r", "n", "tool_result"), metadata: { error: "gone" } }],
      { ...line("c", "r", "tool_call", "read x"), metadata: { toolName: "read", usage: { input: 3, output: 4 } } },
      { ...line("s", "c", "tool_result"), metadata: { error: "gone" } }
    ])
    assert.deepStrictEqual(
      tree.path(tree.leaf!).map(({ type }) => type),
      ["message", "custom", "custom_message", "message", "message"]
    )
    assert.deepStrictEqual(repaired, [{ line: 3, kind: "orphan-result" }])
    for (const word of [
      '"mood":"good"',
      '"remember"',
      '"toolName":"read"',
      '"error":"gone"',
      '"isError":true',
      '"totalTokens":7'
    ]) {
      assert.include(JSON.stringify(tree.entries), word)
    }
  })

  it("100,000 lines that hang on each other are read by a loop", () => {
    const types = ["user", "assistant", "tool_call", "tool_result"]
    const lines = Array.from({ length: 100_000 }, (_, i) =>
      JSON.stringify(line(`n${i}`, i === 0 ? null : `n${i - 1}`, types[i % 4]!))
    )
    const { sessions } = Readers.read("simple", alone("/t.jsonl", utf8(lines.join("\n"))))
    assert.strictEqual(sessions[0]!.entries.length, 75_000)
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken("simple", ["simple/tree.jsonl", "simple/line.jsonl"])
  })
})
