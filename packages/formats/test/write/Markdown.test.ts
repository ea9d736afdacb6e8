import { assert, describe, it } from "@effect/vitest"
import { marked, type Token } from "marked"
import * as Inert from "../../src/write/InertMarkdown.ts"
import { payloads } from "./payloads.ts"
import { entry, exported, fixture, reply, result, sessionOf, user } from "./support.ts"

/** Every token of a page, at any depth. */
const tokensOf = (markdown: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  marked.walkTokens(marked.lexer(markdown), (token) => void found.push(token))
  return found
}

const OURS = /^<\/?details>\s*$|^<details>\s*<summary>[^<]*<\/summary>\s*$|^<summary>[^<]*<\/summary>\s*$/

/** Nothing but what the writer opened itself is HTML, and nothing is loaded or run. */
const assertInert = (markdown: string, what: string): void => {
  for (const token of tokensOf(markdown)) {
    if (token.type === "html") {
      for (const line of token.raw
        .trim()
        .split("\n")
        .filter((line) => line !== ""))
        assert.match(line, OURS, what)
    }
    assert.notStrictEqual(token.type, "image", what)
    if (token.type === "link" && !token.raw.startsWith("[")) assert.notMatch(token.href, /^javascript:/i, what)
  }
}

describe("Markdown from a session", () => {
  it.each(payloads)("holds no HTML and no image, whatever was said: %j", async (payload) => {
    const session = sessionOf(
      user("a", null, payload),
      reply("b", "a", [
        { type: "thinking", thinking: payload },
        { type: "text", text: payload },
        { type: "toolCall", id: "c", name: payload, arguments: { [payload]: payload, other: [payload] } },
        { type: payload, any: payload }
      ]),
      result("c", "b", "c", payload),
      entry("compaction", "d", "c", { summary: payload, tokensBefore: 1 }),
      entry("label", "e", "d", { targetId: "a", label: payload }),
      entry("session_info", "f", "e", { name: payload })
    )
    assertInert(await exported(session, "md"), payload)
  })

  it("of all payloads one after the other holds none either", () => {
    for (const separator of ["\n", "\n\n", " "]) assertInert(Inert.block(payloads.join(separator)), separator)
  })

  it("keeps its looks: fences, spans with angle brackets, lists, links", () => {
    const text = "See `<div>` and [docs](https://example.com):\n\n- one\n- two\n\n```ts\nconst a = <T>(x: T) => x\n```"
    assert.strictEqual(Inert.block(text), text)
  })

  it("closes a fence that was left open", () => {
    assert.strictEqual(Inert.block("````\n```\nx"), "````\n```\nx\n````")
  })

  it("has headings below those of the page", () => {
    assert.strictEqual(Inert.block("# One\n###### Six"), "### One\n###### Six")
  })

  it("puts code into a fence longer than any inside", () => {
    assert.strictEqual(Inert.code("a\n````\nb"), "`````\na\n````\nb\n`````")
  })

  it("shows what a terminal would obey", () => {
    assert.notInclude(Inert.code("\u001b[2J\u202e"), "\u001b")
    assert.notInclude(Inert.block("\u202eabc"), "\u202e")
  })
})

describe("a branch as Markdown", () => {
  it("is the path where the session stands, with speakers, folded calls and results, and a count of other branches", async () => {
    const text = await exported(fixture("pi/branches.jsonl"), "md")
    assert.match(text, /^# /)
    assert.include(text, "- Other branches, not shown: ")
    assert.include(text, "## You · ")
    const linear = await exported(fixture("pi/linear.jsonl"), "md")
    assert.include(linear, "<summary>⚙ ")
    assert.include(linear, "<summary>↳ ")
  })

  it("is another path if a leaf is named", async () => {
    const session = sessionOf(user("a", null, "root"), user("b", "a", "left"), user("c", "a", "right"))
    assert.include(await exported(session, "md"), "right")
    const left = await exported(session, "md", { leaf: "b" })
    assert.include(left, "left")
    assert.notInclude(left, "right")
  })
})
