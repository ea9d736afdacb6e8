import { assert, it } from "@effect/vitest"
import { Symbols } from "@grove/core/model"
import { Schema } from "effect"
import * as Markdown from "../../src/state/Markdown.ts"
import * as Row from "../../src/state/Row.ts"

const render = (text: string, columns = 40) =>
  Markdown.render(text, { columns, symbols: Symbols.unicode }).map((row) => Row.textOf(row).trimEnd())

it("lists, code, tables and quotes look like what they are", () => {
  assert.deepStrictEqual(render("# Plan\n\n1. one\n2. two\n\n- [x] done\n- [ ] open"), [
    ...["Plan", "", "1. one", "2. two", "", "• [x] done", "• [ ] open"]
  ])
  assert.deepStrictEqual(render("```ts\nconst a = 1\n```"), ["  ts", "  const a = 1"])
  assert.deepStrictEqual(render("| a | b |\n|---|---|\n| 会话 | x |"), ["a     b", "───────", "会话  x"])
  assert.deepStrictEqual(render("> quoted"), ["│ quoted"])
})

it("links are named with where they lead, images are words, HTML is text", () => {
  assert.deepStrictEqual(render("[docs](https://a.example) ![cat](http://b.example/c.png)", 80), [
    "docs (https://a.example) [image: cat]"
  ])
  assert.deepStrictEqual(render("<b onclick=x>hi</b> &lt;", 80), ["<b onclick=x>hi</b> <"])
})

it("wide characters wrap by their columns", () => {
  assert.deepStrictEqual(render("会话树保留每个分支", 8), ["会话树保", "留每个分", "支"])
})

it("nesting without end is shown flat", () => {
  assert.isAbove(render(`${">".repeat(5000)} deep`).length, 0)
})

const PIECES = [
  "# ",
  "- ",
  "1. ",
  "> ",
  "```",
  "\n",
  "\n\n",
  "**",
  "_",
  "`",
  "[a](b)",
  "| a | b |\n|--|--|\n",
  "会话",
  "word ",
  "🙂",
  "\x1b[2J",
  "    "
]
const Texts = Schema.Array(Schema.Literals(PIECES)).pipe(Schema.check(Schema.isMaxLength(30)))

it.prop("any text, also one that is still arriving, fits its columns and is inert", [Texts], ([pieces]) => {
  for (const row of Markdown.render(pieces.join(""), { columns: 20, symbols: Symbols.unicode })) {
    assert.isAtMost(Row.width(row), 20)
    assert.notMatch(Row.textOf(row), /\p{Cc}/u)
  }
})
