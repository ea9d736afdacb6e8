/** Pages about many sessions, and about branches: over HTTP, and in a browser. */
import { rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PromptHistory } from "@grove/core"
import { Context, Effect, Layer, Scope } from "effect"
import { type Browser, chromium } from "playwright-core"
import type * as Wire from "../src/wire/Wire.ts"
import { forked, Script, showcase } from "./store.ts"
import { chromiumPath, hashOf, type Running, start } from "./support.ts"

const FORKED = forked()
const SHOWCASE = showcase()
const PROMPT = "used twice, in two folders"

const withPrompts = async () => {
  const scope = Effect.runSync(Scope.make())
  const services = await Effect.runPromise(Layer.buildWithScope(PromptHistory.layerMemory, scope))
  const history = Context.get(services, PromptHistory)
  const use = { author: "user", entry: null, session: SHOWCASE.id }
  await Effect.runPromise(
    history.addAll([
      { ...use, prompt: PROMPT, at: 1000, cwd: "/home/ada/gateway" },
      { ...use, prompt: "another one", at: 2000, cwd: "/home/ada/gateway" },
      { ...use, prompt: PROMPT, at: 3000, cwd: "/home/ada/novel" }
    ])
  )
  return history
}

let viewer: Running
let before: string
beforeAll(async () => {
  const works = Effect.succeed(new Map([[FORKED.id, "unclean"] as const]))
  viewer = await start({ prompts: await withPrompts(), works })
  before = hashOf(viewer.home)
})
afterAll(async () => {
  assert.strictEqual(hashOf(viewer.home), before, "no session was written")
  await viewer.stop()
})

const ask = async <A>(path: string): Promise<A> => {
  const response = await fetch(`${viewer.url}${path}`)
  assert.strictEqual(response.status, 200, path)
  return (await response.json()) as A
}

