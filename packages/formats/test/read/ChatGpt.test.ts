/** Conversations exported by ChatGPT: the tree as it was, and one reply where the model spoke once. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import type { Source } from "../../src/read/Reader.ts"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, jsonOf, sourceOf, utf8 } from "../support.ts"

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
    const cut = tree.entries.filter(({ message }) => isObject(message) && message.stopReason === "aborted")
    assert.deepStrictEqual(
      cut.map(({ id }) => String(id).slice(0, 8)),
      ["ada93f81"]
    )
    assert.strictEqual(tree.facts.config.summary, conversation!.title)
    assert.strictEqual(sessions[0]!.header.id, conversation!.conversation_id)
    assert.strictEqual(sessions[0]!.header.timestamp, new Date(1714585031148.505).toISOString())
  })

  /** A conversation of nodes, each with its parent; the last of them is shown. */
  const conversationOf = (nodes: ReadonlyArray<Json>, fields: Json = {}): Json => ({
    ...{ title: "Sums", conversation_id: "0198c0de-0000-7000-8000-000000000001", create_time: 1 },
    ...{ mapping: Object.fromEntries(nodes.map((node) => [node.id, node])), current_node: nodes.at(-1)!.id },
    ...fields
  })
  const node = (id: string, parent: string | null, role: string, content: unknown, fields: Json = {}): Json => ({
    ...{ id, parent, children: [] },
    message: {
      ...{ id, author: { role, name: role === "tool" ? "python" : null }, recipient: "all" },
      content: typeof content === "string" ? { content_type: "text", parts: [content] } : content,
      ...fields
    }
  })
  const translated = (conversation: Json, around: Partial<Source> = {}) =>
    Readers.read("chatgpt", { ...alone("/e/conversations.json", utf8(JSON.stringify([conversation]))), ...around })
  const contextOf = (conversation: Json) =>
    ContextBuilder.build(assertFlawless(translated(conversation).sessions[0]!).tree).messages as ReadonlyArray<Json>

  const code = { recipient: "python" }
  const thoughts = { content_type: "thoughts", thoughts: [{ summary: "Sum", content: "Two and two." }] }

  it("what the model thinks, says and asks of a tool in one go is one reply, and the tool's answer its result", () => {
    const messages = contextOf(
      conversationOf([
        ...[{ id: "root", parent: null, children: [], message: null }, node("s", "root", "system", "")],
        node("u", "s", "user", "2+2?"),
        node("h", "u", "assistant", thoughts),
        node("r", "h", "assistant", { content_type: "reasoning_recap", content: "Thought for 2s" }),
        node("p", "r", "assistant", "I will count."),
        node("c", "p", "assistant", { content_type: "code", text: "2+2" }, code),
        node("t", "c", "tool", { content_type: "execution_output", text: "4" }),
        node("w", "t", "tool", { content_type: "tether_browsing_display", result: "Sums, explained" }),
        node("a", "w", "assistant", "Four.", {
          metadata: { model_slug: "gpt-x", finish_details: { type: "max_tokens" } }
        })
      ])
    )
    assert.deepStrictEqual(
      messages.map(({ role, content, toolCallId, toolName, stopReason, model }) => [
        ...[role, content, toolCallId, toolName, stopReason, model].filter((value) => value !== undefined)
      ]),
      [
        ["user", "2+2?"],
        [
          "assistant",
          [
            { type: "thinking", thinking: "Sum\nTwo and two." },
            { type: "text", text: "I will count." },
            { type: "toolCall", id: "c", name: "python", arguments: { input: "2+2" } }
          ],
          ...["toolUse", "unknown"]
        ],
        ["toolResult", [{ type: "text", text: "4" }], "c", "python"],
        ["custom", "Sums, explained"],
        ["assistant", [{ type: "text", text: "Four." }], "length", "gpt-x"]
      ]
    )
  })

  it("answers to one thought that was taken up twice are two branches", () => {
    const { tree } = assertFlawless(
      translated(
        conversationOf([
          ...[node("u", null, "user", "2+2?"), node("h", "u", "assistant", thoughts)],
          ...[node("e", "h", "assistant", ""), node("a", "e", "assistant", "Four."), node("b", "h", "assistant", "4.")]
        ])
      ).sessions[0]!
    )
    assert.deepStrictEqual(
      ["h", "a", "b"].map((id) => [id, String(tree.get(id)?.parentId)]),
      [
        ["h", "u"],
        ["a", "h"],
        ["b", "h"]
      ]
    )
  })

  it("what a person told the model of themselves is sent and not shown", () => {
    const context = { content_type: "user_editable_context", user_profile: "I count.", user_instructions: "Be brief." }
    const [message, ...rest] = contextOf(
      conversationOf([node("c", null, "user", context), node("u", "c", "user", "Hi")])
    )
    assert.deepStrictEqual([message!.role, message!.display, rest.length], ["custom", false, 1])
    assert.deepStrictEqual(message!.content, [
      { type: "text", text: "I count." },
      { type: "text", text: "Be brief." }
    ])
  })

  it("pictures are taken from the files beside the conversations, and are told where there are none", () => {
    const picture = { content_type: "image_asset_pointer", asset_pointer: "file-service://file-AbC1" }
    const conversation = conversationOf([
      node("u", null, "user", { content_type: "multimodal_text", parts: [picture, "Look"] })
    ])
    const contentOf = ({ sessions }: ReturnType<typeof translated>) =>
      (sessions[0]!.entries[0]!.message as Json).content
    const beside = {
      namesIn: (folder: string) => (folder === "." ? ["chat.html", "file-AbC1-photo.PNG", "file-AbC12-other.png"] : []),
      beside: (path: string) => (path === "./file-AbC1-photo.PNG" ? utf8("PNG") : undefined)
    }
    assert.deepStrictEqual(contentOf(translated(conversation, beside)), [
      { type: "image", data: "UE5H", mimeType: "image/png" },
      { type: "text", text: "Look" }
    ])
    const without = translated(conversation)
    assert.deepStrictEqual(contentOf(without), [
      { type: "text", text: "[image]" },
      { type: "text", text: "Look" }
    ])
    assert.deepStrictEqual(without.unmapped, [{ line: 1, kind: "image_asset_pointer" }])
  })

  it("entries stand in the order in which they were said, whatever that of the file", () => {
    const conversation = conversationOf([
      ...[
        node("b", "u", "assistant", "Second", { create_time: 3 }),
        node("a", "u", "assistant", "First", { create_time: 2 })
      ],
      node("u", null, "user", "Hi", { create_time: 1 })
    ])
    const { entries } = translated(conversation).sessions[0]!
    assert.deepStrictEqual(
      entries.slice(0, 3).map(({ id }) => String(id)),
      ["u", "a", "b"]
    )
  })

  it("a file has many conversations; one that comes twice is taken once, one without words not at all", () => {
    const one = conversationOf([node("u", null, "user", "Hi")])
    const two = conversationOf([node("u", null, "user", "Ho")], {
      conversation_id: "0198c0de-0000-7000-8000-000000000002"
    })
    const empty = conversationOf([node("s", null, "system", "")], {
      conversation_id: "0198c0de-0000-7000-8000-000000000003"
    })
    const file = alone("/c.json", utf8(JSON.stringify([one, empty, two, one])))
    const { sessions, repaired } = Readers.read("chatgpt", file)
    assert.deepStrictEqual(
      sessions.map(({ header }) => String(header.id).slice(-1)),
      ["1", "2"]
    )
    assert.deepStrictEqual(
      repaired.map(({ kind }) => kind),
      ["duplicate-session"]
    )
  })

  it("a conversation of 100,000 nodes in a row is read by a loop", () => {
    const nodes = Array.from({ length: 100_000 }, (_, i) =>
      node(`n${i}`, i === 0 ? null : `n${i - 1}`, i % 2 === 0 ? "user" : "assistant", String(i))
    )
    assert.strictEqual(translated(conversationOf(nodes)).sessions[0]!.entries.length, 100_001)
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken("chatgpt", ["chat-exports/chatgpt-tree.json"])
  })
})
