/** Importing again adds what is new, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { type Entry, type EntryId, EntryIds, isObject, type SessionRef, SessionStore, Sessions } from "@grove/core"
import { Effect, Layer } from "effect"
import * as Import from "../src/Import.ts"
import type { TranslatedSession } from "../src/read/Translation.ts"

const header = {
  type: "session",
  version: 3,
  id: "0198c0de-0000-7000-8000-000000000001",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/w",
  origin: { format: "simple", file: "/w/a.jsonl" }
} as const

const usage = (output: number) => ({ input: 1, output, cacheRead: 0, cacheWrite: 0 })

const entry = (id: string, parentId: string | null, text: string, digest: string): Entry.Entry =>
  ({
    ...{ type: "message", id, parentId, timestamp: "2026-01-01T00:00:01.000Z" },
    message: {
      role: "assistant",
      provider: "p",
      model: "m",
      content: [{ type: "text", text }],
      usage: usage(text.length)
    },
    origin: { ...header.origin, line: 1, digest }
  }) as unknown as Entry.Entry

const sessionOf = (...entries: ReadonlyArray<Entry.Entry>): TranslatedSession => ({
  header,
  entries,
  leaf: entries.at(-1)?.id ?? null
})

const chain = (...ids: ReadonlyArray<string>) => sessionOf(...ids.map((id, i) => entry(id, ids[i - 1] ?? null, id, id)))

const known = Effect.gen(function* () {
  const store = yield* SessionStore
  const refs = new Map<string, SessionRef>()
  for (const { id, path } of yield* store.list({ subAgents: true })) if (id !== null) refs.set(id, { id, path })
  return (id: string) => refs.get(id)
})

const imported = Effect.fnUntraced(function* (session: TranslatedSession, dryRun = false) {
  return yield* Import.session(session, { known: yield* known, dryRun })
})

const tree = Effect.gen(function* () {
  const store = yield* SessionStore
  return (yield* store.read(yield* store.find(header.id))).tree
})

const Services = Layer.provideMerge(Sessions.layer, Layer.merge(SessionStore.layerMemory, EntryIds.layerSequential))

describe("Import", () => {
  it.effect("a source that has not changed adds nothing", () =>
    Effect.gen(function* () {
      const first = yield* imported(chain("a", "b"))
      const again = yield* imported(chain("a", "b"))
      assert.deepStrictEqual([first.status, first.added, again.status, again.added], ["new", 2, "unchanged", 0])
      assert.deepStrictEqual([...(yield* tree).ids()], ["a", "b"])
    }).pipe(Effect.scoped, Effect.provide(Services))
  )

  it.effect("a source that has grown adds what is new, and the session stands at its end", () =>
    Effect.gen(function* () {
      yield* imported(chain("a", "b"))
      const grown = yield* imported(chain("a", "b", "c", "d"))
      assert.deepStrictEqual([grown.status, grown.added, grown.entries], ["updated", 2, 4])
      assert.strictEqual((yield* tree).leaf, "d")
    }).pipe(Effect.scoped, Effect.provide(Services))
  )

  it.effect("where a person has gone on, what is new becomes a branch and the person stays", () =>
    Effect.gen(function* () {
      yield* imported(chain("a", "b"))
      const sessions = yield* Sessions
      const own = yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* sessions.open((yield* (yield* SessionStore).find(header.id)).path)
          return yield* session.main.append({ type: "message", message: { role: "user", content: "mine" } })
        })
      )
      yield* imported(chain("a", "b", "c"))
      const now = yield* tree
      assert.strictEqual(now.leaf, own.id)
      assert.strictEqual(now.get("c")!.parentId, "b")
      assert.strictEqual((yield* imported(chain("a", "b", "c"))).status, "unchanged")
    }).pipe(Effect.scoped, Effect.provide(Services))
  )

  it.effect("an entry that the source has changed comes again as a sibling, with what follows; usage counts once", () =>
    Effect.gen(function* () {
      yield* imported(
        sessionOf(entry("a", null, "one", "1"), entry("b", "a", "two", "2"), entry("c", "b", "three", "3"))
      )
      const changed = sessionOf(
        ...[entry("a", null, "one", "1"), entry("b", "a", "two and more", "2x"), entry("c", "b", "three", "3")]
      )
      assert.strictEqual((yield* imported(changed)).added, 2)
      const now = yield* tree
      const [a, again, end] = now.path(now.leaf!)
      assert.deepStrictEqual(
        [again!.message, end!.message].map((said) => JSON.stringify(said).match(/"text":"([^"]*)"/)![1]),
        ["two and more", "three"]
      )
      assert.deepStrictEqual([a!.id, again!.parentId, end!.parentId], ["a", "a", again!.id])
      const output = [...now.ids()].map((id) => {
        const { message } = now.get(id as EntryId)!
        return isObject(message) && isObject(message.usage) ? Number(message.usage.output) : 0
      })
      assert.strictEqual(
        output.reduce((sum, n) => sum + n, 0),
        "one".length + "two and more".length + "three".length
      )
      assert.strictEqual((yield* imported(changed)).status, "unchanged")
    }).pipe(Effect.scoped, Effect.provide(Services))
  )

  it.effect("a dry run writes nothing", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* imported(chain("a"), true)).status, "new")
      assert.deepStrictEqual(yield* (yield* SessionStore).list(), [])
      yield* imported(chain("a"))
      assert.strictEqual((yield* imported(chain("a", "b"), true)).status, "updated")
      assert.deepStrictEqual([...(yield* tree).ids()], ["a"])
    }).pipe(Effect.scoped, Effect.provide(Services))
  )

  it.effect("an import that was cut short is completed", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      yield* store.create(header)
      assert.strictEqual((yield* imported(chain("a", "b"))).status, "updated")
      assert.strictEqual((yield* tree).leaf, "b")
    }).pipe(Effect.scoped, Effect.provide(Services))
  )
})
