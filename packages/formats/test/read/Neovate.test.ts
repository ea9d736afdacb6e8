/** Sessions of Neovate: its own path on the imported tree, and what it loses kept. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import * as Readers from "../../src/read/Readers.ts"
import { assertFlawless, assertUnshaken, bytesOf, jsonOf, namesIn, sourceOf } from "../support.ts"

interface Expected {
  readonly loadSessionMessages: { readonly ok: boolean; readonly uuids: ReadonlyArray<string> }
  readonly tree: { readonly messages: number; readonly roots: number; readonly leaves: number }
  readonly sessionConfig: Json
}

const read = (name: string) => Readers.read("neovate", sourceOf(`neovate/${name}.jsonl`))
const cases = namesIn("neovate", /\.jsonl$/).map((name) => name.replace(/\.jsonl$/, ""))
const expected = (name: string): Expected => jsonOf(`neovate/expected-${name}.json`)
const filled = cases.filter((name) => name !== "empty")

const uuidOf = ({ origin }: Json): string => String(isObject(origin) ? origin.entry : undefined)

/** Neovate walks from the last message over what is in the file, and a compaction begins anew. */
describe.each(filled.filter((name) => expected(name).loadSessionMessages.ok))("%s", (name) => {
  it("has Neovate's own path", () => {
    const { tree } = assertFlawless(read(name).sessions[0]!)
    const path = tree.leaf === null ? [] : tree.path(tree.leaf)
    const start = path.findLastIndex(({ type }) => type === "compaction")
    const own = path.slice(Math.max(0, start)).map(uuidOf)
    const { uuids } = expected(name).loadSessionMessages
    const lineOf = new Map(path.map((entry) => [uuidOf(entry), Number((entry.origin as Json).line)]))
    const inFileOrder = [...new Set(own)].sort((a, b) => lineOf.get(a)! - lineOf.get(b)!)
    // What Neovate leaves off its path and should not have: the summary of an automatic compaction, cancelled siblings.
    const lost: { readonly [name: string]: ReadonlyArray<number> } = {
      "compact-auto": [0],
      "compact-auto-continued": [0],
      "cancel-pending-tools": [2],
      "cancel-pending-tools-continued": [2]
    }
    assert.deepStrictEqual(
      inFileOrder.filter((_, i) => !lost[name]?.includes(i)),
      [...new Set(uuids)]
    )
  })
})

