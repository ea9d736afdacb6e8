import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, type Scope, Stream } from "effect"
import { Compactor } from "../src/Compactor.ts"
import { EntryIds } from "../src/EntryIds.ts"
import { ContextBuilder, type Entry, Mark, type SessionTree, Tokens, Units } from "../src/model/index.ts"
import { SessionStore } from "../src/SessionStore.ts"
import { type Session, Sessions } from "../src/Sessions.ts"
import { Summarizer } from "../src/Summarizer.ts"
import * as TreeEdits from "../src/TreeEdits.ts"
import { Chance, call, entry, idsOf, type Json, mark, reply, result, user } from "./support.ts"

const layer = Sessions.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(SessionStore.layerMemory, EntryIds.layerSequential))
)

/** A session that holds those entries, opened. */
const opened = Effect.fnUntraced(function* (lines: ReadonlyArray<Entry.Entry>) {
  const sessions = yield* Sessions
  const store = yield* SessionStore
  const ref = yield* sessions.create({ cwd: "/work" })
  yield* Effect.scoped(Effect.flatMap(store.open(ref), (log) => log.append(lines)))
  return yield* sessions.open(ref.path)
})

const reread = (session: Session) =>
  SessionStore.use((store) => Effect.map(store.read(session.ref), ({ tree }) => tree))

const test = <A, E>(name: string, effect: () => Effect.Effect<A, E, Layer.Success<typeof layer> | Scope.Scope>) =>
  it.effect(name, () => Effect.provide(effect(), layer))

const sources = (tree: SessionTree, leaf: string | null = tree.leaf): ReadonlyArray<string> =>
  ContextBuilder.build(tree, leaf).sources

/** A prompt, a call with its result and an answer; then another prompt; and a second branch from the answer. */
const talk = [
  user("ask1", null, "list the files"),
  reply("call", "ask1", { ...call("ls"), usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0 } }),
  result("res1", "call"),
  reply("say1", "res1"),
  user("ask2", "say1"),
  reply("say2", "ask2"),
  user("ask3", "say1"),
  reply("say3", "ask3")
]

const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => (error instanceof TreeEdits.EditRefused ? error.code : error))

describe("an edit", () => {
  test("mutes a wrong answer, says what that did, and is undone", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const edited = yield* TreeEdits.disable(session, ["res1"])
      assert.deepStrictEqual([edited.asked, edited.applied], [["res1"], ["call", "res1"]] as never)
      assert.deepStrictEqual([edited.context.before.messages, edited.context.after.messages], [6, 4])
      const dropped = ContextBuilder.build(session.tree, "res1").messages.length
      assert.strictEqual(dropped, 1)
      const tokens = [1, 2].reduce((sum, at) => sum + Tokens.estimate(talk[at]!.message as Json), 0)
      assert.strictEqual(edited.context.before.tokens - edited.context.after.tokens, tokens)
      yield* TreeEdits.undo(session)
      assert.deepStrictEqual(sources(session.tree), ["ask1", "call", "res1", "say1", "ask3", "say3"])
    }))

  test("that changes nothing writes nothing", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const size = session.tree.size
      assert.strictEqual((yield* TreeEdits.enable(session, ["ask1"])).edit, null)
      assert.strictEqual((yield* TreeEdits.leaf(session, "say3")).edit, null)
      assert.strictEqual((yield* TreeEdits.prune(session, "say3")).edit, null)
      assert.strictEqual(session.tree.size, size)
    }))

  test("is told as one event with all it wrote, its mark last", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const heard = yield* Effect.forkScoped(Stream.runHead(session.events), { startImmediately: true })
      const { created, edit } = yield* TreeEdits.graft(session, "ask2", "say3")
      const event = yield* Fiber.join(heard)
      assert(event._tag === "Some" && event.value._tag === "Appended")
      assert.deepStrictEqual(idsOf(event.value.entries), [...created, edit] as never)
    }))

  test("refused leaves the session as it was", () =>
    Effect.gen(function* () {
      const session = yield* opened([...talk, mark("mark", "say3", "leaf", { targetId: "say3" })])
      const size = session.tree.size
      const codes = yield* Effect.all([
        refused(TreeEdits.disable(session, ["ask1", "nobody"])),
        refused(TreeEdits.disable(session, ["mark"])),
        refused(TreeEdits.graft(session, "ask1", "say3")),
        refused(TreeEdits.graft(session, "ask2", "call")),
        refused(TreeEdits.graft(session, "res1", "say3")),
        refused(TreeEdits.mergePicked(session, "say2", ["ask3"])),
        refused(TreeEdits.undo(session, "ask1")),
        refused(TreeEdits.undo(session, "nobody")),
        refused(TreeEdits.redo(session))
      ])
      const expected = [
        "unknown",
        "unknown",
        "cycle",
        "splits-unit",
        "splits-unit",
        "unknown",
        "not-an-edit",
        "unknown"
      ]
      assert.deepStrictEqual(codes as unknown, [...expected, "not-an-edit"])
      assert.strictEqual(session.tree.size, size)
    }))
})

