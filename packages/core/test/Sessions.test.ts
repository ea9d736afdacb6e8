import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Exit, Fiber, Latch, Layer, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { EntryIds } from "../src/EntryIds.ts"
import * as ContextBuilder from "../src/model/ContextBuilder.ts"
import type { Entry } from "../src/model/Entry.ts"
import type { EntryId } from "../src/model/EntryId.ts"
import * as Mark from "../src/model/Mark.ts"
import type { SessionTree } from "../src/model/SessionTree.ts"
import { type SessionRef, SessionStore, SessionStoreError, StoreRefused } from "../src/SessionStore.ts"
import { type Cursor, type NewEntry, type Session, type SessionEvent, Sessions } from "../src/Sessions.ts"

/** Lets a test refuse what is appended, or hold it back. */
class Medium extends Context.Service<Medium, { refuses: boolean; readonly ready: Latch.Latch }>()("test/Medium") {
  static readonly layer = Layer.effect(
    Medium,
    Effect.map(Latch.make(true), (ready) => ({ refuses: false, ready }))
  )
}

const Store = Layer.effect(
  SessionStore,
  Effect.gen(function* () {
    const store = yield* SessionStore
    const medium = yield* Medium
    const refusal = (ref: SessionRef) =>
      new SessionStoreError({ session: ref.path, reason: new StoreRefused({ cause: new Error("no space left") }) })
    return SessionStore.of({
      ...store,
      open: (ref) =>
        Effect.map(store.open(ref), (log) => ({
          ...log,
          append: (entries) =>
            Effect.andThen(
              medium.ready.await,
              Effect.suspend(() => (medium.refuses ? Effect.fail(refusal(ref)) : log.append(entries)))
            )
        }))
    })
  })
).pipe(Layer.provide(SessionStore.layerMemory))

const layer = Sessions.layer.pipe(
  Layer.provideMerge(Store),
  Layer.provideMerge(Layer.mergeAll(Medium.layer, EntryIds.layerSequential))
)

/** Opened once the medium fails to tell what others append. */
class Lost extends Context.Service<Lost, Latch.Latch>()("test/Lost") {
  static readonly layer = Layer.effect(Lost, Latch.make(false))
}

const Deaf = Sessions.layer.pipe(
  Layer.provide(
    Layer.effect(
      SessionStore,
      Effect.gen(function* () {
        const store = yield* SessionStore
        const lost = yield* Lost
        const failure = new SessionStoreError({ session: "s", reason: new StoreRefused({ cause: new Error("gone") }) })
        const changes = Stream.fromEffect(Effect.andThen(lost.await, Effect.fail(failure)))
        return SessionStore.of({ ...store, open: (ref) => Effect.map(store.open(ref), (log) => ({ ...log, changes })) })
      })
    ).pipe(Layer.provide(SessionStore.layerMemory))
  ),
  Layer.provideMerge(Layer.mergeAll(Lost.layer, EntryIds.layerSequential))
)

type Services = Layer.Success<typeof layer> | Scope.Scope

const test = <A, E>(name: string, effect: () => Effect.Effect<A, E, Services>) =>
  it.effect(name, () => Effect.provide(effect(), layer))

const prompt = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const reply = (text: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text }], provider: "grove", model: "sprout" }
})

const create = Effect.suspend(() => Sessions.use((sessions) => sessions.create({ cwd: "/work" })))
const open = (ref: SessionRef) => Sessions.use((sessions) => sessions.open(ref.path))
const openNew = Effect.flatMap(create, open)

/** Opened in a scope of its own, so that a test can close it. */
const openClosable = Effect.fnUntraced(function* (ref: SessionRef) {
  const scope = yield* Scope.make()
  const session = yield* Scope.provide(open(ref), scope)
  return { session, close: Scope.close(scope, Exit.void) }
})

const saying = (cursor: Cursor, ...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => cursor.append(prompt(text)))

const read = (ref: SessionRef) =>
  Effect.map(Effect.scoped(SessionStore.use((store) => store.read(ref))), ({ tree }) => tree)
const stored = (ref: SessionRef) => Effect.map(read(ref), ({ entries }) => [...entries])
const leafMarks = (ref: SessionRef) => Effect.map(stored(ref), (entries) => entries.filter(Mark.leaf))
const reopenedLeaf = (ref: SessionRef) => Effect.scoped(Effect.flatMap(open(ref), ({ main }) => main.leaf))

/** As another program would. */
const appendForeign = (ref: SessionRef, entries: ReadonlyArray<Entry>) =>
  SessionStore.use((store) => Effect.scoped(Effect.flatMap(store.open(ref), (log) => log.append(entries))))

const foreign = (id: string, parentId: string | null): Entry => ({
  type: "message",
  id: id as EntryId,
  parentId: parentId as EntryId | null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: id }
})

/** Everything a session tells from now until it is closed. */
const recording = (session: Session) => Effect.forkChild(Stream.runCollect(session.events), { startImmediately: true })

const heard = (session: Session, tag: SessionEvent["_tag"]) =>
  Effect.forkChild(Stream.runHead(Stream.filter(session.events, ({ _tag }) => _tag === tag)), {
    startImmediately: true
  })

/** An id, a parent and a text, for entries that have one. */
const shape = ({ id, parentId, message }: Entry) => [
  id,
  parentId,
  (message as { content?: unknown } | undefined)?.content
]

const shownIds = (tree: SessionTree) => tree.entries.filter((entry) => !Mark.isMark(entry)).map(({ id }) => id)

const textsOf = (cursor: Cursor) => Effect.map(cursor.context, ({ messages }) => messages.map(({ content }) => content))

it.effect("a session that can no longer see what others append says so", () =>
  Effect.gen(function* () {
    const session = yield* open(yield* create)
    const told = yield* Effect.forkChild(Stream.runHead(session.events), { startImmediately: true })
    yield* (yield* Lost).open
    const event = yield* Fiber.join(told)
    assert.strictEqual(event._tag === "Some" ? event.value._tag : undefined, "ChangesLost")
    yield* session.main.append(prompt("still here"))
  }).pipe(Effect.provide(Deaf))
)

