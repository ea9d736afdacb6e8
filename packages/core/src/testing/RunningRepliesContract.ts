/** What every `RunningReplies` promises. */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { EntryId } from "../model/EntryId.ts"
import { RunningReplies, type RunningReply } from "../RunningReplies.ts"

const reply = (entry: string, fields: Partial<RunningReply> = {}): RunningReply => ({
  session: "session-1",
  entry: EntryId.make(entry),
  parentId: null,
  model: "grove/sprout",
  started: "2026-01-01T00:00:00.000Z",
  text: "",
  ...fields
})

/** `layerOf` begins with replies whose owners are gone. */
export const suite = (
  name: string,
  layerOf: (left: ReadonlyArray<RunningReply>) => Layer.Layer<RunningReplies, unknown>
): void => {
  const test = (
    what: string,
    left: ReadonlyArray<RunningReply>,
    effect: (replies: RunningReplies["Service"]) => Effect.Effect<void>
  ) =>
    it.effect(`${name}: ${what}`, () =>
      Effect.provide(
        Effect.flatMap(RunningReplies, (replies) => effect(replies)),
        layerOf(left)
      )
    )

  test("a reply is found as it was noted last, until it is forgotten", [], (replies) =>
    Effect.gen(function* () {
      const first = reply("a", { parentId: EntryId.make("p"), text: "so", group: { id: "p", index: 1 } })
      yield* replies.note(first)
      assert.deepStrictEqual(yield* replies.list("session-1"), [first])
      const longer = { ...first, text: "so far \ud83c\udf33 \u0000 \ud800 \u2028\n" }
      yield* replies.note(longer)
      assert.deepStrictEqual(yield* replies.list("session-1"), [longer])
      yield* replies.forget("session-1", first.entry)
      assert.deepStrictEqual(yield* replies.list("session-1"), [])
      yield* replies.forget("session-1", first.entry)
    })
  )

  test("replies of other sessions are others, however alike their names", [reply("b", { session: "s.a" })], (replies) =>
    Effect.gen(function* () {
      yield* replies.note(reply("b.c", { session: "a" }))
      yield* replies.note(reply("c", { session: "a.b" }))
      yield* replies.note(reply("d", { session: "../a/b" }))
      const entries = (session: string) =>
        Effect.map(replies.list(session), (found) => found.map(({ entry }) => String(entry)))
      assert.deepStrictEqual(yield* entries("a"), ["b.c"])
      assert.deepStrictEqual(yield* entries("a.b"), ["c"])
      assert.deepStrictEqual(yield* entries("../a/b"), ["d"])
      assert.deepStrictEqual(yield* replies.takeAbandoned("s"), [])
    })
  )

  test("what is being generated is not abandoned", [], (replies) =>
    Effect.gen(function* () {
      yield* replies.note(reply("a"))
      assert.deepStrictEqual(yield* replies.takeAbandoned("session-1"), [])
      assert.strictEqual((yield* replies.list("session-1")).length, 1)
    })
  )

  const older = reply("a", { text: "older" })
  const newer = reply("b", { text: "newer", started: "2026-01-02T00:00:00.000Z" })
  test(
    "what is abandoned is taken once, the oldest first, and stays noted until it is forgotten",
    [newer, older],
    (replies) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* replies.list("session-1"), [])
        assert.deepStrictEqual(yield* replies.takeAbandoned("session-1"), [older, newer])
        assert.deepStrictEqual(yield* replies.takeAbandoned("session-1"), [])
        assert.deepStrictEqual(yield* replies.list("session-1"), [older, newer])
        yield* replies.forget("session-1", older.entry)
        assert.deepStrictEqual(yield* replies.list("session-1"), [newer])
      })
  )

  test(
    "a session is at work while somebody generates in it, and unclean if nobody does any more; asking takes nothing",
    [older, reply("c", { session: "s/2" })],
    (replies) =>
      Effect.gen(function* () {
        yield* replies.note(reply("d", { session: "s/2" }))
        yield* replies.note(reply("e", { session: "s/3" }))
        assert.deepStrictEqual(Object.fromEntries(yield* replies.works), {
          "session-1": "unclean",
          "s/2": "working",
          "s/3": "working"
        })
        yield* replies.forget("s/3", EntryId.make("e"))
        assert.isFalse((yield* replies.works).has("s/3"))
        assert.deepStrictEqual(yield* replies.takeAbandoned("session-1"), [older])
      })
  )
}
