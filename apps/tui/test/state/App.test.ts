import { assert, describe, it } from "@effect/vitest"
import { Symbols } from "@grove/core/model"
import { Schema } from "effect"
import * as App from "../../src/state/App.ts"
import * as Editor from "../../src/state/Editor.ts"
import * as Row from "../../src/state/Row.ts"
import type { Event, TurnState } from "../../src/state/View.ts"
import { Driver, NOW, reply, result, session, user } from "../support.ts"

const branched = () =>
  session([
    user("u1", null, "add rate limiting"),
    reply("a1", "u1", "I will start in the middleware."),
    user("u2", "a1", "use sqlite"),
    reply("a2", "u2", "sqlite it is"),
    user("u3", "a1", "用 redis"),
    reply("a3", "u3", "redis it **is**")
  ])

const turn = (change: Partial<TurnState> = {}): TurnState => ({
  started: 0,
  entry: null,
  parentId: null,
  content: [],
  running: new Set(),
  status: null,
  ...change
})

describe("sending", () => {
  it("Enter sends what is written and clears the editor; undo brings it back", () => {
    const chat = new Driver().type("hello").press("enter")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Send", prompt: { text: "hello", images: [] } }])
    assert.strictEqual(chat.app.chat.editor.text, "")
    assert.strictEqual(chat.press("ctrl+_").app.chat.editor.text, "hello")
  })

  it("a backslash, Shift and Alt make Enter a line break", () => {
    const chat = new Driver().type("a\\").press("enter").type("b").press("shift+enter").type("c").press("alt+enter")
    assert.deepStrictEqual<unknown>(chat.intents, [])
    assert.strictEqual(chat.app.chat.editor.text, "a\nb\nc\n")
  })

  it("a command that nobody knows is not sent, and stays where it was typed", () => {
    const chat = new Driver().type("/tre e").press("home", "end", "backspace", "backspace").type("x").press("enter")
    assert.deepStrictEqual<unknown>(chat.intents, [])
    assert.strictEqual(chat.app.chat.editor.text, "/trex")
    assert.include(chat.screen(), "no command /trex; did you mean /tree?")
  })

  it("what could not be sent is given back, before what was written since", () => {
    const chat = new Driver().type("first").press("enter").type("second")
    chat.tell({ _tag: "Returned", prompt: { text: "first", images: [] } })
    assert.strictEqual(chat.app.chat.editor.text, "first\nsecond")
  })

  it("Escape cancels a reply; Up takes back what was queued", () => {
    const chat = new Driver({ turn: turn() }).press("escape")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Cancel" }])
    chat.tell({ _tag: "QueueChanged", queue: [{ text: "next", images: [] }] }).press("up")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), { _tag: "Unqueue" })
    assert.include(chat.screen(), "1 queued")
  })
})

describe("the conversation", () => {
  it("shows who said what, and where it was answered twice", () => {
    const lines = new Driver({ session: branched() }).lines()
    assert.isTrue(lines.some((line) => line.startsWith(" you  用 redis") && line.endsWith("‹2/2›")))
    assert.include(lines, " ai   redis it is")
    assert.include(lines[0], "branch (2 of 2 at turn 2)")
  })

  it("Alt+Left goes to the end of the branch beside", () => {
    const chat = new Driver({ session: branched() }).press("alt+left")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Move", to: "a2" }])
  })

  it("a tool call is one line that says what came of it, and unfolds", () => {
    const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "npm test" } }
    const chat = new Driver({
      session: session([user("u1", null, "test"), reply("a1", "u1", [call]), result("r1", "a1", "c1", "ok\n41 passed")])
    })
    const head = chat.lines().find((line) => line.includes("npm test"))
    assert.match(head ?? "", /▸ bash {2}npm test .*41 passed/)
    assert.notInclude(chat.screen(), "command: npm test")
    chat.press("alt+up", "enter")
    assert.include(chat.screen(), "▾ bash")
    assert.include(chat.screen(), "command: npm test")
  })

  it("an edit unfolds to what it changed", () => {
    const edit = {
      type: "toolCall",
      id: "c1",
      name: "edit",
      arguments: { path: "a.ts", oldText: "one\ntwo\n", newText: "one\nthree\n" }
    }
    const chat = new Driver({
      session: session([user("u1", null, "x"), reply("a1", "u1", [edit]), result("r1", "a1", "c1", "done")])
    }).press("ctrl+o")
    assert.match(chat.screen(), /edit {2}a\.ts .*\+1 −1/)
    assert.include(chat.screen(), "- two")
    assert.include(chat.screen(), "+ three")
  })

  it("a reply is shown while it comes, only where it will be", () => {
    const here = turn({ entry: "a9" as never, parentId: "u1" as never, content: [{ type: "text", text: "com" }] })
    const asked = session([user("u1", null, "go on")])
    assert.include(new Driver({ session: asked, turn: here }).screen(), " ai   com")
    const elsewhere = { ...here, parentId: "other" as never }
    assert.notInclude(new Driver({ session: asked, turn: elsewhere }).screen(), " ai   com")
  })

  it("nothing that was said is obeyed by the terminal", () => {
    const evil = "\x1b]52;c;aGk=\x07 \x1b[2J \u202eabc \x9b31m"
    const chat = new Driver({
      session: session([
        user("u1", null, evil),
        reply("a1", "u1", evil),
        reply("a2", "a1", [{ type: "toolCall", id: "c", name: evil, arguments: { [evil]: evil } }])
      ])
    })
    for (const keys of [[], ["ctrl+o"], ["ctrl+t"], ["escape"], ["ctrl+p"]]) {
      chat.press(...keys)
      for (const row of App.draw(chat.app).rows) assert.notMatch(Row.textOf(row), /[\p{Cc}\u202e]/u)
    }
  })

  it("search selects what has the words, and says so where nothing has", () => {
    const chat = new Driver({ session: branched() }).press("ctrl+s").type("middleware")
    assert.strictEqual(chat.app.chat.selected, "a1")
    chat.type("xyz")
    assert.include(chat.screen(), "not found")
  })
})

