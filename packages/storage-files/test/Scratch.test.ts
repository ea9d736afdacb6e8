import { assert, describe, it } from "@effect/vitest"
import { Jsonl } from "@grove/core"
import { EntryArbitrary } from "@grove/core/testing"
import { Scratch } from "../src/Scratch.ts"

const asText = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe("lines in a scratch", () => {
  const scratch = new Scratch()

  it.prop("are the bytes of their texts, in a row", [EntryArbitrary.entries], ([entries]) => {
    const lines = entries.map(Jsonl.encode)
    const mixed = lines.map((line, i) => (i % 2 === 0 ? [line.slice(0, -1)] : Buffer.from(line)))
    assert.strictEqual(asText(scratch.bytesOf(mixed)), asText(Buffer.from(lines.join(""))))
  })

  it.each([1, 80_000, 90_000, 1_000_000])("hold %i characters of three bytes each", (length) => {
    const text = "折".repeat(length)
    assert.strictEqual(asText(scratch.bytesOf([[text, text], [text]])), `${text}\n`.repeat(3))
  })
})
