/** Anthropic's wire format, spoken by a server on this machine. */
import { assert, describe, it } from "@effect/vitest"
import { type Chat, ChatModel, type ChatModelError, type ReplyPart } from "@grove/core"
import { ChatModelContract } from "@grove/core/testing"
import { Effect, Fiber, Latch, Layer, Stream } from "effect"
import * as Anthropic from "../../src/models/Anthropic.ts"
import * as Catalogue from "../../src/models/Catalogue.ts"
import * as Keys from "../../src/models/Keys.ts"
import { ask, drip, type Handler, refuse, serve, wishes, wishIn } from "./support.ts"

const KEY = "sk-ant-a-secret-nobody-may-see"
const MODEL = "anthropic/claude-haiku-4-5"
const once = { attempts: 1, firstDelayMillis: 0, maxDelayMillis: 0 }

const event = (data: object): string => {
  const { type } = data as { readonly type: string }
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}
const START = event({ type: "message_start", message: { usage: { input_tokens: 3, output_tokens: 1 } } })
const block = (index: number, start: object, ...deltas: ReadonlyArray<object>): string =>
  [
    event({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index })
  ].join("")
const text = (index: number, ...texts: ReadonlyArray<string>): string =>
  block(index, { type: "text", text: "" }, ...texts.map((each) => ({ type: "text_delta", text: each })))
const end = (stop_reason: string, usage: object = { output_tokens: 9 }): string =>
  event({ type: "message_delta", delta: { stop_reason }, usage }) + event({ type: "message_stop" })

const halves = (whole: string): ReadonlyArray<string> => {
  const middle = whole.length >> 1
  return [whole.slice(0, middle), whole.slice(middle)]
}

const grant: Handler = ({ body }, response) => {
  const wish = wishIn(body)
  if ("say" in wish) drip(response, START + text(0, ...[...wish.say]) + end("end_turn"))
  else if ("call" in wish) {
    const calls = wish.call.map(({ name, arguments: given }, i) => {
      const json = Object.keys(given).length === 0 ? [] : halves(JSON.stringify(given))
      const deltas = json.map((partial_json) => ({ type: "input_json_delta", partial_json }))
      return block(i, { type: "tool_use", id: `toolu_${i}`, name, input: {} }, ...deltas)
    })
    drip(response, START + calls.join("") + end("tool_use"))
  } else if ("overflow" in wish) {
    return refuse(400, {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 300000 tokens > 200000 maximum" }
    })({ path: "", headers: {}, body }, response)
  } else {
    const said = "cut" in wish ? wish.cut : wish.hang
    drip(response, START + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }))
    drip(response, event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: said } }))
    if ("hang" in wish) return
  }
  response.end()
}

const serviceFor = (handler: Handler, retry = once) =>
  Effect.map(serve(handler), ({ url, received }) => ({
    received,
    chat: Anthropic.make({ keys: Keys.make({ environment: { ANTHROPIC_API_KEY: KEY } }), baseUrl: url, retry })
  }))

ChatModelContract.suite("anthropic", {
  layer: Layer.effect(
    ChatModel,
    Effect.map(serviceFor(grant), ({ chat }) => chat)
  ),
  model: MODEL,
  ...wishes
})

const heardFrom = (handler: Handler, request = ask(MODEL)) =>
  Effect.gen(function* () {
    const { chat, received } = yield* serviceFor(handler)
    const parts: Array<ReplyPart> = []
    const outcome = yield* Effect.result(
      Stream.runForEach(chat.stream(request), (part) => Effect.sync(() => parts.push(part)))
    )
    const last = parts.at(-1)
    return {
      parts,
      received,
      message: last?._tag === "End" ? last.message : undefined,
      error: outcome._tag === "Failure" ? (outcome.failure as ChatModelError) : undefined
    }
  }).pipe(Effect.scoped)

const stream =
  (sent: string): Handler =>
  (_, response) => {
    drip(response, sent)
    response.end()
  }