describe("going back", () => {
  it("Escape twice within half a second lists the prompts; Enter goes to before one, its text to the editor", () => {
    const chat = new Driver({ session: branched() }).press("escape").wait(300).press("escape")
    assert.include(chat.lines()[0], "BRANCH HERE")
    chat.press("enter")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Move", to: "a1" }])
    assert.strictEqual(chat.app.chat.editor.text, "用 redis")
  })

  it("two Escapes further apart are two Escapes", () => {
    const chat = new Driver({ session: branched() }).press("escape").wait(600).press("escape")
    assert.notInclude(chat.screen(), "BRANCH HERE")
  })

  it("going back to before a root stands nowhere", () => {
    const chat = new Driver({ session: branched() }).press("escape", "escape", "down", "enter")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Move", to: null }])
    assert.strictEqual(chat.app.chat.editor.text, "add rate limiting")
  })

  it("/fork copies up to before the prompt that is chosen", () => {
    const chat = new Driver({ session: branched() }).type("/fork").press("enter")
    assert.include(chat.lines()[1], "whole path, 2 turns")
    chat.press("down", "enter")
    assert.deepStrictEqual<unknown>(chat.intents, [
      { _tag: "Fork", at: "a1", prompt: { text: "用 redis", images: [] } }
    ])
  })
})

describe("/tree", () => {
  const tree = () => new Driver({ session: branched() }).press("ctrl+t")

  it("draws the trunk in one column and side branches folded at their fork", () => {
    const lines = tree().lines()
    assert.include(lines[2], "● you  add rate limiting")
    assert.match(lines[4] ?? "", /├▸ you {2}use sqlite.*2 entries · 1 leaf/)
    assert.match(lines[6] ?? "", /◆ ai {3}redis it.*← here/)
  })

  it("choosing a prompt goes to before it, choosing a reply goes to it", () => {
    assert.deepStrictEqual<unknown>(tree().press("up", "enter").intents.at(-1), { _tag: "Move", to: "a1" })
    const other = tree().press("up", "up", "right", "down", "enter")
    assert.deepStrictEqual<unknown>(other.intents.at(-1), { _tag: "Move", to: "a2" })
  })

  it("search finds what is folded away, and shows it", () => {
    const chat = tree().press("/").type("sqlite it").press("enter")
    assert.match(chat.screen(), /›.*ai {3}sqlite it is/)
  })

  it("Ctrl+U shows prompts alone", () => {
    const chat = tree().press("ctrl+u")
    assert.notInclude(chat.screen(), "redis it")
    assert.include(chat.screen(), "use sqlite")
  })
})

