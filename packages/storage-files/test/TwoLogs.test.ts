/** One session, open twice. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Entry, type NewEntry, type SessionLog, SessionStore, Sessions } from "@grove/core"
import { Effect, Layer, Stream } from "effect"
import { real } from "../src/Disk.ts"
import { rewrite } from "../src/Rewrite.ts"
import { type Child, start } from "./support/Children.ts"
import { HEADER, line } from "./support/Lines.ts"
import { sessionsLayer, storeLayer } from "./support/Stores.ts"
import { temporary, write } from "./support.ts"

const SOON = 1000

const entry = (id: string): Entry.Entry => JSON.parse(line(id))
const prompt = (text: string): NewEntry => ({ type: "message", message: { role: "user", content: text } })

/** What a log hears of, and when. */
const listening = (log: SessionLog) =>
  Effect.gen(function* () {
    const heard: Array<{ readonly id: string; readonly at: number }> = []
    yield* log.changes.pipe(
      Stream.runForEach((entries) =>
        Effect.sync(() => {
          for (const { id } of entries) heard.push({ id, at: performance.now() })
        })
      ),
      Effect.forkScoped({ startImmediately: true })
    )
    return heard
  })

const ids = (heard: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => heard.map(({ id }) => id)

describe("two logs of one program", () => {
  it.live(
    "each hear what the other appends within a second, once, and nothing of their own",
    () =>
      Effect.gen(function* () {
        const home = temporary()
        const path = write(join(home, "one.jsonl"), HEADER)
        const ref = { id: "", path }
        // Two stores, so that nothing but the file connects them.
        const [a, b] = yield* Effect.all(
          [1, 2].map(() =>
            Layer.build(storeLayer(home)).pipe(
              Effect.flatMap((context) =>
                Effect.provide(
                  SessionStore.use((store) => store.open(ref)),
                  context
                )
              )
            )
          )
        )
        const [heardByA, heardByB] = [yield* listening(a!), yield* listening(b!)]
        const [ofA, ofB]: [Array<string>, Array<string>] = [[], []]
        const times = new Map<string, number>()
        for (let i = 0; i < 6; i++) {
          const batch = Array.from({ length: 1 + (i % 3) }, (_, k) => `a${i}-${k}`)
          yield* a!.append(batch.map(entry))
          yield* b!.append([entry(`b${i}`)])
          for (const id of [...batch, `b${i}`]) times.set(id, performance.now())
          ofA.push(...batch)
          ofB.push(`b${i}`)
          yield* Effect.sleep(`${i * 60} millis`)
        }
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual([ids(heardByA), ids(heardByB)], [ofB, ofA])
        for (const { id, at } of [...heardByA, ...heardByB]) assert.isBelow(at - times.get(id)!, SOON, id)
      }).pipe(Effect.scoped),
    { retry: 2 }
  )

  it.live("hear everything once and nothing of their own though the file is replaced again and again", () =>
    Effect.gen(function* () {
      const home = temporary()
      const path = write(join(home, "one.jsonl"), HEADER)
      const store = yield* SessionStore
      const [a, b] = [yield* store.open({ id: "", path }), yield* store.open({ id: "", path })]
      const [heardByA, heardByB] = [yield* listening(a), yield* listening(b)]
      for (let i = 0; i < 10; i++) {
        yield* a.append([entry(`a${i}`)])
        yield* Effect.promise(() => rewrite({ disk: real, path }, (bytes) => bytes))
        yield* b.append([entry(`b${i}`)])
      }
      yield* Effect.sleep("1 second")
      const expected = (name: string) => Array.from({ length: 10 }, (_, i) => `${name}${i}`)
      assert.deepStrictEqual([ids(heardByA), ids(heardByB)], [expected("b"), expected("a")])
    }).pipe(Effect.scoped, Effect.provide(storeLayer(temporary())))
  )

  it.live("have the same tree, and nobody is moved by what the other appends", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const { path } = yield* sessions.create({ cwd: "/w" })
      const [a, b] = [yield* sessions.open(path), yield* sessions.open(path)]
      const told: Array<string> = []
      yield* a.events.pipe(
        Stream.runForEach((event) =>
          Effect.sync(() => {
            if (event._tag === "ForeignEntries") told.push(...event.entries.map(({ id }) => id))
          })
        ),
        Effect.forkScoped({ startImmediately: true })
      )
      const first = yield* a.main.append(prompt("a"))
      yield* Effect.sleep("600 millis")
      const second = yield* b.main.append(prompt("b"))
      yield* Effect.sleep("600 millis")
      assert.deepStrictEqual([yield* a.main.leaf, yield* b.main.leaf], [first.id, second.id])
      assert.deepStrictEqual([...a.tree.entries], [...b.tree.entries])
      assert.deepStrictEqual(told, [second.id])
    }).pipe(Effect.scoped, Effect.provide(sessionsLayer(temporary())))
  )
})

describe("two programs", () => {
  const heardIn = ({ lines }: Child): ReadonlyArray<string> =>
    lines.filter((text) => text.startsWith("heard ")).map((text) => text.slice("heard ".length))

  it("each hear what the other appends within a second, once, and nothing of their own", {
    timeout: 60_000,
    retry: 2
  }, async () => {
    const path = write(join(temporary(), "one.jsonl"), HEADER)
    const [a, b] = await Promise.all([start("listener", path), start("listener", path)])
    await Promise.all([a.printed(1), b.printed(1)])
    const slowest: Array<number> = []
    for (let i = 0; i < 6; i++) {
      const [from, to, id] = i % 2 === 0 ? ([a, b, `a${i}`] as const) : ([b, a, `b${i}`] as const)
      const before = from.lines.length
      from.say(id)
      await from.printed(before + 1)
      const appended = performance.now()
      while (!heardIn(to).includes(id)) await to.printed(to.lines.length + 1)
      slowest.push(performance.now() - appended)
    }
    await new Promise((next) => setTimeout(next, 600))
    await Promise.all([a.kill(), b.kill()])
    assert.deepStrictEqual(
      [heardIn(a), heardIn(b)],
      [
        ["b1", "b3", "b5"],
        ["a0", "a2", "a4"]
      ]
    )
    assert.isBelow(Math.max(...slowest), SOON)
  })
})