describe("a prune", () => {
  test("takes a person who stands in the fragment to the entry, and its undo takes them back", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const { leaf, applied } = yield* TreeEdits.prune(session, "say1")
      assert.deepStrictEqual([leaf, applied], ["say1", ["ask2", "ask3"]] as never)
      assert.strictEqual(yield* session.main.leaf, "say1")
      assert.strictEqual((yield* reread(session)).leaf, "say1")
      assert.strictEqual(yield* refused(TreeEdits.leaf(session, "say2")), "pruned")
      assert.strictEqual(yield* refused(TreeEdits.graft(session, "ask2", "say3")), "pruned")
      assert.strictEqual((yield* TreeEdits.undo(session)).leaf, "say3")
      assert.strictEqual((yield* TreeEdits.redo(session)).leaf, "say1")
    }))

  test("in the middle of a unit cuts after its last result", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const { asked, applied } = yield* TreeEdits.prune(session, "call")
      assert.deepStrictEqual([asked, applied], [["call"], ["say1"]] as never)
      assert.deepStrictEqual(sources(session.tree), ["ask1", "call", "res1"])
    }))

  test("works at a call that nobody answered", () =>
    Effect.gen(function* () {
      const session = yield* opened([user("ask1", null), reply("call", "ask1", call("ls")), user("ask2", "call")])
      assert.deepStrictEqual((yield* TreeEdits.prune(session, "call")).applied, ["ask2"] as never)
    }))

  test("in a unit that has results on two ways on says where it can be made instead", () =>
    Effect.gen(function* () {
      const session = yield* opened([...talk, result("res2", "call"), user("ask4", "res2")])
      const error = yield* Effect.flip(TreeEdits.prune(session, "call"))
      assert(error._tag === "EditRefused")
      assert.match(error.message, /name res1 or res2 instead/)
    }))

  test("waits for a reply that is being generated, unless it is forced; that reply then stays in the fragment", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const cursor = yield* session.cursor("ask2")
      const busy = { under: () => Effect.succeed(new Set(["ask2"])) }
      const pruned = (force: boolean) =>
        Effect.provideService(TreeEdits.prune(session, "say1", { force }), TreeEdits.Generating, busy)
      assert.strictEqual(yield* refused(pruned(false)), "busy")
      yield* pruned(true)
      yield* cursor.append({ type: "message", message: { role: "assistant", content: [] } })
      const tree = yield* reread(session)
      assert.deepStrictEqual([tree.leaf, tree.edits.problems], ["say1", []] as never)
    }))

  test("of a branch, grafted elsewhere twice, gives two copies and keeps the fragment", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      yield* TreeEdits.leaf(session, "say2")
      yield* TreeEdits.leaf(session, "say3")
      yield* TreeEdits.prune(session, "ask3")
      const first = yield* TreeEdits.graft(session, "say3", "ask2")
      const second = yield* TreeEdits.graft(session, "say3", "say2")
      const tree = yield* reread(session)
      assert.deepStrictEqual(
        tree.edits.stash.map(({ root }) => root),
        ["say3"] as never
      )
      for (const { created, leaf } of [first, second]) {
        assert.strictEqual(leaf, "ask3")
        assert.isTrue(tree.leaves().includes(created[0]!))
      }
    }))
})