describe("replies that a person waits for", () => {
  test("what a leading cursor appends takes the person along, without a mark", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const asked = yield* session.main.append(prompt("a"))
      const lead = yield* session.lead
      const answered = yield* lead.append(reply("b"))
      assert.strictEqual(answered.parentId, asked.id)
      assert.strictEqual(yield* session.main.leaf, answered.id)
      assert.deepStrictEqual(yield* stored(session.ref), [asked, answered])
    }))

  test("once the person went elsewhere it leads nobody, and the file says where they are", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const asked = yield* session.main.append(prompt("a"))
      const lead = yield* session.lead
      yield* session.main.resetLeaf
      const answered = yield* lead.append(reply("b"))
      yield* lead.append(prompt("c"))
      assert.strictEqual(answered.parentId, asked.id)
      assert.isNull(yield* session.main.leaf)
      assert.isNull((yield* read(session.ref)).leaf)
    }))

  test("a name that was promised is nobody else's, and the entry gets it", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const id = yield* session.newId
      const other = yield* session.newId
      assert.notStrictEqual(id, other)
      const [first] = yield* saying(session.main, "a")
      assert.notInclude([id, other], first!.id)
      assert.strictEqual((yield* session.main.appendAs(id, reply("b"))).id, id)
      assert.notStrictEqual((yield* session.main.appendAs(id, reply("c"))).id, id)
    }))

  test("a draft without a reply is removed, one with a reply stays", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const make = Effect.flatMap(sessions.create({ cwd: "/work", draft: true }), open)
      const empty = yield* make
      yield* empty.main.append(prompt("a"))
      yield* empty.discardDraft
      const answered = yield* make
      yield* answered.main.append(reply("b"))
      yield* answered.discardDraft
      assert.deepStrictEqual(
        (yield* sessions.list()).map(({ id }) => id),
        [answered.ref.id]
      )
    }))
})

describe("appending and moving", () => {
  test("each append stands under the one before it, and the leaf moves along", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      assert.isNull(yield* session.main.leaf)
      yield* TestClock.setTime(Date.UTC(2026, 0, 2))
      const [a, b, c] = yield* saying(session.main, "a", "b", "c")
      assert.deepStrictEqual(
        [a, b, c].map((entry) => shape(entry!)),
        [
          [a!.id, null, "a"],
          [b!.id, a!.id, "b"],
          [c!.id, b!.id, "c"]
        ]
      )
      assert.strictEqual(a!.timestamp, "2026-01-02T00:00:00.000Z")
      assert.strictEqual(yield* session.main.leaf, c!.id)
      assert.deepStrictEqual(yield* stored(session.ref), [a, b, c])
      assert.deepStrictEqual([...session.tree.entries], [a, b, c])
    }))

  test("the place of an entry comes first in its line, and is the cursor's to give", () =>
    Effect.gen(function* () {
      const { main } = yield* openNew
      const first = yield* main.append(prompt("first"))
      const copy = yield* main.append({ message: {}, ...first, parentId: "nowhere", timestamp: "never" })
      assert.deepStrictEqual(Object.keys(copy), ["type", "id", "parentId", "timestamp", "message"])
      assert.notStrictEqual(copy.id, first.id)
      assert.deepStrictEqual([copy.parentId, copy.timestamp], [first.id, first.timestamp])
    }))

  test("moving changes no entry, and the next append is a sibling", () =>
    Effect.gen(function* () {
      const { main, ref, tree } = yield* openNew
      const [a, b] = yield* saying(main, "a", "b")
      const before = yield* stored(ref)
      yield* main.branch(a!.id)
      assert.strictEqual(yield* main.leaf, a!.id)
      yield* main.resetLeaf
      assert.isNull(yield* main.leaf)
      yield* main.branch(a!.id)
      assert.deepStrictEqual(yield* stored(ref), before)
      const [c] = yield* saying(main, "c")
      assert.deepStrictEqual(tree.children(a!.id), [b!.id, c!.id])
    }))

  test("after a reset the next append is another root", () =>
    Effect.gen(function* () {
      const { main, tree } = yield* openNew
      const [a] = yield* saying(main, "a")
      yield* main.resetLeaf
      const [b] = yield* saying(main, "b")
      yield* main.resetLeaf
      const [c] = yield* saying(main, "c")
      assert.deepStrictEqual(tree.roots(), [a!.id, b!.id, c!.id])
    }))

  test("nobody can go to an entry that is not there, and the error says where and which", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a")
      const refusals = yield* Effect.all([
        Effect.flip(session.main.branch("nowhere")),
        Effect.flip(session.main.branchWithSummary("nowhere", { summary: "s" })),
        Effect.flip(session.cursor("nowhere")),
        Effect.flip(session.label("nowhere", "l"))
      ])
      for (const error of refusals) {
        assert.strictEqual(error._tag, "UnknownEntry")
        if (error._tag === "UnknownEntry")
          assert.deepStrictEqual([error.session, error.id], [session.ref.path, "nowhere"])
      }
      assert.strictEqual(yield* session.main.leaf, a!.id)
      assert.deepStrictEqual(yield* stored(session.ref), [a])
    }))

  test("a mark is no place to stand on, and appending one moves nobody", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a")
      const data = { targetIds: [a!.id], enabled: false }
      const mark = yield* session.main.append({ type: "custom", customType: "grove.state", data })
      assert.strictEqual(mark.parentId, a!.id)
      assert.strictEqual(yield* session.main.leaf, a!.id)
      assert.strictEqual(yield* reopenedLeaf(session.ref), a!.id)
      assert.strictEqual((yield* Effect.flip(session.main.branch(mark.id)))._tag, "UnknownEntry")
      assert.strictEqual((yield* Effect.flip(session.cursor(mark.id)))._tag, "UnknownEntry")
      assert.deepStrictEqual(yield* textsOf(session.main), [])
    }))

  test("a branch summary stands at the place gone to and names it", () =>
    Effect.gen(function* () {
      const { main } = yield* openNew
      const [a] = yield* saying(main, "a", "b")
      const summary = yield* main.branchWithSummary(a!.id, { summary: "we tried b", details: { abandonedLeaf: "b" } })
      const { type, parentId, fromId, details } = summary
      assert.deepStrictEqual(
        [type, parentId, fromId, details],
        ["branch_summary", a!.id, a!.id, { abandonedLeaf: "b" }]
      )
      assert.strictEqual(yield* main.leaf, summary.id)
      const { messages } = yield* main.context
      assert.deepStrictEqual(
        messages.map(({ role }) => role),
        ["user", "branchSummary"]
      )
    }))

  test("a branch summary above every entry is a root and says so", () =>
    Effect.gen(function* () {
      const { main, tree } = yield* openNew
      const [a] = yield* saying(main, "a")
      const summary = yield* main.branchWithSummary(null, { summary: "we tried a" })
      assert.deepStrictEqual([summary.parentId, summary.fromId], [null, "root"])
      assert.deepStrictEqual(tree.roots(), [a!.id, summary.id])
    }))

  test("a cursor is shown the path it stands on", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a", "b")
      const other = yield* session.cursor(a!.id)
      yield* saying(other, "c")
      assert.deepStrictEqual(yield* textsOf(session.main), ["a", "b"])
      assert.deepStrictEqual(yield* textsOf(other), ["a", "c"])
      yield* session.main.resetLeaf
      assert.deepStrictEqual(yield* textsOf(session.main), [])
    }))

  test("an id that is taken is not given again, not even to a mark beside it", () =>
    Effect.gen(function* () {
      const ids = ["a", "a", "b", "b", "c", "a", "c", "d", "b", "e"]
      const scarce = Layer.sync(EntryIds, () => ({
        entry: Effect.sync(() => ids.shift() as EntryId),
        session: Effect.succeed("scarce" as never)
      }))
      const session = yield* Effect.provide(openNew, Layer.provideMerge(Layer.fresh(Sessions.layer), scarce))
      yield* saying(session.main, "1", "2")
      yield* saying(yield* session.cursor(null), "3")
      assert.deepStrictEqual(
        (yield* stored(session.ref)).map(({ id }) => id as string),
        ["a", "b", "c", "d"]
      )
    }))
})

