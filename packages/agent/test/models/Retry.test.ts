import { assert, describe, it } from "@effect/vitest"
import { Chat, ChatModelError, type ReplyPart } from "@grove/core"
import { Clock, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { retrying } from "../../src/models/Retry.ts"

const fail = (reason: Chat.Reason) => Stream.fail(new ChatModelError({ model: "oak/1", reason }))
const busy = (retryAfterMillis: number | null = null) => fail(new Chat.Overloaded({ retryAfterMillis, detail: "busy" }))
const said: ReplyPart = { _tag: "Text", index: 0, delta: "hi" }
const ok: Stream.Stream<ReplyPart, ChatModelError> = Stream.succeed(said)

/** Plays the attempts one after the other; notes when each was made, in milliseconds. */
const play = (...attempts: ReadonlyArray<Stream.Stream<ReplyPart, ChatModelError>>) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const stream = Stream.unwrap(
      Effect.map(Clock.currentTimeMillis, (now) => attempts[Math.min(times.push(now), attempts.length) - 1]!)
    )
    const heard: Array<ReplyPart> = []
    const fiber = yield* Stream.runForEach(retrying(stream), (part) => Effect.sync(() => heard.push(part))).pipe(
      Effect.result,
      Effect.forkChild
    )
    for (let i = 0; i < 200; i++) yield* TestClock.adjust("1 second")
    return { times, heard, outcome: yield* Fiber.join(fiber) }
  })

describe("asking again", () => {
  it.effect("rests twice as long each time, give or take a half, and says so", () =>
    Effect.gen(function* () {
      const { times, heard, outcome } = yield* play(busy(), busy(), busy(), ok)
      assert.strictEqual(outcome._tag, "Success")
      const rests = times.slice(1).map((time, i) => time - times[i]!)
      for (const [i, rest] of rests.entries()) assert(rest >= 500 * 2 ** i && rest <= 1_000 * 2 ** i, `${i}: ${rest}`)
      assert.deepStrictEqual(
        heard.map((part) => (part._tag === "Retry" ? `${part.attempt} ${part.because}` : part._tag)),
        ["2", "3", "4"].map((n) => `${n} oak/1: the provider is overloaded: busy`).concat("Text")
      )
    })
  )

  it.effect("rests exactly as long as it is asked to", () =>
    Effect.gen(function* () {
      const { times } = yield* play(busy(7_000), ok)
      assert.deepStrictEqual(times, [0, 7_000])
    })
  )

  it.effect("does not wait for one who wants too long a rest", () =>
    Effect.gen(function* () {
      const { times, outcome } = yield* play(busy(61_000), ok)
      assert.deepStrictEqual([times.length, outcome._tag], [1, "Failure"])
    })
  )

  it.effect("gives up after four requests", () =>
    Effect.gen(function* () {
      const { times, outcome } = yield* play(busy())
      assert.deepStrictEqual([times.length, outcome._tag], [4, "Failure"])
    })
  )

  it.effect("never repeats a reply that has begun", () =>
    Effect.gen(function* () {
      const { times, heard, outcome } = yield* play(Stream.concat(ok, busy()), ok)
      assert.deepStrictEqual([times.length, heard, outcome._tag], [1, [said], "Failure"])
    })
  )

  it.effect("never repeats what would fail again", () =>
    Effect.gen(function* () {
      for (const reason of [
        new Chat.WrongKey({ detail: "" }),
        new Chat.ContextOverflow({ detail: "" }),
        new Chat.BadReply({ detail: "" }),
        new Chat.RequestRefused({ detail: "" })
      ]) {
        const { times } = yield* play(fail(reason), ok)
        assert.strictEqual(times.length, 1, reason._tag)
      }
    })
  )

  it.effect("an interruption ends the rest", () =>
    Effect.gen(function* () {
      let asked = 0
      const stream = Stream.suspend(() => (asked++ === 0 ? busy(5_000) : ok))
      const fiber = yield* Effect.forkChild(Stream.runDrain(retrying(stream)))
      yield* TestClock.adjust(1_000)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(60_000)
      assert.strictEqual(asked, 1)
    })
  )
})