describe("what comes back", () => {
  it.live("thinking, its signature, redacted thinking, text and two calls are one message", () =>
    Effect.gen(function* () {
      const sent =
        START +
        block(
          0,
          { type: "thinking", thinking: "" },
          { type: "thinking_delta", thinking: "h" },
          { type: "thinking_delta", thinking: "m" },
          { type: "signature_delta", signature: "c2ln" }
        ) +
        block(1, { type: "redacted_thinking", data: "hidden" }) +
        text(2, "Rea", "ding 🌳") +
        block(3, { type: "server_tool_use", id: "x", name: "web_search", input: {} }) +
        block(
          4,
          { type: "tool_use", id: "a", name: "read", input: {} },
          { type: "input_json_delta", partial_json: '{"p":1}' }
        ) +
        block(5, { type: "tool_use", id: "b", name: "ls", input: {} }) +
        end("tool_use")
      const { message } = yield* heardFrom(stream(`: keep-alive\n\n${event({ type: "ping" })}${sent}`))
      assert.deepStrictEqual(message?.content, [
        { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" },
        { type: "thinking", thinking: "", thinkingSignature: "hidden", redacted: true },
        { type: "text", text: "Reading 🌳" },
        { type: "toolCall", id: "a", name: "read", arguments: { p: 1 } },
        { type: "toolCall", id: "b", name: "ls", arguments: {} }
      ])
      assert.strictEqual(message?.stopReason, "toolUse")
    })
  )

  it.live("lines may end in CRLF", () =>
    Effect.gen(function* () {
      const { message } = yield* heardFrom(stream((START + text(0, "ok") + end("end_turn")).replaceAll("\n", "\r\n")))
      assert.deepStrictEqual(message?.content, [{ type: "text", text: "ok" }])
    })
  )

  it.live("usage is in disjoint buckets, priced to the millionth", () =>
    Effect.gen(function* () {
      const usage = {
        input_tokens: 1_000,
        cache_read_input_tokens: 20_000,
        cache_creation_input_tokens: 3_000,
        cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
        output_tokens: 1
      }
      const sent =
        event({ type: "message_start", message: { usage } }) + text(0, "ok") + end("end_turn", { output_tokens: 500 })
      const { message } = yield* heardFrom(stream(sent))
      assert.deepStrictEqual(message?.usage, {
        input: 1_000,
        output: 500,
        cacheRead: 20_000,
        cacheWrite: 3_000,
        cacheWrite1h: 2_000,
        totalTokens: 24_500,
        // 1000 × 1 + 500 × 5 + 20000 × 0.1 + 1000 × 1.25 + 2000 × 2
        cost: { total: 0.01075 }
      })
    })
  )

  it.live.each([
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "error"],
    ["something new", "stop"]
  ] as const)("%s is %s", ([given, reason]) =>
    Effect.gen(function* () {
      const { message } = yield* heardFrom(stream(START + text(0, "ok") + end(given)))
      assert.strictEqual(message?.stopReason, reason)
    })
  )
})

