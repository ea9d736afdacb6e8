import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Preview, Width } from "../../src/model/index.ts"
import { type Chance, call, entry, forSeeds, message, reply, result, user } from "../support.ts"

/** What a terminal or a browser may obey, or hide: all but the joiners that letters and emoji need. */
const OBEYED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u

const hostile = [
  "\x1b[31m",
  "\x1b]0;t\x07",
  "\x9b1m",
  "\0",
  "\b",
  "\x7f",
  "\r",
  "\n",
  "\t",
  "\u0085",
  "\u2028",
  "\u2029",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u200f",
  "\ufeff",
  "\u00ad",
  "\u{e0041}",
  "\ud800",
  "\udc00"
]
const kindly = ["a", " ", "é", "e\u0301", "你", "😀", "👩‍👩‍👧‍👦", "🇩🇪", "word "]
const textOf = (chance: Chance) =>
  Array.from({ length: chance.below(60) }, () => chance.pick(chance.oneIn(2) ? hostile : kindly)).join("")

describe("a preview", () => {
  it("shows what its program showed instead of the content", () => {
    const said = { role: "user", content: "<bash-stdout>long</bash-stdout>", uiContent: "clean" }
    assert.strictEqual(Preview.ofEntry(message("a", null, said), 80), "clean")
    assert.strictEqual(Preview.ofEntry(message("a", null, { ...said, uiContent: "" }), 80), said.content)
  })

  it.each([
    ["an escape sequence", "\x1b[31mred", "␛[31mred"],
    ["a control of the second set", "\x9b31m", "\\u{9b}31m"],
    ["a backspace", "a\bb", "a␈b"],
    ["a NUL", "\0", "␀"],
    ["a delete", "\x7f", "␡"],
    ["a text turned around", "\u202eevil", "\\u{202e}evil"],
    ["a space of no width", "a\u200bb", "a\\u{200b}b"],
    ["half a surrogate pair", "a\ud83d", "a\\u{d83d}"],
    ["a hidden tag", "a\u{e0041}", "a\\u{e0041}"]
  ])("shows %s instead of obeying it", (_, text, expected) => {
    assert.strictEqual(Preview.line(text, 80), expected)
    assert.strictEqual(Preview.inert(text), expected)
  })

  it("is one line, and any run of white space is one space", () => {
    assert.strictEqual(Preview.line("  one\n\n\ttwo\r\n\u2028three \ufeff", 80), "one two three")
  })
  it("keeps joined emoji and combining letters whole", () => {
    assert.strictEqual(Preview.line("👩‍👩‍👧‍👦 e\u0301 🇩🇪", 80), "👩‍👩‍👧‍👦 e\u0301 🇩🇪")
  })
  it("is cut by columns, not by characters", () => {
    assert.strictEqual(Preview.line("你好".repeat(100), 10), "你好你好…")
    assert.strictEqual(Preview.line("x".repeat(1_000_000), 10), "xxxxxxxxx…")
  })

  it("is what comes after any amount of white space", () => {
    assert.strictEqual(Preview.line(`${" ".repeat(2000)}hello`, 80), "hello")
    assert.strictEqual(Preview.line(`hello${"\n".repeat(2000)}there`, 80), "hello there")
  })

  it("is cut between clusters and tells so, however long a cluster is", () => {
    const family = "👩🏽‍👩🏽‍👧🏽‍👦🏽"
    assert.strictEqual(Preview.line(family.repeat(100), 80), `${family.repeat(39)}…`)
    assert.isTrue(Preview.line(`e${"\u0301".repeat(5000)}and more words`, 10).endsWith("…"))
  })
  it("of the worst of texts is one line, fits, and holds nothing a terminal would obey", () => {
    forSeeds(3000, (chance) => {
      const columns = chance.below(100)
      const line = Preview.line(textOf(chance), columns)
      assert.notMatch(line, OBEYED)
      assert.isAtMost(Width.of(line), columns)
    })
  })
  it.prop("of any text is one line, fits, and holds nothing a terminal would obey", [Schema.String], ([text]) => {
    assert.notMatch(Preview.line(text, 80), OBEYED)
    assert.isAtMost(Width.of(Preview.line(text, 80)), 80)
  })
})

it("a text made inert keeps its line breaks and obeys nothing else", () => {
  assert.strictEqual(Preview.inert("one\n\x1btwo\r\n"), "one\n␛two␍\n")
  forSeeds(1000, (chance) => {
    assert.notMatch(Preview.inert(textOf(chance)).replaceAll(/[\n\u2028\u2029]/g, ""), OBEYED)
  })
})

describe("an entry is previewed", () => {
  const thinking = { content: [{ type: "thinking", thinking: "hm" }] }
  const image = { type: "image", data: "AA==", mimeType: "image/png" }
  it.each([
    ["by what was said", user("a", null, "hello\nthere"), "hello there"],
    [
      "by its text blocks",
      reply("a", null, { content: [{ type: "text", text: "one" }, image, { type: "text", text: "two" }] }),
      "one two"
    ],
    ["by its tools, if it has no words", reply("a", null, call("read", "grep")), "read a.txt; grep a.txt"],
    ["by its error, if it has no words", reply("a", null, { content: [], errorMessage: "overloaded" }), "overloaded"],
    ["by what it holds, if it has neither", reply("a", null, thinking), "(thinking)"],
    ["by its result", result("a", null, { content: "42" }), "42"],
    ["by its command", message("a", null, { role: "bashExecution", command: "ls -l" }), "$ ls -l"],
    ["by its code", message("a", null, { role: "pythonExecution", code: "1+1" }), "1+1"],
    [
      "by the files it mentions",
      message("a", null, { role: "fileMention", files: [{ path: "a.ts" }, { path: "b.ts" }] }),
      "@a.ts @b.ts"
    ],
    ["by its summary", entry("a", null, { type: "compaction", summary: "so far" }), "so far"],
    ["by its summary", entry("a", null, { type: "branch_summary", summary: "there" }), "there"],
    ["by its label", entry("a", null, { type: "label", label: "here" }), "here"],
    ["by its name", entry("a", null, { type: "session_info", name: "mine" }), "mine"],
    ["by its level", entry("a", null, { type: "thinking_level_change", thinkingLevel: "high" }), "high"],
    ["by its model", entry("a", null, { type: "model_change", provider: "p", modelId: "m" }), "p/m"],
    ["by its model", entry("a", null, { type: "model_change", model: "p/m" }), "p/m"],
    ["by its mode", entry("a", null, { type: "mode_change", mode: "plan" }), "plan"],
    ["by its rules", entry("a", null, { type: "ttsr_injection", injectedRules: ["x", "y"] }), "x, y"],
    ["by its task", entry("a", null, { type: "session_init", task: "do it" }), "do it"],
    ["by its own type", entry("a", null, { type: "custom", customType: "todo" }), "todo"],
    ["by its message", entry("a", null, { type: "custom_message", content: "note" }), "note"],
    ["by its type, if there is nothing to say", user("a", null, " \n "), "(message)"],
    ["by its type, if we do not know it", entry("a", null, { type: "holo\x1bgram" }), "(holo␛gram)"],
    ["by its type, if its body is damaged", entry("a", null, { type: "message", message: 7 }), "(message)"]
  ])("%s", (_, it, expected) => {
    assert.strictEqual(Preview.ofEntry(it, 80), expected)
  })
})
