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

  it("a message that a compression keeps is said again after it", () => {
    const say = (id: string, content: string) => ({ id, timestamp: "2026-01-01T00:00:00Z", type: "user", content })
    const text = [
      { sessionId: "0198c0de-0000-7000-8000-000000000001", projectHash: "x", startTime: "2026-01-01T00:00:00Z" },
      ...[
        say("a", "one"),
        say("b", "two"),
        { $set: { messages: [say("s", "summary"), say("b", "two")] } },
        say("c", "three")
      ]
    ]
    const bytes = utf8(text.map((line) => JSON.stringify(line)).join("\n"))
    const { tree } = assertFlawless(Readers.read("gemini", alone("/a.jsonl", bytes)).sessions[0]!)
    const messages = ContextBuilder.build(tree).messages as ReadonlyArray<Json>
    assert.deepStrictEqual(
      messages.map(({ summary, content }) => summary ?? content),
      ["summary", "two", "three"]
    )
    assert.include(JSON.stringify(tree.entries), '"one"')
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

  describe("as it is written by a running program", () => {
    const HEAD = {
      sessionId: "0198c0de-0000-7000-8000-000000000001",
      projectHash: "x",
      startTime: "2026-01-01T00:00:00Z"
    }
    const message = (id: string, type: string, content: unknown, fields: Json = {}): Json => ({
      ...{ id, timestamp: "2026-01-01T00:00:01Z", type, content },
      ...fields
    })
    const opened = (...lines: ReadonlyArray<Json>) => {
      const text = [HEAD, ...lines].map((line) => JSON.stringify(line)).join("\n")
      const { sessions, unmapped } = Readers.read("gemini", alone("/a.jsonl", utf8(text)))
      const { tree } = assertFlawless(sessions[0]!)
      return { tree, entries: sessions[0]!.entries, unmapped }
    }
    const set = (...messages: ReadonlyArray<Json>): Json => ({ $set: { messages } })
    const namesOn = (tree: ReturnType<typeof opened>["tree"]) =>
      tree.path(tree.leaf!).map(({ type, origin }) => [type, String((origin as Json).entry)])
    const inputs = (entries: ReturnType<typeof opened>["entries"]) =>
      entries.flatMap(({ message: said }) => (isObject(said) && isObject(said.usage) ? [said.usage.input] : []))

    const context = message("env", "user", [{ text: "<session_context>\nToday is Monday.\n</session_context>" }])
    const called = message("g1", "gemini", "", {
      tokens: { input: 10, output: 2, cached: 0 },
      toolCalls: [{ id: "c1", name: "read_file", args: {}, status: "success", result: [{ text: "Lima" }] }]
    })
    const response = (id: string, output: string) => ({
      functionResponse: { id, name: "read_file", response: { output } }
    })

    it("begins with a context that people do not see, and that is no compaction", () => {
      const { tree } = opened(set(context), message("u1", "user", [{ text: "Hello" }]))
      assert.deepStrictEqual(namesOn(tree), [
        ["custom_message", "env"],
        ["message", "u1"]
      ])
      assert.strictEqual(tree.get("env")!.display, false)
    })

    it("has every result once, though it is written with its call and sent in the person's name", () => {
      const { tree, unmapped } = opened(
        message("u1", "user", [{ text: "Read" }]),
        ...[called, message("n1", "info", "Reading"), message("r1", "user", [response("c1", "Lima")])],
        message("g2", "gemini", "Lima it is.")
      )
      const roles = (ContextBuilder.build(tree).messages as ReadonlyArray<Json>).map(({ role }) => role)
      assert.deepStrictEqual(roles, ["user", "assistant", "toolResult", "assistant"])
      assert.deepStrictEqual(unmapped, [])
    })

    it("takes thoughts, calls and results from the parts where they are only there", () => {
      const { tree } = opened(
        message("u1", "user", [{ text: "Read" }]),
        message(
          "g1",
          "gemini",
          [
            { text: "Look first.", thought: true },
            { text: "Reading." },
            { functionCall: { id: "c1", name: "read_file", args: { path: "a" } }, thoughtSignature: "s" }
          ],
          { thoughts: [{ subject: "Look", description: "first." }] }
        ),
        message("r1", "user", [response("c1", "Lima"), { text: "and go on" }]),
        message("p1", "info", [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }])
      )
      const messages = ContextBuilder.build(tree).messages as ReadonlyArray<Json>
      assert.deepStrictEqual(messages[1]!.content, [
        { type: "thinking", thinking: "Look first." },
        { type: "text", text: "Reading." },
        { type: "toolCall", id: "c1", name: "read_file", arguments: { path: "a" }, thoughtSignature: "s" }
      ])
      assert.deepStrictEqual(
        messages.slice(2).map(({ role, content }) => [role, content]),
        [
          ["toolResult", [{ type: "text", text: "Lima" }]],
          ["user", "and go on"],
          ["custom", [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }]]
        ]
      )
    })

    it("keeps what was given up as a branch, and what a tool said whole", () => {
      const masked = {
        ...called,
        toolCalls: [{ ...(called.toolCalls as ReadonlyArray<Json>)[0], result: [{ text: "(cut)" }] }]
      }
      const { tree } = opened(
        ...[context, message("u1", "user", "Read"), called, message("n1", "info", "Cancelled")],
        ...[message("u2", "user", "More"), set(context, message("u1", "user", "Read"), masked)],
        message("u3", "user", "Else")
      )
      assert.strictEqual(tree.leaves().length, 2)
      assert.deepStrictEqual(
        namesOn(tree).map(([, name]) => name),
        ["env", "u1", "g1", "g1", "n1", "u3"]
      )
      assert.notInclude(JSON.stringify(tree.entries), "(cut)")
    })

    it("goes on where it is taken up again, though the list then has results of its own and no commands", () => {
      const [first, last] = [message("u1", "user", "Read"), message("g2", "gemini", "Lima.")]
      const { tree, entries } = opened(
        ...[
          set(context),
          message("k", "user", "/stats"),
          first,
          called,
          message("r1", "user", [response("c1", "Lima")]),
          last
        ],
        ...[
          set(context, first, called, message("derived", "user", [response("c1", "Lima")]), last),
          message("u2", "user", "More")
        ]
      )
      assert.strictEqual(tree.leaves().length, 1)
      assert.deepStrictEqual(
        entries.map(({ origin }) => (origin as Json).entry),
        ["env", "k", "u1", "g1", "g1", "g2", "u2"]
      )
    })

    it("goes another way from where a list does", () => {
      const [first, answer] = [message("u1", "user", "One"), message("g1", "gemini", "1")]
      const { tree } = opened(
        first,
        answer,
        message("u2", "user", "Two"),
        set(first, answer, message("v2", "user", "2"))
      )
      assert.deepStrictEqual(
        ["u2", "v2"].map((id) => String(tree.get(id)!.parentId)),
        ["g1", "g1"]
      )
      assert.strictEqual(String(tree.leaf), "v2")
    })

    it("counts what is kept behind a summary once", () => {
      const snapshot = message("s1", "user", [{ text: "<state_snapshot>short</state_snapshot>" }])
      const understood = message("s2", "gemini", [{ text: "Got it." }])
      const { tree, entries } = opened(
        ...[set(context), message("u1", "user", "One"), called, message("u2", "user", "Two")],
        ...[set(context, snapshot, understood, called), message("u3", "user", "Three"), { $rewindTo: "s2" }]
      )
      assert.deepStrictEqual(inputs(entries), [10, 0, 0])
      assert.deepStrictEqual(
        namesOn(tree).map(([type]) => type),
        ["custom_message", "message", "message", "message", "message", "compaction"]
      )
      assert.strictEqual(tree.leaves().length, 1)
    })

    it("knows a summary that was written line by line before the list", () => {
      const lines = [
        message("s1", "user", "<state_snapshot>short</state_snapshot>"),
        message("s2", "gemini", "Got it.")
      ]
      const { tree } = opened(message("u1", "user", "One"), message("g1", "gemini", "1"), ...lines, set(...lines))
      assert.deepStrictEqual(namesOn(tree), [
        ["message", "u1"],
        ["message", "g1"],
        ["compaction", "s1"],
        ["message", "s2"]
      ])
    })

    it("begins again where all was written anew and nothing was summed up", () => {
      const lines = [message("v1", "user", "One"), message("v2", "gemini", "1")]
      const { tree } = opened(message("u1", "user", "One"), message("g1", "gemini", "1"), ...lines, set(...lines))
      assert.strictEqual(tree.roots().length, 2)
      assert.deepStrictEqual(
        namesOn(tree).map(([, name]) => name),
        ["v1", "v2"]
      )
    })
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "gemini",
      all.map((file) => `gemini/${file}`)
    )
  })
})