describe("a graft", () => {
  test("is refused where it would begin between a call and its results", () =>
    Effect.gen(function* () {
      const session = yield* opened([
        user("ask1", null),
        reply("call", "ask1", call("ls")),
        entry("level", "call", { type: "thinking_level_change", thinkingLevel: "high" }),
        result("res1", "level"),
        user("ask2", "ask1")
      ])
      const error = yield* Effect.flip(TreeEdits.graft(session, "level", "ask2"))
      assert.strictEqual(error._tag === "EditRefused" && error.code, "splits-unit")
      assert.match(error.message, /graft call instead/)
    }))

  test("copies what speaks and what sets, under new names, with nothing charged twice", () =>
    Effect.gen(function* () {
      const tail = [
        entry("set", "say3", { type: "model_change", provider: "p", modelId: "x" }),
        entry("tag", "set", { type: "label", targetId: "say3", label: "here" }),
        entry("cut", "tag", { type: "compaction", summary: "s", firstKeptEntryId: "ask3", tokensBefore: 1 }),
        reply("call2", "cut", call("ls")),
        result("res2", "call2"),
        entry("fix", "res2", { type: "context_edit", targetId: "say3", replacement: { content: "other" } }),
        entry("away", "fix", { type: "context_edit", targetId: "say1", replacement: null }),
        entry("sum", "away", {
          type: "branch_summary",
          fromId: "say3",
          summary: "w",
          details: { summarizedFrom: ["ask3"] }
        })
      ]
      const session = yield* opened([...talk, ...tail])
      const { created, applied } = yield* TreeEdits.graft(session, "ask3", "say2")
      assert.deepStrictEqual(applied, ["ask3", "say3", "set", "call2", "res2", "fix", "sum"] as never)
      const copies = new Map(created.map((id, at) => [applied[at] as string, session.tree.get(id)!]))
      const [ask, say, set, called, answered, fix, sum] = [...copies.values()]
      assert.deepStrictEqual(
        [ask, say, set, called, answered, fix, sum].map((it) => it!.parentId),
        ["say2", ask!.id, say!.id, set!.id, called!.id, answered!.id, fix!.id] as never
      )
      assert.deepStrictEqual(ask!.origin, { session: session.ref.id, entry: "ask3" })
      assert.strictEqual(fix!.targetId, say!.id)
      assert.deepStrictEqual([sum!.fromId, sum!.details], [say!.id, { summarizedFrom: [ask!.id] }])
      const usage = (called!.message as { readonly usage: Json }).usage
      assert.deepStrictEqual([usage.input, usage.output], [0, 0])
      // The id of the call is used on the target path already, so call and result have another together.
      const callId = (called!.message as { readonly content: ReadonlyArray<Json> }).content[0]!.id
      assert.notStrictEqual(callId, "c0")
      assert.strictEqual((answered!.message as Json).toolCallId, callId)
    }))

  test("of any branch shows the target's messages, then the source's as they were before compaction", () =>
    Effect.gen(function* () {
      for (let seed = 1; seed <= 60; seed++) {
        const chance = new Chance(seed)
        const lines = anyTalk(chance)
        const cut = { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 1 }
        const session = yield* opened([...lines, entry("k", lines.at(-1)!.id, cut), user("end", "k")])
        const { tree } = session
        const path = idsOf(tree.path("end"))
        const source = chance.pick(path)
        const target = chance.pick(lines).id
        const done = yield* Effect.result(TreeEdits.graft(session, source, target))
        if (done._tag === "Failure" || done.success.edit === null) continue
        const { applied, created } = done.success
        const originOf = new Map<string, string>(created.map((id, at) => [id, applied[at]!]))
        const copied = path.slice(path.indexOf(source)).filter((id) => id !== "k")
        const end = created[applied.indexOf(copied.at(-1) as never)]!
        const shown = sources(tree, end).map((id) => originOf.get(id) ?? id)
        assert.deepStrictEqual(shown, [...sources(tree, target), ...copied], `seed ${seed}`)
      }
    }))

  test("leaves the person where they are, also after a restart", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      yield* TreeEdits.graft(session, "ask2", "say3")
      assert.deepStrictEqual([yield* session.main.leaf, (yield* reread(session)).leaf], ["say3", "say3"] as never)
    }))
})