describe("what goes wrong", () => {
  const said = (type: string, message: string) => ({ type: "error", error: { type, message } })

  it.live.each([
    [401, said("authentication_error", `invalid x-api-key ${KEY}`), "WrongKey"],
    [403, said("permission_error", "not for you"), "WrongKey"],
    [404, said("not_found_error", "model: claude-none"), "UnknownModel"],
    [429, said("rate_limit_error", "slow down"), "RateLimited"],
    [529, said("overloaded_error", "Overloaded"), "Overloaded"],
    [500, "<html>oops</html>", "Overloaded"],
    [413, said("request_too_large", "too large"), "ContextOverflow"],
    [400, said("invalid_request_error", "messages.0: bad"), "RequestRefused"],
    [307, "", "BadReply"]
  ] as const)("status %i is told apart, and no key is in what is told", ([status, body, tag]) =>
    Effect.gen(function* () {
      const { error } = yield* heardFrom(refuse(status, body, { location: "http://127.0.0.1:1/" }))
      assert.strictEqual(error?.reason._tag, tag)
      assert.notInclude(error!.message, KEY)
      assert.notInclude(JSON.stringify(error), KEY)
    })
  )

  it.live("a key that is not accepted is named by its place, so that it can be mended", () =>
    Effect.gen(function* () {
      const { error } = yield* heardFrom(refuse(401, said("authentication_error", "invalid x-api-key")))
      const told = "the key was not accepted: invalid x-api-key; put another into ANTHROPIC_API_KEY"
      assert.strictEqual(error?.message, `${MODEL}: ${told}`)
      const later = yield* heardFrom(stream(START + event(said("authentication_error", "invalid x-api-key"))))
      assert.strictEqual(later.error?.message, `${MODEL}: ${told}`)
    })
  )

  it.live("an error among the events ends the reply, after what had come", () =>
    Effect.gen(function* () {
      const { error, parts } = yield* heardFrom(stream(START + text(0, "half") + event(said("overloaded_error", KEY))))
      assert.strictEqual(error?.message, `${MODEL}: the provider is overloaded: [key]`)
      assert.deepStrictEqual(parts.at(-1), { _tag: "Text", index: 0, delta: "half" })
    })
  )

  it.live("a stream that is not JSON is a bad reply, and so is a page", () =>
    Effect.gen(function* () {
      const garbled = yield* heardFrom(stream("data: {oops\n\n"))
      assert.strictEqual(
        garbled.error?.message,
        `${MODEL}: the reply could not be understood: an event of the stream is not JSON`
      )
      const page = yield* heardFrom((_, response) => {
        response.writeHead(200, { "content-type": "text/html" })
        response.end("<html>Sign in</html>")
      })
      assert.strictEqual(
        page.error?.message,
        `${MODEL}: the reply could not be understood: text/html instead of a stream`
      )
    })
  )

  it.live("a connection that is torn down in the middle leaves what had come", () =>
    Effect.gen(function* () {
      const { error, parts } = yield* heardFrom((_, response) => {
        drip(
          response,
          START + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
        )
        const delta = event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } })
        response.write(delta, () => response.destroy())
      })
      assert.strictEqual(error?.reason._tag, "CutStream")
      assert.deepStrictEqual(
        parts.filter(({ _tag }) => _tag === "Text"),
        [{ _tag: "Text", index: 0, delta: "half" }]
      )
    })
  )

  it.live("an interruption closes the connection", () =>
    Effect.gen(function* () {
      const begun = yield* Latch.make()
      const closed = yield* Latch.make()
      const { chat } = yield* serviceFor((_, response) => {
        response.on("close", () => closed.openUnsafe())
        drip(response, START + text(0, "so far"))
      })
      const fiber = yield* Stream.runForEach(chat.stream(ask(MODEL)), () => begun.open).pipe(Effect.forkChild)
      yield* begun.await
      yield* Fiber.interrupt(fiber)
      yield* closed.await.pipe(Effect.timeout("5 seconds"))
    })
  )

  it.live("where nobody listens it cannot be reached, and the error says where", () =>
    Effect.gen(function* () {
      const keys = Keys.make({ environment: { ANTHROPIC_API_KEY: KEY } })
      const chat = Anthropic.make({ keys, baseUrl: "http://127.0.0.1:1", retry: once })
      const error = yield* Effect.flip(Stream.runDrain(chat.stream(ask(MODEL))))
      assert.strictEqual(error.reason._tag, "Unreachable")
      assert.match(error.message, /cannot reach 127\.0\.0\.1:1: /)
    })
  )

  it.live("a key that no header can carry is refused before anything could quote it", () =>
    Effect.gen(function* () {
      const key = "sk-ant-\u{1f333}-secret"
      const chat = Anthropic.make({ keys: Keys.make({ environment: { ANTHROPIC_API_KEY: key } }) })
      const error = yield* Effect.flip(Stream.runDrain(chat.stream(ask(MODEL))))
      assert.strictEqual(error.reason._tag, "WrongKey")
      assert.notInclude(error.message, "secret")
    })
  )
})

