/// <reference lib="dom" />
/** The exported page in a real browser: what was said stays text, nothing is asked of any network, and reading works. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Browser, chromium, type Page } from "playwright-core"
import { payloads } from "./payloads.ts"
import { entry, exported, fixture, reply, result, sessionOf, user } from "./support.ts"

const program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync)
if (program === undefined) {
  const problem = "Chromium is not installed; the exported page was not looked at in a browser"
  if (process.env.CI === "true") throw new Error(problem)
  process.stderr.write(`SKIPPED: ${problem}\n`)
}

const folder = mkdtempSync(join(tmpdir(), "grove-page-"))
let browser: Browser | undefined
beforeAll(async () => {
  if (program === undefined) return
  browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] })
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Opened {
  readonly page: Page
  /** What the page asked for, said or complained about. */
  readonly requests: Array<string>
  readonly complaints: Array<string>
}

let made = 0
const open = async (html: string, hash = "", width = 1280): Promise<Opened> => {
  const file = join(folder, `${++made}.html`)
  writeFileSync(file, html)
  const context = await browser!.newContext({ viewport: { width, height: 800 } })
  const page = await context.newPage()
  const requests: Array<string> = []
  const complaints: Array<string> = []
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) requests.push(request.url())
  })
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("console", (message) => complaints.push(message.text()))
  page.on("pageerror", (error) => complaints.push(String(error)))
  await page.goto(`${pathToFileURL(file).href}${hash}`)
  await page.waitForSelector(".entry, .empty")
  return { page, requests, complaints }
}

const seen = (page: Page) => page.evaluate(() => document.getElementById("shell")!.innerText)
const globalIsSet = (page: Page) => page.evaluate(() => "__xss" in window)

