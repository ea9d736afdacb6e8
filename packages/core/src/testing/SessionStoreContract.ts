/** What every `SessionStore` promises. Nothing is taken for granted about what is already in the store. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, type Layer, Option, Schema, Scope, Stream } from "effect"
import type { Entry } from "../model/Entry.ts"
import type { EntryId } from "../model/EntryId.ts"
import { CURRENT_VERSION, type Header } from "../model/Header.ts"
import { type SessionLog, type SessionRef, SessionStore } from "../SessionStore.ts"
import { awkwardTexts, entries as someEntries } from "./EntryArbitrary.ts"

const fresh = (): string => crypto.randomUUID()

/** The beginning of an id, with everything that may be in one. */
const IdStart = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,90}$/))

/** Letters that no UUID holds, so that abbreviations of them are nobody else's. */
const letters = (length: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => "ghjkmnpqrstuvwxyz"[byte % 17]).join("")

const headerOf = (id: string, fields: Partial<Header> = {}): Header => ({
  type: "session",
  version: CURRENT_VERSION,
  id,
  timestamp: "2026-01-02T03:04:05.678Z",
  cwd: `/contract/${id}`,
  ...fields
})

const message = (id: string, parentId: string | null, role: string, content: unknown, timestamp: string): Entry => ({
  type: "message",
  id: id as EntryId,
  parentId: parentId as EntryId | null,
  timestamp,
  message: { role, content, provider: "p", model: "m" }
})

const note = (id: string, parentId: string | null = null): Entry => ({
  type: "custom",
  id: id as EntryId,
  parentId: parentId as EntryId | null,
  timestamp: "2026-01-02T03:04:06.000Z",
  customType: "contract"
})

const notes = (prefix: string, count: number): ReadonlyArray<Entry> =>
  Array.from({ length: count }, (_, i) => note(`${prefix}${i}`, i === 0 ? null : `${prefix}${i - 1}`))

const create = (fields: Partial<Header> = {}) =>
  SessionStore.use((store) => store.create(headerOf(fields.id ?? fresh(), fields)))

const read = (ref: SessionRef) => Effect.scoped(SessionStore.use((store) => store.read(ref)))

const entriesOf = (ref: SessionRef) => Effect.map(read(ref), ({ tree }) => [...tree.entries])

/** As another writer would: opened, written, closed. */
const appendTo = (ref: SessionRef, entries: ReadonlyArray<Entry>) =>
  SessionStore.use((store) => Effect.scoped(Effect.flatMap(store.open(ref), (log) => log.append(entries))))

/** What a log is told of, until it has heard of the entry `last`. */
const heardUntil = (log: SessionLog, last: string) =>
  log.changes.pipe(
    Stream.takeUntil((entries) => entries.some(({ id }) => id === last)),
    Stream.runCollect,
    Effect.map((batches) => batches.flat())
  )

const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly reason: { readonly _tag: string } }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

