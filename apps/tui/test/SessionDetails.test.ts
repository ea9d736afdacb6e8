import { assert, it } from "@effect/vitest"
import { EntryIds, SessionStore, Sessions } from "@grove/core"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SessionDetails from "../src/SessionDetails.ts"
import * as SessionForks from "../src/SessionForks.ts"

const layer = Layer.provideMerge(Sessions.layer, Layer.mergeAll(SessionStore.layerMemory, EntryIds.layerSequential))

const said = (role: string, text: string, cost = 0) => ({
  type: "message" as const,
  message: {
    role,
    content: [{ type: "text", text }],
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: cost } }
  }
})

const talk = Effect.fnUntraced(function* (path: string, prompts: ReadonlyArray<string>) {
  const sessions = yield* Sessions
  const session = yield* sessions.open(path)
  const replies = []
  for (const prompt of prompts) {
    yield* TestClock.adjust("1 second")
    yield* session.main.append(said("user", prompt))
    replies.push(yield* session.main.append(said("assistant", `on ${prompt}`, 0.25)))
  }
  return { session, replies }
})

const detailed = Effect.fnUntraced(function* (path: string) {
  const store = yield* SessionStore
  const summary = (yield* store.list()).find((each) => each.path === path)!
  // Reading gives way to others, which a clock that stands still would not let it.
  const reading = yield* Effect.forkChild(SessionDetails.read(summary, () => undefined))
  yield* TestClock.adjust("1 second")
  return yield* Fiber.join(reading)
})

it.effect("a session has the turns of its path, what all of it cost, and what was asked last", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { path } = yield* sessions.create({ cwd: "/work" })
    const { session, replies } = yield* talk(path, ["one", "two", "three"])
    yield* session.main.branch(replies[0]!.id)
    yield* session.main.append(said("user", "another\ntwo"))
    const { turns, costMicros, lastPrompt, forkedAfter } = yield* detailed(path)
    assert.deepStrictEqual(
      { turns, costMicros, lastPrompt, forkedAfter },
      {
        turns: 2,
        costMicros: 750_000,
        lastPrompt: "another two",
        forkedAfter: 0
      }
    )
  }).pipe(Effect.scoped, Effect.provide(layer))
)

it.effect("a fork knows how many turns it was made with, and its source where it was forked", () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const { path } = yield* sessions.create({ cwd: "/work" })
    const { session, replies } = yield* talk(path, ["one", "two", "three"])
    yield* TestClock.adjust("1 second")
    const fork = yield* sessions.fork(path, { at: replies[1]!.id, cwd: "/work" })
    yield* sessions.create({ cwd: "/work" })
    yield* sessions.create({ cwd: "/work", parentSession: path })
    yield* talk(fork.path, ["four", "five"])
    const { turns, forkedAfter } = yield* detailed(fork.path)
    assert.deepStrictEqual([turns, forkedAfter], [4, 2])
    assert.deepStrictEqual([...(yield* SessionForks.of(session))], [replies[1]!.id])
  }).pipe(Effect.scoped, Effect.provide(layer))
)
