/** The plain tree: lines without a header. */
import { assert, describe, it } from "@effect/vitest"
import type { Json, SessionTree } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { assertFlawless, assertUnshaken, bytesOf, sourceOf } from "../support.ts"

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
