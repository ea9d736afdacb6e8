import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Chat from "../src/ChatModel.ts"
import { type Call, suite } from "../src/testing/ChatModelContract.ts"

/** The prompt is the answer, as JSON. */
const layer = Chat.ChatModel.layerScripted(({ messages }) => JSON.parse(String(messages.at(-1)!.content)))

const answer = (script: object): string => JSON.stringify(script)

suite("a script", {
  layer,
  model: "test/scripted",
  say: (content) => answer({ content }),
  call: (calls: ReadonlyArray<Call>) =>
    answer({ content: calls.map((call, i) => ({ type: "toolCall", id: `call${i}`, ...call })) }),
  cut: (content) => answer({ content, fail: new Chat.CutStream({ detail: "cut" }) }),
  hang: (content) => answer({ content, hang: true }),
  overflow: answer({ fail: new Chat.ContextOverflow({ detail: "long" }) })
})

describe("a script in turns", () => {
  const ask: Chat.ChatRequest = { model: "test/scripted", messages: [] }

  it.effect("is followed answer by answer, and stays with the last", () =>
    Effect.gen(function* () {
      const texts: Array<string> = []
      for (let i = 0; i < 3; i++) texts.push(JSON.stringify((yield* Chat.reply(ask)).content))
      assert.deepStrictEqual(
        texts,
        ["one", "two", "two"].map((text) => JSON.stringify([{ type: "text", text }]))
      )
    }).pipe(Effect.provide(Chat.ChatModel.layerScripted([{ content: "one" }, { content: "two" }])))
  )
})

describe("errors", () => {
  const messageOf = (reason: Chat.Reason) => new Chat.ChatModelError({ model: "oak/1", reason }).message

  it("say in one line what happened and what to do", () => {
    assert.strictEqual(messageOf(new Chat.NoKey({ remedy: "set OAK_KEY" })), "oak/1: there is no key: set OAK_KEY")
    assert.strictEqual(
      messageOf(new Chat.RateLimited({ retryAfterMillis: 6_500, detail: "slow down" })),
      "oak/1: rate limited, again in 7 s: slow down"
    )
    assert.strictEqual(
      messageOf(new Chat.UnknownModel({ known: ["oak/2"] })),
      "oak/1: no such model; did you mean oak/2?"
    )
    assert.strictEqual(
      messageOf(new Chat.UnknownModel({ known: [] })),
      "oak/1: no such model; `grove models` lists those there are"
    )
  })
})

it("a level that nobody knows means not thinking", () => {
  assert.deepStrictEqual(["high", "off", "enormous", ""].map(Chat.thinkingLevel), ["high", "off", "off", "off"])
})
