import { assert, describe, it } from "@effect/vitest"
import type { OpenCall } from "../../src/state/View.ts"
import { Driver, reply, session, user } from "../support.ts"

const prompt = { text: "go on", images: [] }

const call = (name: string, given: OpenCall["arguments"]): OpenCall =>
  ({ entry: "a1", callId: `c-${name}`, name, arguments: given }) as OpenCall

const broken = () =>
  session([
    user("u1", null, "build it"),
    reply("a1", "u1", [{ type: "toolCall", id: "c-bash", name: "bash", arguments: { command: "sleep 60" } }])
  ])

const asked = (waiting: typeof prompt | null = null) =>
  new Driver({ session: broken() }).tell({
    _tag: "CallsOpen",
    calls: [call("bash", { timeout: 3, command: "sleep 60" })],
    prompt: waiting
  })

describe("calls that broke off", () => {
  it("are listed by tool and subject, over the conversation, with all that can become of them", () => {
    const chat = asked()
    const screen = chat.screen()
    assert.include(screen, "1 tool call broke off without a result. What becomes of it?")
    assert.match(screen, /^ {3}bash {2}sleep 60$/m)
    assert.match(screen, /› r {2}run again.*\n.* f {2}mark as failed.*\n.* d {2}drop/)
    assert.include(screen, "Esc decide later")
    assert.include(screen, " you  build it")
  })

  for (const [keys, how] of [
    [["r"], "run"],
    [["enter"], "run"],
    [["f"], "fail"],
    [["down", "enter"], "fail"],
    [["d"], "drop"],
    [["up", "enter"], "drop"]
  ] as const) {
    it(`${keys.join(" ")}: ${how}, and the question is gone`, () => {
      const chat = asked().press(...keys)
      assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Settle", how, prompt: null }])
      assert.strictEqual(chat.app.views.length, 0)
    })
  }

  it("decided later, they stay as they are, and a prompt that waited is in the editor again", () => {
    assert.deepStrictEqual<unknown>(asked().press("escape").intents, [])
    const chat = asked(prompt).press("escape")
    assert.deepStrictEqual<unknown>(chat.intents, [])
    assert.strictEqual(chat.app.views.length, 0)
    assert.strictEqual(chat.app.chat.editor.text, "go on")
  })

  it("a prompt that waited is sent with the answer", () => {
    assert.deepStrictEqual<unknown>(asked(prompt).press("f").intents, [{ _tag: "Settle", how: "fail", prompt }])
  })

  it("are asked about once: a later question takes the place of an earlier one", () => {
    const chat = asked().tell({ _tag: "CallsOpen", calls: [call("bash", {})], prompt })
    assert.strictEqual(chat.app.views.length, 1)
    assert.deepStrictEqual<unknown>(chat.press("d").intents, [{ _tag: "Settle", how: "drop", prompt }])
  })

  it("are no longer asked about where the person stands elsewhere", () => {
    const { tree } = broken()
    const still = asked(prompt).tell({ _tag: "Changed", session: broken(), foreign: false })
    assert.strictEqual(still.app.views.length, 1)
    const moved = { ...broken(), leaf: tree.entryAt(0).id }
    const gone = asked(prompt).tell({ _tag: "Changed", session: moved, foreign: true })
    assert.strictEqual(gone.app.views.length, 0)
    assert.strictEqual(gone.app.chat.editor.text, "go on")
    assert.strictEqual(asked().tell({ _tag: "Opened", session: session([]) }).app.views.length, 0)
  })

  it("however many and whatever they hold, the answers are in sight and nothing is obeyed", () => {
    const calls = Array.from({ length: 50 }, (_, i) => call(`t${i}\x1b[2J`, { path: "\x1b]0;owned\x07".repeat(40) }))
    for (const [columns, rows] of [
      [80, 24],
      [40, 10]
    ] as const) {
      const chat = new Driver({ columns, rows }).tell({ _tag: "CallsOpen", calls, prompt: null })
      assert.include(chat.screen(), "drop")
      assert.match(chat.screen(), /and \d+ more/)
      assert.notInclude(chat.screen(), "\x1b")
      assert.strictEqual(chat.lines().length, rows)
    }
  })

  it("a call whose arguments are no JSON is shown as it was written", () => {
    const chat = new Driver().tell({
      _tag: "CallsOpen",
      calls: [{ ...call("bash", {}), invalidArguments: '{"command": "ls' }],
      prompt: null
    })
    assert.include(chat.screen(), 'bash  {"command": "ls')
  })
})
