/** OpenAI's chat completions, spoken by a server on this machine. */
import { assert, describe, it } from "@effect/vitest"
import { ChatModel, type ChatModelError, type ReplyPart } from "@grove/core"
import { ChatModelContract } from "@grove/core/testing"
import { Effect, Layer, Stream } from "effect"
import * as Catalogue from "../../src/models/Catalogue.ts"
import * as Keys from "../../src/models/Keys.ts"
import * as OpenAi from "../../src/models/OpenAi.ts"
import { chunk, DONE, event, grant, text } from "./OpenAiWire.ts"
import { ask, drip, type Handler, refuse, serve, wishes } from "./support.ts"

const KEY = "sk-a-secret-nobody-may-see"
const MODEL = "openai/gpt-5.4"

const serviceFor = (handler: Handler, attempts = 1) =>
  Effect.map(serve(handler), ({ url, received }) => ({
    received,
    chat: OpenAi.make({
      provider: "openai",
      name: "OpenAI",
      baseUrl: `${url}/v1/`,
      keys: Keys.make({ environment: { OPENAI_API_KEY: KEY } }),
      keyVariables: ["OPENAI_API_KEY"],
      infoOf: (model) => Effect.succeed(Catalogue.find("openai", model)),
      listing: Effect.succeed({ problem: null, models: Catalogue.modelsOf("openai") }),
      retry: { attempts, firstDelayMillis: 0, maxDelayMillis: 0 }
    })
  }))

ChatModelContract.suite("openai", {
  layer: Layer.effect(
    ChatModel,
    Effect.map(serviceFor(grant), ({ chat }) => chat)
  ),
  model: MODEL,
  ...wishes
})

const heardFrom = (handler: Handler, request = ask(MODEL), attempts = 1) =>
  Effect.gen(function* () {
    const { chat, received } = yield* serviceFor(handler, attempts)
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
  it.live.each(["reasoning_content", "reasoning"])("thinking under the name %s comes before the text", (field) =>
    Effect.gen(function* () {
      const sent = chunk({ [field]: "h" }) + chunk({ [field]: "m" }) + text("so") + chunk({}, "stop") + DONE
      const { message } = yield* heardFrom(stream(`: ping\n\n${sent}`))
      assert.deepStrictEqual(message?.content, [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "so" }
      ])
    })
  )

  it.live("cached tokens are not fresh ones, reasoning is output, and the sum has a price", () =>
    Effect.gen(function* () {
      const usage = {
        prompt_tokens: 10_000,
        completion_tokens: 1_000,
        prompt_tokens_details: { cached_tokens: 8_000 },
        completion_tokens_details: { reasoning_tokens: 600 }
      }
      const { message } = yield* heardFrom(
        stream(text("ok") + chunk({}, "stop") + event({ choices: [], usage }) + DONE)
      )
      assert.deepStrictEqual(message?.usage, {
        input: 2_000,
        output: 1_000,
        cacheRead: 8_000,
        cacheWrite: 0,
        reasoning: 600,
        totalTokens: 11_000,
        // 2000 × 2.5 + 1000 × 15 + 8000 × 0.25
        cost: { total: 0.022 }
      })
    })
  )

  it.live("servers that send calls whole, without index, id or the right word for the end, are understood", () =>
    Effect.gen(function* () {
      const calls = [
        { function: { name: "read", arguments: { path: "a" } } },
        { function: { name: "ls", arguments: "" } }
      ]
      const { message } = yield* heardFrom(stream(chunk({ tool_calls: calls }) + chunk({}, "stop")))
      assert.deepStrictEqual(message?.content, [
        { type: "toolCall", id: "call_0", name: "read", arguments: { path: "a" } },
        { type: "toolCall", id: "call_1", name: "ls", arguments: {} }
      ])
      assert.strictEqual(message?.stopReason, "toolUse")
    })
  )

  it.live("lines may end in CRLF, and the last word may be missing once the model has ended", () =>
    Effect.gen(function* () {
      const { message } = yield* heardFrom(stream((text("ok") + chunk({}, "length")).replaceAll("\n", "\r\n")))
      assert.deepStrictEqual([message?.content, message?.stopReason], [[{ type: "text", text: "ok" }], "length"])
    })
  )

  it.live("a filtered reply is an error that says so", () =>
    Effect.gen(function* () {
      const { message } = yield* heardFrom(stream(text("ok") + chunk({}, "content_filter") + DONE))
      assert.deepStrictEqual([message?.stopReason, message?.errorMessage], ["error", "the provider withheld the reply"])
    })
  )
})

