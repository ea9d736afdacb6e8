/** What comes over the wire, byte by byte. */
import { assert, describe, it } from "@effect/vitest"
import { ChatModelError, ReplyDraft } from "@grove/core"
import { Effect, Redacted, Schema, Stream } from "effect"
import * as Anthropic from "../../src/models/Anthropic.ts"
import * as OpenAi from "../../src/models/OpenAi.ts"
import * as Wire from "../../src/models/Wire.ts"
import { chunk, DONE, text } from "./OpenAiWire.ts"

/** What is heard of those bytes, so many at a time. */
const heardOf = (sent: string, size: number, reader: Wire.Reader, key = "a-secret") =>
  Effect.gen(function* () {
    const bytes = new TextEncoder().encode(sent)
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (at >= bytes.length) return controller.close()
        controller.enqueue(bytes.slice(at, at + size))
        at += size
      }
    })
    const draft = new ReplyDraft({ provider: "oak", model: "1" })
    const fail = (reason: ChatModelError["reason"]) => new ChatModelError({ model: "oak/1", reason })
    yield* Stream.runForEach(Wire.heard(body.getReader(), reader, Wire.withoutKey(Redacted.make(key)), fail), (part) =>
      Effect.sync(() => draft.add(part))
    )
    return draft.message({ timestamp: 0 }).content
  })

describe("a stream", () => {
  const said = "é€😀\u2028 ok"

  it.effect.each([1, 2, 3, 5, 7, 1_000])("that comes %i bytes at a time says the same, whatever is torn", (size) =>
    Effect.gen(function* () {
      const sent = text(...said, " 😀 whole") + chunk({}, "stop") + DONE
      assert.deepStrictEqual(yield* heardOf(sent, size, OpenAi.makeReader(null)()), [
        { type: "text", text: `${said} 😀 whole` }
      ])
      const event = (type: string, data: object) =>
        `event: ${type}\r\ndata: ${JSON.stringify({ type, ...data })}\r\n\r\n`
      const messages =
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
        event("content_block_delta", { index: 0, delta: { type: "text_delta", text: said } }) +
        event("content_block_stop", { index: 0 }) +
        event("message_stop", {})
      assert.deepStrictEqual(yield* heardOf(messages, size, Anthropic.makeReader(null)()), [
        { type: "text", text: said }
      ])
    })
  )

  it.effect("that repeats the key does not hand it on, however it is torn", () =>
    Effect.gen(function* () {
      const sent = text("the a-secret") + chunk({}, "stop") + DONE
      assert.deepStrictEqual(yield* heardOf(sent, 1, OpenAi.makeReader(null)()), [{ type: "text", text: "the [key]" }])
    })
  )

  it.effect.each(["", "a", "none", "sk-1234"])("is not changed by a key as short as %j", (key) =>
    Effect.gen(function* () {
      const sent = text("a role of none: sk-1234") + chunk({}, "stop") + DONE
      assert.deepStrictEqual(yield* heardOf(sent, 3, OpenAi.makeReader(null)(), key), [
        { type: "text", text: "a role of none: sk-1234" }
      ])
    })
  )

  it.effect.prop("of any bytes is a reply or a typed error", [Schema.String], ([noise]) =>
    Effect.gen(function* () {
      for (const reader of [OpenAi.makeReader(null)(), Anthropic.makeReader(null)()]) {
        const outcome = yield* Effect.result(heardOf(`data: ${noise}\n\n`, 3, reader))
        if (outcome._tag === "Failure") assert.strictEqual(outcome.failure._tag, "ChatModelError")
      }
    })
  )
})

describe("how long a provider wants to rest", () => {
  const date = "Wed, 18 Nov 2026 10:00:00 GMT"
  it.each([
    [{}, null],
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "-1" }, 0],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
    [{ "retry-after": "Wed, 18 Nov 2026 10:00:30 GMT", date }, 30_000],
    [{ "retry-after": "Wed, 18 Nov 2026 09:00:00 GMT", date }, 0],
    [{ "retry-after": "Wed, 18 Nov 2026 10:00:30 GMT" }, 0],
    [{ "retry-after": "tomorrow" }, null]
  ] as const)("%j is %j", (headers, millis) => {
    assert.strictEqual(Wire.retryAfterOf(new Headers(headers as Record<string, string>)), millis)
  })
})
