/** What every `ChatModel` promises. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Latch, type Layer, Schema, Stream } from "effect"
import { ChatModel, type ChatModelError, type ChatRequest, reply } from "../ChatModel.ts"
import { AssistantMessage } from "../model/Message.ts"
import type { Json } from "../model/open.ts"
import { ReplyDraft, type ReplyPart } from "../model/Reply.ts"
import { awkwardTexts } from "./EntryArbitrary.ts"

export interface Call {
  readonly name: string
  readonly arguments: Json
}

/** A model, and the prompts that make it do what is to be seen. */
export interface Subject {
  readonly layer: Layer.Layer<ChatModel, unknown>
  /** `provider/model` */
  readonly model: string
  /** Answered with this text and nothing else. */
  readonly say: (text: string) => string
  /** Answered with these calls, all in one reply. */
  readonly call: (calls: ReadonlyArray<Call>) => string
  /** Answered with this text, and then the reply is cut off. */
  readonly cut: (text: string) => string
  /** Answered with this text, and then nothing more for a long time. */
  readonly hang: (text: string) => string
  /** Answered by saying that the context is too long. */
  readonly overflow: string
}

/** Whatever a session may hold where a message is expected. */
const Oddity = Schema.Record(
  Schema.Literals(["role", "content", "toolCallId", "toolName", "isError", "stopReason"]),
  Schema.Union([
    Schema.Literals(["user", "assistant", "toolResult", "system", "custom", "from the future", "", "text"]),
    Schema.Array(
      Schema.Union([
        Schema.Null,
        Schema.String,
        Schema.Struct({
          type: Schema.Literals(["text", "image", "thinking", "redactedThinking", "toolCall", "unheard of"]),
          text: Schema.optionalKey(Schema.Union([Schema.String, Schema.Null])),
          thinking: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
          data: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
          mimeType: Schema.optionalKey(Schema.String),
          id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Null])),
          name: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
          arguments: Schema.optionalKey(Schema.Json)
        })
      ])
    ),
    Schema.Json
  ])
)

const isMessage = Schema.is(AssistantMessage)