describe("a merge", () => {
  test("never takes half of a unit, also where the branch is named by its middle", () =>
    Effect.gen(function* () {
      const two = call("ls", "cat")
      const session = yield* opened([
        user("ask1", null),
        reply("call", "ask1", two),
        result("res1", "call", { toolCallId: "c0" }),
        result("res2", "res1", { toolCallId: "c1" }),
        user("ask2", "ask1")
      ])
      const { applied } = yield* TreeEdits.mergePicked(session, "res1", ["call"])
      assert.deepStrictEqual(applied, ["call", "res1", "res2"] as never)
    }))

  test("of picked entries takes whole units of that branch and the person along; one undo takes both back", () =>
    Effect.gen(function* () {
      const other = [reply("call2", "say2", call("rm")), result("res2", "call2"), reply("done", "res2")]
      const session = yield* opened([...talk, ...other, mark("m", "say3", "leaf", { targetId: "say3" })])
      const { applied, created, leaf } = yield* TreeEdits.mergePicked(session, "done", ["res2", "ask2"])
      assert.deepStrictEqual([applied, leaf], [["ask2", "call2", "res2"], created.at(-1)] as never)
      assert.deepStrictEqual(sources(session.tree).slice(-3), created as never)
      assert.strictEqual((yield* TreeEdits.undo(session)).leaf, "say3")
    }))

  test("as a summary links to the branch, and needs a text or somebody to write one", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const none = yield* Effect.flip(TreeEdits.mergeSummary(session, "say2"))
      assert.strictEqual(none._tag, "NoSummary")
      const asked: Array<string> = []
      const summarizer = Layer.succeed(Summarizer, {
        summarize: ({ prompt }) => Effect.sync(() => ({ text: `summary ${asked.push(prompt)}` }))
      })
      const { created, leaf } = yield* Effect.provide(
        TreeEdits.mergeSummary(session, "say2"),
        Layer.provide(Compactor.layer, summarizer)
      )
      const { summary, details, parentId } = session.tree.get(created[0]!)!
      assert.deepStrictEqual([summary, parentId], ["summary 1", "say3"])
      assert.deepStrictEqual(details, { readFiles: [], modifiedFiles: [], mergedFrom: "say2" })
      assert.include(asked[0], "ask2")
      assert.notInclude(asked[0], "ask3")
      assert.strictEqual(leaf, created[0])
      assert.strictEqual((yield* TreeEdits.undo(session)).leaf, "say3")
    }))
})

describe("a summary of a range", () => {
  test("leaves a compaction in force, so that nothing comes back that was cut off", () =>
    Effect.gen(function* () {
      const session = yield* opened([
        user("old1", null),
        user("kept", "old1"),
        entry("cut1", "kept", { type: "compaction", summary: "old", firstKeptEntryId: "kept", tokensBefore: 9 }),
        user("ask1", "cut1"),
        reply("say1", "ask1")
      ])
      const { applied, created } = yield* TreeEdits.summarize(session, "kept", "ask1", { text: "short" })
      assert.deepStrictEqual(applied, ["kept", "ask1"] as never)
      assert.deepStrictEqual(sources(session.tree), ["cut1", "say1", ...created])
      assert.strictEqual(yield* refused(TreeEdits.summarize(session, "cut1", "cut1", { text: "short" })), "unknown")
    }))

  test("stands for the muted originals, and one undo takes both back", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const before = sources(session.tree)
      const { created, applied } = yield* TreeEdits.summarize(session, "ask1", "call", { text: "listed" })
      assert.deepStrictEqual(applied, ["ask1", "call", "res1"] as never)
      assert.deepStrictEqual(session.tree.get(created[0]!)!.details, { summarizedFrom: applied })
      assert.deepStrictEqual(sources(session.tree), ["say1", "ask3", "say3", created[0]!])
      yield* TreeEdits.undo(session)
      assert.deepStrictEqual(sources(session.tree), before)
    }))

  test("undone after the talk went on keeps what was said since", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const { edit } = yield* TreeEdits.summarize(session, "ask1", "say1", { text: "listed" })
      const said = yield* session.main.append({ type: "message", message: { role: "user", content: "more" } })
      yield* TreeEdits.undo(session, edit!)
      assert.deepStrictEqual(sources(session.tree), ["ask1", "call", "res1", "say1", "ask3", "say3", said.id])
    }))
})

test("a move that was not written down yet is no part of the edit after it", () =>
  Effect.gen(function* () {
    const session = yield* opened(talk)
    yield* session.main.branch("say2")
    yield* TreeEdits.disable(session, ["ask2"])
    assert.strictEqual((yield* TreeEdits.undo(session)).leaf, "say2")
    assert.strictEqual((yield* TreeEdits.undo(session)).leaf, "say3")
  }))

// ------------------------------------------------------------------------------------------------ any sequence

/** Branches of prompts, answers and units, each entry after its parent. */
const anyTalk = (chance: Chance): ReadonlyArray<Entry.Entry> => {
  const lines: Array<Entry.Entry> = [user("e0", null)]
  const ends = ["e0"]
  for (let n = 1; n < 20; n++) {
    const parent = chance.pick(ends)
    if (chance.oneIn(3)) {
      const toolCallId = `t${chance.below(3)}`
      const content = [{ type: "toolCall", id: toolCallId, name: "ls", arguments: {} }]
      lines.push(reply(`c${n}`, parent, { content }), result(`e${n}`, `c${n}`, { toolCallId }))
    } else lines.push(chance.oneIn(2) ? user(`e${n}`, parent) : reply(`e${n}`, parent))
    ends.push(`e${n}`)
  }
  return lines
}

