/** Conversations exported by LibreChat, nested and in a list. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, jsonOf, sourceOf, utf8 } from "../support.ts"

describe("LibreChat", () => {
  const files = ["librechat-tree.json", "librechat-opts-nonr-branches.json"]

  it.each(files)("%s has every message under its parent", (file) => {
    const source = sourceOf(`chat-exports/${file}`)
    assert.strictEqual(Readers.detect(file, source.bytes), "librechat")
    const { sessions } = Readers.read("librechat", source)
    const { tree } = assertFlawless(sessions[0]!)
    const found = Buffer.from(source.bytes)
      .toString()
      .match(/"messageId": "[^"]+"/g)!
    const told = tree.entries.filter(({ message }) => (message as Json | undefined)?.role === "system")
    assert.strictEqual(tree.entries.filter(({ type }) => type === "message").length, found.length + told.length)
    const pairs = [
      ...Buffer.from(source.bytes)
        .toString()
        .matchAll(/"messageId": "([^"]+)"[\s\S]*?"parentMessageId": "([^"]+)"/g)
    ]
    for (const [, id, parent] of pairs) {
      const above = tree.get(id!)!.parentId
      assert.strictEqual(above === (told[0]?.id ?? null) ? "00000000-0000-0000-0000-000000000000" : above, parent)
    }
    assert.deepStrictEqual(
      told.map(({ message }) => (message as Json).content),
      file === "librechat-tree.json" ? ["You are an expert software engineer."] : []
    )
    assert.strictEqual(tree.facts.config.summary, jsonOf<Json>(`chat-exports/${file}`).title)
  })

  it.each([
    ["librechat-tree.json", "1f062c99"],
    ["librechat-opts-nonr-branches.json", "de9a4e7c"]
  ])("%s stands at what was said last", (file, leaf) => {
    const { tree } = assertFlawless(Readers.read("librechat", sourceOf(`chat-exports/${file}`)).sessions[0]!)
    assert.strictEqual(String(tree.leaf).slice(0, 8), leaf)
  })

  it("replies have the models and tokens they had, and those that were stopped say so", () => {
    const repliesIn = (file: string) =>
      Readers.read("librechat", sourceOf(`chat-exports/${file}`)).sessions[0]!.entries.flatMap(({ message }) => {
        const { role, provider, model, usage, stopReason } = (message ?? {}) as Json
        return role === "assistant"
          ? [[provider, model, (usage as Json).input, (usage as Json).output, stopReason]]
          : []
      })
    assert.deepStrictEqual(repliesIn("librechat-opts-nonr-branches.json"), [
      ["azure", "gpt-4o", 0, 78, "aborted"],
      ["azure", "gpt-4o", 0, 0, "aborted"],
      ["azure", "gpt-4o", 0, 110, "aborted"]
    ])
    assert.deepStrictEqual(repliesIn("librechat-tree.json").slice(0, 2), [
      ["openai", "gpt-4-turbo", 0, 504, "stop"],
      ["openai", "gpt-4-turbo", 586, 0, "stop"]
    ])
  })

  const conversation = (...messages: ReadonlyArray<Json>): Json => ({
    conversationId: "0198c0de-0000-7000-8000-000000000001",
    messages
  })
  const translated = (value: Json) => Readers.read("librechat", alone("/l.json", utf8(JSON.stringify(value))))

  it("a reply with calls is as many as the model gave, with results and what the person threw in between", () => {
    const call = (id: string, fields: Json): Json => ({ type: "tool_call", tool_call: { id, ...fields } })
    const { sessions, unmapped } = translated(
      conversation(
        ...[{ messageId: "u", isCreatedByUser: true, text: "Read", files: [{ filename: "a.pdf" }] }],
        {
          ...{ messageId: "a", parentMessageId: "u", isCreatedByUser: false, model: "m", tokenCount: 7 },
          content: [
            { type: "think", think: { value: "Look." } },
            { type: "text", text: { value: "I look." } },
            call("c1", { name: "read", args: '{"path":"a"}', output: "A" }),
            call("c2", { type: "function", function: { name: "list", arguments: "{}", output: "B" } }),
            { type: "text", text: "One more." },
            call("c3", { name: "read", args: { path: "b" } }),
            { type: "steer", steer: "Stop there" },
            { type: "summary", content: [] },
            { type: "text", text: "Stopped." }
          ]
        },
        { messageId: "v", parentMessageId: "a", isCreatedByUser: true, text: "Good" }
      )
    )
    const { tree } = assertFlawless(sessions[0]!)
    const said = tree.path(tree.leaf!).map(({ message }) => {
      const { role, content, toolCallId, stopReason, usage } = message as Json
      const blocks = Array.isArray(content) ? (content as ReadonlyArray<Json>) : [{ text: content }]
      const texts = blocks.map((block) => block.text ?? block.thinking ?? block.id)
      return [role, ...texts, toolCallId, stopReason, (usage as Json | undefined)?.output].filter(
        (one) => one !== undefined
      )
    })
    assert.deepStrictEqual(said, [
      ["user", "[a.pdf]", "Read"],
      ["assistant", "Look.", "I look.", "c1", "c2", "toolUse", 0],
      ["toolResult", "A", "c1"],
      ["toolResult", "B", "c2"],
      ["assistant", "One more.", "c3", "toolUse", 0],
      ["user", "Stop there"],
      ["assistant", "Stopped.", "stop", 7],
      ["user", "Good"]
    ])
    assert.deepStrictEqual(unmapped, [
      { line: 1, kind: "file" },
      { line: 2, kind: "part summary" }
    ])
  })

  it("what was said last may stand in a branch that began first", () => {
    const at = (createdAt: string) => ({
      createdAt: `2026-01-01T00:00:0${createdAt}Z`,
      isCreatedByUser: true,
      text: createdAt
    })
    const first = { messageId: "a", ...at("1"), children: [{ messageId: "c", parentMessageId: "a", ...at("3") }] }
    const { entries, leaf } = translated(conversation(first, { messageId: "b", ...at("2") })).sessions[0]!
    assert.deepStrictEqual([...entries.map(({ id }) => String(id)), String(leaf)], ["a", "b", "c", "c"])
  })

  it("a reply that failed says why", () => {
    const failed = {
      messageId: "a",
      isCreatedByUser: false,
      error: true,
      content: [{ type: "error", error: "No key" }]
    }
    const { message } = translated(conversation(failed)).sessions[0]!.entries[0]!
    assert.deepStrictEqual([(message as Json).stopReason, (message as Json).errorMessage], ["error", "No key"])
  })

  it("nested 50,000 deep it is read by a loop", () => {
    const depth = 50_000
    const open = (i: number) =>
      `{"messageId":"m${i}","isCreatedByUser":true,"text":"${i}","createdAt":"2026-01-01T00:00:00Z","parentMessageId":"${i === 0 ? "00000000-0000-0000-0000-000000000000" : `m${i - 1}`}","children":[`
    const text = `{"conversationId":"c","messages":[${Array.from({ length: depth }, (_, i) => open(i)).join("")}${"]}".repeat(depth)}]}`
    const { sessions } = Readers.read("librechat", alone("/l.json", utf8(text)))
    assert.strictEqual(sessions[0]?.entries.length, depth)
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "librechat",
      files.map((file) => `chat-exports/${file}`)
    )
  })
})
