/** Sessions of Claude Code: replies joined, results gathered, branches and compactions where they were. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import {
  alone,
  assertFlawless,
  assertUnshaken,
  bytesOf,
  jsonOf,
  namesIn,
  type Opened,
  sourceOf,
  utf8
} from "../support.ts"

const read = (name: string) => Readers.read("claude-code", sourceOf(`claude-code/${name}`))
const opened = (name: string): Opened => assertFlawless(read(name).sessions[0]!)
const expected = <A>(name: string): A => jsonOf(`claude-code/expected-${name}.json`)

const lines = (name: string): ReadonlyArray<Json> =>
  Buffer.from(bytesOf(`claude-code/${name}.jsonl`))
    .toString()
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Json]
      } catch {
        return []
      }
    })

/** Uuids of the lines that later ones of the same reply were joined to. */
const joinedTo = (name: string): ReadonlyMap<string, string> => {
  const firsts = new Map<string, string>()
  const joined = new Map<string, string>()
  for (const { uuid, parentUuid, message } of lines(name)) {
    const id = isObject(message) && message.role === "assistant" ? String(message.id) : undefined
    const into = joined.get(String(parentUuid)) ?? String(parentUuid)
    const first = id === undefined ? undefined : firsts.get(id)
    if (first !== undefined && first === into) joined.set(String(uuid), first)
    else if (id !== undefined) firsts.set(id, String(uuid))
  }
  return joined
}

const pathOf = ({ tree }: Opened): ReadonlyArray<string> => tree.path(tree.leaf!).map(({ id }) => id)

