import { assert, describe, it } from "@effect/vitest"
import { SessionSummary } from "../../src/model/index.ts"
import { bytesOf, chain, fileOf, header, jsonOf, load, mark } from "../support.ts"

const summaryOf = (data: Uint8Array | string, path = "a.jsonl") => {
  const { file, tree } = load(data)
  return SessionSummary.of(file.header, file.title, tree, { path, source: "grove", draft: false })
}

interface Listed {
  readonly path: string
  readonly id: string
  readonly cwd: string
  readonly name?: string
  readonly created: string
  readonly modified: string
  readonly messageCount: number
  readonly firstMessage: string
  readonly parentSessionPath?: string
}
const listed = jsonOf<{ readonly "pi-0.73.1": ReadonlyArray<Listed> }>("pi/expected-session-info.json")["pi-0.73.1"]

describe("a session in a list", () => {
  it.each(listed)("is told as Pi lists it: $path", (expected) => {
    const { id, cwd, name, created, modified, messageCount, firstMessage, parentSession } = summaryOf(
      bytesOf(`pi/${expected.path}`)
    )
    assert.deepStrictEqual(
      { id, cwd, name, created, modified, messageCount, firstMessage, parentSession },
      {
        id: expected.id,
        cwd: expected.cwd,
        name: expected.name ?? null,
        created: expected.created,
        modified: expected.modified,
        messageCount: expected.messageCount,
        firstMessage: expected.firstMessage,
        parentSession: expected.parentSessionPath ?? null
      }
    )
  })

  it("without a message was changed when it was made", () => {
    const { modified, created, firstMessage } = summaryOf(fileOf(header))
    assert.deepStrictEqual([modified, created, firstMessage], [header.timestamp, header.timestamp, null])
  })
  it("has as many branches as leaves, marks left out", () => {
    assert.strictEqual(summaryOf(fileOf(header, ...chain("a", "b"), mark("m", "a", "leaf"))).branches, 1)
    assert.strictEqual(summaryOf(fileOf(header, ...chain("a", "b"), ...chain("x"))).branches, 2)
  })
  it("that is empty has nothing to tell", () => {
    const { id, created, modified, branches } = summaryOf("")
    assert.deepStrictEqual([id, created, modified, branches], [null, null, null, 0])
  })
  it("stands before older ones, and without a time last", () => {
    const at = (path: string, timestamp?: string) => summaryOf(fileOf({ ...header, timestamp }), path)
    const sorted = [
      at("none"),
      at("old", "2025-01-01T00:00:00Z"),
      at("b", "2026-01-01T00:00:00Z"),
      at("a", "2026-01-01T00:00:00Z")
    ]
      .sort(SessionSummary.byModified)
      .map(({ path }) => path)
    assert.deepStrictEqual(sorted, ["a", "b", "old", "none"])
  })
})