const anyEdit = (chance: Chance, session: Session) => {
  const { tree } = session
  const shown = tree.rows().filter((row) => !tree.isMarkAt(row))
  const any = () => tree.idAt(chance.pick(shown))!
  const marks = tree.edits.all
  switch (chance.below(10)) {
    case 0:
    case 1:
      return TreeEdits.disable(session, [any(), any()])
    case 2:
      return TreeEdits.enable(session, [any()])
    case 3:
      return TreeEdits.prune(session, any())
    case 4:
      return TreeEdits.graft(session, any(), any())
    case 5:
      return TreeEdits.leaf(session, chance.oneIn(5) ? null : any())
    case 6: {
      const branch = any()
      const path = idsOf(tree.path(branch).filter((line) => !Mark.isMark(line)))
      return TreeEdits.mergePicked(session, branch, [chance.pick(path), chance.pick(path)])
    }
    case 7: {
      const path = idsOf(tree.path(tree.leaf ?? "").filter((line) => !Mark.isMark(line)))
      return path.length === 0
        ? TreeEdits.leaf(session, any())
        : TreeEdits.summarize(session, path[0]!, chance.pick(path), { text: "short" })
    }
    case 8:
      return marks.length === 0 ? TreeEdits.undo(session) : TreeEdits.undo(session, chance.pick(marks).id)
    default:
      return chance.oneIn(2) ? TreeEdits.undo(session) : TreeEdits.redo(session)
  }
}

/** Every entry hangs in exactly one place, cut off or not, and nobody stands on what is cut off. */
const isForest = (tree: SessionTree): void => {
  const met: Array<number> = []
  const pending = [...tree.childRows(-1), ...tree.edits.cuts]
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    met.push(row)
    pending.push(...tree.childRows(row))
  }
  const shown = tree.rows().filter((row) => !tree.isMarkAt(row))
  assert.deepStrictEqual(
    met.sort((a, b) => a - b),
    shown
  )
  assert.isFalse(tree.isPrunedAt(tree.rowOf(tree.leaf)))
}

const holdsWholeUnits = (tree: SessionTree): void => {
  const units = Units.make(tree)
  const inContext = new Set(sources(tree).map((id) => tree.rowOf(id)))
  const path = new Set(tree.pathRows(tree.rowOf(tree.leaf)))
  for (const row of path) {
    if (tree.isMarkAt(row)) continue
    const parts = units.of(row).filter((part) => path.has(part))
    const present = parts.filter((part) => inContext.has(part))
    assert.isTrue(present.length === 0 || present.length === parts.length, `half a unit at ${tree.idAt(row)}`)
  }
}

const picture = (tree: SessionTree) => ({
  leaf: tree.leaf,
  disabled: [...tree.facts.disabled].sort(),
  pruned: [...tree.edits.pruned].sort((a, b) => a - b),
  stash: tree.edits.stash,
  context: sources(tree),
  problems: tree.edits.problems
})

describe("any sequence of edits and undos", () => {
  for (let seed = 1; seed <= 100; seed++) {
    test(`keeps the forest a forest and units whole, survives a reload, and is undone to the first context (${seed})`, () =>
      Effect.gen(function* () {
        const chance = new Chance(seed)
        const session = yield* opened(anyTalk(chance))
        const { tree } = session
        const first = { leaf: tree.leaf, context: sources(tree) }
        for (let step = 0; step < 25; step++) {
          yield* Effect.catchTags(Effect.asVoid(anyEdit(chance, session)), {
            EditRefused: () => Effect.void,
            NoSummary: () => Effect.void,
            SummaryFailed: () => Effect.void
          })
          isForest(tree)
          holdsWholeUnits(tree)
          assert.strictEqual(yield* session.main.leaf, tree.leaf)
        }
        assert.deepStrictEqual(picture(yield* reread(session)), picture(tree))
        assert.deepStrictEqual(tree.edits.problems, [])
        let undone = true
        while (undone) {
          undone = yield* Effect.match(TreeEdits.undo(session), { onFailure: () => false, onSuccess: () => true })
        }
        assert.deepStrictEqual({ leaf: tree.leaf, context: sources(tree) }, first)
      }))
  }
})