describe("many cursors", () => {
  test("what is appended in the background never moves the person, nor other cursors", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a, b] = yield* saying(session.main, "a", "b")
      const [one, two] = [yield* session.cursor(a!.id), yield* session.cursor(null)]
      const [c, d] = yield* saying(one, "c", "d")
      const [e] = yield* saying(two, "e")
      assert.deepStrictEqual(
        [c, d, e].map((entry) => entry!.parentId),
        [a!.id, c!.id, null]
      )
      assert.strictEqual(yield* session.main.leaf, b!.id)
      assert.deepStrictEqual([yield* one.leaf, yield* two.leaf], [d!.id, e!.id])
      assert.strictEqual(session.tree.leaf, b!.id)
    }))

  test("who comes back after background replies stands where they stood", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a, b] = yield* saying(session.main, "a", "b")
      yield* saying(yield* session.cursor(a!.id), "in the background")
      assert.strictEqual(yield* reopenedLeaf(ref), b!.id)
      yield* close
      assert.strictEqual(yield* reopenedLeaf(ref), b!.id)
    }))

  test("a background reply beside a person who stands nowhere leaves them nowhere", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* saying(yield* session.cursor(null), "in the background")
      assert.isNull(yield* session.main.leaf)
      assert.isNull(yield* reopenedLeaf(session.ref))
    }))

  test("a background entry and the mark that holds the person's place are one write", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a")
      const other = yield* SessionStore.use((store) => store.open(session.ref))
      const batch = yield* Effect.forkChild(Stream.runHead(other.changes), { startImmediately: true })
      const [b] = yield* saying(yield* session.cursor(a!.id), "b")
      const heard = yield* Fiber.join(batch)
      const [entry, mark] = heard._tag === "Some" ? heard.value : []
      assert.deepStrictEqual(entry, b)
      const data = { targetId: a!.id, background: [b!.id] }
      assert.deepStrictEqual([mark?.customType, mark?.parentId, mark?.data], ["grove.leaf", a!.id, data])
    }))

  test("many cursors appending at once each keep their own chain", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [root] = yield* saying(session.main, "root")
      const cursors = yield* Effect.all(Array.from({ length: 5 }, () => session.cursor(root!.id)))
      const texts = ["1", "2", "3", "4"]
      const chains = yield* Effect.forEach(cursors, (cursor) => saying(cursor, ...texts), { concurrency: "unbounded" })
      for (const chain of chains) {
        const path = session.tree.path(chain.at(-1)!.id).map(({ id }) => id)
        assert.deepStrictEqual(path, [root!.id, ...chain.map(({ id }) => id)])
      }
      assert.strictEqual(yield* session.main.leaf, root!.id)
      assert.strictEqual(yield* reopenedLeaf(session.ref), root!.id)
    }))

  test("a background cursor goes where it is sent, and nothing is written of that", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a, b] = yield* saying(session.main, "a", "b")
      const cursor = yield* session.cursor(b!.id)
      yield* cursor.branch(a!.id)
      yield* TestClock.adjust("5 seconds")
      yield* close
      assert.strictEqual(yield* cursor.leaf, a!.id)
      assert.deepStrictEqual(yield* stored(ref), [a, b])
    }))
})

