import { assert, describe, it } from "@effect/vitest"
import { buildSessionContext, Entry, type Json, Mark } from "@grove/core"
import {
  entriesOf,
  entry,
  exported,
  fixture,
  fixtures,
  linesOf,
  reply,
  sessionFrom,
  sessionOf,
  user
} from "./support.ts"

const again = (text: string) => sessionFrom(new TextEncoder().encode(text))

/** What an export for Pi adds to a reply or a change of model, taken away again. */
const withoutAdditions = (entry: Entry.Entry): Json => {
  if (entry.type === "model_change" && typeof entry.model === "string") {
    const { provider: _, modelId: __, ...rest } = entry
    return rest
  }
  if (Entry.role(entry) !== "assistant") return entry
  const { usage: _, ...message } = entry.message as Json
  return { ...entry, message }
}
const otherRole = ({ type, customType, role }: Json): boolean =>
  customType === "model_change" || (type === "model_change" && typeof role === "string" && role !== "default")

describe.each(fixtures)("%s", (path) => {
  it.each(["pi", "omp"] as const)("exported for %s is the same session: entries, leaf, name, labels", async (to) => {
    const session = fixture(path)
    const read = again(await exported(session, to))
    const [before, after] = [entriesOf(session), entriesOf(read).filter((entry) => session.tree.has(entry.id))]
    const compared = (entries: ReadonlyArray<Entry.Entry>) =>
      to === "omp" ? entries : entries.filter((entry) => !otherRole(entry)).map(withoutAdditions)
    assert.deepStrictEqual(compared(after), compared(before))
    assert.strictEqual(read.tree.leaf, session.tree.leaf)
    assert.strictEqual(read.tree.facts.name, session.tree.facts.name)
    assert.deepStrictEqual([...read.tree.facts.labels], [...session.tree.facts.labels])
    for (const extra of entriesOf(read).slice(before.length)) assert.isTrue(Mark.isMark(extra))
  })

  it("exported as JSON is one value with the same entries and leaf", async () => {
    const session = fixture(path)
    const value = JSON.parse(await exported(session, "json"))
    assert.deepStrictEqual(value.entries.slice(0, session.tree.size), JSON.parse(JSON.stringify(entriesOf(session))))
    assert.strictEqual(value.leaf, session.tree.leaf)
    assert.strictEqual(value.header.version, Math.max(3, value.header.version))
  })

  it("exported branch by branch has the context of every branch", async () => {
    const session = fixture(path)
    for (const leaf of session.tree.leaves().slice(0, 12)) {
      const read = again(await exported(session, "omp", { leaf }))
      const of = (tree: typeof session.tree) => {
        const { messages, leaf: _, ...settings } = buildSessionContext(tree.entries, leaf)
        return { messages, ...settings }
      }
      assert.deepStrictEqual(of(read.tree), of(session.tree), leaf)
      assert.strictEqual(read.tree.leaf, leaf)
    }
  })
})

