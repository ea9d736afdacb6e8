import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Latch, Layer, type Scope } from "effect"
import { Compactor } from "../src/Compactor.ts"
import { EntryIds } from "../src/EntryIds.ts"
import { BranchSummary, Tokens } from "../src/model/index.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { type Cursor, type NewEntry, Sessions } from "../src/Sessions.ts"
import { Summarizer, SummaryFailed, type SummaryReply, type SummaryRequest } from "../src/Summarizer.ts"

/** Answers `S1`, `S2` … and remembers what it was asked; a test can have it answer otherwise, or wait. */
class Model extends Context.Service<
  Model,
  {
    readonly asked: Array<SummaryRequest>
    answer: (n: number) => Effect.Effect<SummaryReply, SummaryFailed>
    readonly ready: Latch.Latch
  }
>()("test/Model") {
  static readonly layer = Layer.effect(
    Model,
    Effect.map(Latch.make(true), (ready) => ({ asked: [], answer: (n) => Effect.succeed({ text: `S${n}` }), ready }))
  )
}
const Scripted = Layer.effect(
  Summarizer,
  Effect.map(Model, (model) => ({
    summarize: (request) =>
      Effect.andThen(
        model.ready.await,
        Effect.suspend(() => model.answer(model.asked.push(request)))
      )
  }))
)
const layer = Layer.mergeAll(Compactor.layer, Sessions.layer).pipe(
  Layer.provideMerge(Scripted),
  Layer.provideMerge(Layer.mergeAll(Model.layer, SessionStore.layerMemory, EntryIds.layerSequential))
)
type Services = Layer.Success<typeof layer> | Scope.Scope

const test = <A, E>(name: string, effect: () => Effect.Effect<A, E, Services>) =>
  it.effect(name, () => Effect.provide(effect(), layer))

const text = (tokens: number): string => "x".repeat(tokens * 4)
const prompt = (tokens: number): NewEntry => ({ type: "message", message: { role: "user", content: text(tokens) } })
const reply = (tokens: number, path?: string): NewEntry => ({
  type: "message",
  message: {
    role: "assistant",
    content: [
      { type: "text", text: text(tokens) },
      ...(path === undefined ? [] : [{ type: "toolCall", id: path, name: "edit", arguments: { path } }])
    ],
    provider: "p",
    model: "m"
  }
})
const result = (toolCallId: string, tokens = 1): NewEntry => ({
  type: "message",
  message: { role: "toolResult", toolCallId, toolName: "edit", content: text(tokens), isError: false }
})

const openNew = Effect.flatMap(
  Sessions.use((sessions) => sessions.create({ cwd: "/work" })),
  (ref) => Sessions.use((sessions) => sessions.open(ref.path))
)
const say = (cursor: Cursor, ...entries: ReadonlyArray<NewEntry>) => Effect.forEach(entries, cursor.append)
const settings = { keepRecentTokens: 100 }
const manual = { reason: "manual", settings } as const

/** Two turns of 200 tokens each. */
const talked = Effect.gen(function* () {
  const session = yield* openNew
  const [u1, a1, u2, a2] = yield* say(session.main, prompt(100), reply(100), prompt(50), reply(50))
  return { session, cursor: session.main, u1: u1!, a1: a1!, u2: u2!, a2: a2! }
})

