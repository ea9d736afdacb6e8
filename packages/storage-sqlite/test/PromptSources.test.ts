import { assert, describe, it } from "@effect/vitest"
import { read } from "../src/PromptSources.ts"

const jsonl = (...values: ReadonlyArray<object | string>) =>
  values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n")
const told = (text: string, format?: Parameters<typeof read>[1]) => {
  const found = read(text, format)
  return (
    found && {
      ...found,
      uses: found.uses.map(({ prompt, at, cwd, session, author }) => [prompt, at, cwd, session, author])
    }
  )
}

describe("prompts of others", () => {
  it("Claude Code's history", () => {
    const text = jsonl({ display: "fix it", pastedContents: {}, timestamp: 1700000000000, project: "/w" }, "{torn", {
      display: "again",
      timestamp: 1700000001000,
      project: "/w",
      sessionId: "s"
    })
    assert.deepStrictEqual(told(text), {
      format: "claude-code",
      bad: 1,
      uses: [
        ["fix it", 1700000000000, "/w", null, "user"],
        ["again", 1700000001000, "/w", "s", "user"]
      ]
    })
  })

  it("Claude Code's transcripts, without results of tools and with sub-agents as such", () => {
    const line = { sessionId: "s", cwd: "/w", timestamp: "2026-01-01T00:00:00.000Z", type: "user", uuid: "u" }
    const text = jsonl(
      { ...line, isSidechain: false, message: { role: "user", content: "typed" } },
      { ...line, isSidechain: true, message: { role: "user", content: "task" } },
      { ...line, isSidechain: false, message: { role: "user", content: [{ type: "tool_result", content: "x" }] } },
      { ...line, isSidechain: false, isMeta: true, message: { role: "user", content: "meta" } }
    )
    const at = Date.UTC(2026, 0, 1)
    assert.deepStrictEqual(told(text)?.uses, [
      ["typed", at, "/w", "s", "user"],
      ["task", at, "/w", "s", "agent"]
    ])
  })

  it("Codex: its history, and rollouts with events or without", () => {
    assert.deepStrictEqual(told(jsonl({ session_id: "s", ts: 1700000000, text: "hi" }))?.uses, [
      ["hi", 1700000000000, null, "s", "user"]
    ])
    const meta = { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "s", cwd: "/w" } }
    const item = (text: string) => ({
      timestamp: "2026-01-01T00:00:01Z",
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] }
    })
    const event = {
      timestamp: "2026-01-01T00:00:02Z",
      type: "event_msg",
      payload: { type: "user_message", message: "typed" }
    }
    const at = Date.UTC(2026, 0, 1)
    assert.deepStrictEqual(told(jsonl(meta, item("<environment_context>x"), item("typed")))?.uses, [
      ["typed", at + 1000, "/w", "s", "user"]
    ])
    assert.deepStrictEqual(told(jsonl(meta, item("typed"), event))?.uses, [["typed", at + 2000, "/w", "s", "user"]])
  })

  it("sessions of Grove, Pi and oh-my-pi, and of Neovate", () => {
    const text = jsonl(
      { type: "session", id: "s", cwd: "/w", timestamp: "2026-01-01T00:00:00Z" },
      {
        type: "message",
        id: "a",
        timestamp: "2026-01-01T00:00:01Z",
        message: { role: "user", content: [{ type: "text", text: "hi" }] }
      },
      { type: "message", id: "b", timestamp: "2026-01-01T00:00:02Z", message: { role: "assistant", content: [] } },
      {
        type: "message",
        id: "c",
        timestamp: "2026-01-01T00:00:03Z",
        origin: { entry: "a" },
        message: { role: "user", content: "hi" }
      },
      {
        type: "message",
        id: "d",
        timestamp: "2026-01-01T00:00:04Z",
        origin: { format: "codex", entry: "a" },
        message: { role: "user", content: "imported" }
      }
    )
    assert.deepStrictEqual(told(text)?.uses, [
      ["hi", Date.UTC(2026, 0, 1) + 1000, "/w", "s", "user"],
      ["imported", Date.UTC(2026, 0, 1) + 4000, "/w", "s", "user"]
    ])
    const neovate = {
      parentUuid: null,
      uuid: "u",
      role: "user",
      content: "hey",
      type: "message",
      timestamp: "2026-01-01T00:00:00Z",
      sessionId: "n"
    }
    assert.deepStrictEqual(told(jsonl(neovate))?.uses, [["hey", Date.UTC(2026, 0, 1), null, "n", "user"]])
  })

  it("shells: bash with and without times, zsh with continued lines, fish", () => {
    const uses = (text: string) => told(text, "shell")?.uses.map(([prompt, at]) => [prompt, at])
    assert.deepStrictEqual(uses("#1700000000\nls -la\ngit push\n"), [
      ["ls -la", 1700000000000],
      ["git push", 3]
    ])
    assert.deepStrictEqual(uses(": 1700000000:0;echo a \\\nb\n: 1700000005:0;pwd"), [
      ["echo a \nb", 1700000000000],
      ["pwd", 1700000005000]
    ])
    assert.deepStrictEqual(
      uses("- cmd: echo hi\\nthere\n  when: 1700000000\n  paths:\n    - x\n- cmd: pwd\n  when: 1700000001"),
      [
        ["echo hi\nthere", 1700000000000],
        ["pwd", 1700000001000]
      ]
    )
  })

  it("what is none of these is not guessed", () => {
    assert.isUndefined(read("just a text"))
    assert.isUndefined(read('{"a":1}'))
    assert.isUndefined(read(""))
  })
})