describe("where the person stands is written down", () => {
  test("after a second of rest, once, as a mark under the entry they went to", () =>
    Effect.gen(function* () {
      const { main, ref } = yield* openNew
      const [a] = yield* saying(main, "a", "b")
      yield* main.branch(a!.id)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(yield* leafMarks(ref), [])
      yield* TestClock.adjust("1 millis")
      const [mark, ...others] = yield* leafMarks(ref)
      assert.deepStrictEqual([mark?.parentId, mark?.data, others], [a!.id, { targetId: a!.id }, []])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* leafMarks(ref)).length, 1)
      assert.strictEqual(yield* reopenedLeaf(ref), a!.id)
    }))

  test("not at every key: ten quick moves are one mark", () =>
    Effect.gen(function* () {
      const { main, ref } = yield* openNew
      const entries = yield* saying(main, ..."abcdefghijk")
      for (const { id } of entries.slice(0, 10)) {
        yield* main.branch(id)
        yield* TestClock.adjust("900 millis")
      }
      assert.deepStrictEqual(yield* leafMarks(ref), [])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(
        (yield* leafMarks(ref)).map(({ parentId }) => parentId),
        [entries[9]!.id]
      )
    }))

  test("when the session is closed, without waiting", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(a!.id)
      yield* close
      assert.deepStrictEqual(
        (yield* leafMarks(ref)).map(({ parentId }) => parentId),
        [a!.id]
      )
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* leafMarks(ref)).length, 1)
      assert.strictEqual(yield* reopenedLeaf(ref), a!.id)
    }))

  test("also when they went to nowhere", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      yield* saying(session.main, "a")
      yield* session.main.resetLeaf
      yield* close
      const [mark] = yield* leafMarks(ref)
      assert.deepStrictEqual([mark?.parentId, mark?.data], [null, { targetId: null }])
      assert.isNull(yield* reopenedLeaf(ref))
    }))

  test("but not if they came back, stayed, or appended something that says it", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a, b] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(b!.id)
      yield* session.main.branch(a!.id)
      yield* session.main.branch(b!.id)
      yield* TestClock.adjust("2 seconds")
      yield* session.main.branch(a!.id)
      yield* saying(session.main, "c")
      yield* TestClock.adjust("2 seconds")
      yield* close
      assert.deepStrictEqual(yield* leafMarks(ref), [])
    }))

  test("but not again if a background reply has said it meanwhile", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(a!.id)
      yield* saying(yield* session.cursor(null), "in the background")
      yield* TestClock.adjust("2 seconds")
      yield* close
      assert.deepStrictEqual(
        (yield* leafMarks(ref)).map(({ parentId }) => parentId),
        [a!.id]
      )
    }))

  test("but not after they appended, whatever others append behind it", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const [a] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(a!.id)
      yield* saying(session.main, "c")
      const told = yield* heard(session, "ForeignEntries")
      yield* appendForeign(ref, [foreign("theirs", null)])
      yield* Fiber.join(told)
      yield* close
      assert.deepStrictEqual(yield* leafMarks(ref), [])
    }))

  test("but not for having looked: a session only opened is left as it was, whatever others append", () =>
    Effect.gen(function* () {
      const ref = yield* create
      yield* Effect.scoped(Effect.flatMap(open(ref), ({ main }) => saying(main, "a", "b")))
      const before = yield* stored(ref)
      const { session, close } = yield* openClosable(ref)
      const told = yield* heard(session, "ForeignEntries")
      yield* appendForeign(ref, [foreign("theirs", null)])
      yield* Fiber.join(told)
      yield* TestClock.adjust("2 seconds")
      yield* close
      assert.deepStrictEqual(yield* stored(ref), [...before, foreign("theirs", null)])
    }))
})

describe("what others append", () => {
  test("arrives in the tree, is told, and moves nobody", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a, b] = yield* saying(session.main, "a", "b")
      const cursor = yield* session.cursor(a!.id)
      const told = yield* heard(session, "ForeignEntries")
      const theirs = [foreign("theirs 1", b!.id), foreign("theirs 2", "theirs 1")]
      yield* appendForeign(session.ref, theirs)
      const event = yield* Fiber.join(told)
      assert.deepStrictEqual(event._tag === "Some" && event.value, { _tag: "ForeignEntries", entries: theirs })
      assert.deepStrictEqual(shownIds(session.tree), [a!.id, b!.id, ...theirs.map(({ id }) => id)])
      assert.deepStrictEqual([yield* session.main.leaf, yield* cursor.leaf], [b!.id, a!.id])
      const [c] = yield* saying(session.main, "c")
      assert.strictEqual(c!.parentId, b!.id)
    }))

  test("can be gone to and answered", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const told = yield* heard(session, "ForeignEntries")
      yield* appendForeign(session.ref, [foreign("theirs", null)])
      yield* Fiber.join(told)
      yield* session.main.branch("theirs")
      const [answer] = yield* saying(session.main, "ours")
      assert.strictEqual(answer!.parentId, "theirs")
      assert.deepStrictEqual(yield* textsOf(session.main), ["theirs", "ours"])
    }))

  test("does not undo a move: it is written down behind it", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(a!.id)
      const told = yield* heard(session, "ForeignEntries")
      yield* appendForeign(session.ref, [foreign("theirs", null)])
      yield* Fiber.join(told)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* reopenedLeaf(session.ref), a!.id)
    }))

  test("reaches both of two windows on one session, which agree in the end", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const [left, right] = [yield* open(ref), yield* open(ref)]
      for (const [self, other, text] of [
        [left, right, "1"],
        [right, left, "2"],
        [left, right, "3"]
      ] as const) {
        const told = yield* heard(other, "ForeignEntries")
        yield* saying(self.main, text)
        yield* Fiber.join(told)
      }
      assert.deepStrictEqual(left.tree.entries.map(shape), right.tree.entries.map(shape))
      assert.deepStrictEqual(yield* textsOf(left.main), ["1", "3"])
      assert.deepStrictEqual(yield* textsOf(right.main), ["2"])
    }))
})