describe("over HTTP", () => {
  it("what was said is found by session, three hits of each, with marks, roles and tools", async () => {
    const found = await ask<Wire.SearchResult>("/api/search?q=redis")
    const [group] = found.groups
    assert.deepStrictEqual([found.sessions, found.hits, group?.key, group?.hits.length], [1, 6, SHOWCASE.id, 3])
    const [start, end] = group!.hits[0]!.marks[0]!
    assert.strictEqual(group!.hits[0]!.snippet.slice(start, end), "Redis")
    const tools = await ask<Wire.SearchResult>("/api/search?q=ECONNREFUSED&role=tool")
    assert.deepStrictEqual(
      tools.groups.flatMap(({ hits }) => hits.map((hit) => [hit.role, ...hit.tools])),
      [["tool", "bash"]]
    )
    assert.strictEqual((await ask<Wire.SearchResult>("/api/search?q=")).groups.length, 0)
  })

  it("a folder without a hit tells how many there are elsewhere", async () => {
    const found = await ask<Wire.SearchResult>(`/api/search?q=redis&scope=${encodeURIComponent("/home/ada/novel")}`)
    assert.deepStrictEqual([found.hits, found.elsewhere], [0, 6])
  })

  it("prompts come with their uses and the session of the last one; a narrow scope tells of the wider", async () => {
    const all = await ask<Wire.Prompts>("/api/prompts?q=twice")
    assert.deepStrictEqual(
      all.prompts.map(({ prompt, uses, cwd, key }) => [prompt, uses, cwd, key]),
      [[PROMPT, 2, "/home/ada/novel", SHOWCASE.id]]
    )
    const novel = await ask<Wire.Prompts>(`/api/prompts?q=another&cwd=${encodeURIComponent("/home/ada/novel")}`)
    assert.deepStrictEqual([novel.prompts.length, novel.elsewhere, novel.all], [0, 1, 2])
  })

  it("every grouping of the usage comes to the same sum, and days can be chosen", async () => {
    const all = await ask<Wire.Spending>("/api/usage")
    const sum = (rows: ReadonlyArray<Wire.UsageRow>) => rows.reduce((sum, row) => sum + row.knownMicros, 0)
    for (const by of ["model", "project", "session"] as const) assert.strictEqual(sum(all[by]), all.total.knownMicros)
    assert.isAbove(all.total.knownMicros - all.total.liveMicros, 0)
    const one = await ask<Wire.Spending>("/api/usage?from=2026-01-21&to=2026-01-21")
    assert.deepStrictEqual(
      one.day.map(({ key }) => key),
      ["2026-01-21"]
    )
    const none = await ask<Wire.Spending>("/api/usage?from=2030-01-01")
    assert.deepStrictEqual([none.day.length, none.isNothing], [0, false])
  })

  it("turns are those of the path, costs those of the tree, and models and labels all there are; no such session is left out", async () => {
    const [details, ...others] = await ask<ReadonlyArray<Wire.Details>>(`/api/details?key=${FORKED.id}&key=nothing`)
    assert.deepStrictEqual(others, [])
    // Three prompts on the right way, five answers in all.
    assert.deepStrictEqual(details, {
      key: FORKED.id,
      turns: 3,
      costMicros: 30_000,
      models: ["anthropic/claude-sonnet-4-5"],
      labels: []
    })
    const [labelled] = await ask<ReadonlyArray<Wire.Details>>(`/api/details?key=${SHOWCASE.id}`)
    assert.deepStrictEqual(labelled!.labels, ["plan-a"])
  })

  it("details are those of the file as it is now", async () => {
    const script = new Script("de7a1000-0000-7000-8000-0000000de7a1", "/home/ada/novel")
    const file = viewer.store.fileOf(script)
    const detailsOf = async () => (await ask<ReadonlyArray<Wire.Details>>(`/api/details?key=${script.id}`))[0]
    script.turn("a first prompt", "a first answer")
    writeFileSync(file, script.text)
    assert.deepInclude(await detailsOf(), { turns: 1, costMicros: 6000 })
    script.turn("a second prompt", "a second answer")
    writeFileSync(file, script.text)
    assert.deepInclude(await detailsOf(), { turns: 2, costMicros: 12_000 })
    rmSync(file)
    await ask("/api/sessions")
    assert.isUndefined(await detailsOf())
  })

  it("the list tells where a reply broke off", async () => {
    const { sessions } = await ask<Wire.Sessions>("/api/sessions")
    assert.deepStrictEqual(
      sessions.filter(({ work }) => work !== null).map(({ key, work }) => [key, work]),
      [[FORKED.id, "unclean"]]
    )
  })

  it("path A and path B without the tree are what the shared beginning cost", async () => {
    const ends = FORKED.lines.filter(({ id }) => !FORKED.lines.some(({ parentId }) => parentId === id)).slice(1)
    const [a, b] = ends.map(({ id }) => String(id))
    const path = `/api/s/${FORKED.id}`
    const compared = await ask<Wire.Compared>(`${path}/compare?a=${a}&b=${b}`)
    assert.deepStrictEqual([compared.sharedTurns, compared.a.turns, compared.b.turns], [2, 2, 1])
    const { tree } = await ask<Wire.Costs>(`${path}/usage?leaf=${a}`)
    const shared = compared.a.pathMicros! + compared.b.pathMicros! - tree.costMicros!
    assert.strictEqual(shared, compared.a.pathMicros! - compared.a.costMicros!)
    assert.isAbove(shared, 0)
    assert.strictEqual((await fetch(`${viewer.url}${path}/compare?a=${a}&b=nothing`)).status, 404)
  })
})

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] })
  })
  afterAll(() => browser.close())

  const visit = async (path: string) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-US" })
    const errors: Array<string> = []
    page.on("pageerror", ({ message }) => errors.push(message))
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text())
    })
    await page.goto(`${viewer.url}${path}`)
    const leave = async () => {
      await page.close()
      assert.deepStrictEqual(errors, [])
    }
    return { page, leave }
  }

  it("rows of the list tell turns and cost once they are read, and can be chosen by state, model and label", async () => {
    const { page, leave } = await visit("/?q=two+answers")
    const row = page.locator(".session-row")
    await row.getByText("$0.03").waitFor()
    assert.include((await row.textContent()) ?? "", "3 turns")
    await page.goto(`${viewer.url}/`)
    await page.getByText("47 sessions").waitFor()
    await page.getByLabel("Any status").selectOption("broken off")
    await page.getByText("1 of 47 sessions").waitFor()
    assert.strictEqual(await page.locator(".dot[data-status=unclean]").count(), 1)
    await page.getByLabel("Any status").selectOption("")
    await page.getByLabel("Any label").focus()
    await page.getByLabel("Any label").selectOption("plan-a")
    await page.getByText("1 of 47 sessions").waitFor()
    await page.getByText("auth-rate-limit").waitFor()
    assert.strictEqual(new URL(page.url()).searchParams.get("label"), "plan-a")
    await page.reload()
    await page.getByText("1 of 47 sessions").waitFor()
    await page.getByLabel("Any model").selectOption("anthropic/claude-sonnet-4-5")
    await page.getByText("1 of 47 sessions").waitFor()
    await leave()
  })

  it("a search leads to the entry, and is in the address", async () => {
    const { page, leave } = await visit("/search")
    await page.getByRole("searchbox").fill("41 passed")
    await page.getByText("1 match in 1 session").waitFor()
    assert.strictEqual(new URL(page.url()).searchParams.get("q"), "41 passed")
    await page.locator("[data-found]").first().click()
    await page.waitForURL(/\/s\/.+entry=/)
    await leave()
  })

  it("prompts say how often they were used, and how to delete one", async () => {
    const { page, leave } = await visit("/history")
    await page.getByText("2 prompts").waitFor()
    await page.getByText("×2").waitFor()
    await page.getByRole("button", { name: "How to delete it" }).first().click()
    await page.getByText(/grove history delete --id \d/).waitFor()
    await leave()
  })

  it("usage is drawn and told in tables", async () => {
    const { page, leave } = await visit("/usage?by=project")
    await page.getByRole("img", { name: "Spend per day" }).waitFor()
    await page.getByRole("rowheader", { name: "gateway" }).waitFor()
    await page.getByRole("button", { name: "Session", exact: true }).click()
    await page.getByRole("rowheader", { name: "auth-rate-limit" }).waitFor()
    await leave()
  })

  it("two branches stand side by side from their fork, and differ by words", async () => {
    const { page, leave } = await visit(`/s/${FORKED.id}/compare`)
    await page.getByText("2 turns in common").waitFor()
    await page.locator(".pair-side .entry.user").first().waitFor()
    assert.notInclude((await page.locator(".pairs").textContent()) ?? "", "shared")
    await page.locator(".pair").first().getByRole("button", { name: "Differences" }).click()
    assert.include(await page.locator(".text-diff del").allTextContents(), "right")
    await leave()
  })

  it("the graph shows every branch, folds by key and opens an entry", async () => {
    const { page, leave } = await visit(`/s/${SHOWCASE.id}/graph`)
    await page.locator(".segment").nth(3).waitFor()
    assert.strictEqual(await page.locator(".segment").count(), 4)
    await page.getByText("In memory first, then.").focus()
    await page.keyboard.press("Space")
    await page.locator(".segment[data-folded]").waitFor()
    await page.keyboard.press("ArrowLeft")
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("Add rate limiting"))
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/s\/[^/]+\?entry=/)
    await leave()
  })
})
