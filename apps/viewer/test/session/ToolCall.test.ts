/** What a tool call is told by. */
import { assert, it } from "@effect/vitest"
import { editsOf, gistOf } from "../../src/session/ToolCall.tsx"

it("a call is told by its command, file or words, whatever else it was given", () => {
  assert.strictEqual(gistOf({ timeout: 3, description: "list", command: "ls" }), "ls")
  assert.strictEqual(gistOf({ content: "x", file_path: "/a" }), "/a")
  assert.strictEqual(gistOf({ other: "words" }), "words")
  assert.strictEqual(gistOf({ n: 1 }), "")
})

it("edits are known by the names that different programs give them, one or many", () => {
  assert.deepStrictEqual(editsOf({ path: "a", oldText: "1", newText: "" }), [{ before: "1", after: "" }])
  assert.deepStrictEqual(editsOf({ old_string: "1", new_string: "2" }), [{ before: "1", after: "2" }])
  assert.deepStrictEqual(editsOf({ edits: [{ oldText: "1", newText: "2" }, { nothing: true }, null] }), [
    { before: "1", after: "2" }
  ])
  assert.deepStrictEqual(editsOf({ content: "x" }), [])
})