describe("what is sent", () => {
  const info = Catalogue.find("anthropic", "claude-haiku-4-5")

  it("roles take turns, results first, and only signed thinking goes back", () => {
    const body = Anthropic.bodyOf(
      {
        model: MODEL,
        system: "be brief",
        messages: [
          { role: "user", content: "go" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "unsigned" },
              { type: "thinking", thinking: "signed", thinkingSignature: "s" },
              { type: "toolCall", id: "call|1", name: "read", arguments: { path: "a" } }
            ]
          },
          {
            role: "toolResult",
            toolCallId: "call|1",
            toolName: "read",
            content: [{ type: "text", text: "A" }],
            isError: true
          },
          { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }
        ],
        tools: [{ name: "read", description: "reads", parameters: { type: "object" } }]
      },
      info
    )
    const cached = { cache_control: { type: "ephemeral" } }
    assert.deepStrictEqual(body, {
      model: "claude-haiku-4-5",
      max_tokens: 32_000,
      stream: true,
      system: [{ type: "text", text: "be brief", ...cached }],
      messages: [
        { role: "user", content: [{ type: "text", text: "go" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "signed", signature: "s" },
            { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "A" }], is_error: true },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, ...cached }
          ]
        }
      ],
      tools: [{ name: "read", description: "reads", input_schema: { type: "object" } }]
    })
  })

  it("a request of a kind writes no cache", () => {
    assert.notInclude(JSON.stringify(Anthropic.bodyOf(ask(MODEL, "hi", { cache: false, system: "s" }), info)), "cache")
  })

  it("older models are told how many tokens to think, newer ones how hard", () => {
    const thinking = (model: string, fields = {}) => {
      const request = ask(`anthropic/${model}`, "hi", { thinkingLevel: "medium", ...fields })
      const { thinking, output_config } = Anthropic.bodyOf(request, Catalogue.find("anthropic", model))
      return { thinking, output_config }
    }
    const budget = { thinking: { type: "enabled", budget_tokens: 8_192 }, output_config: undefined }
    for (const model of ["claude-haiku-4-5-20251001", "claude-sonnet-4-5", "claude-opus-4-20250514"]) {
      assert.deepStrictEqual(thinking(model), budget, model)
    }
    const effort = { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } }
    for (const model of ["claude-opus-4-6", "claude-sonnet-5", "claude-opus-5-5", "claude-yew-9"]) {
      assert.deepStrictEqual(thinking(model), effort, model)
    }
    const none = { thinking: undefined, output_config: undefined }
    assert.deepStrictEqual(thinking("claude-haiku-4-5", { maxTokens: 2_000 }), none)
    assert.deepStrictEqual(thinking("claude-sonnet-5", { thinkingLevel: "off" }), none)
  })

  it.live("the key goes into its header and nowhere else", () =>
    Effect.gen(function* () {
      const { received, message } = yield* heardFrom(grant, ask(MODEL, wishes.say("ok")))
      assert.strictEqual(received[0]!.headers["x-api-key"], KEY)
      assert.strictEqual(received[0]!.path, "/v1/messages")
      assert.notInclude(JSON.stringify([received[0]!.body, message]), KEY)
    })
  )
})

it.effect("without a key it says where one would be found", () =>
  Effect.gen(function* () {
    const chat = Anthropic.make({ keys: Keys.make({ environment: {} }) })
    const error = yield* Effect.flip(Stream.runDrain(chat.stream(ask(MODEL))))
    assert.strictEqual(error.message, `${MODEL}: there is no key: set ANTHROPIC_API_KEY`)
    assert.deepStrictEqual(
      (yield* chat.list).map(({ problem }) => problem),
      ["no key: set ANTHROPIC_API_KEY"]
    )
    assert.strictEqual(error.reason._tag, "NoKey" satisfies Chat.Reason["_tag"])
  })
)
