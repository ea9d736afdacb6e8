import { assert, describe, it } from "@effect/vitest"
import { type Entry, Jsonl } from "@grove/core"
import { EntryArbitrary } from "@grove/core/testing"
import { LineEncoder } from "../src/LineEncoder.ts"

const asText = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe("lines of bytes", () => {
  const encoder = new LineEncoder()

  it.prop("are those of the texts", [EntryArbitrary.entries], ([entries]) => {
    assert.strictEqual(asText(encoder.encode(entries)), entries.map(Jsonl.encode).join(""))
  })

  it.each([1, 80_000, 90_000, 1_000_000])("hold %i characters of three bytes each", (length) => {
    const entry = {
      type: "x",
      id: "1",
      parentId: null,
      timestamp: "",
      text: "折".repeat(length)
    } as unknown as Entry.Entry
    assert.strictEqual(asText(encoder.encode([entry, entry])), Jsonl.encode(entry).repeat(2))
  })
})
