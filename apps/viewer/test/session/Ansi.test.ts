/** What programs print is shown with its colours, and obeyed in nothing. */
import { assert, it } from "@effect/vitest"
import { spansOf } from "../../src/session/Ansi.tsx"

const plain = (text: string) =>
  spansOf(text)
    .map((span) => span.text)
    .join("")

it("colours and weights become classes, and end where they are ended", () => {
  assert.deepStrictEqual(spansOf("a \u001b[1;31mred\u001b[22m thin\u001b[0m b"), [
    { text: "a ", classes: "" },
    { text: "red", classes: "ansi-bold ansi-1" },
    { text: " thin", classes: "ansi-1" },
    { text: " b", classes: "" }
  ])
})

it("of large palettes the first sixteen are known, and the numbers of the others are not taken for weights", () => {
  assert.deepStrictEqual(spansOf("\u001b[38;5;9mx\u001b[38;2;1;4;1my"), [
    { text: "x", classes: "ansi-9" },
    { text: "y", classes: "ansi-9" }
  ])
})

it("titles, links, clipboards, cursor moves and lone escapes are left out", () => {
  assert.strictEqual(
    plain("\u001b]0;evil\u0007a\u001b]8;;http://x\u001b\\b\u001b]8;;\u001b\\\u001b[2J\u001b[3;4Hc\u001b"),
    "abc"
  )
})

it("a line that was written over shows how it ended; other controls and turned text are shown as signs", () => {
  assert.strictEqual(plain("10%\r50%\r100%\nnext\r\n"), "100%\nnext\n")
  assert.notInclude(plain("a\u202eb\u0000c"), "\u202e")
})

it("a sequence that never ends costs no more than its length", () => {
  const text = "\u001b]".repeat(100_000)
  const begun = performance.now()
  spansOf(text)
  assert.isBelow(performance.now() - begun, 1000)
})
