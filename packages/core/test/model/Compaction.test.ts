import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Compaction, ContextBuilder, type Entry, SessionTree, Tokens } from "../../src/model/index.ts"
import { type Chance, call, entry, forSeeds, type Json, mark, message, reply, result, user } from "../support.ts"

const text = (tokens: number): string => "x".repeat(tokens * 4)
const says = (id: string, parentId: string | null, tokens: number) => user(id, parentId, text(tokens))
const answers = (id: string, parentId: string | null, tokens: number) =>
  reply(id, parentId, { content: [{ type: "text", text: text(tokens) }] })

const planAt = (entries: ReadonlyArray<Entry.Entry>, keep: number) => {
  const tree = SessionTree.from(entries)
  return Compaction.plan(tree, ContextBuilder.build(tree), keep)
}
const planOf = (entries: ReadonlyArray<Entry.Entry>, keep: number): Compaction.CompactionPlan => {
  const planned = planAt(entries, keep)
  assert(Result.isSuccess(planned), "there is something to compact")
  return planned.success
}
const refusalOf = (entries: ReadonlyArray<Entry.Entry>, keep: number): Compaction.NothingToCompact => {
  const planned = planAt(entries, keep)
  assert(Result.isFailure(planned), "there is nothing to compact")
  return planned.failure
}

/** The compaction that a plan becomes once it is summarised. */
const compactionOf = (plan: Compaction.CompactionPlan, id = "k", summary = "S"): Entry.Entry =>
  entry(id, plan.leaf, {
    type: "compaction",
    summary,
    firstKeptEntryId: plan.firstKeptEntryId,
    tokensBefore: plan.tokensBefore,
    details: plan.files
  })

describe("the budget", () => {
  it("is that of Pi in a large window, and a quarter of a small one", () => {
    assert.deepStrictEqual(Compaction.budget({ window: 200_000 }), { reserve: 16_384, keep: 20_000 })
    assert.deepStrictEqual(Compaction.budget({ window: 8_192 }), { reserve: 2_048, keep: 2_048 })
    assert.deepStrictEqual(Compaction.budget({}), { reserve: 16_384, keep: 20_000 })
  })
  it("is what is configured, but never more than a quarter of the window", () => {
    const settings = { reserveTokens: 9_000, keepRecentTokens: 40_000 }
    assert.deepStrictEqual(Compaction.budget({ window: 200_000 }, settings), { reserve: 9_000, keep: 40_000 })
    assert.deepStrictEqual(Compaction.budget({ window: 32_000 }, settings), { reserve: 8_000, keep: 8_000 })
  })
})

describe("a compaction is due", () => {
  it("when what is left of the window is less than the reserve", () => {
    assert.isFalse(Compaction.isDue(90_000, { window: 100_000 }, { reserveTokens: 10_000 }))
    assert.isTrue(Compaction.isDue(90_001, { window: 100_000 }, { reserveTokens: 10_000 }))
  })
  it("in a window smaller than the reserve only when three quarters are full", () => {
    assert.isFalse(Compaction.isDue(6_144, { window: 8_192 }))
    assert.isTrue(Compaction.isDue(6_145, { window: 8_192 }))
  })
  it("never where it is switched off or the window is unknown", () => {
    for (const trigger of ["pi", "neovate"] as const) {
      assert.isFalse(Compaction.isDue(1e9, { window: 8_192 }, { enabled: false, trigger }))
      assert.isFalse(Compaction.isDue(1e9, {}, { trigger }))
      assert.isFalse(Compaction.isDue(1e9, { window: 0 }, { trigger }))
    }
  })
})