describe("labels, names and events", () => {
  test("a label names an entry until it is cleared, and moves the leaf like any entry", () =>
    Effect.gen(function* () {
      const { label, main, tree } = yield* openNew
      const [a] = yield* saying(main, "a")
      const named = yield* label(a!.id, "start")
      assert.strictEqual(tree.facts.labels.get(a!.id), "start")
      assert.strictEqual(yield* main.leaf, named.id)
      yield* label(a!.id, "beginning")
      assert.strictEqual(tree.facts.labels.get(a!.id), "beginning")
      const cleared = yield* label(a!.id, null)
      assert.notProperty(cleared, "label")
      assert.strictEqual(tree.facts.labels.size, 0)
    }))

  test("a session has the last name it was given, on one line, until it is cleared", () =>
    Effect.gen(function* () {
      const { name, ref, tree } = yield* openNew
      const nameListed = Sessions.use((sessions) => Effect.map(sessions.list(), ([summary]) => summary?.name))
      yield* name("first")
      yield* name("  second\n name\t")
      assert.strictEqual(tree.facts.name, "second name")
      assert.strictEqual(yield* nameListed, "second name")
      yield* name("")
      assert.isNull(tree.facts.name)
      assert.isNull(yield* nameListed)
      assert.strictEqual((yield* stored(ref)).length, 3)
    }))

  test("everything that happens is told in its order, until the session is closed", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const { session, close } = yield* openClosable(ref)
      const events = yield* recording(session)
      const { main } = session
      const [a, b] = yield* saying(main, "a", "b")
      yield* main.branch(a!.id)
      yield* main.branch(a!.id)
      const cursor = yield* session.cursor(b!.id)
      yield* cursor.branch(a!.id)
      const [c] = yield* saying(cursor, "c")
      const summary = yield* main.branchWithSummary(b!.id, { summary: "s" })
      yield* main.resetLeaf
      const label = yield* session.label(a!.id, "l")
      yield* close
      assert.deepStrictEqual(yield* Fiber.join(events), [
        { _tag: "Appended", entries: [a], moved: a!.id },
        { _tag: "Appended", entries: [b], moved: b!.id },
        { _tag: "Moved", leaf: a!.id },
        { _tag: "Appended", entries: [c] },
        { _tag: "Appended", entries: [summary], moved: summary.id },
        { _tag: "Moved", leaf: null },
        { _tag: "Appended", entries: [label], moved: label.id }
      ] as ReadonlyArray<SessionEvent>)
    }))

  test("when an event is told, the tree already holds it", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const seen = yield* Effect.forkChild(
        session.events.pipe(
          Stream.take(3),
          Stream.map((event) => event._tag === "Appended" && event.entries.every(({ id }) => session.tree.has(id))),
          Stream.runCollect
        ),
        { startImmediately: true }
      )
      yield* saying(session.main, "a", "b", "c")
      assert.deepStrictEqual(yield* Fiber.join(seen), [true, true, true])
    }))
})

