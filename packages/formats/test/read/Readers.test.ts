/** Which reader a file is for. */
import { assert, describe, it } from "@effect/vitest"
import * as Readers from "../../src/read/Readers.ts"
import { bytesOf, jsonOf, utf8 } from "../support.ts"

describe("a file", () => {
  it.each([
    ["chatgpt", "chat-exports/chatgpt-tree.json"],
    ["librechat", "chat-exports/librechat-tree.json"],
    ["opencode", "opencode/export-tools.json"],
    ["gemini", "gemini/legacy.json"]
  ] as const)("of %s is known however its JSON is laid out", (format, path) => {
    const value = jsonOf<unknown>(path)
    for (const space of [0, 1, 2, "\t"]) {
      assert.strictEqual(Readers.detect("x.json", utf8(JSON.stringify(value, null, space))), format)
    }
  })

  it("is not taken for lines because some of its own lines are objects", () => {
    const session = '{"type":"session","version":3,"id":"0198c0de-0000-7000-8000-000000000001","cwd":"/"}'
    const conversation = `[{"conversationId":"x","messages":[\n${session},\n${session}\n]}]`
    assert.strictEqual(Readers.detect("x.json", utf8(conversation)), "librechat")
  })

  it("of lines is known without a look at the rest", () => {
    const lines = Buffer.from(bytesOf("gemini/linear.jsonl")).toString()
    assert.strictEqual(Readers.detect("x.jsonl", utf8(`${lines}\n${"x".repeat(1_000_000)}`)), "gemini")
    assert.strictEqual(Readers.detect("x.jsonl", utf8(lines.slice(0, lines.indexOf("\n")))), "gemini")
  })

  it.each(["", "{}", "[]", "null", "hello", '{"messages":[]}'])("that holds %s is of no program", (text) => {
    assert.isUndefined(Readers.detect("x.json", utf8(text)))
  })
})