describe("Claude Code", () => {
  it.each(["linear-tools", "rewind", "fork-child", "sidechain-inline", "subagent-parent", "odd-messages"])(
    "%s stands where its program would go on",
    (name) => {
      const joined = joinedTo(name)
      const { activePath } = expected<{ readonly activePath: ReadonlyArray<string> }>(name)
      assert.deepStrictEqual(
        pathOf(opened(`${name}.jsonl`)),
        activePath.filter((uuid) => !joined.has(uuid))
      )
    }
  )

  it("the lines of one reply are one entry, and its usage counts once", () => {
    const { usageCountedOnce, apiMessages } = expected<{
      readonly apiMessages: number
      readonly usageCountedOnce: Json
    }>("linear-tools")
    const replies = read("linear-tools.jsonl").sessions[0]!.entries.flatMap(({ message }) =>
      isObject(message) && message.role === "assistant" ? [message] : []
    )
    assert.strictEqual(replies.length, apiMessages)
    const sum = (key: string) => replies.reduce((total, { usage }) => total + Number((usage as Json)[key]), 0)
    assert.deepStrictEqual(
      [sum("input"), sum("cacheWrite"), sum("cacheRead"), sum("output")],
      [
        usageCountedOnce.input_tokens,
        usageCountedOnce.cache_creation_input_tokens,
        usageCountedOnce.cache_read_input_tokens,
        usageCountedOnce.output_tokens
      ]
    )
    assert.deepStrictEqual(
      (replies[0]!.content as ReadonlyArray<Json>).map(({ type }) => type),
      ["thinking", "text", "toolCall"]
    )
  })

  it("results of parallel calls all stand on the path", () => {
    const { mustContain } = expected<{ readonly mustContain: ReadonlyArray<string> }>("parallel-tools")
    const joined = joinedTo("parallel-tools")
    const session = opened("parallel-tools.jsonl")
    assert.deepStrictEqual(
      pathOf(session),
      mustContain.filter((uuid) => !joined.has(uuid))
    )
    assert.strictEqual(session.tree.leaves().length, 1)
  })

  it("a rewind is a branch", () => {
    assert.strictEqual(opened("rewind.jsonl").tree.leaves().length, 2)
  })

  it.each(["compacted", "compacted-preserved"])("%s has the context that was left to the model", (name) => {
    const { contextPath } = expected<{ readonly contextPath: ReadonlyArray<string> }>(name)
    const { tree } = opened(`${name}.jsonl`)
    const [boundary, , ...kept] = contextPath
    const { messages, sources } = ContextBuilder.build(tree)
    assert.deepStrictEqual([...sources], [boundary, ...kept])
    assert.include(JSON.stringify(messages[0]), "The plan: Monday, nine.")
  })

  it("what was kept and stands before the compaction is followed by what was said after it", () => {
    const line = (uuid: string, parentUuid: string | null, fields: Json) =>
      JSON.stringify({ uuid, parentUuid, sessionId: "s", timestamp: "2026-01-01T00:00:00Z", type: "user", ...fields })
    const say = (content: string) => ({ message: { role: "user", content } })
    const text = [
      line("a", null, say("old")),
      line("b", "a", say("kept")),
      line("x", null, {
        ...{ type: "system", subtype: "compact_boundary", logicalParentUuid: "b" },
        compactMetadata: { preTokens: 9, preservedSegment: { headUuid: "b", anchorUuid: "y", tailUuid: "b" } }
      }),
      line("y", "x", { ...say("what came before"), isCompactSummary: true }),
      line("c", "b", say("new"))
    ].join("\n")
    const { tree } = assertFlawless(Readers.read("claude-code", alone("/a.jsonl", utf8(text))).sessions[0]!)
    assert.deepStrictEqual([...ContextBuilder.build(tree).sources].map(String), ["x", "b", "c"])
    assert.deepStrictEqual(pathOf({ tree } as Opened), ["a", "b", "x", "c"])
  })

  it("before a compaction stands all that it summarised", () => {
    const { fullPath } = expected<{ readonly fullPath: ReadonlyArray<string> }>("compacted")
    assert.deepStrictEqual(
      pathOf(opened("compacted.jsonl")),
      fullPath.filter((_, i) => i !== 5)
    )
  })

  it("a fork names its parent and shares its entries", () => {
    const { forkedFrom, sharedUuids, sessionId } = expected<Json>("fork-child")
    const { header, entries } = read("fork-child.jsonl").sessions[0]!
    const parent = read("fork-parent.jsonl").sessions[0]!
    assert.deepStrictEqual([header.id, header.parentSession, parent.header.id], [sessionId, forkedFrom, forkedFrom])
    const shared = entries.map(({ id }) => id).filter((id) => parent.entries.some((entry) => entry.id === id))
    assert.deepStrictEqual<unknown>(shared, sharedUuids)
  })

  it("a fork in the background is told by the line that it shares", () => {
    const parent = "b1d0ae2b-c814-423c-8d50-05cd277ee68e.jsonl"
    const text = Buffer.from(bytesOf("claude-code/fork-parent.jsonl"))
      .toString()
      .replaceAll('"isSidechain":false', '"isSidechain":false,"sessionKind":"bg"')
      .replaceAll("b1d0ae2b-c814-423c-8d50-05cd277ee68e", "7173ea04-0b2e-41f6-82ed-fcb0ddd305fc")
    const source = {
      ...alone("/p/7173ea04-0b2e-41f6-82ed-fcb0ddd305fc.jsonl", utf8(text)),
      namesIn: () => [
        parent,
        "00000000-0000-4000-8000-000000000000.jsonl",
        "7173ea04-0b2e-41f6-82ed-fcb0ddd305fc.jsonl"
      ],
      beside: (name: string) => (name === parent ? bytesOf("claude-code/fork-parent.jsonl") : utf8("{}"))
    }
    const { header } = Readers.read("claude-code", source).sessions[0]!
    assert.strictEqual(header.parentSession, "b1d0ae2b-c814-423c-8d50-05cd277ee68e")
    const unrelated = { ...source, beside: () => utf8("{}") }
    assert.isUndefined(Readers.read("claude-code", unrelated).sessions[0]!.header.parentSession)
  })

  it("what a sub-agent said among the lines is a session of its own", () => {
    const { sidechain } = expected<{ readonly sidechain: ReadonlyArray<string> }>("sidechain-inline")
    const [main, agent] = read("sidechain-inline.jsonl").sessions
    assert.deepStrictEqual(
      agent!.entries.slice(1).map(({ id }) => String(id)),
      sidechain
    )
    assert.strictEqual(agent!.entries[0]!.type, "session_init")
    assert.strictEqual(agent!.header.parentSession, main!.header.id)
    assertFlawless(agent!)
  })

  it("the file of a sub-agent names the session that started it", () => {
    const [agent] = read("subagent-parent.subagents/agent-a9f4657.jsonl").sessions
    const { sessionId } = expected<Json>("subagent-parent")
    assert.deepStrictEqual([agent!.header.parentSession, agent!.header.id], [sessionId, `${sessionId}.agent-a9f4657`])
    const results = read("subagent-parent.jsonl").sessions[0]!.entries.map(({ message }) => (message as Json)?.details)
    assert.deepStrictEqual(
      results.filter((details) => details !== undefined),
      [{ agentId: "a9f4657" }]
    )
  })

  it("what else stands in the conversation is kept out of sight, and every line left out is named", () => {
    const { messages, title, chain } = expected<{
      readonly messages: ReadonlyArray<string>
      readonly chain: ReadonlyArray<string>
      readonly title: string
    }>("other-lines")
    const { unmapped } = read("other-lines.jsonl")
    const { tree } = opened("other-lines.jsonl")
    assert.deepStrictEqual([...ContextBuilder.build(tree).sources], messages)
    assert.strictEqual(pathOf({ tree } as Opened).length, chain.length - 1)
    assert.strictEqual(tree.facts.config.summary, title)
    assert.deepStrictEqual(
      unmapped.map(({ kind }) => kind),
      [
        ...["file-history-snapshot", "queue-operation", "progress", "queue-operation", "agent-name", "last-prompt"],
        ...["permission-mode", "mode", "pr-link", "something-new"]
      ]
    )
  })

  it("a parent that was never written is the line before, and that is told", () => {
    const { repaired } = expected<{ readonly repaired: ReadonlyArray<string> }>("phantom-parent")
    assert.deepStrictEqual(pathOf(opened("phantom-parent.jsonl")), repaired)
    assert.deepStrictEqual(read("phantom-parent.jsonl").repaired, [{ line: 3, kind: "unknown-parent" }])
  })

  it("a cycle is cut and a torn line told", () => {
    assert.strictEqual(opened("cycle.jsonl").tree.size, 3)
    assert.deepStrictEqual(
      read("cycle.jsonl").repaired.map(({ kind }) => kind),
      ["cycle"]
    )
    assert.strictEqual(opened("torn.jsonl").tree.size, 2)
    assert.deepStrictEqual(read("torn.jsonl").repaired, [{ line: 3, kind: "torn-tail" }])
  })

  it("what no model was shown is an error, and what no person typed is not shown as typed", () => {
    const { notModelContext } = expected<{ readonly notModelContext: ReadonlyArray<string> }>("odd-messages")
    const { entries } = read("odd-messages.jsonl").sessions[0]!
    const errors = entries.filter(({ message }) => isObject(message) && message.stopReason === "error")
    assert.deepStrictEqual(
      errors.map(({ id }) => String(id)),
      notModelContext
    )
    assert.deepStrictEqual(
      entries.filter(({ type }) => type === "custom_message").map(({ display }) => display),
      [false]
    )
    assert.include(JSON.stringify(entries), '{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}')
  })

  it.each(namesIn("claude-code/third-party", /\.jsonl$/))("third-party/%s is read whole", (name) => {
    const { sessions } = read(`third-party/${name}`)
    for (const session of sessions) assertFlawless(session)
    assert.strictEqual(Readers.detect(name, bytesOf(`claude-code/third-party/${name}`)), "claude-code")
    const prompts = lines(`third-party/${name.replace(/\.jsonl$/, "")}`).filter(
      ({ type, message, isMeta }) => type === "user" && isMeta !== true && typeof (message as Json).content === "string"
    )
    const kept = JSON.stringify(sessions)
    for (const { message } of prompts) assert.include(kept, JSON.stringify((message as Json).content).slice(1, -1))
  })

  it("100,000 lines that hang on each other are read in one go", () => {
    const line = (i: number) =>
      JSON.stringify({
        ...{ type: i % 3 === 1 ? "progress" : "user", uuid: `u${i}`, parentUuid: i === 0 ? null : `u${i - 1}` },
        ...{ sessionId: "s", timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: `n${i}` } }
      })
    const bytes = utf8(Array.from({ length: 100_000 }, (_, i) => line(i)).join("\n"))
    const { sessions } = Readers.read("claude-code", alone("/a.jsonl", bytes))
    assert.strictEqual(sessions[0]!.entries.length, 66_667)
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "claude-code",
      namesIn("claude-code", /\.jsonl$/).map((name) => `claude-code/${name}`)
    )
  })
})