describe("forks", () => {
  const fork = (ref: SessionRef, options?: { at?: string; all?: boolean; cwd?: string }) =>
    Sessions.use((sessions) => sessions.fork(ref.path, options))

  /** a ─ b ─ label ─ c, and beside b: d */
  const source = Effect.gen(function* () {
    const session = yield* openNew
    const [a, b] = yield* saying(session.main, "a", "b")
    const label = yield* session.label(a!.id, "start")
    const [c] = yield* saying(session.main, "c")
    const [d] = yield* saying(yield* session.cursor(a!.id), "d")
    return { session, ref: session.ref, label, a: a!, b: b!, c: c!, d: d! }
  })

  test("a fork holds the path up to and including the entry asked for, under the same ids", () =>
    Effect.gen(function* () {
      const { ref, a, b, c } = yield* source
      const forked = yield* read(yield* fork(ref, { at: b.id }))
      assert.deepStrictEqual(forked.path(b.id), [a, b])
      assert.isFalse(forked.has(c.id))
    }))

  test("a fork begins where its source stands unless told otherwise", () =>
    Effect.gen(function* () {
      const { session, ref, a, b, c } = yield* source
      assert.strictEqual(yield* reopenedLeaf(yield* fork(ref)), c.id)
      yield* session.main.branch(b.id)
      yield* TestClock.adjust("1 second")
      const forked = yield* fork(ref)
      assert.strictEqual(yield* reopenedLeaf(forked), b.id)
      assert.deepStrictEqual((yield* read(forked)).path(b.id), [a, b])
    }))

  test("a fork stands at the entry asked for, also with labels behind it", () =>
    Effect.gen(function* () {
      const { ref, a, b, c, d } = yield* source
      for (const { id } of [a, b, c, d]) {
        assert.strictEqual(yield* reopenedLeaf(yield* fork(ref, { at: id })), id)
        assert.strictEqual(yield* reopenedLeaf(yield* fork(ref, { at: id, all: true })), id)
      }
    }))

  test("a fork of everything stands where its source stands, though that is not its last entry", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const [a] = yield* saying(session.main, "a", "b")
      for (const at of [a!.id, null]) {
        yield* at === null ? session.main.resetLeaf : session.main.branch(at)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* reopenedLeaf(yield* fork(session.ref, { all: true })), at)
      }
    }))

  test("labels are cut out of the path, and what stood under one moves up", () =>
    Effect.gen(function* () {
      const { ref, label, b, c } = yield* source
      const forked = yield* read(yield* fork(ref))
      assert.isFalse(forked.has(label.id))
      assert.strictEqual(forked.get(c.id)?.parentId, b.id)
    }))

  test("marks stay behind, and what another program put under one moves up", () =>
    Effect.gen(function* () {
      const { session, ref, a, b } = yield* source
      yield* session.main.branch(b.id)
      yield* TestClock.adjust("1 second")
      const marks = (yield* stored(ref)).filter(Mark.isMark)
      yield* appendForeign(ref, [foreign("theirs", marks.at(-1)!.id)])
      for (const all of [false, true]) {
        const forked = yield* read(yield* fork(ref, { at: "theirs", all }))
        assert.deepStrictEqual(forked.path("theirs"), [a, b, foreign("theirs", b.id)])
        for (const { id } of marks) assert.isFalse(forked.has(id))
      }
    }))

  test("a fork at a label stands at the entry above it", () =>
    Effect.gen(function* () {
      const { ref, label, a, b } = yield* source
      const forked = yield* fork(ref, { at: label.id })
      assert.strictEqual(yield* reopenedLeaf(forked), b.id)
      const tree = yield* read(forked)
      assert.deepStrictEqual(tree.path(b.id), [a, b])
      assert.deepStrictEqual(tree.problems(), [])
    }))

  test("labels, states and the name of what is kept go along; of what is not, they stay behind", () =>
    Effect.gen(function* () {
      const { session, ref, a, b, c, d } = yield* source
      yield* session.label(c.id, "end")
      yield* session.name("a name")
      const data = { targetIds: [a.id, d.id], enabled: false }
      yield* session.main.append({ type: "custom", customType: "grove.state", data })
      const { facts, size } = yield* read(yield* fork(ref, { at: b.id }))
      assert.deepStrictEqual([...facts.labels], [[a.id, "start"]])
      assert.deepStrictEqual([...facts.disabled], [a.id])
      assert.strictEqual(facts.name, "a name")
      assert.strictEqual(size, 2 + 4)
    }))

  test("a name that was taken away stays away, though the path still says it", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* session.name("soon gone")
      const [a] = yield* saying(session.main, "a")
      yield* session.name("")
      assert.isNull((yield* read(yield* fork(session.ref, { at: a!.id }))).facts.name)
    }))

  test("a fork has one branch, however many labels it carries", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const entries = yield* saying(session.main, "a", "b", "c")
      for (const { id } of entries) yield* session.label(id, `at ${id}`)
      const forked = yield* read(yield* fork(session.ref, { at: entries[2]!.id }))
      assert.strictEqual(forked.facts.labels.size, 3)
      assert.strictEqual(forked.leaves().length, 1)
    }))

  test("a fork names the path of its source, and lies in its directory or another", () =>
    Effect.gen(function* () {
      const { ref } = yield* source
      const headerOf = (forked: SessionRef) =>
        Effect.map(Effect.scoped(SessionStore.use((store) => store.read(forked))), ({ header }) => header)
      const [here, there] = [yield* fork(ref), yield* fork(ref, { cwd: "/elsewhere" })]
      assert.deepStrictEqual(
        [(yield* headerOf(here))?.parentSession, (yield* headerOf(here))?.cwd],
        [ref.path, "/work"]
      )
      assert.strictEqual((yield* headerOf(there))?.cwd, "/elsewhere")
      assert.notStrictEqual(here.id, there.id)
    }))

  test("a fork of everything keeps every branch", () =>
    Effect.gen(function* () {
      const { ref, a, b, c, d } = yield* source
      const forked = yield* read(yield* fork(ref, { all: true }))
      const kept = [a, b, c, d].map((entry) => forked.get(entry.id))
      assert.deepStrictEqual(
        kept.map((entry) => entry?.parentId),
        [null, a.id, b.id, a.id]
      )
      assert.deepStrictEqual([...forked.facts.labels], [[a.id, "start"]])
    }))

  test("a fork changes nothing in its source", () =>
    Effect.gen(function* () {
      const { ref } = yield* source
      const before = yield* stored(ref)
      yield* fork(ref)
      yield* fork(ref, { all: true })
      assert.deepStrictEqual(yield* stored(ref), before)
    }))

  test("a fork of an empty session is an empty session", () =>
    Effect.gen(function* () {
      const forked = yield* fork(yield* create)
      assert.deepStrictEqual(yield* stored(forked), [])
      assert.isNull(yield* reopenedLeaf(forked))
    }))

  test("a fork can be gone on with like any session", () =>
    Effect.gen(function* () {
      const { ref, b } = yield* source
      const session = yield* open(yield* fork(ref, { at: b.id }))
      yield* saying(session.main, "another way")
      assert.deepStrictEqual(yield* textsOf(session.main), ["a", "b", "another way"])
    }))

  test("there is no fork at an entry that is not there, nor at a mark", () =>
    Effect.gen(function* () {
      const { session, ref, a } = yield* source
      yield* session.main.branch(a.id)
      yield* TestClock.adjust("1 second")
      const [mark] = yield* leafMarks(ref)
      const before = yield* Sessions.use((sessions) => sessions.list())
      for (const id of ["nowhere", mark!.id]) {
        const error = yield* Effect.flip(fork(ref, { at: id }))
        assert.strictEqual(error._tag, "UnknownEntry")
        if (error._tag === "UnknownEntry") assert.deepStrictEqual([error.session, error.id], [ref.path, id])
      }
      assert.deepStrictEqual(yield* Sessions.use((sessions) => sessions.list()), before)
    }))

  const Step = Schema.Struct({
    step: Schema.Literals(["say", "say", "answer", "label", "compact", "mute", "think", "name", "go", "background"]),
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30 }))
  })

  const take = Effect.fnUntraced(function* (session: Session, { step, at }: typeof Step.Type) {
    const ids = shownIds(session.tree)
    const target = ids[at % Math.max(ids.length, 1)]
    const { main } = session
    switch (step) {
      case "say":
        return yield* main.append(prompt(`prompt ${at}`))
      case "answer":
        return yield* main.append(reply(`reply ${at}`))
      case "think":
        return yield* main.append({ type: "thinking_level_change", thinkingLevel: `level ${at}` })
      case "name":
        return yield* session.name(at % 2 === 0 ? `name ${at}` : "")
      case "background":
        return yield* (yield* session.cursor(target ?? null)).append(prompt(`aside ${at}`))
    }
    if (target === undefined) return
    switch (step) {
      case "label":
        return yield* session.label(target, at % 3 === 0 ? null : `label ${at}`)
      case "compact":
        return yield* main.append({
          type: "compaction",
          summary: `summary ${at}`,
          firstKeptEntryId: target,
          tokensBefore: at
        })
      case "mute": {
        if (session.tree.get(target)?.type !== "message") return
        const data = { targetIds: [target], enabled: at % 3 === 0 }
        return yield* main.append({ type: "custom", customType: "grove.state", data })
      }
      case "go":
        return yield* main.branch(target)
    }
  })

  it.effect.prop(
    "a fork shows the model what its source shows, wherever it was made",
    [Arbitrary.array(Arbitrary.schema(Step), { minLength: 1, maxLength: 25 }), Schema.Literals([true, false])],
    ([steps, all]) =>
      Effect.gen(function* () {
        const session = yield* openNew
        for (const step of steps) yield* take(session, step)
        for (const id of shownIds(session.tree)) {
          const forked = yield* read(yield* fork(session.ref, { at: id, all }))
          // A fork writes down anew what is disabled, so it cannot say what was said knowing it.
          const { leaf: _, edited: _edited, ...shown } = ContextBuilder.build(session.tree, id)
          const { leaf: __, edited: __edited, ...shownThere } = ContextBuilder.build(forked)
          assert.deepStrictEqual(shownThere, shown)
          assert.deepStrictEqual(forked.problems(), [])
          assert.strictEqual(forked.facts.name, session.tree.facts.name)
        }
      }).pipe(Effect.provide(layer)),
    { arbitrary: { runs: 100, size: 25, seed: "forks" } }
  )
})

