/** The offline model: what it says to whom, and that it keeps the promises of every model. */
import { assert, describe, it } from "@effect/vitest"
import { Chat, ChatModel, type ChatRequest, type Json, type ReplyPart } from "@grove/core"
import { ChatModelContract } from "@grove/core/testing"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Sprout from "../../src/models/Sprout.ts"

const order = (...orders: ReadonlyArray<string>) => orders.map((each) => `!sprout ${each}`).join("\n")

ChatModelContract.suite("sprout", {
  layer: Sprout.layer,
  model: Sprout.info.ref,
  say: (text) => order(`say ${text}`),
  call: (calls) => order(...calls.map(({ name, arguments: given }) => `tool ${name} ${JSON.stringify(given)}`)),
  cut: (text) => order(`say ${text}`, "fail"),
  hang: (text) => order(`say ${text}`, "slow 600000", "say never heard"),
  overflow: order("overflow")
})

const user = (text: string): Json => ({ role: "user", content: text })
const ask = (messages: ReadonlyArray<Json>, fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model: "grove/sprout",
  messages,
  ...fields
})
const replyTo = (messages: ReadonlyArray<Json>, fields?: Partial<ChatRequest>) =>
  Effect.provide(Chat.reply(ask(messages, fields)), Sprout.layer)
const partsTo = (messages: ReadonlyArray<Json>) =>
  ChatModel.use((model) => Stream.runCollect(model.stream(ask(messages)))).pipe(Effect.provide(Sprout.layer))
const textOf = ({ content }: { readonly content: ReadonlyArray<Json> }) => content.map(({ text }) => text).join("|")

describe("what it was shown", () => {
  it.effect("it says how many messages and about how many tokens, and repeats the prompt", () =>
    Effect.gen(function* () {
      const message = yield* replyTo([user("a".repeat(400)), { role: "assistant", content: [] }, user("grow")])
      assert.strictEqual(textOf(message), "I was shown 3 messages (about 101 tokens). You said: grow")
      assert.strictEqual(message.stopReason, "stop")
      assert.strictEqual(message.usage?.input, 101)
      assert.strictEqual(message.usage?.cost?.total, 0)
    })
  )

  it.effect("one message is one message", () =>
    Effect.gen(function* () {
      assert.strictEqual(textOf(yield* replyTo([user("hi")])), "I was shown 1 message (about 1 tokens). You said: hi")
    })
  )

  it.effect("it streams word by word", () =>
    Effect.gen(function* () {
      const deltas = (yield* partsTo([user("!sprout say one two  three ")])).filter(({ _tag }) => _tag === "Text")
      assert.deepStrictEqual(
        deltas.map((part) => (part as ReplyPart & { readonly delta: string }).delta),
        ["one", " two", "  three"]
      )
    })
  )

  it.effect("after results it says what it was shown of each", () =>
    Effect.gen(function* () {
      const result = (toolName: string, text: string, isError: boolean): Json => ({
        role: "toolResult",
        toolCallId: toolName,
        toolName,
        content: [{ type: "text", text }],
        isError
      })
      const message = yield* replyTo([
        user("!sprout tool read {}"),
        { role: "assistant", content: [] },
        result("read", "leaf and root", false),
        result("bash", "no such file", true)
      ])
      assert.strictEqual(
        textOf(message),
        "I was shown 4 messages (about 12 tokens).\nread answered: leaf and root\nbash failed: no such file"
      )
    })
  )
})

