import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { EntryIds } from "../src/EntryIds.ts"
import { EntryId, SessionId } from "../src/model/EntryId.ts"

const many = <A>(effect: Effect.Effect<A>, count: number) => Effect.all(Array.from({ length: count }, () => effect))

const times = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 2 }))

it.effect("an entry id is twelve hex digits", () =>
  Effect.gen(function* () {
    const ids = yield* EntryIds
    for (const id of yield* many(ids.entry, 200)) assert.match(id, /^[0-9a-f]{12}$/)
  }).pipe(Effect.provide(EntryIds.layer))
)

it.effect("ids do not repeat, and every digit of them varies", () =>
  Effect.gen(function* () {
    const ids = yield* EntryIds
    const entries = yield* many(ids.entry, 10_000)
    assert.strictEqual(new Set(entries).size, entries.length)
    for (let digit = 0; digit < 12; digit++) assert.strictEqual(new Set(entries.map((id) => id[digit])).size, 16)
    const sessions = yield* many(ids.session, 10_000)
    assert.strictEqual(new Set(sessions).size, sessions.length)
  }).pipe(Effect.provide(EntryIds.layer))
)

it.effect("a session id is a UUID of version 7 and its variant, and a valid session id", () =>
  Effect.gen(function* () {
    const ids = yield* EntryIds
    const sessions = yield* many(ids.session, 1000)
    for (const id of sessions) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.isTrue(Schema.is(SessionId)(id))
    }
    assert.strictEqual(new Set(sessions.map((id) => id[19])).size, 4)
  }).pipe(Effect.provide(EntryIds.layer))
)

it.effect.prop("a session id begins with its time in milliseconds", [times], ([time]) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(time)
    const id = yield* EntryIds.use((ids) => ids.session)
    assert.strictEqual(Number.parseInt(id.replace("-", "").slice(0, 12), 16), time)
  }).pipe(Effect.provide(EntryIds.layer))
)

it.effect.prop("session ids sort by age", [times, times], ([a, b]) =>
  Effect.gen(function* () {
    const ids = yield* EntryIds
    yield* TestClock.setTime(Math.min(a, b))
    const older = yield* ids.session
    yield* TestClock.setTime(Math.max(a, b) + 1)
    assert.isTrue(older < (yield* ids.session))
  }).pipe(Effect.provide(EntryIds.layer))
)

it.effect("sequential ids count from one, entries and sessions apart", () =>
  Effect.gen(function* () {
    const ids = yield* EntryIds
    assert.deepStrictEqual(yield* many(ids.entry, 2), [EntryId.make("000000000001"), EntryId.make("000000000002")])
    assert.deepStrictEqual(yield* many(ids.session, 2), [SessionId.make("session-1"), SessionId.make("session-2")])
  }).pipe(Effect.provide(EntryIds.layerSequential))
)