describe("compacting", () => {
  test("puts a summary in place of the older part and keeps the rest", () =>
    Effect.gen(function* () {
      const { session, cursor, u2 } = yield* talked
      const before = Tokens.ofContext(session.tree, yield* cursor.context).tokens
      const done = yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      assert(done.compacted)
      const leaf = yield* cursor.leaf
      assert.deepStrictEqual(done as unknown, {
        compacted: true,
        id: leaf,
        firstKeptEntryId: u2.id,
        tokensBefore: 300,
        summary: "S1",
        reason: "manual"
      })
      const context = yield* cursor.context
      assert.deepStrictEqual(
        context.messages.map(({ role }) => role),
        ["compactionSummary", "user", "assistant"]
      )
      assert.isBelow(Tokens.ofContext(session.tree, context).tokens, before)
      assert.deepStrictEqual(session.tree.get(leaf!)!.details, { readFiles: [], modifiedFiles: [] })
    }))
  test("twice in a row does nothing the second time", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      const size = session.tree.size
      const again = yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      assert.deepInclude(again, { compacted: false, reason: "already-compacted", id: null, summary: null })
      assert.strictEqual(session.tree.size, size)
    }))
  test("a short conversation does nothing and asks nobody", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      const done = yield* Compactor.use((compactor) => compactor.compact(session, cursor, { reason: "manual" }))
      assert.deepInclude(done, { compacted: false, reason: "too-small", tokensBefore: 300 })
      assert.strictEqual((yield* Model).asked.length, 0)
    }))
  test("the next time brings the summary up to date and lists the files of both", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const cursor = session.main
      yield* say(cursor, prompt(100), reply(100, "a.ts"), result("a.ts"), prompt(100))
      yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      yield* say(cursor, reply(100, "b.ts"), result("b.ts"), prompt(100))
      const done = yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      assert(done.compacted)
      assert.strictEqual(done.summary, "S2\n\n<modified-files>\na.ts\nb.ts\n</modified-files>")
      const { asked } = yield* Model
      assert.include(asked[1]!.prompt, "<previous-summary>\nS1\n</previous-summary>")
      assert.deepStrictEqual(session.tree.get(done.id)!.details, { readFiles: [], modifiedFiles: ["a.ts", "b.ts"] })
    }))
  test("a turn that is cut is told apart, and the wish of the person reaches both requests", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* say(session.main, prompt(100), reply(100), prompt(100), reply(100, "a.ts"), result("a.ts"), reply(100))
      const done = yield* Compactor.use((compactor) =>
        compactor.compact(session, session.main, { ...manual, instructions: "dwell on tests" })
      )
      assert(done.compacted)
      assert.strictEqual(
        done.summary,
        "S1\n\n---\n\n**The turn under way:**\n\nS2\n\n<modified-files>\na.ts\n</modified-files>"
      )
      const { asked } = yield* Model
      assert.strictEqual(asked.length, 2)
      assert.isTrue(asked.every(({ prompt }) => prompt.endsWith("dwell on tests")))
      assert.include(asked[1]!.prompt, "## Original Request")
    }))
  test("where nothing but the beginning of a turn is new, the summary before it stays as it is", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      yield* say(cursor, reply(10), reply(100))
      const done = yield* Compactor.use((compactor) => compactor.compact(session, cursor, manual))
      assert(done.compacted)
      assert.isTrue(done.summary.startsWith("S1\n\n---\n\n"))
      assert.strictEqual((yield* Model).asked.length, 2)
    }))
  test("what does not fit into the window is summarised piece by piece", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      yield* say(session.main, ...Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? prompt(100) : reply(100))))
      const done = yield* Compactor.use((compactor) =>
        compactor.compact(session, session.main, {
          reason: "manual",
          window: 2_000,
          settings: { keepRecentTokens: 400 }
        })
      )
      assert(done.compacted)
      const { asked } = yield* Model
      assert.strictEqual(done.summary, `S${asked.length}`)
      assert.isAbove(asked.length, 2)
      for (const { prompt, system, maxTokens } of asked) {
        assert.isBelow((prompt.length + system.length) / 4 + maxTokens, 2_000)
      }
      assert.include(asked[1]!.prompt, "<previous-summary>\nS1\n</previous-summary>")
    }))
  test("adds up what its requests cost", () =>
    Effect.gen(function* () {
      const session = yield* openNew
      const usage = {
        input: 1,
        output: 2,
        cacheRead: 3,
        cacheWrite: 4,
        totalTokens: 10,
        cost: { input: 1, total: 0.5 }
      }
      ;(yield* Model).answer = () => Effect.succeed({ text: "S", usage })
      yield* say(session.main, prompt(100), reply(100), prompt(100), reply(100), reply(100))
      const done = yield* Compactor.use((compactor) => compactor.compact(session, session.main, manual))
      assert(done.compacted)
      assert.deepStrictEqual(session.tree.get(done.id)!.usage, {
        input: 2,
        output: 4,
        cacheRead: 6,
        cacheWrite: 8,
        totalTokens: 20,
        cost: { input: 2, total: 1 }
      })
    }))
  test("asks the model that is configured for summaries, for no longer an answer than is of use", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      yield* Compactor.use((compactor) =>
        compactor.compact(session, cursor, { ...manual, settings: { ...settings, model: "p/small" }, window: 100_000 })
      )
      const [asked] = (yield* Model).asked
      assert.strictEqual(asked!.model, "p/small")
      assert.strictEqual(asked!.maxTokens, 13_107)
    }))
})

