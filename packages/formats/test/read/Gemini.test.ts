/** Chats of Gemini CLI: what its own loader returns, and what it drops as branches. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertFlawless, assertUnshaken, bytesOf, jsonOf, sourceOf, utf8 } from "../support.ts"

const files = ["linear", "tools", "rewind", "compressed", "parent", "subagent", "torn"].map((name) => `${name}.jsonl`)
const all = [...files, "legacy.json"]
const read = (file: string) => Readers.read("gemini", sourceOf(`gemini/${file}`))

interface Loaded {
  readonly sessionId: string
  readonly startTime: string
  readonly summary?: string
  readonly messages: ReadonlyArray<Json>
}
const loaded = (file: string): Loaded =>
  jsonOf<{ readonly loaded: Loaded }>(`gemini/expected-${file.replace(/\.jsonl?$/, "")}.json`).loaded

describe("Gemini CLI", () => {
  it.each(all)("%s stands where its own loader does", (file) => {
    const { sessions } = read(file)
    const { tree } = assertFlawless(sessions[0]!)
    const path = tree.path(tree.leaf!)
    const from = path.findLastIndex(({ type }) => type === "compaction")
    const own = path.slice(Math.max(0, from)).filter(({ type }) => type !== "session_init")
    const { messages, startTime, summary } = loaded(file)
    assert.deepStrictEqual(
      [...new Set(own.map(({ origin }) => String((origin as Json).entry)))],
      messages.map(({ id }) => String(id))
    )
    assert.strictEqual(sessions[0]!.header.timestamp, startTime)
    assert.strictEqual(tree.facts.config.summary, summary ?? null)
    assert.strictEqual(Readers.detect(file, bytesOf(`gemini/${file}`)), "gemini")
  })

  it("a message that came again is one entry, and its tokens count once", () => {
    const { entries } = read("tools.jsonl").sessions[0]!
    const usages = entries.flatMap(({ message }) =>
      isObject(message) && isObject(message.usage) ? [message.usage] : []
    )
    assert.deepStrictEqual(
      usages.map(({ input, cacheRead, output }) => [input, cacheRead, output]),
      [
        [90, 10, 20],
        [210, 10, 30]
      ]
    )
    const [result] = entries.flatMap(({ message }) =>
      isObject(message) && message.role === "toolResult" ? [message] : []
    )
    assert.deepStrictEqual(result!.content, [{ type: "text", text: "Lima\nOslo\n" }])
  })

  it("a rewind is a branch at the message before", () => {
    const { tree } = assertFlawless(read("rewind.jsonl").sessions[0]!)
    assert.strictEqual(tree.leaves().length, 2)
    assert.include(JSON.stringify(tree.entries), "Oslo added.")
  })

  it("a compression is a compaction, and what it stands for comes before it", () => {
    const { tree } = assertFlawless(read("compressed.jsonl").sessions[0]!)
    const [summary, ...rest] = ContextBuilder.build(tree).messages as ReadonlyArray<Json>
    assert.include(String(summary!.summary), "short state")
    assert.strictEqual(rest.length, 3)
    assert.strictEqual(tree.roots().length, 1)
  })

  it("a sub-agent is one, and its parent is named by its folder", () => {
    const file = "/h/.gemini/tmp/x/chats/c3752a75-a593-4d7b-98a3-f1bc2f234324/5da9a704.jsonl"
    const [session] = Readers.read("gemini", alone(file, bytesOf("gemini/subagent.jsonl"))).sessions
    assert.deepStrictEqual(
      [session!.entries[0]!.type, session!.header.parentSession, session!.header.cwd],
      ["session_init", "c3752a75-a593-4d7b-98a3-f1bc2f234324", "/home/dev/atlas"]
    )
  })

  it("to rewind to what is not there drops all, and a name that was dropped may come again", () => {
    const say = (id: string, text: string) =>
      JSON.stringify({ id, timestamp: "2026-01-01T00:00:00Z", type: "user", content: text })
    const text = [
      '{"sessionId":"0198c0de-0000-7000-8000-000000000001","projectHash":"x","startTime":"2026-01-01T00:00:00Z"}',
      ...[say("a", "one"), say("b", "two"), '{"$rewindTo":"zzz"}', say("a", "three")]
    ].join("\n")
    const { tree } = assertFlawless(Readers.read("gemini", alone("/a.jsonl", utf8(text))).sessions[0]!)
    assert.strictEqual(tree.roots().length, 2)
    assert.deepStrictEqual(
      tree.path(tree.leaf!).map(({ message }) => (message as Json).content),
      ["three"]
    )
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "gemini",
      all.map((file) => `gemini/${file}`)
    )
  })
})