describe("a plan", () => {
  const talk = [says("u1", null, 10), answers("a1", "u1", 10), says("u2", "a1", 10), answers("a2", "u2", 10)]

  it("cuts where what follows is as much as is to be kept", () => {
    const plan = planOf(talk, 20)
    assert.strictEqual(plan.firstKeptEntryId, "u2")
    assert.deepStrictEqual([plan.history.length, plan.turnPrefix.length, plan.kept.length], [2, 0, 2])
    assert.strictEqual(plan.tokensBefore, 40)
  })
  it("cuts through a turn that is longer than what is kept, and tells its beginning apart", () => {
    const plan = planOf(talk, 10)
    assert.strictEqual(plan.firstKeptEntryId, "a2")
    assert.deepStrictEqual([plan.history.length, plan.turnPrefix.length], [2, 1])
  })
  it("has nothing to do while everything may be kept", () => {
    assert.strictEqual(refusalOf(talk, 41), "too-small")
    assert.strictEqual(refusalOf(talk, 40), "too-small")
    assert.strictEqual(refusalOf([], 0), "too-small")
  })
  it("has nothing to do after a compaction, also when only silent entries followed", () => {
    const k = compactionOf(planOf(talk, 20))
    assert.strictEqual(refusalOf([...talk, k], 0), "already-compacted")
    const label = entry("l", "k", { type: "label", targetId: "a2", label: "here" })
    assert.strictEqual(refusalOf([...talk, k, label], 0), "already-compacted")
  })
  it("goes on from the last compaction: its summary, and from what it kept", () => {
    const k = compactionOf(planOf(talk, 20), "k", "what was said\n\n<read-files>\na\n</read-files>")
    const noted = { ...k, details: { readFiles: ["a"], modifiedFiles: ["b"] } }
    const more = [...talk, k, says("u3", "k", 10), answers("a3", "u3", 10)]
    const plan = planOf(more, 20)
    assert.strictEqual(plan.previousSummary, "what was said\n\n<read-files>\na\n</read-files>")
    assert.deepStrictEqual(
      plan.history.map(({ role }) => role),
      ["user", "assistant"]
    )
    assert.strictEqual(plan.firstKeptEntryId, "k")
    const carried = planOf([...talk, noted, ...more.slice(5)], 20)
    assert.deepStrictEqual(carried.files, { readFiles: ["a"], modifiedFiles: ["b"] })
  })
  it("gives the summary to be updated without the lists its details hold", () => {
    const summary = "what was said\n\n<read-files>\na\n</read-files>"
    const k = { ...compactionOf(planOf(talk, 20), "k", summary), details: { readFiles: ["a"], modifiedFiles: [] } }
    assert.strictEqual(
      planOf([...talk, k, says("u3", "k", 10), answers("a3", "u3", 10)], 20).previousSummary,
      "what was said"
    )
  })
  it("does not carry on what an extension noted", () => {
    const k = { ...compactionOf(planOf(talk, 20)), details: { readFiles: ["a"] }, fromHook: true }
    assert.deepStrictEqual(planOf([...talk, k, says("u3", "k", 10), answers("a3", "u3", 10)], 20).files.readFiles, [])
  })
  it("looks at the last compaction that is switched on", () => {
    const k = compactionOf(planOf(talk, 20))
    const off = mark("m", "k", "state", { targetIds: ["k"], enabled: false })
    const plan = planOf([...talk, k, off], 20)
    assert.strictEqual(plan.previousSummary, null)
    assert.strictEqual(plan.history.length, 2)
  })
  it("keeps a run of results at the end with their call, however long they are", () => {
    const entries = [says("u1", null, 10), reply("a1", "u1", call("read")), result("r1", "a1", { content: text(500) })]
    const plan = planOf(entries, 100)
    assert.strictEqual(plan.firstKeptEntryId, "a1")
    assert.deepStrictEqual(
      plan.turnPrefix.map(({ role }) => role),
      ["user"]
    )
  })
  it("does not cut between a call and a result that came after a word of the person", () => {
    const entries = [
      says("u1", null, 10),
      reply("a1", "u1", call("read", "read")),
      result("r0", "a1"),
      says("u2", "r0", 10),
      result("r1", "u2", { toolCallId: "c1" }),
      says("u3", "r1", 10)
    ]
    assert.strictEqual(planOf(entries, 11).firstKeptEntryId, "u3")
    assert.strictEqual(planOf(entries, 15).firstKeptEntryId, "u3")
  })
  it("keeps silent entries with what follows them", () => {
    const change = entry("c", "a1", { type: "model_change", model: "p/m" })
    const entries = [...talk.slice(0, 2), change, says("u2", "c", 10), answers("a2", "u2", 10)]
    assert.strictEqual(planOf(entries, 20).firstKeptEntryId, "c")
  })
  it("never keeps from a mark", () => {
    const moved = mark("m", "a1", "leaf", { targetId: "a1" })
    const entries = [...talk.slice(0, 2), moved, says("u2", "m", 10), answers("a2", "u2", 10)]
    assert.strictEqual(planOf(entries, 20).firstKeptEntryId, "u2")
  })
  it("summarises what edits made of messages, and leaves out what is switched off", () => {
    const edit = entry("e", "a2", { type: "context_edit", targetId: "u1", replacement: { content: "edited" } })
    const off = mark("m", "e", "state", { targetIds: ["a1"], enabled: false })
    assert.deepStrictEqual(planOf([...talk, edit, off], 20).history, [{ role: "user", content: "edited" }])
  })
  it("makes one message of the system messages, none of which is kept in its place", () => {
    const system = (id: string, parentId: string | null, body: Json) =>
      message(id, parentId, { role: "system", ...body })
    const entries = [
      system("s1", null, {
        content: "Be kind.",
        sections: { cwd: "/a", os: "linux" },
        toolsAdded: [{ name: "read" }, { name: "bash" }]
      }),
      says("u1", "s1", 10),
      answers("a1", "u1", 10),
      system("s2", "a1", { content: "Be brief.", sections: { cwd: null }, toolsRemoved: [{ name: "bash" }] }),
      says("u2", "s2", 10)
    ]
    const plan = planOf(entries, 10)
    assert.deepStrictEqual(plan.systemMessage, {
      role: "system",
      content: "Be kind.\n\nBe brief.",
      sections: { os: "linux" },
      toolsAdded: [{ name: "read" }]
    })
    assert.deepStrictEqual(
      plan.history.map(({ role }) => role),
      ["user", "assistant"]
    )
  })
})

