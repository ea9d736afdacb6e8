import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { decode, type Input } from "../src/keys.ts"

const names = (text: string, isAll = true): ReadonlyArray<string> =>
  decode(text, isAll).inputs.map((input) => (input._tag === "Key" ? input.name : input._tag))

it("keys have the names people call them by", () => {
  assert.deepStrictEqual(names("a\r\t\x7f\x12 "), ["a", "enter", "tab", "backspace", "ctrl+r", "space"])
  assert.deepStrictEqual(names("\x1b[A\x1bOB\x1b[1;5D\x1b[3~\x1b[Z"), [
    "up",
    "down",
    "ctrl+left",
    "delete",
    "shift+tab"
  ])
  assert.deepStrictEqual(names("\x1bb\x1b\r\x1b\x7f"), ["alt+b", "alt+enter", "alt+backspace"])
})

it("Shift+Enter is known in every form in which terminals send it, a bare line feed included", () => {
  assert.deepStrictEqual(names("\x1b[13;2u\x1b[27;2;13~\n"), ["shift+enter", "shift+enter", "shift+enter"])
})

it("keys told by code point are the keys they stand for", () => {
  assert.deepStrictEqual(names("\x1b[114;5u\x1b[27u\x1b[97;2u"), ["ctrl+r", "escape", "A"])
  assert.deepStrictEqual(decode("\x1b[97;2u", true).inputs[0], { _tag: "Key", name: "A", text: "A" })
})

it("an Escape waits until nothing can follow it, and two of them are two", () => {
  assert.deepStrictEqual(decode("\x1b", false), { inputs: [], rest: "\x1b" })
  assert.deepStrictEqual(names("\x1b"), ["escape"])
  assert.deepStrictEqual(names("\x1b\x1b"), ["escape", "escape"])
})

it("a paste is one input, whatever it holds, and however late its end comes", () => {
  const begun = decode("\x1b[200~one\r\ntwo\x1b[A", false)
  assert.deepStrictEqual(begun.inputs, [])
  assert.deepStrictEqual(decode(`${begun.rest}\x03\x1b[201~x`, false).inputs, [
    { _tag: "Paste", text: "one\ntwo\x1b[A\x03" },
    { _tag: "Key", name: "x", text: "x" }
  ])
})

it("emoji and Han characters are one key each", () => {
  assert.deepStrictEqual(names("会🙂"), ["会", "🙂"])
})

it("the wheel scrolls, clicks and answers of the terminal are nobody's keys", () => {
  assert.deepStrictEqual(decode("\x1b[<64;10;5M\x1b[<65;1;1M", true).inputs, [
    { _tag: "Wheel", lines: -3 },
    { _tag: "Wheel", lines: 3 }
  ])
  assert.deepStrictEqual(names("\x1b[<0;3;4M\x1b[<0;3;4m\x1b[?62;22c\x1b]11;rgb:0/0/0\x07"), [])
})

it("what is cut in two on its way is whole again: a pair behind an Escape, an answer of the terminal", () => {
  for (const [text, cut, wanted] of [
    ["\x1b🙂", 2, ["alt+🙂"]],
    ["\x1b]11;rgb:0/0/0\x07x", 6, ["x"]],
    ["\x1bP1+r\x1b\\x", 7, ["x"]]
  ] satisfies ReadonlyArray<[string, number, Array<string>]>) {
    const first = decode(text.slice(0, cut), false)
    const second = decode(first.rest + text.slice(cut), false)
    assert.deepStrictEqual(
      [...first.inputs, ...second.inputs].map((input) => (input._tag === "Key" ? input.name : input._tag)),
      wanted
    )
  }
})

it("a paste right behind an Escape is still a paste", () => {
  assert.deepStrictEqual(decode("\x1b\x1b[200~a\rb\x1b[201~", false).inputs, [
    { _tag: "Key", name: "escape" },
    { _tag: "Paste", text: "a\nb" }
  ])
})

const pieces = [
  "\x1b",
  "[",
  "O",
  "A",
  "1",
  ";",
  "5",
  "~",
  "u",
  "\x1b[200~",
  "\x1b[201~",
  "\r",
  "会",
  "🙂",
  "\ud83d",
  "<",
  "M",
  "]",
  "\x07",
  "\\"
]
const Bytes = Schema.Array(Schema.Literals(pieces)).pipe(Schema.check(Schema.isMaxLength(30)))

it.prop(
  "whatever arrives, and however it is cut, is decoded to the same keys",
  [Bytes, Schema.Int],
  ([parts, seed]) => {
    const text = parts.join("")
    const whole = decode(text, false)
    const at = text.length === 0 ? 0 : Math.abs(seed) % text.length
    const first = decode(text.slice(0, at), false)
    const second = decode(first.rest + text.slice(at), false)
    const together: ReadonlyArray<Input> = [...first.inputs, ...second.inputs]
    assert.deepStrictEqual(together, whole.inputs)
    assert.strictEqual(second.rest, whole.rest)
  }
)

it.prop("nothing is left over once all has come, save a paste without end", [Bytes], ([parts]) => {
  const { rest } = decode(parts.join(""), true)
  assert.isTrue(rest === "" || rest.startsWith("\x1b[200~"))
})
