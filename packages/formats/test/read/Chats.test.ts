/** Exports of ChatGPT and LibreChat, and the plain tree. */
import { assert, describe, it } from "@effect/vitest"
import { isObject, type Json, type SessionTree } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, bytesOf, jsonOf, sourceOf, utf8 } from "../support.ts"

const said = (tree: SessionTree): ReadonlyArray<readonly [unknown, string]> =>
  tree.path(tree.leaf!).map(({ message }) => {
    const { role, content } = message as Json
    const [first] = Array.isArray(content) ? content : [{ text: content }]
    return [role, String((first as Json).text ?? (first as Json).name)] as const
  })

describe("ChatGPT", () => {
  const source = sourceOf("chat-exports/chatgpt-tree.json")
  const [conversation] = jsonOf<ReadonlyArray<Json>>("chat-exports/chatgpt-tree.json")

  it("every message is there with its parent, and the conversation stands where it was shown", () => {
    assert.strictEqual(Readers.detect("conversations.json", source.bytes), "chatgpt")
    const { sessions } = Readers.read("chatgpt", source)
    const { tree } = assertFlawless(sessions[0]!)
    assert.strictEqual(String(tree.leaf), conversation!.current_node)
    assert.strictEqual(tree.leaves().length, 3)
    const mapping = conversation!.mapping as { readonly [id: string]: Json }
    const spoken = Object.values(mapping).filter(
      ({ message }) => isObject(message) && (message.author as Json).role !== "system"
    )
    assert.strictEqual(sessions[0]!.entries.filter(({ type }) => type === "message").length, spoken.length)
    for (const { id, parent } of spoken) {
      const entry = tree.get(String(id))!
      if (entry.parentId !== null) assert.strictEqual(String(entry.parentId), parent)
    }
    assert.strictEqual(tree.facts.config.summary, conversation!.title)
    assert.strictEqual(sessions[0]!.header.id, conversation!.conversation_id)
    assert.strictEqual(sessions[0]!.header.timestamp, new Date(1714585031148.505).toISOString())
  })

  it("a message to a tool is a call, and what the tool says its result", () => {
    const node = (id: string, parent: string | null, role: string, text: string, fields: Json = {}) => ({
      [id]: {
        ...{ id, parent, children: [] },
        message: {
          id,
          author: { role, name: role === "tool" ? "python" : null },
          recipient: "all",
          content: { content_type: "text", parts: [text] },
          ...fields
        }
      }
    })
    const mapping = {
      ...node("u", null, "user", "2+2?"),
      ...node("c", "u", "assistant", "", { recipient: "python", content: { content_type: "code", text: "2+2" } }),
      ...node("t", "c", "tool", "", { content: { content_type: "execution_output", text: "4" } }),
      ...node("a", "t", "assistant", "Four.")
    }
    const text = JSON.stringify([
      {
        title: "Sum",
        conversation_id: "0198c0de-0000-7000-8000-000000000001",
        create_time: 1,
        mapping,
        current_node: "a"
      }
    ])
    const { tree } = assertFlawless(Readers.read("chatgpt", alone("/c.json", utf8(text))).sessions[0]!)
    assert.deepStrictEqual(said(tree), [
      ["user", "2+2?"],
      ["assistant", "python"],
      ["toolResult", "4"],
      ["assistant", "Four."]
    ])
    assert.strictEqual((tree.get("t")!.message as Json).toolCallId, "c")
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken("chatgpt", ["chat-exports/chatgpt-tree.json"])
  })
})

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
    assert.strictEqual(tree.entries.filter(({ type }) => type === "message").length, found.length)
    const pairs = [
      ...Buffer.from(source.bytes)
        .toString()
        .matchAll(/"messageId": "([^"]+)"[\s\S]*?"parentMessageId": "([^"]+)"/g)
    ]
    for (const [, id, parent] of pairs) {
      assert.strictEqual(tree.get(id!)!.parentId ?? "00000000-0000-0000-0000-000000000000", parent)
    }
    assert.strictEqual(tree.facts.config.summary, jsonOf<Json>(`chat-exports/${file}`).title)
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

  it("without parents it is one line", () => {
    const { tree } = assertFlawless(Readers.read("simple", sourceOf("simple/line.jsonl")).sessions[0]!)
    assert.deepStrictEqual(said(tree), [
      ["user", "Hello"],
      ["assistant", "Hi!"],
      ["assistant", "read"],
      ["toolResult", "{}"]
    ])
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken("simple", ["simple/tree.jsonl", "simple/line.jsonl"])
  })
})
