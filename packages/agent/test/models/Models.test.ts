import { assert, describe, it } from "@effect/vitest"
import { Chat, ChatModel } from "@grove/core"
import { ChatModelContract } from "@grove/core/testing"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Catalogue from "../../src/models/Catalogue.ts"
import * as Models from "../../src/models/Models.ts"
import * as Pricing from "../../src/models/Pricing.ts"
import { grant } from "./OpenAiWire.ts"
import { ask, drip, type Handler, serve, wishes } from "./support.ts"

const NOBODY = "http://127.0.0.1:1"
const offline: Models.Options = { environment: {}, ollamaUrl: NOBODY }

const ollama: Handler = ({ path, body }, response) => {
  const answer = (value: object) => response.end(JSON.stringify(value))
  if (path === "/api/tags") return answer({ models: [{ name: "qwen3:8b" }, { name: "gemma:2b" }, { name: "odd" }] })
  if (path === "/api/show" && body.model === "qwen3:8b") {
    return answer({ capabilities: ["completion", "tools", "thinking"], model_info: { "qwen3.context_length": 40_960 } })
  }
  if (path === "/api/show" && body.model === "gemma:2b") return answer({ capabilities: ["completion"], model_info: {} })
  if (path !== "/v1/chat/completions") return response.writeHead(404).end()
  drip(
    response,
    `data: ${JSON.stringify({ choices: [{ delta: { content: String(body.model) }, finish_reason: "stop" }] })}\n\n`
  )
  response.end()
}

const using = <A, E>(options: Models.Options, effect: Effect.Effect<A, E, ChatModel>) =>
  Effect.provide(effect, Models.layer(options))

ChatModelContract.suite("all models behind one", {
  layer: Layer.unwrap(
    Effect.map(serve(grant), ({ url }) =>
      Models.layer({ ...offline, environment: { OPENAI_API_KEY: "k" }, openAiUrl: `${url}/v1` })
    )
  ),
  model: "openai/gpt-5.4",
  ...wishes
})

describe("what there is", () => {
  it.live("everything is listed, with the reason why it would not answer", () =>
    Effect.gen(function* () {
      const listed = yield* using(
        { ...offline, file: "/nowhere/auth.json" },
        ChatModel.use(({ list }) => list)
      )
      assert.deepStrictEqual(
        listed.map(({ provider, problem }) => `${provider}: ${problem ?? "ok"}`),
        [
          "anthropic: no key: set ANTHROPIC_API_KEY or put it into /nowhere/auth.json",
          "openai: no key: set OPENAI_API_KEY or put it into /nowhere/auth.json",
          `ollama: no Ollama answers at ${NOBODY}; start it with \`ollama serve\``,
          "grove: ok"
        ]
      )
    })
  )

  it.live("nobody having chosen, the first that would answer is preferred, and sprout when there is no other", () =>
    Effect.gen(function* () {
      const keyed = { ...offline, environment: { ANTHROPIC_API_KEY: "k" } }
      assert.strictEqual((yield* using(keyed, Models.preferred)).ref, "anthropic/claude-opus-5-5")
      assert.strictEqual((yield* using(offline, Models.preferred)).ref, "grove/sprout")
      assert.match(JSON.stringify((yield* using(offline, Chat.reply(ask("grove/sprout")))).content), /You said: hi/)
    })
  )

  it.live("a name without its provider is unknown, and the error names what comes near", () =>
    Effect.gen(function* () {
      const error = yield* using(offline, Effect.flip(ChatModel.use(({ find }) => find("haiku"))))
      assert.strictEqual(error.message, "haiku: no such model; did you mean anthropic/claude-haiku-4-5?")
    })
  )

  it.live("what is known better than here counts", () =>
    Effect.gen(function* () {
      const overrides = {
        "anthropic/claude-sonnet-5": { window: 200_000 },
        "openai/house": { window: 5, tools: false }
      }
      const options = { ...offline, overrides }
      const [sonnet, house] = yield* using(
        options,
        ChatModel.use(({ find }) => Effect.all([find("anthropic/claude-sonnet-5"), find("openai/house")]))
      )
      assert.deepStrictEqual([sonnet.window, sonnet.maxOutput], [200_000, 128_000])
      assert.deepStrictEqual([house.window, house.tools, house.prices], [5, false, null])
    })
  )
})

describe("Ollama", () => {
  it.live("is found by itself, its models say what they can do, and they answer", () =>
    Effect.gen(function* () {
      const { url, received } = yield* serve(ollama)
      const options = { ...offline, ollamaUrl: url }
      yield* using(
        options,
        Effect.gen(function* () {
          const { list } = yield* ChatModel
          const { problem, models } = (yield* list).find(({ provider }) => provider === "ollama")!
          assert.isNull(problem)
          assert.deepStrictEqual(
            models.map(({ ref, window, tools, images, thinking }) => [ref, window, tools, images, thinking]),
            [
              ["ollama/qwen3:8b", 40_960, true, false, true],
              ["ollama/gemma:2b", null, false, false, false],
              ["ollama/odd", null, true, true, true]
            ]
          )
          yield* list
          assert.strictEqual(received.filter(({ path }) => path === "/api/tags").length, 1)
          const message = yield* Chat.reply(ask("ollama/qwen3:8b"))
          assert.deepStrictEqual(message.content, [{ type: "text", text: "qwen3:8b" }])
          assert.strictEqual(received.at(-1)!.headers.authorization, undefined)
        })
      )
    })
  )

  it.effect("a server that takes its time is not waited for", () =>
    Effect.gen(function* () {
      const asked = Deferred.makeUnsafe<void>()
      const { url } = yield* serve(() => void Deferred.doneUnsafe(asked, Effect.void))
      const listing = yield* Effect.forkChild(
        using(
          { ...offline, ollamaUrl: url },
          ChatModel.use(({ list }) => list)
        )
      )
      yield* Deferred.await(asked)
      yield* TestClock.adjust(500)
      const listed = yield* Fiber.join(listing)
      assert.match(listed.find(({ provider }) => provider === "ollama")!.problem!, /^no Ollama answers/)
    })
  )
})

describe("any other server", () => {
  it.live("is listed by what it serves, under the name it was given", () =>
    Effect.gen(function* () {
      const { url } = yield* serve((_, response) => response.end(JSON.stringify({ data: [{ id: "llama/70b" }, {}] })))
      const listed = yield* using(
        { ...offline, providers: [{ id: "house", baseUrl: `${url}/v1` }] },
        ChatModel.use(({ list }) => list)
      )
      const { problem, models } = listed.find(({ provider }) => provider === "house")!
      assert.deepStrictEqual([problem, models.map(({ ref }) => ref)], [null, ["house/llama/70b"]])
    })
  )
})

describe("prices", () => {
  const used = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }

  it("a snapshot has the price of its model, and what is not in the table has none", () => {
    const { prices } = Catalogue.find("anthropic", "claude-haiku-4-5-20251001")
    assert.strictEqual(Pricing.micros(prices, { ...used, input: 1_000_000 }), 1_000_006)
    assert.isNull(Pricing.micros(Catalogue.find("anthropic", "claude-yew-9").prices, used))
    assert.isNull(Pricing.stored(null, used).cost?.total)
  })

  it("beyond the length that a price holds for there is none", () => {
    const { prices } = Catalogue.find("openai", "gpt-5.4-2026-03-05")
    assert.strictEqual(Pricing.micros(prices, { ...used, input: 271_998, output: 0 }), 679_998)
    assert.isNull(Pricing.micros(prices, { ...used, input: 272_000 }))
  })
})