describe("a branch", () => {
  const session = sessionOf(
    user("a", null, "one"),
    reply("b", "a", "two"),
    user("c", "b", "three"),
    user("d", "b", "other"),
    entry("label", "e", "d", { targetId: "b", label: "here" }),
    entry("label", "f", "e", { targetId: "d", label: "not here" }),
    entry("session_info", "g", "f", { name: "Trip" }),
    entry("custom", "h", "g", { customType: "grove.state", data: { targetIds: ["a"], enabled: false } }),
    entry("custom", "i", "g", { customType: "grove.annotation", data: { targetId: "b", rating: 4 } })
  )

  it("holds its path, and what is said of it elsewhere: label, name, state, rating", async () => {
    const { tree } = again(await exported(session, "json", { leaf: "c" }).then((text) => toLines(text)))
    assert.deepStrictEqual(
      tree.path("c").map(({ id }) => id as string),
      ["a", "b", "c"]
    )
    assert.strictEqual(tree.leaf as string | null, "c")
    assert.deepStrictEqual([...tree.facts.labels] as ReadonlyArray<unknown>, [["b", "here"]])
    assert.strictEqual(tree.facts.name, "Trip")
    assert.deepStrictEqual([...tree.facts.disabled] as ReadonlyArray<string>, ["a"])
    assert.strictEqual(tree.facts.annotations.get("b" as never)?.rating, 4)
    assert.isFalse(tree.has("d"))
  })

  it.each(["pi", "omp"] as const)(
    "for %s leaves out what is muted, which that program would show its model",
    async (to) => {
      const { tree } = again(await exported(session, to, { leaf: "c" }))
      assert.isFalse(tree.has("a"))
      assert.strictEqual(tree.get("b")?.parentId, null)
      assert.deepStrictEqual(
        buildSessionContext(tree.entries, "c").messages.map(({ role }) => role as string),
        ["assistant", "user"]
      )
    }
  )

  it("is the same bytes each time", async () => {
    assert.strictEqual(await exported(session, "pi", { leaf: "c" }), await exported(session, "pi", { leaf: "c" }))
  })

  const toLines = (text: string): string => {
    const { header, entries } = JSON.parse(text)
    return [header, ...entries].map((line: unknown) => `${JSON.stringify(line)}\n`).join("")
  }
})

describe("a session that stands where no last entry says", () => {
  it("stands there still after an export", async () => {
    const lines = [user("a", null, "one"), user("b", "a", "two"), user("c", "a", "three")]
    // The same line again, at the end: it counts as the last one of the file.
    const session = sessionOf(...lines, lines[1]!)
    assert.strictEqual(session.tree.leaf as string | null, "b")
    const read = again(await exported(session, "pi"))
    assert.strictEqual(read.tree.leaf, session.tree.leaf)
  })
})

describe("for Pi", () => {
  it("a reply without usage has one of zeros, a model is spelled in Pi's way, and other roles are kept aside", async () => {
    const session = sessionOf(
      entry("model_change", "m", null, { model: "openai/gpt-5/x" }),
      entry("model_change", "n", "m", { model: "openai/small", role: "smol" }),
      reply("r", "n", "hi")
    )
    const [, m, n, r] = linesOf(await exported(session, "pi"))
    assert.deepInclude(m, { provider: "openai", modelId: "gpt-5/x" })
    assert.deepInclude(n, { type: "custom", customType: "model_change", parentId: "m" })
    assert.deepStrictEqual((r!.message as { usage: { input: number } }).usage.input, 0)
  })
})

describe("for oh-my-pi", () => {
  it("the name of a session stands in its header", async () => {
    const session = sessionOf(user("a", null, "x"), entry("session_info", "b", "a", { name: "Trip" }))
    assert.deepInclude(linesOf(await exported(session, "omp"))[0], { type: "session", title: "Trip" })
  })
})

describe("odd shapes", () => {
  it("a chain of 100,000 entries and a fork of 50,000 branches are exported to every format", async () => {
    const chain = Array.from({ length: 100_000 }, (_, i) => user(`c${i}`, i === 0 ? null : `c${i - 1}`, `turn ${i}`))
    const deep = sessionOf(...chain)
    const wide = sessionOf(
      user("r", null, "root"),
      ...Array.from({ length: 50_000 }, (_, i) => user(`w${i}`, "r", `${i}`))
    )
    for (const to of ["json", "pi", "omp", "neovate", "md", "html"] as const) {
      assert.include(await exported(deep, to), "turn 99999", to)
      assert.include(await exported(wide, to), "49999", to)
    }
    assert.include(await exported(deep, "pi", { leaf: "c50000" }), "turn 50000")
  })

  it("an empty session is exported to every format", async () => {
    const empty = sessionFrom(new Uint8Array())
    for (const to of ["json", "pi", "omp", "neovate", "md", "html"] as const) {
      assert.isString(await exported(empty, to))
    }
    assert.deepStrictEqual(JSON.parse(await exported(empty, "json")).entries, [])
  })
})
