/** What is found in a markdown file, and when a command printed what is written. */
import assert from "node:assert/strict"
import { test } from "node:test"
import { anchors, blocks, commands, isPrinted, links } from "./markdown.mjs"

const lines = (...text) => text.join("\n")

test("a block knows its language, its flags and where its code begins", () => {
  assert.deepEqual(blocks(lines("# A", "", "```ts no-run", "const a = 1", "", "a", "```", "text")), [
    { line: 4, language: "ts", flags: ["no-run"], text: "const a = 1\n\na" }
  ])
})

test("fences nest by length, may be indented and need no end", () => {
  assert.deepEqual(
    blocks(lines("````md", "```ts", "```", "````", "- item", "  ```sh", "  $ grove", "  ```", "~~~", "```")).map(
      ({ language, text }) => [language, text]
    ),
    [
      ["md", "```ts\n```"],
      ["sh", "$ grove"],
      ["", "```"]
    ]
  )
})

test("a session is commands, each with the lines it printed", () => {
  const block = {
    line: 10,
    language: "sh",
    flags: [],
    text: lines("$ grove ls", "one", "two", "$ grove \\", "  rm", "")
  }
  assert.deepEqual(commands(block), [
    { line: 10, command: "grove ls", output: ["one", "two"] },
    { line: 13, command: "grove \\\n  rm", output: [""] }
  ])
})

test("output is equal but for the space at its end, and for what … stands for", () => {
  assert.ok(isPrinted([], ""))
  assert.ok(isPrinted(["a (b)", ""], "a (b)  \n\n"))
  assert.ok(isPrinted(["a", "…", "z"], "a\nb\nc\nz\n"))
  assert.ok(isPrinted(["a", "…", "z"], "a\nz\n"))
  assert.ok(isPrinted(["…"], ""))
  assert.ok(isPrinted(["session … kept"], "session 0a1b kept\n"))
  assert.ok(!isPrinted([], "a\n"))
  assert.ok(!isPrinted(["a"], ""))
  assert.ok(!isPrinted(["a"], "a\nb\n"))
  assert.ok(!isPrinted(["a.c"], "abc\n"))
  assert.ok(!isPrinted(["a … c"], "a\nc\n"))
})

test("links are those to files and headings of ours, outside code", () => {
  const text = lines(
    '[a](docs/a.md "A") and ![b](b%20c.png), [c](#here), [d](d.md#there)',
    "`[no](no.md)` [web](https://example.org/x.md) [mail](mailto:a@example.org)",
    "```md",
    "[no](no.md)",
    "```",
    "[ref]: ../ref.md",
    "[^note]: not a link",
    '<img src="logo.svg">'
  )
  assert.deepEqual(
    links(text).map(({ line, path, anchor }) => `${line} ${path}#${anchor}`),
    ["1 docs/a.md#", "1 b c.png#", "1 #here", "1 d.md#there", "6 ../ref.md#", "8 logo.svg#"]
  )
})

test("anchors are named as GitHub names them", () => {
  const text = lines(
    "# Hello, `World`!",
    "## A - b",
    "## Same",
    "## Same",
    "```",
    "# no",
    "```",
    '<a id="own"></a>',
    "## [L](x.md)"
  )
  assert.deepEqual([...anchors(text)], ["hello-world", "a---b", "same", "same-1", "own", "l"])
})
