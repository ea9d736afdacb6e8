/** Rollouts of Codex: the conversation that went to the model, with forks, reverts and rollbacks as trees. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, bytesOf, jsonOf, namesIn, sourceOf, utf8 } from "../support.ts"

interface Case {
  readonly case: string
  readonly file: string
}
const cases = jsonOf<ReadonlyArray<Case>>("codex/index.json")
const fileOf = (name: string): string => cases.find((one) => one.case === name)!.file
const read = (name: string) => Readers.read("codex", sourceOf(`codex/${fileOf(name)}`))

/** The conversation as the fixtures spell it. */
const spelled = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  messages.flatMap((message): ReadonlyArray<Json> => {
    const blocks = (
      Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content }]
    ) as Array<Json>
    if (message.role === "toolResult") return [{ result: message.toolCallId, output: blocks[0]!.text }]
    const images = blocks.filter(({ type }) => type === "image").length
    return blocks.flatMap((block): ReadonlyArray<Json> => {
      if (block.type === "text") return [{ role: message.role, text: block.text, ...(images > 0 ? { images } : {}) }]
      if (block.type === "thinking") return [{ reasoning: [block.thinking] }]
      return block.type === "toolCall"
        ? [{ call: block.id, name: block.name, arguments: JSON.stringify(block.arguments) }]
        : []
    })
  })

const usageIn = (entries: ReadonlyArray<Json>): Json => {
  const sum = { input: 0, cacheRead: 0, output: 0, reasoning: 0 }
  for (const entry of entries) {
    const usage = [entry.usage, isObject(entry.message) ? entry.message.usage : undefined].find(isObject)
    for (const key of Object.keys(sum) as Array<keyof typeof sum>) sum[key] += Number(usage?.[key] ?? 0)
  }
  return sum
}