/** A conversation with turns of every kind, steering between results included. */
const conversation = (chance: Chance): ReadonlyArray<Entry.Entry> => {
  const entries: Array<Entry.Entry> = []
  const add = (make: (id: string, parentId: string | null) => Entry.Entry) =>
    entries.push(make(`e${entries.length}`, entries.at(-1)?.id ?? null))
  const size = () => 1 + chance.below(chance.oneIn(8) ? 400 : 30)
  let calls = 0
  for (let turns = 2 + chance.below(8); turns > 0; turns--) {
    if (!chance.oneIn(6)) add((id, parent) => says(id, parent, size()))
    if (chance.oneIn(5)) add((id, parent) => entry(id, parent, { type: "model_change", model: "p/m" }))
    for (let steps = chance.below(4); steps > 0; steps--) {
      const ids = Array.from({ length: 1 + chance.below(3) }, () => `c${calls++}`)
      const content = ids.map((id) => ({
        type: "toolCall",
        id,
        name: chance.pick(["read", "edit"]),
        arguments: { path: id }
      }))
      add((id, parent) => reply(id, parent, { content }))
      for (const toolCallId of ids) {
        if (chance.oneIn(7)) add((id, parent) => says(id, parent, size()))
        add((id, parent) => result(id, parent, { toolCallId, content: text(size()) }))
      }
    }
    if (!chance.oneIn(5)) add((id, parent) => answers(id, parent, size()))
    if (chance.oneIn(9))
      add((id, parent) => entry(id, parent, { type: "branch_summary", fromId: "root", summary: text(size()) }))
  }
  return entries
}