describe("Neovate", () => {
  it.each(filled)("%s is recognised and read whole", (name) => {
    const { sessions } = read(name)
    const { tree } = assertFlawless(sessions[0]!)
    if (expected(name).loadSessionMessages.ok)
      assert.strictEqual(Readers.detect("x.jsonl", bytesOf(`neovate/${name}.jsonl`)), "neovate")
    const kept = new Set([...tree.ids()].map((id) => uuidOf(tree.get(id)!)))
    const messages =
      Buffer.from(bytesOf(`neovate/${name}.jsonl`))
        .toString()
        .match(/"uuid":"[\w-]+"/g) ?? []
    for (const found of messages)
      if (!/^(truncated-last|unknown-types)$/.test(name)) assert(kept.has(found.slice(8, -1)), found)
  })

  it("what Neovate cannot open is opened, and every line left out is told", () => {
    const told = (name: string) => read(name).repaired.map(({ kind }) => kind)
    assert.deepStrictEqual(told("truncated-last"), ["torn-tail"])
    assert.deepStrictEqual(told("garbage-middle"), ["not-json"])
    assert.deepStrictEqual(told("cycle"), ["cycle"])
    assert.deepStrictEqual(told("whitespace-line"), [])
    assert.deepStrictEqual(told("bom"), [])
    assert.deepStrictEqual(told("duplicate-uuid"), ["duplicate-id"])
    assert.deepStrictEqual(told("missing-parent"), ["unknown-parent"])
    assert.deepStrictEqual(
      read("snapshot-lines").unmapped.map(({ kind }) => kind),
      ["snapshot", "snapshot"]
    )
  })

  it("all results of a reply that was cancelled stand on its path", () => {
    const { tree } = assertFlawless(read("cancel-pending-tools-continued").sessions[0]!)
    const calls = ContextBuilder.build(tree).messages.flatMap((message) => {
      const { role, toolCallId } = message as Json
      return role === "toolResult" ? [toolCallId] : []
    })
    assert.deepStrictEqual(calls, ["p1", "p2"])
    assert.strictEqual(tree.leaves().length, 1)
  })

  it("what follows any of those results follows all of them", () => {
    const source = sourceOf("neovate/cancel-pending-tools-continued.jsonl")
    const [first, last] = ["7e6bc45c-292e-4828-a641-12373a34f291", "30bb97be-345c-4889-be67-a5761b56a393"]
    const text = Buffer.from(source.bytes).toString().replace(`"parentUuid":"${last}"`, `"parentUuid":"${first}"`)
    const { tree } = assertFlawless(Readers.read("neovate", { ...source, bytes: Buffer.from(text) }).sessions[0]!)
    assert.deepStrictEqual(
      tree
        .path(tree.leaf!)
        .slice(2, 4)
        .map(({ id }) => String(id)),
      [first, last]
    )
    assert.strictEqual(tree.leaves().length, 1)
  })

  it("a compaction follows what it summarised, and the prompt it came in between is not lost", () => {
    const { tree } = assertFlawless(read("compact-auto").sessions[0]!)
    const messages = ContextBuilder.build(tree).messages as ReadonlyArray<Json>
    assert.deepStrictEqual(
      messages.map(({ role, content }) => [role, typeof content === "string" ? content : undefined]),
      [
        ["compactionSummary", undefined],
        ["user", "Write a test for an empty cart"],
        ["assistant", undefined]
      ]
    )
    assert.strictEqual(assertFlawless(read("compact-manual").sessions[0]!).tree.roots().length, 1)
  })

  it("one message with several results is several entries, and images are images", () => {
    const { entries } = read("tools").sessions[0]!
    const results = entries.filter(({ message }) => isObject(message) && message.role === "toolResult")
    assert.strictEqual(results.length, 3)
    assert.deepStrictEqual(new Set(results.map(uuidOf)).size, 2)
    assert.strictEqual(JSON.stringify(read("images").sessions).split('"type":"image","data":"iVBOR').length, 3)
  })

  it("what is hidden is hidden, what is shown instead is kept, settings are a record", () => {
    const hidden = read("slash-prompt-hidden").sessions[0]!.entries.filter(({ type }) => type === "custom_message")
    assert.deepStrictEqual(
      hidden.map(({ display }) => display),
      [false]
    )
    assert.include(JSON.stringify(read("bash-mode").sessions), '"uiContent":"clean"')
    for (const name of ["config-line", "config-first", "config-only", "two-config-lines"]) {
      const { tree } = assertFlawless(read(name).sessions[0]!)
      const { approvalMode, approvalTools, pastedTextMap, pastedImageMap, summary } = tree.facts.config
      const { sessionConfig } = expected(name)
      assert.deepStrictEqual(
        { approvalMode, approvalTools, pastedTextMap, pastedImageMap, ...(summary === null ? {} : { summary }) },
        { approvalMode: "default", pastedTextMap: {}, pastedImageMap: {}, ...sessionConfig } as never
      )
    }
  })

  it("the folder is found by the name of its project", () => {
    const source = {
      ...sourceOf("neovate/linear.jsonl"),
      file: "/h/.neovate/projects/home-dev-acme-shop/aaaa1001.jsonl"
    }
    const data = { projects: { "/home/dev/acme-shop": {}, "/home/dev/other": {} } }
    const asked = {
      ...source,
      beside: (path: string) => (path === "../../data.json" ? Buffer.from(JSON.stringify(data)) : undefined)
    }
    assert.strictEqual(Readers.read("neovate", asked).sessions[0]!.header.cwd, "/home/dev/acme-shop")
    data.projects = { ...data.projects, "/home/dev/acme.shop": {} } as never
    assert.strictEqual(Readers.read("neovate", asked).sessions[0]!.header.cwd, "")
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "neovate",
      filled.map((name) => `neovate/${name}.jsonl`)
    )
  })
})
