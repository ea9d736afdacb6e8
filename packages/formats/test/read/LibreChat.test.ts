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