describe("a summary that does not come", () => {
  const failing = (name: string, answer: Effect.Effect<SummaryReply, SummaryFailed>) =>
    test(`${name} changes nothing`, () =>
      Effect.gen(function* () {
        const { session, cursor, u1 } = yield* talked
        ;(yield* Model).answer = () => answer
        const before = [session.tree.size, yield* cursor.leaf]
        const failed = yield* Effect.flip(Compactor.use((compactor) => compactor.compact(session, cursor, manual)))
        assert.strictEqual(failed._tag, "SummaryFailed")
        const left = yield* Effect.flip(Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, u1.id)))
        assert.strictEqual(left._tag, "SummaryFailed")
        assert.deepStrictEqual([session.tree.size, yield* cursor.leaf], before)
      }))
  failing("because the model failed", Effect.fail(new SummaryFailed({ detail: "no connection" })))
  failing("because the model said nothing", Effect.succeed({ text: " \n" }))
})

describe("by itself", () => {
  test("a context is compacted when the window has no more room for the answer", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      const isDue = (window: number | undefined, more = {}) =>
        Compactor.use((compactor) => compactor.shouldCompact(session, cursor, { window, settings: more }))
      assert.isTrue(yield* isDue(398))
      assert.isFalse(yield* isDue(400))
      assert.isFalse(yield* isDue(undefined))
      assert.isFalse(yield* isDue(398, { enabled: false }))
    }))
  for (const reason of ["threshold", "overflow"] as const) {
    test(`nothing is compacted on ${reason} where that is switched off, but a person may still ask for it`, () =>
      Effect.gen(function* () {
        const { session, cursor } = yield* talked
        const off = { settings: { ...settings, enabled: false } }
        const refused = yield* Compactor.use((compactor) => compactor.compact(session, cursor, { ...off, reason }))
        assert.deepInclude(refused, { compacted: false, reason: "disabled" })
        const asked = yield* Compactor.use((compactor) =>
          compactor.compact(session, cursor, { ...off, reason: "manual" })
        )
        assert.isTrue(asked.compacted)
      }))
  }
  test("an overflow tells how large the window is where nobody knows", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      const done = yield* Compactor.use((compactor) => compactor.compact(session, cursor, { reason: "overflow" }))
      assert.isTrue(done.compacted)
    }))
})

describe("while the summary is written", () => {
  const meanwhile = (act: (cursor: Cursor) => Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      const { session, cursor, u2 } = yield* talked
      const model = yield* Model
      yield* model.ready.close
      const running = yield* Effect.forkChild(
        Effect.result(Compactor.use((compactor) => compactor.compact(session, cursor, manual))),
        { startImmediately: true }
      )
      yield* act(cursor)
      yield* model.ready.open
      return { session, cursor, u2, outcome: yield* Fiber.join(running) }
    })

  test("what is said goes on after it", () =>
    Effect.gen(function* () {
      const { cursor, outcome } = yield* meanwhile((cursor) => cursor.append(prompt(7)))
      assert.strictEqual(outcome._tag, "Success")
      const { messages } = yield* cursor.context
      assert.deepStrictEqual(
        messages.map((message) => Tokens.estimate(message)),
        [1, 50, 50, 7]
      )
    }))
  test("going to another branch makes it void", () =>
    Effect.gen(function* () {
      const { session, outcome } = yield* meanwhile((cursor) => cursor.resetLeaf)
      assert(outcome._tag === "Failure")
      assert.strictEqual(outcome.failure._tag, "LeafMoved")
      assert.strictEqual(session.tree.size, 4)
    }))
})

