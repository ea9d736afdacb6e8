/** What the fixtures do not show: disabled entries, edits, marks. Conformance has tests of its own. */
import { assert, describe, it } from "@effect/vitest"
import { buildSessionContext, ContextBuilder, type Entry, SessionTree } from "../../src/model/index.ts"
import { at, chain, entry, forSeeds, type Json, mark, message, reply, result, user, wildLines } from "../support.ts"

const textOf = ({ role, summary, content }: Json) =>
  role === "compactionSummary"
    ? `<${summary}>`
    : typeof content === "string"
      ? content
      : (content as ReadonlyArray<Json>).map(({ text }) => text).join()
const textsOf = (entries: ReadonlyArray<Entry.Entry>, leaf?: string | null) =>
  buildSessionContext(entries, leaf).messages.map(textOf)

const off = (...targetIds: ReadonlyArray<string>) => mark("off", "d", "state", { targetIds, enabled: false })
const on = (...targetIds: ReadonlyArray<string>) => mark("on", "d", "state", { targetIds, enabled: true })
const compaction = (id: string, parentId: string, firstKeptEntryId: string) =>
  entry(id, parentId, { type: "compaction", summary: id, firstKeptEntryId, tokensBefore: 1 })
const edit = (id: string, parentId: string, targetId: string, replacement: unknown) =>
  entry(id, parentId, { type: "context_edit", targetId, replacement })

describe("the context", () => {
  const all = [...chain("a", "b", "c"), user("x", "a")]
  it("of no leaf is empty, and has the default settings", () => {
    assert.deepStrictEqual(buildSessionContext(all, null), {
      leaf: null,
      messages: [],
      sources: [],
      edited: [],
      thinkingLevel: "off",
      model: null,
      models: {},
      mode: "none",
      modeData: null,
      injectedTtsrRules: []
    })
  })
  it("is that of a known leaf, and otherwise that of where the person stands", () => {
    assert.deepStrictEqual(textsOf(all, "b"), ["a", "b"])
    assert.deepStrictEqual(textsOf(all), ["a", "x"])
    assert.deepStrictEqual(textsOf(all, "nobody"), ["a", "x"])
    assert.deepStrictEqual(textsOf([...all, mark("m", "b", "leaf", { targetId: "b" })]), ["a", "b"])
    assert.deepStrictEqual(textsOf([...all, mark("m", null, "leaf", { targetId: null })], "nobody"), [])
  })
  it("says which entry each message came from", () => {
    const kept = [...all.slice(0, 3), compaction("k", "c", "b"), user("d", "k")]
    assert.deepStrictEqual(buildSessionContext(kept).sources, ["k", "b", "c", "d"] as never)
  })
  it("goes through marks that others appended under", () => {
    assert.deepStrictEqual(textsOf([...chain("a"), mark("m", "a", "leaf"), user("b", "m")]), ["a", "b"])
  })
  it("has no message for marks, custom entries, labels, names and unknown types", () => {
    const quiet = ["custom", "label", "session_info", "session_init", "usage", "hologram"]
    const entries = quiet.map((type, i) => entry(type, quiet[i - 1] ?? null, { type, targetId: "x" }))
    assert.deepStrictEqual(buildSessionContext(entries).messages, [])
  })
  it("passes roles it does not know as they are, and messages that are no object not at all", () => {
    const odd = entry("b", "a", { type: "message", message: { role: "oracle", riddle: 1 } })
    const broken = entry("c", "b", { type: "message", message: "hello" })
    assert.deepStrictEqual(buildSessionContext([...chain("a"), odd, broken]).messages[1] as object, {
      role: "oracle",
      riddle: 1
    })
    assert.strictEqual(buildSessionContext([...chain("a"), odd, broken]).messages.length, 2)
  })
  it("of any forest at any entry names one source for each message, all on the path", () => {
    forSeeds(200, (chance) => {
      const lines = wildLines(chance)
      const tree = SessionTree.from(lines)
      const leaf = chance.pick(lines).id
      const { messages, sources } = ContextBuilder.build(tree, leaf)
      assert.strictEqual(messages.length, sources.length)
      const path = new Set(tree.path(leaf).map(({ id }) => id))
      assert.isTrue(sources.every((id) => path.has(id)))
    })
  })
})

describe("a compaction", () => {
  const system = (id: string, parentId: string) => message(id, parentId, { role: "system", content: id })
  it("keeps no system message from before it: its own stands first", () => {
    const own = { ...compaction("k", "sys", "a"), systemMessage: { role: "system", content: "own" } }
    const all = [...chain("a"), system("sys", "a"), own, system("after", "k"), user("d", "after")]
    assert.deepStrictEqual(textsOf(all), ["own", "<k>", "a", "after", "d"])
  })
  it("that keeps from itself, from what follows or from another branch keeps nothing", () => {
    for (const first of ["k", "d", "x", "nobody"]) {
      const all = [...chain("a", "b"), user("x", "a"), compaction("k", "b", first), user("d", "k")]
      assert.deepStrictEqual(textsOf(all), ["<k>", "d"])
    }
  })
})

it.each([null, undefined])("a message whose content is %s says nothing, as in Pi 1.5", (content) => {
  const of = (role: string) => buildSessionContext([message("a", null, { role, content })]).messages[0]?.content
  assert.deepStrictEqual(of("user"), [])
  assert.deepStrictEqual(of("assistant"), [])
  assert.deepStrictEqual(of("toolResult"), [])
  assert.strictEqual(of("system"), "")
})

