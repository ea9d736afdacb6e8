import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Message, Reply, ReplyDraft, type ReplyPart } from "../../src/model/index.ts"

const speaker = { provider: "oak", model: "1" }
const draftOf = (parts: ReadonlyArray<ReplyPart>): ReplyDraft => {
  const draft = new ReplyDraft(speaker)
  for (const part of parts) draft.add(part)
  return draft
}

describe("a draft", () => {
  it("keeps blocks in their places, however their deltas take turns", () => {
    const draft = draftOf([
      { _tag: "Thinking", index: 0, delta: "h" },
      { _tag: "Text", index: 1, delta: "a" },
      { _tag: "Thinking", index: 0, delta: "m" },
      { _tag: "Text", index: 1, delta: "b" },
      { _tag: "Thinking", index: 0, delta: "", signature: "sig" }
    ])
    assert.deepStrictEqual(draft.message({ timestamp: 1 }).content, [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "ab" }
    ])
  })

  it("holds no call that was not finished, and no text that says nothing", () => {
    const draft = draftOf([
      { _tag: "Text", index: 0, delta: "" },
      { _tag: "ToolCallStart", index: 1, id: "c1", name: "read" },
      { _tag: "ToolCallDelta", index: 1, delta: '{"pa' },
      { _tag: "Text", index: 2, delta: "so far" }
    ])
    assert.deepStrictEqual(draft.message({ timestamp: 1, stopReason: "aborted" }), {
      role: "assistant",
      content: [{ type: "text", text: "so far" }],
      ...speaker,
      usage: Reply.noUsage,
      stopReason: "aborted",
      timestamp: 1
    })
  })

  it("counts the last usage alone", () => {
    const usage = (output: number) => ({ ...Reply.noUsage, output })
    const draft = draftOf([
      { _tag: "Usage", usage: usage(3) },
      { _tag: "Usage", usage: usage(5) }
    ])
    assert.strictEqual(draft.message({ timestamp: 1 }).usage?.output, 5)
  })

  it("takes its end from the model, and an abort overrules it", () => {
    const draft = draftOf([{ _tag: "Stop", reason: "length" }])
    assert.strictEqual(draft.stopReason, "length")
    assert.strictEqual(draft.message({ timestamp: 1 }).stopReason, "length")
    assert.strictEqual(draft.message({ timestamp: 1, stopReason: "aborted" }).stopReason, "aborted")
  })
})

describe("arguments", () => {
  it("that are no JSON object are kept aside", () => {
    for (const json of ["[1]", '{"a":', "null", "path=a"]) {
      assert.deepStrictEqual(Reply.callOf("c", "read", json), {
        type: "toolCall",
        id: "c",
        name: "read",
        arguments: {},
        invalidArguments: json
      })
    }
    assert.notProperty(Reply.callOf("c", "read", " "), "invalidArguments")
  })
})

it.prop("the parts of a content add up to it again", [Schema.Array(Message.AssistantBlock)], ([blocks]) => {
  const whole = blocks.filter((block) => block.type === "toolCall" || (block.type === "text" && block.text !== ""))
  const draft = draftOf(Reply.partsOf(whole))
  assert.deepStrictEqual(
    draft.message({ timestamp: 0 }).content.map((block) => (block.type === "text" ? block.text : block)),
    whole.map((block) => (block.type === "text" ? block.text : block))
  )
})
