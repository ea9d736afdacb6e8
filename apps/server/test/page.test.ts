/** The page at `/`, in a real browser: two windows on one session. Without a browser on the machine there is nothing to see. */
import { existsSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Browser, chromium, type Page } from "playwright-core"
import { type Served, served, TOKEN } from "./support.ts"

const executable = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
].find(existsSync)

const browser = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath: executable!, args: ["--no-sandbox"] })),
  (opened) => Effect.promise(() => opened.close())
)

const test = (name: string, check: (server: Served, browser: Browser) => Promise<void>) =>
  it.live.skipIf(executable === undefined)(name, () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* served()
        const opened = yield* browser
        yield* Effect.promise(() => check(server, opened))
      })
    )
  )

/** A window on a session; whatever its console complains of is kept. */
const look = async (browser: Browser, server: Served, fragment: string) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const complaints: Array<string> = []
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
  page.on("pageerror", (error) => complaints.push(error.message))
  const strangers: Array<string> = []
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith("data:")) strangers.push(request.url())
  })
  await page.goto(`${server.url}${fragment}`)
  return { page, complaints, strangers }
}

const cards = (page: Page, kind = "") => page.locator(`#canvas .node${kind}`)
const menu = async (page: Page, id: string, item: string) => {
  await page.locator(`#canvas .node[data-id="${id}"] .dots`).click()
  await page.getByRole("menuitem", { name: item }).click()
}

describe("the page", () => {
  test("shows a tree that grows, is muted, pruned and grafted, live in a second window", async (server, browser) => {
    const chat = await server.create("in the browser")
    const one = await look(browser, server, `#token=${TOKEN}&session=${chat.id}`)
    const two = await look(browser, server, `#token=${TOKEN}&session=${chat.id}`)
    for (const { page } of [one, two]) {
      await page.waitForSelector("#live[data-is=live]")
      assert.notInclude(page.url(), TOKEN, "the token leaves the address at once")
      assert.notInclude(await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])"), TOKEN)
    }
    await one.page.fill("#prompt", "!sprout slow 15\n!sprout say A tree grows one ring at a time.")
    await one.page.selectOption("#samples", "3")
    await one.page.click("#send")
    await two.page.locator(".node.generating").nth(2).waitFor()
    const pieces = await two.page.evaluate(
      "[...document.querySelectorAll('.node.generating .text')].map((text) => text.textContent)"
    )
    assert.lengthOf(pieces as Array<string>, 3)
    await two.page.locator(".node.assistant.complete").nth(2).waitFor()
    const [prompt, first, second] = [
      ...(await cards(two.page).evaluateAll((found) =>
        found.map((card) => (card as unknown as { dataset: { id: string } }).dataset.id)
      ))
    ] as [string, string, string]

    await menu(one.page, first, "Disable")
    await two.page.waitForSelector(`.node.off[data-id="${first}"]`)

    await menu(one.page, second, "Set as trunk")
    await two.page.waitForSelector(`.node.here[data-id="${second}"]`)
    await one.page.fill("#prompt", "and then?")
    await one.page.selectOption("#samples", "1")
    await one.page.click("#send")
    await two.page.locator(".node.complete").nth(5).waitFor()

    await menu(one.page, second, "Prune below")
    await two.page.waitForSelector("#stash .fragment")
    assert.strictEqual(await cards(two.page).count(), 4)
    const fragment = two.page.locator("#stash .fragment")
    await fragment.dragTo(two.page.locator(`#canvas .node[data-id="${prompt}"]`))
    await one.page.locator("#canvas .node").nth(5).waitFor()
    const tree = await chat.tree()
    assert.lengthOf(tree.nodes[prompt]!.childrenIds, 4)
    assert.lengthOf(tree.stash, 1)

    for (const { page, complaints, strangers } of [one, two]) {
      assert.deepStrictEqual(complaints, [])
      assert.deepStrictEqual(strangers, [])
      const shot = process.env.GROVE_SCREENSHOTS
      if (shot !== undefined) await page.waitForTimeout(1500)
      if (shot !== undefined) await page.screenshot({ path: `${shot}/${page === one.page ? "one" : "two"}.png` })
    }
  })

  test("asks for the token where it has none, shows words as words", async (server, browser) => {
    const chat = await server.create("<img src=x onerror=alert(1)>")
    await chat.say("<script>window.__xss = 1</script><img src=http://canary.invalid/x>", null, { follow: true })
    const { page, complaints, strangers } = await look(browser, server, `#session=${chat.id}`)
    await page.fill("#token", "wrong")
    await page.keyboard.press("Enter")
    await page.waitForSelector("#door[open]")
    await page.fill("#token", TOKEN)
    await page.keyboard.press("Enter")
    await page.waitForSelector(".node.user")
    assert.include(await page.locator(".node.user .text").textContent(), "<script>")
    assert.include(await page.locator("#title").textContent(), "<img")
    assert.isUndefined(await page.evaluate("window.__xss"))
    assert.deepStrictEqual(strangers, [])
    assert.deepStrictEqual(
      complaints.filter((text) => !text.includes("401")),
      []
    )
  })
})