describe("approval", () => {
  const asked = {
    entry: "a1",
    callId: "c1",
    tool: { definition: { name: "bash", description: "", parameters: {} }, kind: "command" },
    arguments: {},
    request: { line: "bash rm -rf dist", preview: { kind: "command", text: "rm -rf dist" }, paths: [] },
    because: "runs a command"
  } as never

  it.each([10, 24, 40])("the end of the conversation stays in sight on %i lines", (rows) => {
    const said = Array.from({ length: 40 }, (_, i) => user(`u${i}`, i === 0 ? null : `u${i - 1}`, `prompt ${i}`))
    const chat = new Driver({ rows, session: session(said) }).tell({ _tag: "ApprovalAsked", asked })
    assert.include(chat.screen(), "May this run?")
    assert.include(chat.screen(), "prompt 39")
    assert.strictEqual(chat.lines().length, rows)
  })

  it("shows what would run, and answers once", () => {
    const chat = new Driver().type("draft").wait(1000).tell({ _tag: "ApprovalAsked", asked })
    assert.include(chat.screen(), "May this run?  bash rm -rf dist")
    chat.press("y")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Approve", callId: "c1", answer: "once" }])
    assert.strictEqual(chat.app.chat.editor.text, "draft")
    assert.strictEqual(chat.app.views.length, 0)
  })

  it("is not answered by somebody who is typing something else; what they type is not lost", () => {
    const chat = new Driver().type("really").tell({ _tag: "ApprovalAsked", asked }).type(" any")
    assert.deepStrictEqual([chat.app.chat.editor.text, chat.intents], ["really any", []])
    assert.strictEqual(chat.app.views.length, 1)
    chat.wait(700).press("n")
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Approve", callId: "c1", answer: "no" }])
    assert.strictEqual(chat.app.chat.editor.text, "really any")
  })

  it("is answered at once by somebody who has just sent their prompt", () => {
    const chat = new Driver().type("go").press("enter").tell({ _tag: "ApprovalAsked", asked }).type("y")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), { _tag: "Approve", callId: "c1", answer: "once" })
  })

  it("goes away when the turn does", () => {
    const chat = new Driver().tell({ _tag: "ApprovalAsked", asked }, { _tag: "ApprovalWithdrawn", callId: "c1" })
    assert.strictEqual(chat.app.views.length, 0)
  })
})

it("Up goes through the prompts of this session, then of this folder, and Down comes back to what was written", () => {
  const chat = new Driver({ session: branched() }).tell({ _tag: "Recalled", prompts: ["from elsewhere"] }).type("draft")
  const seen = [1, 2, 3, 4].map(() => chat.press("up").app.chat.editor.text)
  assert.deepStrictEqual<unknown>(seen, ["用 redis", "use sqlite", "add rate limiting", "from elsewhere"])
  for (let i = 0; i < 4; i++) chat.press("down")
  assert.strictEqual(chat.app.chat.editor.text, "draft")
})

it("files are listed once, and completed where they are named", () => {
  const chat = new Driver().type("see @lim")
  assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "ListFiles" }])
  chat.tell({ _tag: "Files", paths: ["src/limiter.ts", "README.md"] }).press("tab")
  assert.strictEqual(chat.app.chat.editor.text, "see @src/limiter.ts ")
})

it("a screen that is too small says so", () => {
  assert.include(new Driver({ columns: 30, rows: 6 }).screen(), "Grove needs 40 columns")
})

it("without Unicode there is nothing but ASCII on the screen", () => {
  const ascii = session([
    user("u1", null, "plain"),
    reply("a1", "u1", "- a list\n- of **things**"),
    user("u2", "u1", "again")
  ])
  const chat = new Driver({ session: ascii, symbols: Symbols.ascii })
  for (const keys of [[], ["ctrl+t"], ["escape"], ["escape", "escape"]]) {
    for (const line of chat.press(...keys).lines()) assert.match(line, /^[\x20-\x7e]*$/)
  }
})

const KEYS = [
  ...[
    "enter",
    "escape",
    "up",
    "down",
    "left",
    "right",
    "tab",
    "backspace",
    "delete",
    "home",
    "end",
    "pageup",
    "pagedown"
  ],
  ...[
    "ctrl+a",
    "ctrl+e",
    "ctrl+w",
    "ctrl+u",
    "ctrl+k",
    "ctrl+y",
    "ctrl+_",
    "ctrl+o",
    "ctrl+s",
    "ctrl+p",
    "ctrl+t",
    "ctrl+r"
  ],
  ...[
    "alt+up",
    "alt+down",
    "alt+left",
    "alt+right",
    "shift+enter",
    "shift+up",
    "?",
    "/",
    "space",
    "n",
    "x",
    "[",
    "}",
    "1",
    "ctrl+c"
  ]
] as const
const Keys = Schema.Array(Schema.Literals(KEYS)).pipe(Schema.check(Schema.isMaxLength(40)))
const Sizes = Schema.Struct({ columns: Schema.Literals([12, 40, 60, 80, 120]), rows: Schema.Literals([3, 10, 24, 40]) })

it.prop("whatever is pressed, a frame fills the screen and is never wider than it", [Keys, Sizes], ([keys, size]) => {
  const chat = new Driver({ session: branched(), ...size })
  for (const key of keys) {
    chat.press(key)
    const { rows, caret } = App.draw(chat.app)
    assert.strictEqual(rows.length, size.rows)
    for (const row of rows) assert.isAtMost(Row.width(row), size.columns)
    if (caret !== null)
      assert.isTrue(caret.line >= 0 && caret.line < size.rows && caret.column >= 0 && caret.column < size.columns)
  }
})