describe.skipIf(program === undefined)("the exported page", () => {
  it("runs, loads and asks for nothing of what was said, wherever it stands", async () => {
    const image = { type: "image", mimeType: 'image/svg+xml"><script>window.__xss=1</script>', data: "PHN2Zz4=" }
    let parent: string | null = null
    const entries = payloads.flatMap((payload, i) => {
      const ids = ["u", "a", "r", "c", "s", "l", "x"].map((letter) => `${letter}${i}`)
      const above = parent
      parent = ids[6]!
      return [
        user(ids[0]!, above, payload),
        reply(
          ids[1]!,
          ids[0]!,
          [
            { type: "thinking", thinking: payload },
            { type: "text", text: payload },
            {
              type: "toolCall",
              id: payload,
              name: payload,
              arguments: { [payload]: payload, oldText: payload, newText: payload }
            },
            image,
            { type: payload, data: payload }
          ],
          { model: payload, provider: payload, errorMessage: payload, stopReason: "error" }
        ),
        result(ids[2]!, ids[1]!, payload, [{ type: "text", text: payload }, image]),
        entry("message", ids[3]!, ids[2]!, { message: { role: "bashExecution", command: payload, output: payload } }),
        entry("compaction", ids[4]!, ids[3]!, { summary: payload, tokensBefore: 1 }),
        entry("label", ids[5]!, ids[4]!, { targetId: ids[0], label: payload }),
        entry(payload, ids[6]!, ids[5]!, { anything: payload })
      ]
    })
    const session = sessionOf(...entries, entry("session_info", "n", parent, { name: payloads.join(" ") }))
    const { page, requests, complaints } = await open(await exported(session, "html"))
    await page.keyboard.press("o")
    await page.click("text=all")
    for (let at = 0; at < payloads.length; at += 2) {
      await page.evaluate((id) => {
        location.hash = `#${id}`
      }, `u${at}`)
      await page.waitForFunction((id) => document.querySelector(`.current .anchor[href="#${id}"]`) !== null, `u${at}`)
    }
    await page.fill("input[type=search]", "script")
    await page.waitForFunction(() => /found$/.test(document.querySelector(".status")!.textContent!))
    assert.isFalse(await globalIsSet(page))
    assert.deepStrictEqual(requests, [])
    assert.deepStrictEqual(complaints, [])
    const links = await page.evaluate(() => [...document.querySelectorAll("a")].map((link) => link.protocol))
    assert.deepStrictEqual(
      [...new Set(links)].filter((protocol) => !/^(?:https?|mailto|file):$/.test(protocol)),
      []
    )
    assert.strictEqual(
      await page.evaluate(
        () => document.querySelectorAll("#shell script, #shell iframe, #shell object, #shell style").length
      ),
      0
    )
  })

  it("shows what was said where the session stands, and the other branches at their fork", async () => {
    const session = sessionOf(
      user("a", null, "plan a trip"),
      reply("b", "a", "where to?"),
      user("c", "b", "to Rome"),
      reply("d", "c", "Rome is **warm**"),
      user("e", "b", "to Oslo"),
      reply("f", "e", "Oslo is cold")
    )
    const { page, complaints } = await open(await exported(session, "html"))
    assert.include(await seen(page), "Oslo is cold")
    assert.notInclude(await page.innerText("#transcript"), "Rome is warm")
    await page.click("button[aria-label='previous branch']")
    assert.include(await page.innerText("#transcript"), "Rome is warm")
    assert.strictEqual(new URL(page.url()).hash, "#c")
    await page.keyboard.press("]")
    assert.include(await page.innerText("#transcript"), "Oslo is cold")
    await page.goBack()
    assert.include(await page.innerText("#transcript"), "Rome is warm")
    assert.deepStrictEqual(complaints, [])
  })

  it("opens at the entry that a link names", async () => {
    const entries = Array.from({ length: 3000 }, (_, i) =>
      user(`u${i}`, i === 0 ? null : `u${i - 1}`, `turn ${i} `.repeat(i % 40))
    )
    const { page } = await open(await exported(sessionOf(...entries), "html"), "#u1500")
    const top = await page.evaluate(() => document.querySelector(".current")!.getBoundingClientRect().top)
    const box = await page.evaluate(() => document.getElementById("transcript")!.getBoundingClientRect().top)
    assert.isBelow(Math.abs(top - box - 12), 3)
    assert.strictEqual(
      await page.evaluate(() => document.querySelector(".current .anchor")!.getAttribute("href")),
      "#u1500"
    )
    assert.isBelow(await page.evaluate(() => document.querySelectorAll("#shell *").length), 3000)
  })

  it("is read with the keyboard alone: search, go there, fold and filter", async () => {
    const { page } = await open(await exported(fixture("pi/branches.jsonl"), "html"))
    await page.keyboard.press("/")
    await page.keyboard.type("oslo")
    await page.waitForFunction(() => /[1-9]\d* found$/.test(document.querySelector(".status")!.textContent!))
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await page.waitForFunction(() => /oslo/i.test(document.querySelector<HTMLElement>(".current")?.innerText ?? ""))
    assert.isAtLeast(await page.locator(".current mark").count(), 1)
    await page.keyboard.press("Escape")
    await page.keyboard.press("f")
    assert.strictEqual(await page.innerText("button[aria-pressed=true]"), "user")
    await page.keyboard.press("?")
    assert.isTrue(await page.isVisible("dialog"))
  })

  it("has its tree in a drawer where there is little room, and nothing wider than the screen", async () => {
    const { page } = await open(await exported(fixture("pi/linear.jsonl"), "html"), "", 390)
    assert.isFalse(await page.isVisible("#tree"))
    await page.click("button[aria-label=Tree]")
    await page.waitForFunction(() => document.getElementById("tree")!.getBoundingClientRect().left === 0)
    assert.isTrue(await page.isVisible("#tree"))
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), 390)
  })

  it("says of an empty session that it is one", async () => {
    const { page, complaints } = await open(await exported(sessionOf(), "html"))
    assert.include(await seen(page), "This session is empty")
    assert.deepStrictEqual(complaints, [])
  })
})