describe("what goes wrong", () => {
  it.live.each([
    [401, { error: { code: "invalid_api_key", message: `Incorrect API key provided: ${KEY}` } }, "WrongKey"],
    [404, { error: { code: "model_not_found", message: "no such model" } }, "UnknownModel"],
    [429, { error: { code: "rate_limit_exceeded", message: "slow down" } }, "RateLimited"],
    [429, { error: { code: "insufficient_quota", message: "pay first" } }, "RequestRefused"],
    [500, { error: "the model runner has stopped" }, "Overloaded"],
    [503, "", "Overloaded"],
    [400, { error: { message: "registry/gemma does not support tools" } }, "RequestRefused"]
  ] as const)("status %i is told apart, and no key is in what is told", ([status, body, tag]) =>
    Effect.gen(function* () {
      const { error } = yield* heardFrom(refuse(status, body))
      assert.strictEqual(error?.reason._tag, tag)
      assert.notInclude(error!.message + JSON.stringify(error), KEY)
    })
  )

  it.live("a server that is asked without a key and wants one: where one would be named", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(refuse(401, { error: "who are you?" }))
      const chat = OpenAi.make({
        provider: "elm",
        name: "Elm",
        baseUrl: url,
        keys: Keys.make({ environment: {} }),
        infoOf: (model) => Effect.succeed(Catalogue.find("elm", model)),
        listing: Effect.succeed({ problem: null, models: [] })
      })
      const error = yield* Effect.flip(Stream.runDrain(chat.stream(ask("elm/small"))))
      assert.match(error.message, /not accepted: who are you\?; .*keyVariable of the provider in config\.json$/)
    }).pipe(Effect.scoped)
  )

  it.live("an error among the chunks ends the reply", () =>
    Effect.gen(function* () {
      const { error, parts } = yield* heardFrom(stream(text("half") + event({ error: { code: 429, message: "full" } })))
      assert.strictEqual(error?.reason._tag, "RateLimited")
      assert.deepStrictEqual(parts, [{ _tag: "Text", index: 0, delta: "half" }])
    })
  )
})

describe("a server that is busy", () => {
  /** Refuses as often as there are refusals, then answers. */
  const after = (...refusals: ReadonlyArray<Handler>): Handler => {
    const left = [...refusals]
    return (request, response) => (left.shift() ?? stream(text("ok") + chunk({}, "stop") + DONE))(request, response)
  }
  const dropped: Handler = (_, response) => response.destroy()

  it.live("is asked again, and each time is told of", () =>
    Effect.gen(function* () {
      const busy = refuse(429, { error: { message: "slow down" } }, { "retry-after": "0" })
      const handler = after(busy, refuse(503, ""), dropped)
      const { parts, received, message } = yield* heardFrom(handler, ask(MODEL), 4)
      assert.deepStrictEqual(message?.content, [{ type: "text", text: "ok" }])
      assert.strictEqual(received.length, 4)
      assert.deepStrictEqual(
        parts.flatMap((part) => (part._tag === "Retry" ? [[part.attempt, part.delayMillis]] : [])),
        [
          [2, 0],
          [3, 0],
          [4, 0]
        ]
      )
      assert.deepStrictEqual(new Set(received.map(({ body }) => JSON.stringify(body))).size, 1)
    })
  )

  it.live("is not asked more often than allowed, nor when it wants a longer rest than that", () =>
    Effect.gen(function* () {
      const often = yield* heardFrom(after(refuse(500, ""), refuse(500, ""), refuse(500, "")), ask(MODEL), 2)
      assert.deepStrictEqual([often.received.length, often.error?.reason._tag], [2, "Overloaded"])
      const long = yield* heardFrom(refuse(429, "", { "retry-after": "60" }), ask(MODEL), 4)
      assert.strictEqual(long.received.length, 1)
      assert.deepInclude(long.error?.reason, { _tag: "RateLimited", retryAfterMillis: 60_000 })
    })
  )

  it.live("is not asked again once it has said something", () =>
    Effect.gen(function* () {
      const { received, error } = yield* heardFrom(stream(text("half")), ask(MODEL), 4)
      assert.deepStrictEqual([received.length, error?.reason._tag], [1, "CutStream"])
    })
  )
})