describe("where the medium refuses", () => {
  /** A session of two entries whose medium now refuses. */
  const refusing = Effect.gen(function* () {
    const session = yield* openNew
    const medium = yield* Medium
    const [a, b] = yield* saying(session.main, "a", "b")
    const cursor = yield* session.cursor(a!.id)
    medium.refuses = true
    return { session, medium, cursor, a: a!, b: b! }
  })

  const reasonOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string; readonly reason?: unknown }, R>) =>
    Effect.map(Effect.flip(effect), ({ _tag, reason }) => [_tag, (reason as { _tag?: string } | undefined)?._tag])

  const refused = ["SessionStoreError", "StoreRefused"]

  test("the error reaches the caller, and tree, leaf and events know nothing of it", () =>
    Effect.gen(function* () {
      const { session, cursor, medium, a, b } = yield* refusing
      const next = yield* Effect.forkChild(Stream.runHead(session.events), { startImmediately: true })
      assert.deepStrictEqual(yield* reasonOf(session.main.append(prompt("lost"))), refused)
      assert.deepStrictEqual(yield* reasonOf(cursor.append(prompt("lost"))), refused)
      assert.deepStrictEqual(yield* reasonOf(session.main.branchWithSummary(a.id, { summary: "lost" })), refused)
      assert.deepStrictEqual(yield* reasonOf(session.label(a.id, "lost")), refused)
      assert.deepStrictEqual(yield* reasonOf(session.name("lost")), refused)
      assert.deepStrictEqual([...session.tree.entries], [a, b])
      assert.deepStrictEqual([yield* session.main.leaf, yield* cursor.leaf], [b.id, a.id])
      assert.deepStrictEqual(yield* stored(session.ref), [a, b])
      medium.refuses = false
      const [c] = yield* saying(session.main, "c")
      const event = yield* Fiber.join(next)
      assert.deepStrictEqual(event._tag === "Some" && event.value, { _tag: "Appended", entries: [c!], moved: c!.id })
    }))

  test("a later append works, as if nothing had been", () =>
    Effect.gen(function* () {
      const { session, cursor, medium, a, b } = yield* refusing
      yield* Effect.exit(session.main.append(prompt("lost")))
      yield* Effect.exit(cursor.append(prompt("lost")))
      medium.refuses = false
      const [c] = yield* saying(session.main, "c")
      const [d] = yield* saying(cursor, "d")
      assert.deepStrictEqual([c!.parentId, d!.parentId], [b.id, a.id])
      assert.deepStrictEqual(shownIds(yield* read(session.ref)), [a.id, b.id, c!.id, d!.id])
      assert.strictEqual(yield* reopenedLeaf(session.ref), c!.id)
    }))

  test("a move that could not be written down still counts, and is written when it can be", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const medium = yield* Medium
      const { session, close } = yield* openClosable(ref)
      const [a, b] = yield* saying(session.main, "a", "b")
      medium.refuses = true
      yield* session.main.branch(a!.id)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* session.main.leaf, a!.id)
      assert.deepStrictEqual(yield* stored(ref), [a, b])
      medium.refuses = false
      yield* close
      assert.strictEqual(yield* reopenedLeaf(ref), a!.id)
    }))

  test("closing does not fail", () =>
    Effect.gen(function* () {
      const ref = yield* create
      const medium = yield* Medium
      const { session, close } = yield* openClosable(ref)
      const [a] = yield* saying(session.main, "a", "b")
      yield* session.main.branch(a!.id)
      medium.refuses = true
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(close)))
    }))

  test("a fork fails with what the medium said", () =>
    Effect.gen(function* () {
      const { session } = yield* refusing
      assert.deepStrictEqual(yield* reasonOf(Sessions.use(({ fork }) => fork(session.ref.path))), refused)
    }))

  test("a session that is not there is not opened", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      assert.deepStrictEqual(yield* reasonOf(sessions.open("nothing")), ["SessionStoreError", "SessionNotFound"])
      assert.deepStrictEqual(yield* reasonOf(sessions.fork("nothing")), ["SessionStoreError", "SessionNotFound"])
    }))
})

