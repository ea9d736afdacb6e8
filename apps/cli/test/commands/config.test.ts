/** `grove config`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { assertRefused, onlyValue, program, run } from "../support.ts"

const folder = mkdtempSync(join(tmpdir(), "grove-config-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const inHome = (home: string, words: ReadonlyArray<string>) =>
  run(process.execPath, [program, "config", ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, GROVE_HOME: home, LANG: "C.UTF-8" }
  })

/** A home with these settings. */
const configured = (text: string) => {
  const home = mkdtempSync(join(folder, "home-"))
  const file = join(home, "config.json")
  mkdirSync(home, { recursive: true })
  writeFileSync(file, text)
  const config = (...words: ReadonlyArray<string>) => inHome(home, words)
  return {
    config,
    json: async (...words: ReadonlyArray<string>) => onlyValue<unknown>((await config(...words, "--json")).stdout),
    content: () => readFileSync(file, "utf8")
  }
}

describe("config", () => {
  it("sets, shows and forgets a value, and leaves alone what it does not know", async () => {
    const { config, json, content } = configured('{"mine":{"a":1},"compaction":{"enabled":true,"later":2}}')
    assert.strictEqual((await config("set", "compaction.enabled", "false")).code, 0)
    assert.strictEqual((await config("set", "model", "grove/sprout")).stdout, "model = grove/sprout\n")
    assert.strictEqual((await config("get", "model")).stdout, "grove/sprout\n")
    assert.strictEqual(await json("get", "compaction.enabled"), false)
    assert.strictEqual((await config("set", "model", "--unset")).code, 0)
    assert.strictEqual(await json("get", "model"), null)
    assert.deepStrictEqual(JSON.parse(content()), { mine: { a: 1 }, compaction: { enabled: false, later: 2 } })
  })

  it("lists every setting, null where nothing is set", async () => {
    const listed = (await configured('{"theme":"dark"}').json("list")) as Record<string, unknown>
    assert.strictEqual(listed.theme, "dark")
    assert.strictEqual(listed["compaction.trigger"], null)
  })

  it("makes the home and its file for this user alone", async () => {
    const home = join(folder, "new/home")
    assert.strictEqual((await inHome(home, ["set", "ascii", "true"])).code, 0)
    assert.strictEqual(statSync(home).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(home, "config.json")).mode & 0o777, 0o600)
  })

  it("refuses what would not be as it should be, and changes nothing", async () => {
    const { config, content } = configured('{"theme":"dark"}')
    assertRefused(await config("set", "theme", "blue"), 1, /theme cannot be "blue"/)
    assertRefused(await config("set", "compaction", "1"), 1, /no setting "compaction"/)
    assertRefused(await config("get", "them"), 1, /did you mean theme\?/)
    assertRefused(await config("get", "model"), 1, /model is not set/)
    assert.strictEqual(content(), '{"theme":"dark"}')
  })

  it("says what is wrong with the file instead of replacing it", async () => {
    const { config, content } = configured('{"theme":')
    assertRefused(await config("set", "theme", "dark"), 1, /could not be read.*mend or remove it/)
    assert.strictEqual(content(), '{"theme":')
  })

  it.each([
    [[], /needs <get\|set\|list>/],
    [["put"], /get, set or list/],
    [["get"], /need <key>/],
    [["set", "theme"], /needs <value>/],
    [["set", "theme", "dark", "--unset"], /no value/],
    [["list", "theme"], /no more words/],
    [["get", "theme", "--unset"], /--unset is for config set/]
  ] as const)("config %j is wrong usage", async (words, says) => {
    assertRefused(await inHome(folder, words), 2, says)
  })
})