describe("what is sent", () => {
  it("names and ids that are no words, and arguments nested beyond the stack, are sent all the same", () => {
    const odd = { toString: null, valueOf: 1 }
    let deep: object = {}
    for (let i = 0; i < 200_000; i++) deep = { deep }
    const messages = [
      { role: "assistant", content: [{ type: "toolCall", id: odd, name: odd, arguments: deep }] },
      { role: "toolResult", toolCallId: odd, toolName: odd, content: "x" }
    ]
    const [said, result] = OpenAi.bodyOf({ model: MODEL, messages }, Catalogue.find("openai", "gpt-5.4"))
      .messages as ReadonlyArray<{
      tool_calls?: [{ id: string; function: { arguments: string } }]
      tool_call_id?: string
    }>
    assert.strictEqual(said!.tool_calls![0].id, "")
    assert.isTrue(said!.tool_calls![0].function.arguments.startsWith('{"deep":{"deep":'))
    assert.strictEqual(result!.tool_call_id, "")
  })

  it("calls, their results, and the images of results once all results are there", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" }
    const body = OpenAi.bodyOf(
      {
        model: MODEL,
        system: "be brief",
        messages: [
          { role: "user", content: "go" },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hm" },
              { type: "toolCall", id: "1", name: "see", arguments: { at: 1 } },
              { type: "toolCall", id: "2", name: "see", arguments: {} }
            ]
          },
          { role: "toolResult", toolCallId: "1", toolName: "see", content: [image], isError: false },
          { role: "toolResult", toolCallId: "2", toolName: "see", content: [], isError: false },
          { role: "user", content: "and?" }
        ],
        tools: [{ name: "see", description: "sees", parameters: { type: "object" } }],
        thinkingLevel: "minimal",
        maxTokens: 100
      },
      Catalogue.find("openai", "gpt-5.4")
    )
    const call = (id: string, given: string) => ({ id, type: "function", function: { name: "see", arguments: given } })
    assert.deepStrictEqual(body, {
      model: "gpt-5.4",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [call("1", '{"at":1}'), call("2", "{}")] },
        { role: "tool", tool_call_id: "1", content: "(an image, which follows)" },
        { role: "tool", tool_call_id: "2", content: "(no output)" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
        { role: "user", content: "and?" }
      ],
      max_completion_tokens: 100,
      tools: [{ type: "function", function: { name: "see", description: "sees", parameters: { type: "object" } } }],
      reasoning_effort: "low"
    })
  })

  it("a model without tools is not offered any, and other servers know max_tokens", () => {
    const info = { ...Catalogue.assumed("local", "gemma"), tools: false, thinking: false }
    const request = ask("local/gemma", "hi", {
      tools: [{ name: "see", description: "", parameters: {} }],
      thinkingLevel: "high",
      maxTokens: 7
    })
    assert.deepStrictEqual(OpenAi.bodyOf(request, info), {
      model: "gemma",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 7
    })
  })

  it.live("the key goes into its header and nowhere else", () =>
    Effect.gen(function* () {
      const { received, message } = yield* heardFrom(grant, ask(MODEL, wishes.say("ok")))
      assert.strictEqual(received[0]!.headers.authorization, `Bearer ${KEY}`)
      assert.strictEqual(received[0]!.path, "/v1/chat/completions")
      assert.notInclude(JSON.stringify([received[0]!.body, message]), KEY)
    })
  )
})