describe("where the medium is slow", () => {
  /** A session of two entries, and an append under way whose write is held back. */
  const writing = Effect.gen(function* () {
    const session = yield* openNew
    const { ready } = yield* Medium
    const [a, b] = yield* saying(session.main, "a", "b")
    yield* ready.close
    const appending = yield* Effect.forkChild(session.main.append(prompt("c")), { startImmediately: true })
    return { session, ready, appending, a: a!, b: b! }
  })

  test("nothing is in the tree before it is on the medium", () =>
    Effect.gen(function* () {
      const { session, ready, appending, a, b } = yield* writing
      assert.deepStrictEqual([...session.tree.entries], [a, b])
      assert.strictEqual(yield* session.main.leaf, b.id)
      yield* ready.open
      const c = yield* Fiber.join(appending)
      assert.deepStrictEqual([...session.tree.entries], [a, b, c])
    }))

  test("what is asked for while an append is written comes after it", () =>
    Effect.gen(function* () {
      const { session, ready, appending, a } = yield* writing
      const moving = yield* Effect.forkChild(session.main.branch(a.id), { startImmediately: true })
      const next = yield* Effect.forkChild(session.main.append(prompt("d")), { startImmediately: true })
      yield* ready.open
      const [c, , d] = [yield* Fiber.join(appending), yield* Fiber.join(moving), yield* Fiber.join(next)]
      assert.strictEqual(d.parentId, a.id)
      assert.strictEqual(yield* session.main.leaf, d.id)
      assert.deepStrictEqual(session.tree.leaves(), [c.id, d.id])
    }))

  test("a move asked for while an append is written is not undone by it", () =>
    Effect.gen(function* () {
      const { session, ready, appending, a } = yield* writing
      const moving = yield* Effect.forkChild(session.main.branch(a.id), { startImmediately: true })
      yield* ready.open
      yield* Fiber.join(appending)
      yield* Fiber.join(moving)
      assert.strictEqual(yield* session.main.leaf, a.id)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* reopenedLeaf(session.ref), a.id)
    }))

  test("an append that is interrupted while it is written is finished, and the leaf stands on it", () =>
    Effect.gen(function* () {
      const { session, ready, appending, b } = yield* writing
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(appending), { startImmediately: true })
      yield* ready.open
      yield* Fiber.join(interrupting)
      const last = (yield* stored(session.ref)).at(-1)!
      assert.strictEqual(last.parentId, b.id)
      assert.strictEqual(yield* session.main.leaf, last.id)
      assert.deepStrictEqual(session.tree.entries.at(-1), last)
    }))

  test("an append that is interrupted before its turn leaves no trace", () =>
    Effect.gen(function* () {
      const { session, ready, appending, a, b } = yield* writing
      const waiting = yield* Effect.forkChild(session.main.append(prompt("never")), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      yield* ready.open
      const c = yield* Fiber.join(appending)
      const [d] = yield* saying(session.main, "d")
      assert.deepStrictEqual(yield* stored(session.ref), [a, b, c, d])
    }))
})

describe("compared with a model of a few lines", () => {
  const Command = Schema.Struct({
    command: Schema.Literals(["append", "branch", "reset", "background", "summary", "label", "rest", "reopen"]),
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
  })

  /** Where everything stands, by position: the whole truth about a session with one person and no others. */
  class Model {
    readonly parents: Array<number | null> = []
    readonly labels = new Map<number, string>()
    leaf: number | null = null

    add(parent: number | null): number {
      return this.parents.push(parent) - 1
    }
    pick(at: number): number | null {
      return this.parents.length === 0 ? null : at % this.parents.length
    }
  }

  it.effect.prop(
    "a session does what the model does, whatever is done to it",
    [Arbitrary.array(Arbitrary.schema(Command), { maxLength: 30 })],
    ([commands]) =>
      Effect.gen(function* () {
        const model = new Model()
        const ids: Array<EntryId> = []
        const idOf = (position: number | null) => (position === null ? null : ids[position]!)
        const ref = yield* create
        let { session, close } = yield* openClosable(ref)

        const agrees = (tree: SessionTree) => {
          const shown = tree.entries.filter((entry) => !Mark.isMark(entry))
          assert.deepStrictEqual(
            shown.map(({ id, parentId }) => [id, parentId]),
            ids.map((id, position) => [id, idOf(model.parents[position]!)])
          )
          assert.deepStrictEqual(
            new Map(tree.facts.labels),
            new Map(Array.from(model.labels, ([position, label]) => [ids[position]!, label]))
          )
          assert.deepStrictEqual(tree.problems(), [])
        }

        for (const { command, at } of commands) {
          const target = model.pick(at)
          const { main } = session
          switch (command) {
            case "append":
              ids.push((yield* main.append(prompt(`${at}`))).id)
              model.leaf = model.add(model.leaf)
              break
            case "summary":
              ids.push((yield* main.branchWithSummary(idOf(target), { summary: `${at}` })).id)
              model.leaf = model.add(target)
              break
            case "background":
              ids.push((yield* (yield* session.cursor(idOf(target))).append(prompt(`${at}`))).id)
              model.add(target)
              break
            case "label": {
              if (target === null) break
              const label = at % 3 === 0 ? null : `label ${at}`
              ids.push((yield* session.label(idOf(target)!, label)).id)
              if (label === null) model.labels.delete(target)
              else model.labels.set(target, label)
              model.leaf = model.add(model.leaf)
              break
            }
            case "branch":
              if (target === null) break
              yield* main.branch(idOf(target)!)
              model.leaf = target
              break
            case "reset":
              yield* main.resetLeaf
              model.leaf = null
              break
            case "rest":
              yield* TestClock.adjust("1 second")
              assert.strictEqual((yield* read(ref)).leaf, idOf(model.leaf))
              break
            case "reopen":
              yield* close
              ;({ session, close } = yield* openClosable(ref))
              break
          }
          assert.strictEqual(yield* session.main.leaf, idOf(model.leaf))
          agrees(session.tree)
        }
        yield* close
        const after = yield* read(ref)
        assert.strictEqual(after.leaf, idOf(model.leaf))
        agrees(after)
      }).pipe(Effect.provide(layer)),
    { arbitrary: { runs: 200, size: 30, seed: "sessions" } }
  )
})