describe("Codex", () => {
  it.each(cases.filter(({ case: name }) => name !== "compact"))(
    "$case is the conversation that the model had",
    ({ file }) => {
      const { sessions, repaired } = Readers.read("codex", sourceOf(`codex/${file}`))
      const { tree } = assertFlawless(sessions[0]!)
      const expected = jsonOf<Json>(`codex/expected-${file.replace(".jsonl", ".json")}`)
      const messages = tree.path(tree.leaf!).flatMap(({ message }) => (isObject(message) ? [message] : []))
      assert.deepStrictEqual(spelled(messages), expected.conversation as ReadonlyArray<Json>)
      assert.deepStrictEqual(repaired, [])
      assert.strictEqual(Readers.detect(file, bytesOf(`codex/${file}`)), "codex")
    }
  )

  it("after a compaction the model sees the summary and the prompts that were kept", () => {
    const { sessions } = read("compact")
    const { tree } = assertFlawless(sessions[0]!)
    const { conversation } = jsonOf<{ readonly conversation: ReadonlyArray<Json> }>(
      `codex/expected-${fileOf("compact").replace(".jsonl", ".json")}`
    )
    const { messages } = ContextBuilder.build(tree)
    const [summary, ...rest] = messages as ReadonlyArray<Json>
    for (const { text } of conversation.slice(0, 3)) assert.include(String(summary!.summary), String(text))
    assert.deepStrictEqual(spelled(rest), conversation.slice(3))
    assert.include(JSON.stringify(sessions[0]!.entries), "SUMMARY: A lamp script with options.")
  })

  it.each(["linear", "reverted", "compact", "image"])("%s counts every request once", (name) => {
    const { lastTotalUsage } = jsonOf<{ readonly lastTotalUsage: Json }>(
      `codex/expected-${fileOf(name).replace(".jsonl", ".json")}`
    )
    assert.deepStrictEqual(usageIn(read(name).sessions[0]!.entries), {
      input: Number(lastTotalUsage.input_tokens) - Number(lastTotalUsage.cached_input_tokens),
      cacheRead: lastTotalUsage.cached_input_tokens,
      output: lastTotalUsage.output_tokens,
      reasoning: lastTotalUsage.reasoning_output_tokens
    })
  })

  it("usage that was only counted is given to the replies it was counted for", () => {
    const replies = read("legacy-resumed").sessions[0]!.entries.flatMap(({ message }) =>
      isObject(message) && isObject(message.usage) ? [message.usage.input] : []
    )
    assert.deepStrictEqual(replies, [6600, 6700, 6800])
  })

  it("a count that is told again is not counted again", () => {
    const line = (type: string, payload: Json) =>
      `${JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type, payload })}\n`
    const reply = (text: string) =>
      line("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] })
    const ask = line("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "?" }] })
    const count = (total: number, last: number) =>
      line("event_msg", {
        type: "token_count",
        info: { total_token_usage: { input_tokens: total }, last_token_usage: { input_tokens: last, output_tokens: 1 } }
      })
    const text = [ask, reply("one"), count(10, 10), count(10, 10), ask, reply("two"), count(30, 20)].join("")
    const { entries } = Readers.read("codex", alone("/a.jsonl", utf8(text))).sessions[0]!
    assert.deepStrictEqual(
      entries.flatMap(({ message }) => (isObject(message) && isObject(message.usage) ? [message.usage.input] : [])),
      [10, 20]
    )
  })

  it("a fork ends its base where it says, by ordinal alone too", () => {
    const source = sourceOf(`codex/${fileOf("fork")}`)
    const bytes = utf8(
      Buffer.from(source.bytes)
        .toString()
        .replace(/,"end_byte_offset":\d+/, "")
    )
    const ids = (of: ReturnType<typeof read>) => of.sessions[0]!.entries.map(({ id }) => id)
    assert.deepStrictEqual(ids(Readers.read("codex", { ...source, bytes })), ids(read("fork")))
  })

  it("a fork names its thread and shares its entries", () => {
    const [fork, parent] = [read("fork").sessions[0]!, read("linear").sessions[0]!]
    assert.strictEqual(fork.header.parentSession, parent.header.id)
    const ids = new Set(parent.entries.map(({ id }) => id))
    assert.strictEqual(fork.entries.filter(({ id }) => ids.has(id)).length, 8)
    const timestamps = new Map(parent.entries.map(({ id, timestamp }) => [id, timestamp]))
    for (const { id, timestamp } of fork.entries) assert.strictEqual(timestamps.get(id) ?? timestamp, timestamp)
  })

  it("a revert is a session of its own that shares what came before", () => {
    const [after, before] = [read("reverted-after-revert").sessions[0]!, read("reverted").sessions[0]!]
    assert.strictEqual(after.header.parentSession, before.header.id)
    assert.notStrictEqual(after.header.id, before.header.id)
  })

  it("a fork whose thread is gone says so, and has what is its own", () => {
    const path = `codex/${fileOf("fork")}`
    const { sessions, repaired } = Readers.read("codex", alone(`/x/${fileOf("fork")}`, bytesOf(path)))
    assert.deepStrictEqual(repaired, [{ line: 1, kind: "missing-base" }])
    assert.include(JSON.stringify(sessions[0]!.entries), "Make it blink instead")
  })

  it("threads have the names people gave them", () => {
    const { tree } = assertFlawless(read("linear").sessions[0]!)
    assert.strictEqual(tree.facts.config.summary, "lamp work")
  })

  it("turns that were rolled back stay as a branch", () => {
    const line = (type: string, payload: Json) =>
      `${JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type, payload })}\n`
    const say = (role: string, text: string) =>
      line("response_item", {
        type: "message",
        role,
        content: [{ type: role === "user" ? "input_text" : "output_text", text }]
      })
    const text = [
      line("session_meta", { id: "01a1ed95-0000-7000-8000-000000000000", cwd: "/w" }),
      ...["one", "two", "three"].flatMap((word) => [say("user", word), say("assistant", `${word}!`)]),
      line("event_msg", { type: "thread_rolled_back", num_turns: 2 }),
      ...[say("user", "other"), say("assistant", "other!")]
    ].join("")
    const { tree } = assertFlawless(Readers.read("codex", alone("/w/a.jsonl", utf8(text))).sessions[0]!)
    const said = (leaf: string) => tree.path(leaf).map(({ message }) => JSON.stringify((message as Json).content))
    assert.strictEqual(tree.leaves().length, 2)
    assert.deepStrictEqual(
      said(tree.leaf!).map((one) => one.match(/\w+!?/g)!.at(-1)),
      ["one", "one!", "other", "other!"]
    )
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "codex",
      namesIn("codex", /^rollout.*\.jsonl$/).map((name) => `codex/${name}`)
    )
  })
})