describe("leaving a branch", () => {
  test("with a summary puts it at the new place, with what it came from", () =>
    Effect.gen(function* () {
      const { session, cursor, a1, a2 } = yield* talked
      yield* say(cursor, reply(10, "a.ts"), result("a.ts"))
      const left = yield* cursor.leaf
      const entry = yield* Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, a1.id))
      assert.deepInclude(entry, {
        type: "branch_summary",
        parentId: a1.id,
        fromId: a1.id,
        summary: "S1\n\n<modified-files>\na.ts\n</modified-files>",
        details: { readFiles: [], modifiedFiles: ["a.ts"], abandonedLeaf: left }
      })
      assert.strictEqual(yield* cursor.leaf, entry!.id)
      assert.isTrue(session.tree.has(a2.id))
      const { messages } = yield* cursor.context
      assert.deepStrictEqual(
        messages.map(({ role }) => role),
        ["user", "assistant", "branchSummary"]
      )
      const [asked] = (yield* Model).asked
      assert.strictEqual(asked!.prompt.split("[User]:").length, 2)
    }))
  test("for a new root tells the whole of it", () =>
    Effect.gen(function* () {
      const { session, cursor } = yield* talked
      const entry = yield* Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, null))
      assert.deepInclude(entry, { parentId: null, fromId: "root" })
      assert.strictEqual((yield* Model).asked[0]!.prompt.split("[User]:").length, 3)
    }))
  test("is given up if the person goes elsewhere meanwhile", () =>
    Effect.gen(function* () {
      const { session, cursor, u1, a1 } = yield* talked
      const model = yield* Model
      yield* model.ready.close
      const leaving = Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, u1.id))
      const running = yield* Effect.forkChild(Effect.flip(leaving), { startImmediately: true })
      yield* cursor.branch(a1.id)
      yield* model.ready.open
      assert.strictEqual((yield* Fiber.join(running))._tag, "LeafMoved")
      assert.strictEqual(yield* cursor.leaf, a1.id)
      assert.strictEqual(session.tree.size, 4)
    }))
  test("that has nothing to tell just goes", () =>
    Effect.gen(function* () {
      const { session, cursor, u1, a2 } = yield* talked
      yield* cursor.branch(u1.id)
      const entry = yield* Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, a2.id))
      assert.isNull(entry)
      assert.strictEqual(yield* cursor.leaf, a2.id)
      assert.strictEqual((yield* Model).asked.length, 0)
    }))
  test("for a place that is not there fails, and nothing changes", () =>
    Effect.gen(function* () {
      const { session, cursor, a2 } = yield* talked
      const failed = yield* Effect.flip(
        Compactor.use((compactor) => compactor.summarizeBranch(session, cursor, "nowhere"))
      )
      assert.strictEqual(failed._tag, "UnknownEntry")
      assert.strictEqual(yield* cursor.leaf, a2.id)
    }))
})

test("a path is summarised without being touched", () =>
  Effect.gen(function* () {
    const { session, u1, a2 } = yield* talked
    const told = yield* Compactor.use((compactor) =>
      compactor.summarizeRows(session, BranchSummary.abandoned(session.tree, a2.id, u1.id).rows)
    )
    assert.deepStrictEqual(told, { summary: "S1", details: { readFiles: [], modifiedFiles: [] } })
    assert.strictEqual(session.tree.size, 4)
  }))

it.effect("the counting summariser says the same of the same", () =>
  Effect.gen(function* () {
    const ask = Summarizer.use(({ summarize }) => summarize({ system: "", prompt: "four", maxTokens: 1 }))
    assert.deepStrictEqual(yield* ask, { text: "a summary of 4 characters" })
    assert.deepStrictEqual(yield* ask, yield* ask)
  }).pipe(Effect.provide(Summarizer.layerCounting))
)