describe("edits made together", () => {
  test("each see what those before them did, are one event, and are undone one by one", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const heard = yield* Effect.forkScoped(Stream.runCollect(Stream.take(session.events, 1)), {
        startImmediately: true
      })
      const { edits, leaf, context } = yield* TreeEdits.together(session, [
        { op: "prune", id: "say1" },
        { op: "graft", source: "ask2", target: "say1" },
        { op: "disable", ids: ["ask1"] },
        { op: "rate", id: "say1", rating: 4 }
      ])
      assert.deepStrictEqual(
        edits.map(({ op, applied }) => [op, applied]),
        [
          ["prune", ["ask2", "ask3"]],
          ["graft", ["ask2", "say2"]],
          ["disable", ["ask1"]],
          ["rate", ["say1"]]
        ] as never
      )
      assert.strictEqual(leaf, "say1" as never)
      assert.deepStrictEqual([context.before.messages, context.after.messages], [6, 3])
      const events = yield* Fiber.join(heard)
      assert.lengthOf(events, 1)
      const [event] = events
      assert(event?._tag === "Appended")
      assert.deepStrictEqual(idsOf(event.entries), [
        edits[0]!.edit,
        ...edits[1]!.created,
        edits[1]!.edit,
        edits[2]!.edit,
        edits[3]!.edit
      ] as never)
      assert.deepStrictEqual(idsOf((yield* reread(session)).entries), idsOf(session.tree.entries))
      assert.deepStrictEqual(session.tree.children("say1"), [edits[1]!.created[0]!])
      yield* TreeEdits.undo(session, edits[0]!.edit!)
      assert.lengthOf(session.tree.children("say1"), 3)
    }))

  test("are refused as a whole, with a reason for each that cannot be made, and nothing is written", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const before = session.tree.entries.length
      const error = yield* Effect.flip(
        TreeEdits.together(session, [
          { op: "disable", ids: ["ask1"] },
          { op: "leaf", target: "nowhere" },
          { op: "prune", id: "say1" },
          { op: "leaf", target: "say3" },
          { op: "merge", branch: "say1", text: "nothing new" }
        ])
      )
      assert(error._tag === "EditsRefused")
      assert.deepStrictEqual(
        error.refused.map(({ index, code, id }) => [index, code, id]),
        [
          [1, "unknown", "nowhere"],
          [3, "pruned", "say3"],
          [4, "cycle", "say1"]
        ]
      )
      assert.strictEqual(session.tree.entries.length, before)
      assert.strictEqual((yield* reread(session)).size, before)
      assert.isFalse(session.tree.facts.disabled.has("ask1" as never))
    }))

  test("that change nothing write nothing", () =>
    Effect.gen(function* () {
      const session = yield* opened(talk)
      const { size } = session.tree
      const { edits } = yield* TreeEdits.together(session, [{ op: "enable", ids: ["ask1"] }])
      assert.deepStrictEqual(
        edits.map(({ edit }) => edit),
        [null]
      )
      assert.deepStrictEqual((yield* TreeEdits.together(session, [])).edits, [])
      assert.strictEqual(session.tree.size, size)
    }))

  test("come to the same as the same edits made one after the other", () =>
    Effect.gen(function* () {
      const chance = new Chance(7)
      for (let round = 0; round < 40; round++) {
        const ids = talk.map(({ id }) => id as string)
        const any = () => ids[chance.below(ids.length)]!
        const operations = Array.from({ length: 4 }, (): TreeEdits.Operation => {
          const kinds: ReadonlyArray<TreeEdits.Operation> = [
            { op: "disable", ids: [any()] },
            { op: "enable", ids: [any()] },
            { op: "prune", id: any() },
            { op: "graft", source: any(), target: any() },
            { op: "leaf", target: any() },
            { op: "undo" }
          ]
          return kinds[chance.below(kinds.length)]!
        })
        const together = yield* opened(talk)
        const apart = yield* opened(talk)
        const all = yield* Effect.result(TreeEdits.together(together, operations))
        const each = yield* Effect.result(
          Effect.forEach(operations, (operation) => TreeEdits.together(apart, [operation]))
        )
        assert.strictEqual(all._tag, each._tag)
        if (all._tag === "Failure") {
          assert.strictEqual(together.tree.size, talk.length)
          continue
        }
        // Copies have names of their own; what the model is shown has none.
        const shown = (session: Session) => ContextBuilder.build(session.tree).messages
        assert.deepStrictEqual(shown(together), shown(apart))
        assert.strictEqual(together.tree.size, apart.tree.size)
      }
    }))
})
