/** The viewer as a person meets it: in a browser, over the store of the tests. */
import { appendFileSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { forked, Script, showcase, TURNS } from "./store.ts"
import { chromiumPath, hashOf, type Running, start } from "./support.ts"

const LONG = "10000000-0000-7000-8000-000000010000"
const REWINDS = "80000000-0000-7000-8000-000000000080"
const HOSTILE = "bad00000-0000-7000-8000-00000000bad0"
const CORRUPT = "c0220000-0000-7000-8000-00000000c022"
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

if (chromiumPath === undefined)
  process.stderr.write("\n!! chromium is missing: the viewer's browser tests are SKIPPED\n\n")

describe.skipIf(chromiumPath === undefined)("in a browser", () => {
  let viewer: Running
  let browser: Browser
  beforeAll(async () => {
    ;[viewer, browser] = await Promise.all([
      start(),
      chromium.launch({ executablePath: chromiumPath!, args: ["--no-sandbox"] })
    ])
  })
  afterAll(async () => {
    await browser.close()
    await viewer.stop()
  })

  /** Opens a page, and tells afterwards what went wrong in it. */
  const visit = async (path: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: "en-US",
      reducedMotion: "reduce",
      ...options
    })
    const page = await context.newPage()
    const errors: Array<string> = []
    const elsewhere: Array<string> = []
    page.on("pageerror", ({ message }) => errors.push(message))
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (404|403)/.test(message.text())) errors.push(message.text())
    })
    page.on("request", (request) => {
      if (!request.url().startsWith(viewer.url) && !request.url().startsWith("data:")) elsewhere.push(request.url())
    })
    page.on("dialog", (dialog) => {
      errors.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.goto(`${viewer.url}${path}`)
    const leave = async () => {
      await context.close()
      assert.deepStrictEqual(errors, [])
      assert.deepStrictEqual(elsewhere, [])
    }
    return { page, leave, context }
  }

  const settled = async (page: Page) => {
    await page.locator(".entry:not(.waiting)").first().waitFor()
    await page.waitForFunction(() => document.querySelector(".entry.waiting") === null)
  }
  const textOf = async (page: Page, selector: string) => (await page.locator(selector).allTextContents()).join("\n")

  it("1: all sessions are listed by project; words in them are found, and stay in the address", async () => {
    const { page, leave } = await visit("/")
    await page.getByText("47 sessions").waitFor()
    assert.strictEqual(await page.locator(".projects li").count(), 5)
    await page.getByRole("searchbox").fill("折叠")
    await page.getByText("2 of 47 sessions").waitFor()
    assert.strictEqual(await page.locator(".session-row").count(), 2)
    assert.strictEqual(new URL(page.url()).searchParams.get("q"), "折叠")
    await page.reload()
    await page.getByText("2 of 47 sessions").waitFor()
    await page.getByRole("searchbox").fill("no such words anywhere")
    await page.getByText("Nothing matches").waitFor()
    await page.getByRole("button", { name: "Clear filters" }).click()
    await page.locator(".projects button", { hasText: "gateway" }).click()
    await page.getByText("18 of 47 sessions").waitFor()
    await page.goBack()
    await page.getByText("47 sessions", { exact: true }).waitFor()
    await leave()
  })

  it("2: eighty rewinds leave every row of the tree its words, and the page no wider than the screen", async () => {
    const { page, leave } = await visit(`/s/${REWINDS}`, { viewport: { width: 1024, height: 768 } })
    await settled(page)
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".tree-text")].every((text) => text.textContent !== "…")
    )
    const rows = await page.locator(".tree-row[role=treeitem]").evaluateAll((all) =>
      all.map((row) => {
        const text = row.querySelector<HTMLElement>(".tree-text")!
        const canvas = document.createElement("canvas").getContext("2d")!
        canvas.font = getComputedStyle(text).font
        const fits = [...(text.textContent ?? "")].findIndex(
          (_, at, all) => canvas.measureText(all.slice(0, at + 1).join("")).width > text.clientWidth
        )
        return {
          fits: fits === -1 ? 99 : fits,
          gutter: row.querySelector(".knot")!.getBoundingClientRect().left - row.getBoundingClientRect().left
        }
      })
    )
    assert.isAbove(rows.length, 20)
    for (const { fits, gutter } of rows) {
      assert.isAtLeast(fits, 24)
      assert.isAtMost(gutter, 40)
    }
    assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth))
    await leave()
  })

  it("3: another branch changes what is below the fork and nothing above; Back undoes it; no file changes", async () => {
    const before = hashOf(viewer.home)
    const { page, leave } = await visit(`/s/${forked().id}`)
    await settled(page)
    assert.include(await textOf(page, ".item"), "the right answer")
    await page
      .locator(".item", { hasText: "first shared answer" })
      .evaluate((item) => item.setAttribute("data-kept", "yes"))
    await page.getByRole("button", { name: /^Previous branch/ }).click()
    await page.getByTestId("transcript").getByText("the end of the left way").waitFor()
    await settled(page)
    const words = await textOf(page, ".item")
    assert.notInclude(words, "the right answer")
    assert.strictEqual(await page.locator("[data-kept=yes]").count(), 1)
    const leaf = new URL(page.url()).searchParams.get("leaf")
    assert.isNotNull(leaf)
    await page.goBack()
    await page.getByTestId("transcript").getByText("the right answer").waitFor()
    assert.isNull(new URL(page.url()).searchParams.get("leaf"))
    assert.strictEqual(hashOf(viewer.home), before)
    await leave()
  })

  it("4: a link leads to its entry, on whatever branch; one that leads nowhere says so", async () => {
    const script = forked()
    const left = script.lines.find(({ message }) => JSON.stringify(message ?? "").includes("take the left way"))!
      .id as string
    const first = await visit(`/s/${script.id}?entry=${left}`)
    await first.page.locator(`[data-entry="${left}"] .entry-frame[data-selected]`).waitFor()
    await first.page.waitForFunction((id) => document.activeElement?.getAttribute("data-entry") === id, left)
    assert.include(await textOf(first.page, ".item"), "the end of the left way")
    await first.leave()
    const second = await visit(`/s/${LONG}?entry=${idOfTurn(17)}`)
    await second.page.getByText("prompt number 17 of").first().waitFor()
    const box = (await second.page.locator(`[data-entry="${idOfTurn(17)}"]`).boundingBox())!
    assert.isTrue(box.y >= 0 && box.y < 700, String(box.y))
    await second.leave()
    const third = await visit(`/s/${script.id}?entry=nonsense`)
    await third.page.getByText("That entry is not in this session").waitFor()
    await settled(third.page)
    await third.leave()
    const { page } = await visit("/s/no-such-session")
    await page.getByText("There is no such session").waitFor()
    await page.context().close()
  })

  /** The first entry is its name, so prompts are every second line after that. */
  const idOfTurn = (turn: number): string => {
    const script = new Script(LONG, "")
    let id = script.add("session_info", {})
    for (let n = 0; n < 2 * turn - 1; n++) id = script.add("message", {})
    return id
  }

  it("5: ten thousand turns open at once, stay few in the page, and are found to both ends", async () => {
    const { page, leave } = await visit("/")
    await page.getByText("47 sessions").waitFor()
    const opened = async () => {
      const begun = Date.now()
      await page.goto(`${viewer.url}/s/${LONG}`)
      await page.getByTestId("transcript").getByText("the needle-last is here").waitFor()
      return Date.now() - begun
    }
    // Other work on the machine makes one of several slow, not all of them.
    const times = [await opened(), await opened(), await opened()]
    assert.isBelow(Math.min(...times), 1500)
    const nodes = () => page.evaluate(() => document.querySelectorAll("*").length)
    const most = [await nodes()]
    const transcript = page.getByTestId("transcript")
    for (const place of [0, 0.25, 0.5, 0.75, 1]) {
      await transcript.evaluate((element, place) => {
        element.scrollTop = place * element.scrollHeight
      }, place)
      await page.waitForFunction(
        () => document.querySelector(".entry.waiting") === null && document.querySelector(".entry") !== null
      )
      most.push(await nodes())
    }
    assert.isBelow(Math.max(...most), 3000)
    const find = page.getByPlaceholder("Find in this session")
    await find.fill("needle-first")
    await page.getByText(/of 1$/).waitFor()
    await find.press("Enter")
    await page.locator(".entry-frame[data-selected]", { hasText: "the needle-first" }).waitFor()
    await find.fill("needle-last")
    await page.waitForFunction(() => document.querySelector(".find-count")?.textContent === "0 of 1")
    await find.press("Enter")
    await page.locator(".entry-frame[data-selected]", { hasText: "the needle-last" }).waitFor()
    await find.fill(`number ${TURNS / 2} `)
    await leave()
  })

  it("7: what is appended appears, half lines and half characters when they are whole; the reader is not moved", async () => {
    const script = new Script("11fe0000-0000-7000-8000-0000000011fe", "/home/ada/novel", Date.UTC(2026, 1, 1))
    for (let n = 0; n < 40; n++) script.turn(`question ${n}`, `answer ${n}`)
    const file = viewer.store.fileOf(script)
    appendFileSync(file, script.text)
    const { page, leave } = await visit(`/s/${script.id}`)
    await page.getByTestId("transcript").getByText("answer 39").waitFor()
    await settled(page)
    const transcript = page.getByTestId("transcript")
    const lines = script.lines.length
    script.user("appended while reading")
    script.reply("an answer while reading")
    script.user("第三个：分成两半的行")
    const [one, two, three] = script.lines.slice(lines).map((line) => `${JSON.stringify(line)}\n`)
    // At the end the page follows.
    appendFileSync(file, one!)
    await transcript.getByText("appended while reading").waitFor()
    assert.isBelow(await transcript.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight), 90)
    // Further up it does not.
    await transcript.evaluate((element) => {
      element.scrollTop = element.scrollHeight / 3
    })
    await settled(page)
    await page.waitForTimeout(100)
    const top = await transcript.evaluate((element) => element.scrollTop)
    const bytes = Buffer.from(two! + three!)
    const cut = Buffer.from(two!).length + Buffer.from(three!).indexOf(Buffer.from("个")) + 1
    appendFileSync(file, bytes.subarray(0, cut))
    await page.getByRole("button", { name: "1 new ↓" }).waitFor()
    appendFileSync(file, bytes.subarray(cut))
    await page.getByRole("button", { name: "2 new ↓" }).waitFor()
    assert.isAtMost(Math.abs((await transcript.evaluate((element) => element.scrollTop)) - top), 2)
    await page.getByRole("button", { name: "2 new ↓" }).click()
    await page.locator(".item", { hasText: "第三个：分成两半的行" }).waitFor()
    await leave()
    rmSync(file)
  })

  it("8: nothing that a session holds runs, fetches or is followed", async () => {
    for (const path of [`/s/${HOSTILE}`, `/s/${HOSTILE}?f=all`, "/?q=hostile"]) {
      const { page, leave } = await visit(path)
      await page.waitForTimeout(300)
      for (let round = 0; round < 6; round++) {
        await page.evaluate(() => {
          const folded = ".tool-head[aria-expanded=false], .summary-bar[aria-expanded=false], .tree-row .fold"
          for (const button of document.querySelectorAll<HTMLElement>(folded)) button.click()
          document.querySelector(".transcript")?.scrollBy(0, -600)
        })
        await page.waitForTimeout(60)
      }
      if (path.startsWith("/s/")) await page.keyboard.press("i")
      const links = await page.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""))
      for (const link of links) assert.match(link, /^(\/|#|https?:|mailto:)/)
      assert.isUndefined(await page.evaluate(() => (window as { __xss?: unknown }).__xss))
      assert.strictEqual(
        await page.locator("main :is(iframe, object, embed, form, video, svg script, img:not(.picture))").count(),
        0
      )
      assert.notInclude(await page.evaluate(() => document.body.innerText), "\u202e")
      await leave()
    }
    assert.deepStrictEqual(viewer.canary.hits, [])
  })

  it("10: with keys alone a session is reached, its tree walked and folded, a branch switched", async () => {
    const { page, leave } = await visit("/")
    await page.getByText("47 sessions").waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("auth-rate")
    await page.getByText("1 of 47 sessions").waitFor()
    await page.keyboard.press("Tab")
    for (
      let n = 0;
      n < 12 && !(await page.evaluate(() => document.activeElement?.classList.contains("session-row")));
      n++
    ) {
      await page.keyboard.press("Tab")
    }
    await page.keyboard.press("Enter")
    await settled(page)
    await page.keyboard.press("t")
    const focused = () => page.evaluate(() => document.activeElement?.querySelector(".tree-text")?.textContent ?? "")
    await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "treeitem")
    await page.keyboard.press("Home")
    await page.waitForFunction(() => document.activeElement?.textContent?.includes("Add rate limiting"))
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-expanded") === "false")
    assert.include(await focused(), "SQLite")
    const rows = await page.locator("[role=treeitem]").count()
    await page.keyboard.press("ArrowRight")
    await page.waitForFunction((rows) => document.querySelectorAll("[role=treeitem]").length > rows, rows)
    await page.keyboard.press("ArrowLeft")
    await page.waitForFunction((rows) => document.querySelectorAll("[role=treeitem]").length === rows, rows)
    await page.keyboard.press("Enter")
    await page.getByTestId("transcript").getByText("It locks the table under load").waitFor()
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await page.keyboard.press("]")
    await page.locator(".transcript").getByText("is enough for one process").waitFor()
    await page.keyboard.press("?")
    await page.getByRole("dialog").waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("ten thousand")
    await page.locator("[role=option]", { hasText: "ten thousand turns" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(`**/s/${LONG}`)
    await leave()
  })

  const serious = async (page: Page) => {
    // The policy of the page lets in no script but its own; this one is evaluated from outside.
    await page.evaluate(AXE)
    const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as {
      violations: ReadonlyArray<{
        id: string
        impact: string
        nodes: ReadonlyArray<{ html: string; failureSummary: string }>
      }>
    }
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary.slice(0, 200)}`)
  }

  it("10: people who cannot see or use a mouse find nothing serious in their way, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const path of ["/", `/s/${showcase().id}`, `/s/${CORRUPT}`]) {
        const { page, leave } = await visit(path, { colorScheme })
        await page.locator(".session-row, .entry:not(.waiting)").first().waitFor()
        await page.waitForTimeout(150)
        if (path !== "/") await page.keyboard.press("i")
        assert.deepStrictEqual(await serious(page), [], `${path} ${colorScheme}`)
        await leave()
      }
    }
  })

  it("10: at twice the size the page is still used without scrolling sideways", async () => {
    for (const path of ["/", `/s/${showcase().id}`]) {
      const { page, leave } = await visit(path, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 })
      await page.locator(".session-row, .entry:not(.waiting)").first().waitFor()
      assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth))
      await leave()
    }
  })

  it("11: on a telephone, dark and in Chinese, the tree is a drawer and nothing is left untranslated", async () => {
    const options = { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "zh-CN" } as const
    const { page, leave } = await visit(`/s/${showcase().id}`, options)
    await settled(page)
    assert.strictEqual(await page.evaluate(() => document.documentElement.lang), "zh-CN")
    assert.strictEqual(await page.locator(".tree-side").isVisible(), false)
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.isBelow(Math.max(...dark.match(/\d+/g)!.map(Number)), 60)
    await page.getByRole("button", { name: "显示树" }).click()
    await page.locator(".tree-side[data-shown]").waitFor()
    assert.strictEqual(await page.locator(".tree-side").isVisible(), true)
    await page.keyboard.press("Escape")
    assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth))
    const overlaps = await page.locator(".bar > :not(.skip)").evaluateAll((all) => {
      const boxes = all.map((each) => each.getBoundingClientRect()).filter(({ width }) => width > 0)
      return boxes.filter((box, at) =>
        boxes.some((other, place) => place > at && other.left < box.right - 1 && box.left < other.right - 1)
      ).length
    })
    assert.strictEqual(overlaps, 0)
    const wide = await page
      .locator(".entry")
      .evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().right > window.innerWidth).length)
    assert.strictEqual(wide, 0)
    const time = page.locator("time").first()
    assert.match((await time.getAttribute("title")) ?? "", /年/)
    const interface_ = await textOf(page, ".speaker, .tree-filters button, .chip.error, .summary-bar")
    assert.notMatch(interface_, /[A-Z][a-z]{3,}/)
    await leave()
  })

  it("12: a broken file is shown as far as it goes, with a badge that tells every problem", async () => {
    const { page, leave } = await visit(`/s/${CORRUPT}`)
    await settled(page)
    await page.getByText("the end of a broken file").first().waitFor()
    const badge = page.getByRole("button", { name: /unreadable lines/ })
    await badge.click()
    const told = await page.getByRole("dialog").innerText()
    for (const kind of ["not-json", "not-object", "duplicate-id", "unknown-parent", "cycle", "torn-tail"])
      assert.include(told, kind)
    assert.include(told, "line 7")
    await page.keyboard.press("Escape")
    await page.getByText("Unknown entry “hologram”").waitFor()
    await page.getByRole("button", { name: /^Show all 5,000,015/ }).waitFor()
    await page.goto(`${viewer.url}/s/${forked().id}`)
    await settled(page)
    await leave()
  })
})