describe("what it is told to do", () => {
  it.effect("say says exactly that, over several lines", () =>
    Effect.gen(function* () {
      assert.strictEqual(textOf(yield* replyTo([user("!sprout say one\n  two")])), "one\n  two")
    })
  )

  it.effect("several orders make one reply, calls in parallel included", () =>
    Effect.gen(function* () {
      const { content, stopReason } = yield* replyTo([
        user('!sprout think hm\n!sprout say Looking.\n!sprout tool read {"path":"a"}\n!sprout tool read {"path":"b"}')
      ])
      assert.deepStrictEqual(content, [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Looking." },
        { type: "toolCall", id: "sprout_1_2", name: "read", arguments: { path: "a" } },
        { type: "toolCall", id: "sprout_1_3", name: "read", arguments: { path: "b" } }
      ])
      assert.strictEqual(stopReason, "toolUse")
    })
  )

  it.effect("arguments that are no JSON object are handed on as such", () =>
    Effect.gen(function* () {
      const { content } = yield* replyTo([user("!sprout tool read path=a")])
      assert.deepStrictEqual(content, [
        { type: "toolCall", id: "sprout_1_0", name: "read", arguments: {}, invalidArguments: "path=a" }
      ])
    })
  )

  it.effect("fail fails, after what it was told to say", () =>
    Effect.gen(function* () {
      const heard: Array<ReplyPart> = []
      const error = yield* ChatModel.use((model) =>
        Stream.runForEach(model.stream(ask([user("!sprout say half\n!sprout fail")])), (part) =>
          Effect.sync(() => heard.push(part))
        )
      ).pipe(Effect.provide(Sprout.layer), Effect.flip)
      assert.strictEqual(error.message, "grove/sprout: the reply was cut off: sprout was told to fail")
      assert.deepStrictEqual(heard, [{ _tag: "Text", index: 0, delta: "half" }])
    })
  )

  it.effect("slow rests before every word, and can be interrupted while it does", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const fiber = yield* ChatModel.use((model) =>
        Stream.runForEach(model.stream(ask([user("!sprout slow 500\n!sprout say one two")])), (part) =>
          Effect.sync(() => part._tag === "Text" && heard.push(part.delta))
        )
      ).pipe(Effect.provide(Sprout.layer), Effect.forkChild)
      yield* TestClock.adjust(499)
      assert.deepStrictEqual(heard, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(heard, ["one"])
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(5_000)
      assert.deepStrictEqual(heard, ["one"])
    })
  )

  it.effect("overflow overflows until the context begins with a summary", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(replyTo([user("!sprout overflow")]))
      assert.strictEqual(error.reason._tag, "ContextOverflow")
      const summary = user(
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\nx\n</summary>"
      )
      assert.strictEqual((yield* replyTo([summary, user("!sprout overflow")])).stopReason, "stop")
    })
  )

  it.effect("what it does not understand it answers with what it does", () =>
    Effect.gen(function* () {
      for (const prompt of ["!sprout dance", "!sprout"]) {
        assert.match(textOf(yield* replyTo([user(prompt)])), /^I understand: !sprout say <text>/)
      }
    })
  )
})

describe("what it has room for", () => {
  it.effect("a context above its window overflows, one within does not", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(replyTo([user("x".repeat(4 * 32_768 + 1))]))
      assert.match(error.message, /the context is too long for the model: 32769 tokens where 32768 fit$/)
      assert.strictEqual((yield* replyTo([user("x".repeat(4 * 32_768))])).stopReason, "stop")
    })
  )

  it.effect("a reply longer than asked for stops for length", () =>
    Effect.gen(function* () {
      const message = yield* replyTo([user(`!sprout say ${"word ".repeat(100)}`)], { maxTokens: 10 })
      assert.strictEqual(message.stopReason, "length")
      assert.strictEqual(textOf(message), "word word word word word word word word")
      assert.strictEqual(message.usage?.output, 10)
    })
  )
})

describe("summaries", () => {
  const conversation = (...lines: ReadonlyArray<string>) => `<conversation>\n${lines.join("\n\n")}\n</conversation>`

  it.effect("asked for one, it writes the sections, drawn from the conversation", () =>
    Effect.gen(function* () {
      const told = conversation(
        "[User]: Plant a tree",
        "[Assistant]: An oak.",
        '[Assistant tool calls]: read(path="soil.md")',
        "[User]: Water it\nevery day"
      )
      const text = textOf(yield* replyTo([user(`${told}\n\nWrite a summary of it.`)]))
      assert.strictEqual(
        text,
        [
          "## Goal\nPlant a tree",
          "## Constraints & Preferences\n(none)",
          "## Progress\n### Done\n- [x] Water it\n### In Progress\n(none)\n### Blocked\n(none)",
          "## Key Decisions\n- An oak.",
          "## Next Steps\n- go on from: Water it",
          '## Critical Context\n- read(path="soil.md")'
        ].join("\n\n")
      )
    })
  )

  it.effect("an earlier summary is carried on", () =>
    Effect.gen(function* () {
      const before =
        "<previous-summary>\n## Goal\nPlant a tree\n\n## Progress\n### Done\n- [x] Dig\n</previous-summary>"
      const text = textOf(yield* replyTo([user(`${conversation("[User]: Water it")}\n\n${before}`)]))
      assert.match(text, /^## Goal\nPlant a tree\n/)
      assert.match(text, /### Done\n- \[x\] Dig\n- \[x\] Water it\n/)
    })
  )

  it.effect("the beginning of a turn is summed up in sections of its own", () =>
    Effect.gen(function* () {
      const text = textOf(
        yield* replyTo([user(`${conversation("[User]: Dig", "[Assistant]: Deep.")}\n## Original Request\n…`)])
      )
      assert.strictEqual(
        text,
        "## Original Request\nDig\n\n## Early Progress\n- Deep.\n\n## Context for Suffix\n- Deep."
      )
    })
  )
})
