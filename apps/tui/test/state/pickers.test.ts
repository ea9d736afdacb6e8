import { assert, describe, expect, it } from "@effect/vitest"
import type { SessionSummary } from "@grove/core"
import * as App from "../../src/state/App.ts"
import * as Row from "../../src/state/Row.ts"
import type { PastPrompt } from "../../src/state/View.ts"
import { Driver } from "../support.ts"
import { daysAgo, NOW, plan, sessionOf, today } from "./views.ts"

const SIZES = [
  [80, 24],
  [120, 40]
] as const

const chatAt = (columns = 80, rows = 24) => new Driver({ columns, rows, now: NOW, session: sessionOf(plan()) })

const command = (chat: Driver, name: string) => {
  chat.type(`/${name}`).press("enter")
  chat.intents.length = 0
  return chat
}

/** As it is, and no row wider than the screen. */
const picture = (chat: Driver): string => {
  const { columns } = chat.app.world
  for (const row of App.draw(chat.app).rows) assert.isAtMost(Row.width(row), columns)
  return chat.screen()
}

const summary = (path: string, change: Partial<SessionSummary.SessionSummary>): SessionSummary.SessionSummary => ({
  id: path,
  path,
  cwd: "/work/auth",
  name: path,
  created: new Date(daysAgo(9)).toISOString(),
  modified: new Date(daysAgo(2)).toISOString(),
  messageCount: 24,
  branches: 1,
  firstMessage: "say",
  parentSession: null,
  source: "grove",
  draft: false,
  ...change
})

const sessions = [
  summary("gateway-limits", { modified: new Date(daysAgo(6)).toISOString(), messageCount: 66, branches: 2 }),
  summary("rate-limit-sqlite", { parentSession: "auth-rate-limit", firstMessage: "use sqlite instead" }),
  summary("auth-rate-limit", {
    modified: new Date(today(14, 38)).toISOString(),
    messageCount: 122,
    branches: 4,
    firstMessage: "add login rate limiting"
  })
]

describe("/fork", () => {
  it.each(SIZES)("looks like its picture at %i columns and %i lines", async (columns, rows) => {
    await expect(picture(command(chatAt(columns, rows), "fork"))).toMatchFileSnapshot(
      `golden/fork-${columns}x${rows}.txt`
    )
  })
  it("copies up to before the chosen prompt, under a name if one is given", () => {
    const chat = command(chatAt(), "fork").press("down", "down", "tab").type("plan b").press("enter")
    const prompt = { text: "use redis", images: [] }
    assert.deepStrictEqual<unknown>(chat.intents, [{ _tag: "Fork", at: "a1", prompt, name: "plan b" }])
    assert.strictEqual(chat.app.views.length, 0)
  })
})

describe("the session picker", () => {
  const picking = (columns = 80, rows = 24) =>
    command(chatAt(columns, rows), "resume").tell({ _tag: "Sessions", all: false, sessions })
  const found = {
    _tag: "SessionsFound",
    query: "kopf",
    hits: [{ path: "gateway-limits", count: 7, snippet: "the rate limit kopf must survive", marks: [[15, 19]] }]
  } as const

  it.each(SIZES)("looks like its picture at %i columns and %i lines", async (columns, rows) => {
    await expect(picture(picking(columns, rows))).toMatchFileSnapshot(`golden/sessions-${columns}x${rows}.txt`)
  })
  it("asks for what was said in sessions as letters are typed, and shows where", async () => {
    const chat = picking().type("kopf")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), { _tag: "SearchSessions", query: "kopf" })
    assert.include(chat.screen(), "no session has these letters")
    chat.tell(found)
    assert.match(chat.screen(), /^›○ gateway-limits +"kopf" ×7 in text/m)
    assert.include(chat.screen(), "the rate limit «kopf» must survive")
    assert.deepStrictEqual<unknown>(chat.press("enter").intents.at(-1), { _tag: "OpenSession", path: "gateway-limits" })
  })
  it("forgets what was found for other letters", () => {
    assert.notInclude(picking().type("kopf").tell(found).type("s").screen(), "gateway-limits")
  })
})

describe("the history of prompts", () => {
  const prompts: ReadonlyArray<PastPrompt> = [
    {
      id: 1,
      text: "test 折叠 rows keep their fork ancestors",
      uses: 9,
      lastUsed: daysAgo(21),
      cwd: "/w/viewer",
      session: "s1",
      entry: "e1"
    },
    {
      id: 2,
      text: "修复会话树折叠的错误，并补上 test。\n不要改快照。",
      uses: 3,
      lastUsed: NOW - 7_200_000,
      cwd: "/w/grove",
      session: null,
      entry: null
    }
  ]
  const looking = (columns = 80, rows = 24) =>
    chatAt(columns, rows).press("ctrl+r").tell({ _tag: "Prompts", query: "", scope: "all", prompts, total: 2 })

  it.each(SIZES)("looks like its picture at %i columns and %i lines", async (columns, rows) => {
    await expect(picture(looking(columns, rows))).toMatchFileSnapshot(`golden/history-${columns}x${rows}.txt`)
  })
  it("is in the order of fit, or of time", () => {
    assert.match(looking().lines()[1]!, /^›test 折叠/)
    assert.match(looking().press("ctrl+s").lines()[1]!, /^›修复/)
    assert.match(looking().press("ctrl+s", "ctrl+s").lines()[1]!, /^›test 折叠/)
  })
  it("leads to the turn in which a prompt was used", () => {
    const chat = looking().press("ctrl+o")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), { _tag: "OpenSession", path: "s1", at: "e1" })
    assert.strictEqual(chat.app.views.length, 0)
    assert.strictEqual(looking().press("down", "ctrl+o").app.views.length, 1)
  })
})
