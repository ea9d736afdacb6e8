import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Editor from "../../src/state/Editor.ts"
import * as Glyphs from "../../src/state/Glyphs.ts"

const COLUMNS = 20

const typed = (editor: Editor.Editor, text: string): Editor.Editor =>
  Glyphs.graphemes(text).reduce((before, grapheme) => Editor.insert(before, grapheme), editor)
const press = (editor: Editor.Editor, ...names: ReadonlyArray<string>): Editor.Editor =>
  names.reduce((before, name) => Editor.press(before, name, COLUMNS) ?? before, editor)

describe("moving and cutting", () => {
  it("words are left and right of the caret, also in Chinese", () => {
    const editor = typed(Editor.empty, "fix the tree")
    assert.strictEqual(press(editor, "ctrl+left", "ctrl+left").caret, 4)
    assert.strictEqual(press(editor, "ctrl+w").text, "fix the ")
    assert.isBelow(press(typed(Editor.empty, "修复会话树"), "ctrl+left").caret, 5)
  })

  it("what a key cut away comes back with Ctrl+Y, several cuts together", () => {
    const editor = press(typed(Editor.empty, "one two three"), "ctrl+w", "ctrl+w")
    assert.strictEqual(editor.text, "one ")
    assert.strictEqual(press(editor, "ctrl+y").text, "one two three")
  })

  it("Home and End are of the line, not of the text", () => {
    const editor = Editor.of("one\ntwo\nthree")
    assert.strictEqual(press(editor, "up", "home").caret, 4)
    assert.strictEqual(press(editor, "up", "home", "end").caret, 7)
  })

  it("up and down keep the column", () => {
    const editor = press(Editor.of("long line\nx\nlong line"), "up", "up")
    assert.strictEqual(editor.caret, 9)
  })

  it("a picture of many characters is one step and one Backspace", () => {
    const family = "👨‍👩‍👧"
    const editor = typed(Editor.empty, `a${family}b`)
    assert.strictEqual(press(editor, "left", "left").caret, 1)
    assert.strictEqual(press(editor, "left", "backspace").text, "ab")
  })
})

describe("undo", () => {
  it("a word is one step", () => {
    const editor = typed(Editor.empty, "hello world")
    assert.strictEqual(press(editor, "ctrl+_").text, "hello ")
  })

  it("clearing the editor loses nothing", () => {
    assert.strictEqual(press(Editor.clear(Editor.of("precious")), "ctrl+_").text, "precious")
  })
})

describe("pastes", () => {
  const long = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n")

  it("a long paste is folded to one sign and sent in full", () => {
    const editor = typed(Editor.paste(typed(Editor.empty, "see "), long), "!")
    assert.strictEqual(Editor.layout(editor, 60).lines[0]?.shown, "see [paste 1: 40 lines]!")
    assert.strictEqual(Editor.textOf(editor), `see ${long}!`)
    assert.strictEqual(press(editor, "backspace", "backspace").text, "see ")
  })

  it("a short paste is text", () => {
    assert.strictEqual(Editor.paste(Editor.empty, "one\r\ntwo").text, "one\ntwo")
  })

  it("characters that stand for pastes cannot be smuggled in", () => {
    const editor = Editor.insert(Editor.paste(Editor.empty, long), "\ufdd0")
    assert.strictEqual(Editor.textOf(editor), `${long}\ufffd`)
  })
})

describe("layout", () => {
  it("lines break between words, and the caret is where the text is", () => {
    const { lines, line, column } = Editor.layout(Editor.of("the quick brown fox jumps"), COLUMNS)
    assert.deepStrictEqual(
      lines.map(({ shown }) => shown),
      ["the quick brown fox ", "jumps"]
    )
    assert.deepStrictEqual([line, column], [1, 5])
  })

  it("wide characters take two columns", () => {
    const { line, column } = Editor.layout(Editor.of("会话树"), COLUMNS)
    assert.deepStrictEqual([line, column], [0, 6])
  })

  it("nothing in a text is obeyed", () => {
    assert.strictEqual(Editor.layout(Editor.of("a\x1b[2Jb\u202e"), COLUMNS).lines[0]?.shown, "a␛[2Jb\\u{202e}")
  })
})

const KEYS = [
  ...["left", "right", "up", "down", "home", "end", "ctrl+left", "ctrl+right", "ctrl+home", "ctrl+end"],
  ...["shift+enter", "backspace", "delete", "ctrl+w", "alt+d", "ctrl+u", "ctrl+k", "ctrl+y", "alt+backspace"]
] as const
const TEXTS = [
  "a",
  " ",
  "word ",
  "会话",
  "👩‍💻",
  "e\u0301",
  "\u0301",
  "\n",
  "🇫🇷",
  "\t",
  "\x1b[2J",
  "\ufdd3",
  "\ud83d",
  "\u200d"
] as const
const Action = Schema.Union([
  Schema.Struct({ press: Schema.Literals(KEYS) }),
  Schema.Struct({ type: Schema.Literals(TEXTS) }),
  Schema.Struct({ paste: Schema.Literals(["short", "a\n".repeat(30)]) })
])
const Actions = Schema.Array(Action).pipe(Schema.check(Schema.isMaxLength(60)))

const run = (actions: typeof Actions.Type): Editor.Editor =>
  actions.reduce((editor, action) => {
    if ("press" in action) return press(editor, action.press)
    return "type" in action ? Editor.insert(editor, action.type) : Editor.paste(editor, action.paste)
  }, Editor.empty)

const again = (editor: Editor.Editor, name: string): Editor.Editor => {
  let now = editor
  for (let i = 0; i < 100; i++) now = press(now, name)
  return now
}

it.prop(
  "whatever is pressed, typed and pasted, undo goes back to nothing and redo brings all of it back",
  [Actions],
  ([actions]) => {
    const editor = run(actions)
    const undone = again(editor, "ctrl+_")
    assert.strictEqual(undone.text, "")
    assert.strictEqual(Editor.textOf(again(undone, "alt+y")), Editor.textOf(editor))
  }
)

it.prop("the caret never stands inside a grapheme, and is where the layout says", [Actions], ([actions]) => {
  const editor = run(actions)
  const { lines, line, column } = Editor.layout(editor, COLUMNS)
  const around = lines[line]!
  assert.isTrue(around.from <= editor.caret && editor.caret <= around.to)
  assert.isTrue(column >= 0 && column <= COLUMNS)
  const place = editor.text.slice(editor.text.lastIndexOf("\n", editor.caret - 1) + 1, editor.caret)
  const lineText = editor.text.slice(editor.caret - place.length).split("\n", 1)[0]!
  let at = 0
  const places = [0, ...Glyphs.graphemes(lineText).map((grapheme) => (at += grapheme.length))]
  assert.include(places, place.length)
})

it.prop("the lines of a layout are the whole text, in order", [Actions], ([actions]) => {
  const editor = run(actions)
  const { lines } = Editor.layout(editor, COLUMNS)
  let end = 0
  for (const { from, to } of lines) {
    assert.isTrue(from === end || (from === end + 1 && editor.text[end] === "\n"))
    end = to
  }
  assert.strictEqual(end, editor.text.length)
})