it.prop("whatever is pressed, what was typed is in the editor, in its undo, or was sent", [Keys], ([keys]) => {
  assert.isTrue(isKept(new Driver({ session: branched() }).type("precious").press(...keys), "precious"))
})

/** Whether a text that was typed is in the editor, in its undo, or was sent. */
function isKept(chat: Driver, words: string): boolean {
  const { editor, recall } = chat.app.chat
  const kept = [
    Editor.textOf(editor),
    recall?.draft.text ?? "",
    ...editor.past.map(({ text }) => text),
    ...editor.future.map(({ text }) => text)
  ]
  const sent = chat.intents.map((intent) => (intent._tag === "Send" ? intent.prompt.text : ""))
  return [...kept, ...sent].some((text) => text.includes(words))
}

/** What may happen to a chat at any time, whatever is on the screen. */
const HAPPENINGS: { readonly [name: string]: Event } = {
  small: { _tag: "Resize", columns: 41, rows: 10 },
  tiny: { _tag: "Resize", columns: 9, rows: 3 },
  large: { _tag: "Resize", columns: 130, rows: 45 },
  paste: { _tag: "Paste", text: "会话\n\x1b[2J".repeat(30) },
  wheel: { _tag: "Wheel", lines: -3 },
  told: { _tag: "Told", notice: { kind: "error", text: "it failed ".repeat(60) } },
  turn: {
    _tag: "TurnChanged",
    turn: {
      started: NOW,
      entry: "t1" as never,
      parentId: "a3" as never,
      content: [{ type: "text", text: "# so\n\n| a |\n|-|" }],
      running: new Set(),
      status: null
    }
  },
  over: { _tag: "TurnChanged", turn: null },
  queued: { _tag: "QueueChanged", queue: [{ text: "later", images: [] }] },
  returned: { _tag: "Returned", prompt: { text: "came back", images: [] } },
  changed: { _tag: "Changed", session: branched(), foreign: true },
  opened: { _tag: "Opened", session: session([]) },
  sessions: { _tag: "Sessions", all: true, sessions: [], works: new Map() },
  prompts: { _tag: "Prompts", query: "", scope: "all", prompts: [], total: 0 },
  forks: { _tag: "ForksFound", path: "/sessions/a.jsonl", entries: new Set(["a1" as never]) },
  tree: { _tag: "TreeAsked" },
  linear: { _tag: "LinearChanged", linear: true },
  asked: {
    _tag: "ApprovalAsked",
    asked: {
      callId: "c9",
      request: { line: "bash x", preview: { kind: "command", text: "x\n".repeat(90) }, paths: [] },
      because: "runs a command"
    } as never
  },
  withdrawn: { _tag: "ApprovalWithdrawn", callId: "c9" },
  later: { _tag: "Tick", now: NOW + 10_000 }
}
const Anything = Schema.Array(Schema.Literals([...KEYS, ...Object.keys(HAPPENINGS)])).pipe(
  Schema.check(Schema.isMaxLength(40))
)

it.prop(
  "whatever is pressed and whatever happens, the frame fits the screen and nothing typed is lost",
  [Anything],
  ([all]) => {
    const chat = new Driver({ session: branched() }).type("precious")
    for (const each of all) {
      const happened = HAPPENINGS[each]
      if (happened === undefined) chat.press(each)
      else chat.tell(happened)
      const { columns, rows } = chat.app.world
      const frame = App.draw(chat.app)
      assert.strictEqual(frame.rows.length, rows)
      for (const row of frame.rows) assert.isAtMost(Row.width(row), columns)
    }
    assert.isTrue(isKept(chat, "precious"))
  }
)

it("a message that does not fit in a line takes more of them, and no more than the screen can spare", () => {
  const link = `http://127.0.0.1:34393/s/${"0".repeat(60)}?entry=the-end`
  const told = (text: string) => new Driver().type("x").tell({ _tag: "Told", notice: { kind: "info", text } })
  assert.include(told(`open at ${link}`).lines().slice(-2).join("").replaceAll(" ", ""), link)
  assert.strictEqual(told("word ".repeat(400)).lines().length, 24)
  assert.include(told("word ".repeat(400)).screen(), " > x")
})

it("? lists every key of the chat, of the tree and of the lists, and every command", () => {
  const chat = new Driver({ rows: 200 }).press("?")
  for (const words of ["Ctrl+G", "In /tree", "copy what is marked", "In lists", "^W web viewer", "/export [format]"]) {
    assert.include(chat.screen(), words)
  }
  assert.match(new Driver({ rows: 200, symbols: Symbols.ascii }).press("?").screen(), /^[\n -~]*$/)
})