const callsOf = (messages: ReadonlyArray<Json>): ReadonlyArray<unknown> =>
  messages.flatMap(({ role, content }) =>
    role === "assistant"
      ? (content as ReadonlyArray<Json>).filter(({ type }) => type === "toolCall").map(({ id }) => id)
      : []
  )
const resultsOf = (messages: ReadonlyArray<Json>): ReadonlyArray<unknown> =>
  messages.filter(({ role }) => role === "toolResult").map(({ toolCallId }) => toolCallId)

describe("any plan", () => {
  const check = (
    body: (entries: ReadonlyArray<Entry.Entry>, plan: Compaction.CompactionPlan, keep: number) => void
  ) => {
    let planned = 0
    forSeeds(400, (chance) => {
      const entries = conversation(chance)
      const keep = chance.below(400)
      const outcome = planAt(entries, keep)
      if (Result.isFailure(outcome)) return
      planned++
      body(entries, outcome.success, keep)
    })
    assert.isAbove(planned, 200)
  }

  it("never separates a call from its result", () => {
    check((_, { history, turnPrefix, kept }) => {
      const gone = new Set(callsOf([...history, ...turnPrefix]))
      assert.isTrue(resultsOf(kept).every((id) => !gone.has(id)))
    })
  })
  it("keeps what was asked for, or begins at the first place after that where a cut may be, or else the last before", () => {
    check((entries, { kept }, keep) => {
      const { messages } = ContextBuilder.build(SessionTree.from(entries))
      const mayCut = (at: number) => {
        const gone = new Set(callsOf(messages.slice(0, at)))
        return messages[at]!.role !== "toolResult" && resultsOf(messages.slice(at)).every((id) => !gone.has(id))
      }
      const places = messages.map((_, at) => at)
      const reached = places.findLast((at) => Tokens.estimateAll(messages.slice(at)) >= keep)!
      const cut = places.slice(reached).find(mayCut) ?? places.slice(0, reached).findLast(mayCut)!
      assert.strictEqual(messages.length - kept.length, cut)
      if (cut <= reached) assert.isAtLeast(Tokens.estimateAll(kept), keep)
    })
  })
  it("leaves a context of the summary and what was kept, in fewer tokens", () => {
    check((entries, plan) => {
      const tree = SessionTree.from([...entries, compactionOf(plan)])
      const { messages } = ContextBuilder.build(tree)
      assert.strictEqual(messages[0]!.role, "compactionSummary")
      assert.deepStrictEqual(messages.slice(1), plan.kept as Array<Json>)
      assert.isBelow(Tokens.estimateAll(messages), plan.tokensBefore)
    })
  })
  it("splits the context into history, the beginning of a turn and what is kept, and loses nothing", () => {
    check((entries, { history, turnPrefix, kept }) => {
      const { messages } = ContextBuilder.build(SessionTree.from(entries))
      assert.deepStrictEqual([...history, ...turnPrefix, ...kept], messages as Array<Json>)
      if (turnPrefix.length > 0) assert.notInclude(["assistant", "toolResult"], turnPrefix[0]!.role)
    })
  })
  it("has nothing left to do once it was carried out", () => {
    check((entries, plan, keep) => {
      assert.strictEqual(refusalOf([...entries, compactionOf(plan)], keep), "already-compacted")
    })
  })
})

it("a path of 100,000 entries is planned in a moment", () => {
  const entries: Array<Entry.Entry> = []
  for (let i = 0; i < 25_000; i++) {
    const at = entries.at(-1)?.id ?? null
    entries.push(
      says(`u${i}`, at, 5),
      reply(`c${i}`, `u${i}`, call("read")),
      result(`r${i}`, `c${i}`),
      answers(`a${i}`, `r${i}`, 5)
    )
  }
  const tree = SessionTree.from(entries)
  const context = ContextBuilder.build(tree)
  const started = performance.now()
  const planned = Compaction.plan(tree, context, 20_000)
  assert.isBelow(performance.now() - started, 2_000)
  assert(Result.isSuccess(planned))
  assert.isAbove(planned.success.history.length, 90_000)
})
