import { assert, describe, expect, it } from "@effect/vitest"
import type { SessionSummary } from "@grove/core"
import * as App from "../../src/state/App.ts"
import * as Row from "../../src/state/Row.ts"
import type { Event, PastPrompt, SessionDetails } from "../../src/state/View.ts"
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

const details = (path: string, change: Partial<SessionDetails>): Event => ({
  _tag: "SessionDetailed",
  details: {
    path,
    modified: sessions.find((each) => each.path === path)!.modified,
    turns: 12,
    costMicros: 400_000,
    lastPrompt: "say",
    forkedAfter: 0,
    ...change
  }
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
    command(chatAt(columns, rows), "resume").tell(
      {
        _tag: "Sessions",
        all: false,
        sessions,
        works: new Map([
          ["auth-rate-limit", "working"],
          ["gateway-limits", "unclean"]
        ])
      },
      details("auth-rate-limit", { turns: 61, costMicros: 3_180_000, lastPrompt: "now the tests" }),
      details("rate-limit-sqlite", { forkedAfter: 1 })
    )
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
  it("asks for more of the sessions in sight, once, and not for what is stale", () => {
    const asked = picking().intents.filter(({ _tag }) => _tag === "DetailSessions")
    assert.deepStrictEqual<unknown>(asked, [
      { _tag: "DetailSessions", sessions: [sessions[2], sessions[1], sessions[0]] }
    ])
    const chat = picking()
    chat.intents.length = 0
    chat.tell({ _tag: "Resize", columns: 80, rows: 10 }, details("gateway-limits", { modified: "before", turns: 99 }))
    assert.notInclude(chat.screen(), "99t")
    assert.deepStrictEqual(chat.intents, [])
    const many = Array.from({ length: 50 }, (_, i) => summary(`s${i}`, {}))
    chat.tell({ _tag: "Sessions", all: true, sessions: many, works: new Map() })
    const inSight = () => chat.intents.flatMap((each) => (each._tag === "DetailSessions" ? each.sessions : []))
    assert.isAtMost(inSight().length, 10)
    chat.press("ctrl+end")
    assert.include(
      inSight().map(({ path }) => path),
      many[49]!.path
    )
  })
  it("opens a session at its tree, and in the web viewer; what came of that is told here", () => {
    const chat = picking().press("down", "ctrl+w")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), {
      _tag: "OpenViewer",
      path: "rate-limit-sqlite",
      entry: null
    })
    chat.tell({ _tag: "Told", notice: { kind: "error", text: "the viewer could not be started" } })
    assert.include(chat.lines().at(-1), "the viewer could not be started")
    assert.include(chat.press("up").lines().at(-1), "^W web")
    chat.press("ctrl+t")
    assert.deepStrictEqual<unknown>(chat.intents.at(-1), { _tag: "OpenSession", path: "auth-rate-limit", tree: true })
    assert.strictEqual(chat.app.views.length, 0)
    assert.include(chat.tell({ _tag: "TreeAsked" }).screen(), "TREE")
  })
  it.each([40, 63, 64, 100])("shows name, age and status at %i columns", (columns) => {
    const shown = picture(picking(columns, 12))
    assert.match(shown, /^›○ auth-rate.* 61t.* 2m.*working/m)
    assert.match(shown, /^ ○ gateway.* 6d.*unclean/m)
    assert.notMatch(shown, / … /)
    assert.include(picking(columns, 12).type("auth").lines()[0], "> auth")
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
    chatAt(columns, rows).press("ctrl+r").tell({ _tag: "Prompts", query: "", scope: "all", prompts, total: 18_220 })

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