export const suite = (name: string, layer: Layer.Layer<SessionStore, unknown>) =>
  it.layer(layer, { excludeTestServices: true })(`${name} keeps the SessionStore promises`, (it) => {
    it.effect("a new session holds just its header, with every field it was given", () =>
      Effect.gen(function* () {
        const header = headerOf(fresh(), {
          title: "日本語 👩‍👩‍👧",
          parentSession: "an/opaque: string",
          unheardOf: { of: [1, null] }
        })
        const ref = yield* create(header)
        const snapshot = yield* read(ref)
        assert.strictEqual(ref.id, header.id)
        assert.deepStrictEqual(snapshot.ref, ref)
        assert.deepStrictEqual(snapshot.header, header)
        assert.strictEqual(snapshot.version, CURRENT_VERSION)
        assert.deepStrictEqual([snapshot.readOnly, snapshot.title, snapshot.problems], [false, null, []])
        assert.deepStrictEqual([snapshot.tree.size, snapshot.tree.leaf], [0, null])
      })
    )

    it.effect("an id is never taken twice", () =>
      Effect.gen(function* () {
        const ref = yield* create({ cwd: "/first" })
        yield* appendTo(ref, [note("kept")])
        assert.strictEqual(yield* reasonOf(create({ id: ref.id, cwd: "/second" })), "SessionExists")
        const { header, tree } = yield* read(ref)
        assert.strictEqual(header?.cwd, "/first")
        assert.isTrue(tree.has("kept"))
      })
    )

    it.effect("of many who want the same id at once, one gets it", () =>
      Effect.gen(function* () {
        const id = fresh()
        const attempts = Array.from({ length: 8 }, () => Effect.exit(create({ id })))
        const exits = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      })
    )

    it.effect.prop(
      "every valid id can be taken and is found again",
      [IdStart],
      ([start]) =>
        Effect.gen(function* () {
          const store = yield* SessionStore
          const ref = yield* create({ id: `${start}${fresh()}` })
          assert.deepStrictEqual(yield* store.find(ref.id), ref)
        }),
      { arbitrary: { runs: 20 } }
    )

    it.effect("a session is found by its id, and by any four characters that begin or end it", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const [prefix, suffix] = [letters(4), letters(4)]
        const ref = yield* create({ id: `${prefix}-${fresh()}-${suffix}` })
        for (const name of [ref.id, prefix, suffix, ref.id.slice(0, 20), ref.id.slice(-8)]) {
          assert.deepStrictEqual(yield* store.find(name), ref, name)
        }
      })
    )

    it.effect("a session is found by its path", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const found = yield* store.find(ref.path)
        assert.strictEqual(found.path, ref.path)
        assert.deepStrictEqual((yield* read(found)).ref, ref)
      })
    )

    it.effect("three characters, or some from the middle, name nothing", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const [prefix, middle] = [letters(3), letters(12)]
        yield* create({ id: `${prefix}-${middle}-${fresh()}` })
        for (const name of [prefix, middle, ""]) {
          assert.strictEqual(yield* reasonOf(store.find(name)), "SessionNotFound", name)
        }
      })
    )

    it.effect("a name that nobody has is not found, and the error says which", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const name = fresh()
        const error = yield* Effect.flip(store.find(name))
        assert.deepStrictEqual([error.reason._tag, error.session], ["SessionNotFound", name])
      })
    )

    it.effect("an abbreviation of several sessions is refused, and lists them", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const shared = letters(12)
        const ids = [`${shared}-1`, `${shared}-2`, `3-${shared}`]
        yield* Effect.forEach(ids, (id) => create({ id }))
        const { reason } = yield* Effect.flip(store.find(shared))
        assert.deepStrictEqual(
          reason._tag === "SessionAmbiguous" ? [...reason.candidates].sort() : reason._tag,
          ids.sort()
        )
      })
    )

    it.effect("a whole id is never ambiguous, though it begins another", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const id = letters(12)
        yield* create({ id: `${id}-longer` })
        const ref = yield* create({ id })
        yield* create({ id: `another-${id}` })
        assert.deepStrictEqual(yield* store.find(id), ref)
      })
    )

    it.effect.prop(
      "entries come back equal and in order, whatever they hold",
      [someEntries, someEntries],
      ([first, second]) =>
        Effect.gen(function* () {
          const store = yield* SessionStore
          const ref = yield* create()
          const ids = new Set(first.map(({ id }) => id))
          const written = [...first, ...second.filter(({ id }) => !ids.has(id))]
          const log = yield* store.open(ref)
          yield* log.append(first)
          yield* Effect.forEach(written.slice(first.length), (entry) => log.append([entry]))
          const snapshot = yield* read(ref)
          assert.deepStrictEqual([...snapshot.tree.entries], written)
          assert.deepStrictEqual(snapshot.problems, [])
          assert.deepStrictEqual([...(yield* store.open(ref)).snapshot.tree.entries], written)
        }).pipe(Effect.scoped),
      { arbitrary: { runs: 40 } }
    )

    it.effect("text of every script comes back as it was", () =>
      Effect.gen(function* () {
        const ref = yield* create()
        const written = awkwardTexts.map((text, i) => message(`m${i}`, null, "user", text, text))
        yield* appendTo(ref, written)
        assert.deepStrictEqual(yield* entriesOf(ref), written)
      })
    )

    it.effect("an append is on the medium when it succeeds", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const log = yield* store.open(ref)
        for (const entry of notes("n", 5)) {
          yield* log.append([entry])
          assert.deepStrictEqual((yield* entriesOf(ref)).at(-1), entry)
        }
      })
    )

    it.effect("everything appended is on the medium when the scope has ended", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const scope = yield* Scope.make()
        const log = yield* Scope.provide(store.open(ref), scope)
        yield* Effect.forkChild(log.append(notes("n", 10)), { startImmediately: true })
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* entriesOf(ref), notes("n", 10))
      })
    )

    it.effect("appending nothing changes nothing", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const log = yield* store.open(ref)
        const other = yield* store.open(ref)
        yield* other.append([])
        yield* other.append([note("something")])
        assert.deepStrictEqual(yield* Stream.runHead(log.changes), Option.some([note("something")]))
        assert.deepStrictEqual(yield* entriesOf(ref), [note("something")])
      })
    )

    it.effect("entries appended together stand together, whoever else writes at the time", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const logs = [yield* store.open(ref), yield* store.open(ref)]
        const batches = Array.from({ length: 20 }, (_, i) => notes(`${i}-`, 5))
        yield* Effect.forEach(batches, (batch, i) => logs[i % 2]!.append(batch), { concurrency: "unbounded" })
        const stored = yield* entriesOf(ref)
        assert.strictEqual(stored.length, 100)
        for (const batch of batches) {
          const start = stored.findIndex(({ id }) => id === batch[0]!.id)
          assert.deepStrictEqual(stored.slice(start, start + 5), batch)
        }
      })
    )

    it.effect("appends are written in the order in which they were started", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const log = yield* store.open(ref)
        const written = notes("n", 50)
        yield* Effect.forEach(written, (entry) => log.append([entry]), { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* entriesOf(ref), written)
      })
    )

    it.effect("each log hears what the other appended, in order, and nothing of its own", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        const [ours, theirs] = [yield* store.open(ref), yield* store.open(ref)]
        const hearing = yield* Effect.forkChild(
          Effect.all([heardUntil(ours, "theirs3"), heardUntil(theirs, "ours3")], { concurrency: "unbounded" })
        )
        for (let i = 0; i < 4; i++) {
          yield* ours.append([note(`ours${i}`)])
          yield* theirs.append([note(`theirs${i}`)])
        }
        const [heardByUs, heardByThem] = yield* Fiber.join(hearing)
        assert.deepStrictEqual(
          heardByUs,
          [0, 1, 2, 3].map((i) => note(`theirs${i}`))
        )
        assert.deepStrictEqual(
          heardByThem,
          [0, 1, 2, 3].map((i) => note(`ours${i}`))
        )
      })
    )

    it.effect(
      "who listens late misses nothing that was appended since the snapshot, and hears nothing from before it",
      () =>
        Effect.gen(function* () {
          const store = yield* SessionStore
          const ref = yield* create()
          yield* appendTo(ref, [note("before")])
          const log = yield* store.open(ref)
          const since = notes("since", 3)
          yield* appendTo(ref, since)
          assert.deepStrictEqual([...log.snapshot.tree.entries], [note("before")])
          assert.deepStrictEqual(yield* heardUntil(log, "since2"), since)
        })
    )

    it.effect("sessions are kept apart", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* create(), yield* create()]
        yield* appendTo(a, [note("of a")])
        yield* appendTo(b, [note("of b")])
        assert.deepStrictEqual(yield* entriesOf(a), [note("of a")])
        assert.deepStrictEqual(yield* entriesOf(b), [note("of b")])
      })
    )

    it.effect("reading changes nothing", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const cwd = `/contract/${fresh()}`
        const ref = yield* create({ cwd })
        yield* appendTo(ref, notes("n", 3))
        const log = yield* store.open(ref)
        const [before, listed] = [yield* read(ref), yield* store.list({ cwd })]
        for (let i = 0; i < 3; i++) {
          yield* store.find(ref.id)
          ;(yield* read(ref)).tree.put(note("in memory only"))
          yield* store.list()
        }
        const after = yield* read(ref)
        assert.deepStrictEqual([after.header, after.problems], [before.header, before.problems])
        assert.deepStrictEqual([...after.tree.entries], notes("n", 3))
        assert.deepStrictEqual(yield* store.list({ cwd }), listed)
        yield* appendTo(ref, [note("the only change")])
        assert.deepStrictEqual(yield* heardUntil(log, "the only change"), [note("the only change")])
      })
    )

    it.effect("opening and closing writes nothing", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create()
        yield* appendTo(ref, notes("n", 3))
        yield* Effect.scoped(store.open(ref))
        assert.deepStrictEqual(yield* entriesOf(ref), notes("n", 3))
      })
    )

    it.effect("a session that is not there can be neither read nor opened, and is not made by trying", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const there = yield* create()
        const id = fresh()
        const missing = { id, path: there.path.replace(there.id, id) }
        assert.strictEqual(yield* reasonOf(Effect.scoped(store.read(missing))), "SessionNotFound")
        assert.strictEqual(yield* reasonOf(Effect.scoped(store.open(missing))), "SessionNotFound")
        assert.strictEqual(yield* reasonOf(store.find(id)), "SessionNotFound")
      })
    )

    it.effect("a question is answered when it is asked, not when it is put into words", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const id = fresh()
        const find = store.find(id)
        const ref = yield* create({ id })
        assert.deepStrictEqual(yield* find, ref)
      })
    )

    it.effect("what a newer program wrote is read, and never written", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const ref = yield* create({ version: CURRENT_VERSION + 1 })
        const snapshot = yield* read(ref)
        assert.deepStrictEqual([snapshot.readOnly, snapshot.version], [true, CURRENT_VERSION + 1])
        const log = yield* store.open(ref)
        assert.isTrue(log.snapshot.readOnly)
        assert.strictEqual(yield* reasonOf(log.append([note("refused")])), "SessionReadOnly")
        assert.deepStrictEqual(yield* entriesOf(ref), [])
      })
    )

    it.effect("a list is newest first, by the newest prompt or reply", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const cwd = `/contract/${fresh()}`
        const at = (year: number) => `${year}-01-01T00:00:00.000Z`
        const old = yield* create({ cwd, timestamp: at(2005) })
        const revived = yield* create({ cwd, timestamp: at(2001) })
        const young = yield* create({ cwd, timestamp: at(2010) })
        yield* appendTo(revived, [message("m", null, "user", "hello", at(2020))])
        yield* appendTo(old, [note("a note makes nothing newer")])
        const listed = yield* store.list({ cwd })
        assert.deepStrictEqual(
          listed.map(({ id }) => id),
          [revived.id, young.id, old.id]
        )
        assert.deepStrictEqual(
          listed.map(({ modified }) => modified),
          [at(2020), at(2010), at(2005)]
        )
        const all = (yield* store.list()).map(({ id }) => id)
        assert.deepStrictEqual(
          all.filter((id) => listed.some((summary) => summary.id === id)),
          listed.map(({ id }) => id)
        )
      })
    )

    it.effect("a list for a directory holds the sessions of that directory alone, however alike others are", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const root = fresh()
        const cwds = [`/${root}/b-c`, `/${root}-b/c`, `/${root}/b`, `/${root}/b/c`]
        const refs = yield* Effect.forEach(cwds, (cwd) => create({ cwd }))
        for (const [i, cwd] of cwds.entries()) {
          assert.deepStrictEqual(
            (yield* store.list({ cwd })).map(({ id }) => id),
            [refs[i]!.id]
          )
        }
        assert.deepStrictEqual(yield* store.list({ cwd: `/${root}` }), [])
      })
    )

    it.effect("a summary tells what its session holds", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const cwd = `/contract/${fresh()}`
        const ref = yield* create({ cwd, title: "a title", parentSession: "where it came from" })
        const [bare] = yield* store.list({ cwd })
        assert.deepStrictEqual(
          [bare?.name, bare?.messageCount, bare?.branches, bare?.firstMessage],
          ["a title", 0, 0, null]
        )
        yield* appendTo(ref, [
          message("1", null, "user", [{ type: "text", text: "first 問い" }], "2026-02-01T00:00:00.000Z"),
          message("2", "1", "assistant", [{ type: "text", text: "answer" }], "2026-02-02T00:00:00.000Z"),
          message("3", "1", "assistant", [{ type: "text", text: "another" }], "2026-02-03T00:00:00.000Z"),
          { ...note("4", "3"), type: "session_info", name: "a better name" }
        ])
        const [summary, ...others] = yield* store.list({ cwd })
        assert.deepStrictEqual(others, [])
        const { source: _, ...told } = summary!
        assert.deepStrictEqual(told, {
          id: ref.id,
          path: ref.path,
          cwd,
          name: "a better name",
          created: "2026-01-02T03:04:05.678Z",
          modified: "2026-02-03T00:00:00.000Z",
          messageCount: 3,
          branches: 2,
          firstMessage: "first 問い",
          parentSession: "where it came from",
          draft: false
        })
      })
    )

    it.effect("what a sub-agent made is listed only when it is asked for", () =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const cwd = `/contract/${fresh()}`
        const ref = yield* create({ cwd })
        yield* appendTo(ref, [{ ...note("1"), type: "session_init", systemPrompt: "", task: "look around", tools: [] }])
        assert.deepStrictEqual(yield* store.list({ cwd }), [])
        assert.deepStrictEqual(
          (yield* store.list({ cwd, subAgents: true })).map(({ id }) => id),
          [ref.id]
        )
      })
    )
  })
