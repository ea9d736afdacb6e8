import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { type EntryId, NONE, TreeLayout, TreeView } from "@grove/core"
import { Session } from "../../page/Session.ts"
import type { PageIndex } from "../../src/write/PageIndex.ts"
import { payloads } from "./payloads.ts"
import { entry, exported, fixture, fixtures, reply, sessionOf, user } from "./support.ts"

const SCRIPTS = /<script([^>]*)>([\s\S]*?)<\/script>/g

/** What a browser takes the page apart into. */
const partsOf = (page: string) => {
  const scripts = [...page.matchAll(SCRIPTS)].map(([, attributes, text]) => ({ attributes: attributes!, text: text! }))
  const index: PageIndex = JSON.parse(scripts.find(({ attributes }) => attributes.includes('id="index"'))!.text)
  const blocks = scripts.filter(({ attributes }) => attributes.includes("block"))
  const code = scripts.filter(({ attributes }) => attributes === "")
  return { index, blocks, code, rest: page.replace(SCRIPTS, "") }
}

/** The session as the page has it. */
const pageOf = async (session: Parameters<typeof exported>[0], leaf?: string) => {
  const { index, blocks } = partsOf(await exported(session, "html", leaf === undefined ? {} : { leaf }))
  return new Session(index, blocks.map(({ text }) => ({ textContent: text })) as never)
}

describe("the page", () => {
  it("names nothing elsewhere, and its policy allows its own script and style alone", async () => {
    const page = await exported(fixture("pi/branches.jsonl"), "html")
    const { code, rest } = partsOf(page)
    const style = /<style>([\s\S]*?)<\/style>/.exec(rest)![1]!
    const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(rest)![1]!
    assert.strictEqual(code.length, 1)
    assert.deepStrictEqual(policy.split("; "), [
      "default-src 'none'",
      `script-src ${hash(code[0]!.text)}`,
      `style-src ${hash(style)}`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'"
    ])
    assert.notMatch(`${code[0]!.text}${style}`, /https?:\/\/(?!\/)|@import|\burl\(|innerHTML|\beval\b|new Function/)
    assert.notMatch(rest.replace(/<style>[\s\S]*<\/style>/, ""), /\b(?:src|href)=|https?:/)
  })

  it.each(payloads)("holds %j as text, in entries, names, labels and ids", async (payload) => {
    const session = sessionOf(
      user(payload, null, payload),
      reply("b", payload, payload),
      entry("label", "c", "b", { targetId: "b", label: payload }),
      entry("session_info", "d", "c", { name: payload }),
      entry(payload, "e", "d", { any: payload })
    )
    const page = await exported(session, "html")
    const { blocks, code, rest, index } = partsOf(page)
    assert.strictEqual(blocks.length, 1)
    assert.strictEqual(code.length, 1)
    assert.notMatch(blocks[0]!.text, /</)
    assert.strictEqual(index.name, payload.trim())
    assert.notMatch(/<title>([\s\S]*)<\/title>/.exec(rest)![1]!, /</)
    assert.strictEqual((await pageOf(session)).entry(0).id as string, payload)
  })

  it.each(fixtures)("of %s shows the rows of grove tree, whatever the filter", async (path) => {
    const { tree } = fixture(path)
    const page = await pageOf(fixture(path))
    for (const filter of TreeView.filters) {
      const rows = (view: TreeView.TreeView, leaf: EntryId | null) => {
        const plan = TreeLayout.plan(view, leaf)
        const found: Array<unknown> = []
        TreeLayout.walk(
          plan,
          { rows: view.childrenOf(NONE), depth: 0 },
          () => true,
          (row, depth) => {
            const { newest: _, row: __, ...drawn } = TreeLayout.rowOf(plan, row, depth, () => true)
            found.push([drawn, view.toolsOf(row)])
          }
        )
        return found
      }
      const expected = TreeView.make(tree, filter, { forks: filter !== "turns", skim: true })
      assert.deepStrictEqual(rows(page.view(filter), tree.leaf), rows(expected, tree.leaf), filter)
    }
  })

  it("holds every entry that is no mark, whole, and knows where the session stands", async () => {
    for (const path of fixtures) {
      const { tree } = fixture(path)
      const page = await pageOf(fixture(path))
      const shown = tree.entries.filter((_, row) => !tree.isMarkAt(tree.rows()[row]!))
      assert.deepStrictEqual(
        shown.map((_, row) => page.entry(row)),
        JSON.parse(JSON.stringify(shown)),
        path
      )
      assert.strictEqual(page.leafId, tree.leaf)
    }
  })

  it("of one branch holds that branch alone", async () => {
    const session = sessionOf(user("a", null, "root"), user("b", "a", "left"), user("c", "a", "right"))
    const page = await pageOf(session, "b")
    assert.deepStrictEqual([...page.index.ids], ["a", "b"])
    assert.strictEqual(page.leafId as string | null, "b")
  })

  it("finds the branches at a fork and the end of each", async () => {
    const page = await pageOf(
      sessionOf(user("a", null, "root"), user("b", "a", "left"), reply("d", "b", "more"), user("c", "a", "right"))
    )
    const [b, c] = [page.rowOf("b"), page.rowOf("c")]
    assert.deepStrictEqual(page.siblings(c), [b, c])
    assert.strictEqual(page.endOf(b), page.rowOf("d"))
    assert.deepStrictEqual(page.path(c), [page.rowOf("a"), c])
  })

  it("shows a damaged line as one", () => {
    const index = {
      ...{ ids: ["a"], parents: [-1], names: ["message"], kinds: [0], times: [0], labels: [], ratings: [], muted: [] },
      ...{ cuts: [], blocks: [1], leaf: 0, name: null, session: null, cwd: null, begun: null, isRedacted: false }
    }
    assert.strictEqual(new Session(index, [{ textContent: "{oops" }] as never).entry(0).type, "damaged line")
  })
})