describe("a disabled entry", () => {
  const all = [...chain("a", "b", "c", "d"), user("x", "b")]
  it("is left out on every branch, and what is below it stays", () => {
    assert.deepStrictEqual(textsOf([...all, off("b")], "d"), ["a", "c", "d"])
    assert.deepStrictEqual(textsOf([...all, off("b")], "x"), ["a", "x"])
  })
  it("comes back when it is enabled", () => {
    assert.deepStrictEqual(textsOf([...all, off("b", "c"), on("b")], "d"), ["a", "b", "d"])
  })
  it("that a compaction keeps from keeps the others", () => {
    assert.deepStrictEqual(textsOf([...chain("a", "b", "c"), compaction("k", "c", "b"), user("d", "k"), off("b")]), [
      "<k>",
      "c",
      "d"
    ])
  })
  it("that is a compaction cuts nothing: the last enabled one counts", () => {
    const two = [
      ...chain("a", "b"),
      compaction("k", "b", "b"),
      user("c", "k"),
      compaction("l", "c", "c"),
      user("d", "l")
    ]
    assert.deepStrictEqual(textsOf(two), ["<l>", "c", "d"])
    assert.deepStrictEqual(textsOf([...two, off("l")]), ["<k>", "b", "c", "d"])
    assert.deepStrictEqual(textsOf([...two, off("l", "k")]), ["a", "b", "c", "d"])
  })
  it("that is an edit edits nothing", () => {
    const edited = [...chain("a", "b"), edit("e", "b", "a", null), user("d", "e")]
    assert.deepStrictEqual(textsOf(edited), ["b", "d"])
    assert.deepStrictEqual(textsOf([...edited, off("e")]), ["a", "b", "d"])
  })
})

describe("an edit of the context", () => {
  it("leaves its target out, or replaces what it says", () => {
    assert.deepStrictEqual(textsOf([...chain("a", "b"), edit("e", "b", "a", null)]), ["b"])
    assert.deepStrictEqual(textsOf([...chain("a", "b"), edit("e", "b", "a", { content: "new" })]), ["new", "b"])
  })
  it("holds on its branch only", () => {
    const both = [...chain("a", "b"), edit("e", "b", "a", null), user("c", "b")]
    assert.deepStrictEqual(textsOf(both, "e"), ["b"])
    assert.deepStrictEqual(textsOf(both, "c"), ["a", "b", "c"])
  })
  it("is replaced by a later one of the same target", () => {
    const twice = [...chain("a", "b"), edit("e", "b", "a", null), edit("f", "e", "a", { content: "back" })]
    assert.deepStrictEqual(textsOf(twice), ["back", "b"])
  })
  it.each([reply("b", "a"), result("b", "a")])("gives a text to a reply and to a tool result as a block", (target) => {
    const [, edited] = buildSessionContext([...chain("a"), target, edit("e", "b", "b", { content: "new" })]).messages
    assert.deepStrictEqual(edited, { ...(target.message as Json), content: [{ type: "text", text: "new" }] })
  })
})

describe("settings", () => {
  const change = (id: string, parentId: string | null, fields: Json) =>
    entry(id, parentId, { type: "model_change", ...fields })
  const contextOf = (...entries: ReadonlyArray<Entry.Entry>) => buildSessionContext(entries)

  it("name the model of a change in either shape, by role", () => {
    const { models } = contextOf(
      change("a", null, { model: "p/m" }),
      change("b", "a", { model: "q/n/o", role: "smol" }),
      change("c", "b", { provider: "r", modelId: "s" })
    )
    assert.deepStrictEqual(models, { default: "r/s", smol: "q/n/o" })
  })
  it("prefer a chosen model to the one that replied, save for what would answer next", () => {
    const { models, model } = contextOf(
      change("a", null, { model: "p/m" }),
      reply("b", "a", { provider: "q", model: "n" })
    )
    assert.deepStrictEqual([models, model], [{ default: "p/m" }, { provider: "q", modelId: "n" }])
    assert.deepStrictEqual(contextOf(reply("b", null, { provider: "q", model: "n" })).models, { default: "q/n" })
  })
  it("do not take the model of another role for what would answer next", () => {
    const { model } = contextOf(change("a", null, { model: "p/m" }), change("b", "a", { model: "q/n", role: "smol" }))
    assert.deepStrictEqual(model, { provider: "p", modelId: "m" })
  })
  it("hold over the whole path, also before a compaction", () => {
    const { thinkingLevel, mode, modeData, injectedTtsrRules } = contextOf(
      entry("a", null, { type: "thinking_level_change", thinkingLevel: "high" }),
      entry("b", "a", { type: "mode_change", mode: "plan", data: { file: "p.md" } }),
      entry("c", "b", { type: "ttsr_injection", injectedRules: ["x", "y"] }),
      compaction("k", "c", "k"),
      entry("d", "k", { type: "ttsr_injection", injectedRules: ["y", "z"] })
    )
    assert.deepStrictEqual([thinkingLevel, mode, modeData], ["high", "plan", { file: "p.md" }])
    assert.deepStrictEqual(injectedTtsrRules, ["x", "y", "z"])
  })
  it("of other branches do not count", () => {
    const { thinkingLevel } = contextOf(
      user("a", null),
      entry("b", "a", { type: "thinking_level_change", thinkingLevel: "high" }),
      user("c", "a")
    )
    assert.strictEqual(thinkingLevel, "off")
  })
})

it("a summary has the time of its entry, and null where that cannot be read", () => {
  const [known] = buildSessionContext([{ ...compaction("k", "k", "k"), timestamp: at(1) }]).messages
  const [unknown] = buildSessionContext([{ ...compaction("k", "k", "k"), timestamp: "yesterday" }]).messages
  assert.deepStrictEqual([known?.timestamp, unknown?.timestamp], [Date.parse(at(1)), null])
})