export const suite = (name: string, subject: Subject) => {
  const { model } = subject
  const ask = (prompt: string): ChatRequest => ({ model, messages: [{ role: "user", content: prompt }] })
  const partsOf = (request: ChatRequest) => ChatModel.use((chat) => Stream.runCollect(chat.stream(request)))
  /** What came before the failure, and the failure. */
  const failing = (request: ChatRequest) =>
    Effect.gen(function* () {
      const heard: Array<ReplyPart> = []
      const chat = yield* ChatModel
      const listened = Stream.runForEach(chat.stream(request), (part) => Effect.sync(() => heard.push(part)))
      const error: ChatModelError = yield* Effect.flip(listened)
      return { heard, error }
    })
  const saidIn = (message: AssistantMessage): string =>
    message.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("")

  return it.layer(subject.layer, { excludeTestServices: true })(`${name} keeps the ChatModel promises`, (it) => {
    it.effect.each(awkwardTexts)("what it says arrives unchanged: %j", (text) =>
      Effect.gen(function* () {
        assert.strictEqual(saidIn(yield* reply(ask(subject.say(text)))), text)
      })
    )

    it.effect("the one End comes last, and holds what the parts before it add up to", () =>
      Effect.gen(function* () {
        const parts = yield* partsOf(ask(subject.say("roots, trunk and leaves")))
        const end = parts.at(-1)!
        assert(end._tag === "End")
        assert.deepStrictEqual(
          parts.slice(0, -1).filter(({ _tag }) => _tag === "End"),
          []
        )
        const { provider, model: id, api, timestamp, latencyMs } = end.message
        const draft = new ReplyDraft({ provider, model: id, ...(api !== undefined && { api }) })
        for (const part of parts.slice(0, -1)) draft.add(part)
        assert.deepStrictEqual(draft.message({ timestamp: timestamp!, latencyMs: latencyMs! }), end.message)
      })
    )

    it.effect("the message is one that a session may hold, signed by who was asked", () =>
      Effect.gen(function* () {
        const message = yield* reply(ask(subject.say("signed")))
        assert(isMessage(message))
        assert.strictEqual(`${message.provider}/${message.model}`, model)
        assert.strictEqual(message.stopReason, "stop")
        const { input, output, cacheRead, cacheWrite, totalTokens } = message.usage!
        assert.strictEqual(totalTokens, input + output + cacheRead + cacheWrite)
      })
    )

    it.effect("calls come whole, in their order, each with an id of its own", () =>
      Effect.gen(function* () {
        const calls = [
          { name: "read", arguments: { path: "a", nested: { list: [1, "two", null, awkwardTexts[3]] } } },
          { name: "read", arguments: {} },
          { name: "bash", arguments: { command: awkwardTexts[1] } }
        ]
        const parts = yield* partsOf(ask(subject.call(calls)))
        const end = parts.at(-1)!
        assert(end._tag === "End")
        assert.strictEqual(end.message.stopReason, "toolUse")
        const blocks = end.message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []))
        assert.deepStrictEqual(
          blocks.map(({ name, arguments: given }) => ({ name, arguments: given })),
          calls
        )
        assert.strictEqual(new Set(blocks.map(({ id }) => id)).size, 3)

        const spelled = new Map<number, string>()
        for (const part of parts) {
          if (part._tag === "ToolCallStart") spelled.set(part.index, "")
          if (part._tag === "ToolCallDelta") spelled.set(part.index, spelled.get(part.index) + part.delta)
          if (part._tag !== "ToolCallEnd") continue
          assert.deepStrictEqual(JSON.parse(spelled.get(part.index) || "{}"), part.call.arguments)
          assert.strictEqual(end.message.content[part.index], part.call)
        }
      })
    )

    it.effect("of a reply that is cut off, everything that came can be kept", () =>
      Effect.gen(function* () {
        const { heard, error } = yield* failing(ask(subject.cut("half of the")))
        assert.deepStrictEqual([error._tag, error.model, error.reason._tag], ["ChatModelError", model, "CutStream"])
        const draft = new ReplyDraft({ provider: "p", model: "m" })
        for (const part of heard) draft.add(part)
        const kept = draft.message({ timestamp: 0, stopReason: "error", errorMessage: error.message })
        assert(isMessage(kept))
        assert.strictEqual(saidIn(kept), "half of the")
        assert.strictEqual(kept.stopReason, "error")
      })
    )

    it.effect("a context that is too long is told apart from every other failure", () =>
      Effect.gen(function* () {
        const { error } = yield* failing(ask(subject.overflow))
        assert.strictEqual(error.reason._tag, "ContextOverflow")
        assert.isFalse(error.isTransient)
      })
    )

    it.effect("what has come is handed on at once, and an interruption ends the rest", () =>
      Effect.gen(function* () {
        const chat = yield* ChatModel
        const heard = yield* Latch.make()
        let said = ""
        const fiber = yield* Stream.runForEach(chat.stream(ask(subject.hang("so far"))), (part) => {
          if (part._tag === "Text") said += part.delta
          return said === "so far" ? heard.open : Effect.void
        }).pipe(Effect.forkChild)
        yield* heard.await
        yield* Fiber.interrupt(fiber)
      })
    )

    it.effect("many may be asked at once, and none answers for another", () =>
      Effect.gen(function* () {
        const texts = Array.from({ length: 16 }, (_, i) => `sample ${i} of sixteen`)
        const replies = yield* Effect.forEach(texts, (text) => reply(ask(subject.say(text))), { concurrency: 16 })
        assert.deepStrictEqual(replies.map(saidIn), texts)
      })
    )

    it.effect("a stream asks when it is run, and anew each time", () =>
      Effect.gen(function* () {
        const chat = yield* ChatModel
        const stream = chat.stream(ask(subject.say("again")))
        const texts = yield* Effect.replicateEffect(
          Stream.runFold(
            stream,
            () => "",
            (text, part) => (part._tag === "Text" ? text + part.delta : text)
          ),
          2
        )
        assert.deepStrictEqual(texts, ["again", "again"])
      })
    )

    it.effect("a model that nobody serves is unknown, to be found and to be asked", () =>
      Effect.gen(function* () {
        const chat = yield* ChatModel
        const found = yield* Effect.flip(chat.find("nobody/nothing"))
        const asked = yield* Effect.flip(Stream.runDrain(chat.stream({ ...ask("hi"), model: "nobody/nothing" })))
        for (const error of [found, asked]) {
          assert.deepStrictEqual([error.model, error.reason._tag], ["nobody/nothing", "UnknownModel"])
        }
      })
    )

    it.effect("what is listed can be found", () =>
      Effect.gen(function* () {
        const chat = yield* ChatModel
        const listed = (yield* chat.list).flatMap(({ models }) => models)
        for (const info of listed) {
          assert.strictEqual(info.ref, `${info.provider}/${info.model}`)
          assert.deepStrictEqual(yield* chat.find(info.ref), info)
        }
        assert.include(
          listed.map(({ ref }) => ref),
          model
        )
      })
    )

    it.effect.prop(
      "whatever the messages hold, there is a reply or a typed error",
      [Schema.Array(Oddity)],
      ([messages]) =>
        Effect.gen(function* () {
          const prompt = { role: "user", content: subject.say("still here") }
          const answered = yield* Effect.result(reply({ model, messages: [...messages, prompt] }))
          assert.oneOf(answered._tag, ["Success", "Failure"])
        })
    )
  })
}
