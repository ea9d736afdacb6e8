/** The commands that stand on SQLite: history, search, and what purge and doctor have to do with them. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import {
  assertInert,
  assertRefused,
  fileOf,
  header,
  type Json,
  onlyValue,
  program,
  type Ran,
  reply,
  run,
  user
} from "./support.ts"

const made: Array<string> = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const ID = "0195d1a0-0000-7000-8000-00000000cafe"
const SECRET = "hunter2verysecret"

const makeHome = () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-history-")))
  made.push(folder)
  const home = join(folder, "home")
  const session = join(home, "sessions/--home-ada--", `2026-01-01T00-00-00-000Z_${ID}.jsonl`)
  mkdirSync(dirname(session), { recursive: true })
  writeFileSync(
    session,
    fileOf(
      header({ id: ID }),
      user("u1", null, `修复会话树折叠的错误 ${SECRET}`),
      reply("a1", "u1", "it is folded now"),
      user("u2", "u1", "another way"),
      reply("a2", "u2", "folding instead")
    )
  )
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    GROVE_HOME: home,
    LANG: "C.UTF-8",
    COLUMNS: "80",
    TZ: "UTC"
  }
  const grove = (...args: ReadonlyArray<string>): Promise<Ran> =>
    run(process.execPath, [program, ...args], { cwd: folder, env, timeout: 20_000, killSignal: "SIGKILL" })
  const json = async <A = ReadonlyArray<Json>>(...args: ReadonlyArray<string>): Promise<A> => {
    const { code, stdout } = await grove(...args, "--json")
    assert.strictEqual(code, 0, args.join(" "))
    return onlyValue<A>(stdout)
  }
  const bytes = () =>
    Buffer.concat(
      readdirSync(home, { recursive: true, withFileTypes: true })
        .filter((item) => item.isFile())
        .map((item) => readFileSync(join(item.parentPath, item.name)))
    )
  return { folder, home, session, grove, json, bytes }
}

describe("grove history", () => {
  it("finds nothing, says why, and makes no file where nothing was ever kept", async () => {
    const { grove, home } = makeHome()
    const { code, stdout, stderr } = await grove("history", "x", "--json")
    assert.deepStrictEqual([code, stdout], [0, "[]\n"])
    assert.match(stderr, /history is empty/)
    assert.isFalse(existsSync(join(home, "history.db")))
  })

  it("adds, finds and tells in the shape that scripts know", async () => {
    const { grove, json, folder } = makeHome()
    assert.strictEqual((await grove("history", "add", "fix", "getUserById", "\u001b[2J")).code, 0)
    const [hit] = await json("history", "UserBy")
    const keys = ["id", "prompt", "uses", "firstUsed", "lastUsed", "cwd", "session", "entry"]
    assert.deepStrictEqual(Object.keys(hit!), keys)
    assert.deepStrictEqual(
      [hit!.prompt, hit!.uses, hit!.cwd, hit!.session],
      ["fix getUserById \u001b[2J", 1, folder, null]
    )
    assert.match(String(hit!.lastUsed), /^\d{4}-.*Z$/)
    const { stdout } = await grove("history")
    assertInert(stdout)
    assert.match(stdout, /fix getUserById/)
    const near = await grove("history", "getUserByIdd")
    assert.match(near.stderr, /come near/)
    assert.match(near.stdout, /getUserById/)
  })

  it("says which wider scope has how many", async () => {
    const { grove } = makeHome()
    await grove("history", "add", "elsewhere", "--cwd", "/other")
    const { code, stdout, stderr } = await grove("history", "elsewhere", "--scope", "cwd")
    assert.deepStrictEqual([code, stdout], [0, ""])
    assert.match(stderr, /no match in .*; 1 with --scope all/)
    assertRefused(await grove("history", "x", "--scope", "galaxy"), 2, /--scope is one of/)
    assertRefused(await grove("history", "x", "--limit", "many"), 2, /--limit is a whole number/)
  })

  it("deletes after a look, and only if agreed to", async () => {
    const { grove, json, bytes } = makeHome()
    await grove("history", "add", SECRET)
    await grove("history", "add", "keep this")
    assert.match((await grove("history", "delete", SECRET, "--dry-run")).stdout, /Would delete 1 prompt/)
    assertRefused(await grove("history", "delete", SECRET), 1, /--yes/)
    assert.strictEqual((await json("history", SECRET)).length, 1)
    assert.strictEqual((await grove("history", "delete", SECRET, "--yes")).code, 0)
    assert.deepStrictEqual(
      (await json("history")).map(({ prompt }) => prompt),
      ["keep this"]
    )
    const [{ id }] = (await json("history")) as [Json]
    assert.strictEqual((await grove("history", "delete", "--id", String(id), "--yes")).code, 0)
    assertRefused(await grove("history", "delete", "--id", "999", "--yes"), 1, /no prompt 999/)
    assertRefused(await grove("history", "delete"), 2, /either --id or a query/)
    assert.isTrue(bytes().includes(SECRET), "the session still holds it")
  })

  it("imports what sessions and others hold, once", async () => {
    const { grove, json, folder } = makeHome()
    mkdirSync(join(folder, ".claude"))
    writeFileSync(
      join(folder, ".claude/history.jsonl"),
      fileOf({ display: "from claude", timestamp: 5, project: "/p" })
    )
    const first = await json<{ readonly sources: ReadonlyArray<Json> }>("history", "import")
    assert.deepStrictEqual(
      first.sources.map((source) => [source.format, source.new, source.seen]),
      [
        ["claude-code", 1, 0],
        ["grove", 2, 0]
      ]
    )
    const again = await json<{ readonly sources: ReadonlyArray<Json> }>("history", "import")
    assert.deepStrictEqual(
      again.sources.map((source) => [source.new, source.seen]),
      [
        [0, 1],
        [0, 2]
      ]
    )
    assert.deepStrictEqual(
      (await json("history", "折叠")).map(({ entry, session }) => [entry, session]),
      [["u1", ID]]
    )
    const stats = await json<Json>("history", "stats")
    assert.deepStrictEqual([stats.prompts, stats.uses], [3, 3])
    assert.strictEqual((await grove("history", "--json", "--", "stats")).stdout, "[]\n")
    const rehearsed = await json<{ readonly sources: ReadonlyArray<Json> }>("history", "import", "--dry-run")
    assert.deepStrictEqual(
      rehearsed.sources.map((source) => [source.new, source.seen]),
      [
        [0, 1],
        [0, 2]
      ]
    )
    assert.match((await grove("history", "import", "/nowhere")).stderr, /cannot import/)
    writeFileSync(join(folder, "odd.json"), "[1]")
    const odd = await grove("history", "import", join(folder, "odd.json"))
    assert.strictEqual(odd.code, 1)
    assert.match(odd.stdout, /no format that is known; --from names one/)
  })
})

describe("grove search", () => {
  it("finds what was said, with the leaf that leads there", async () => {
    const { json, session, grove } = makeHome()
    const hits = await json("search", "fold")
    const keys = ["session", "path", "entry", "leaf", "role", "snippet", "marks"]
    assert.deepStrictEqual(Object.keys(hits[0]!), keys)
    assert.deepStrictEqual(hits.map(({ entry, leaf }) => [entry, leaf]).sort(), [
      ["a1", "a1"],
      ["a2", "a2"]
    ])
    assert.strictEqual(hits[0]!.path, session)
    assert.deepStrictEqual(
      (await json("search", "折叠")).map(({ entry, leaf }) => [entry, leaf]),
      [["u1", "a2"]]
    )
    assert.deepStrictEqual(await json("search", "fold", "--role", "user"), [])
    const { stdout } = await grove("search", "fold")
    assertInert(stdout)
    assert.match(stdout, /it is «fold»ed now/)
    assertRefused(await grove("search", "x", "--after", "someday"), 2, /--after is a date/)
    assertRefused(await grove("search"), 2, /needs <query>/)
  })

  it("forgets sessions that went to the trash", async () => {
    const { json, grove } = makeHome()
    assert.strictEqual((await json("search", "fold")).length, 2)
    assert.strictEqual((await grove("rm", ID)).code, 0)
    assert.deepStrictEqual(await json("search", "fold"), [])
  })
})

describe("purge and doctor", () => {
  it("a purged text is in no file any more, prompts and index included", async () => {
    const { grove, bytes } = makeHome()
    await grove("history", "import")
    await grove("history", "add", `only here: ${SECRET}x`)
    await grove("search", SECRET)
    const { code, stdout } = await grove("purge", "--text", SECRET, "--yes")
    assert.strictEqual(code, 0)
    assert.match(stdout, /2 prompts/)
    assert.isFalse(bytes().includes(SECRET))
  })

  it("a purged session takes its prompts along", async () => {
    const { grove, json } = makeHome()
    await grove("history", "import")
    await grove("search", "fold")
    assert.strictEqual((await grove("purge", ID, "--yes")).code, 0)
    assert.deepStrictEqual(await json("history"), [])
    assert.deepStrictEqual(await json("search", "fold"), [])
  })

  it("doctor tells which SQLite there is, and finds a damaged history, which the next use mends", async () => {
    const { grove, json, home } = makeHome()
    const findings = async () =>
      onlyValue<ReadonlyArray<Json>>((await grove("doctor", "--json")).stdout).find(({ check }) => check === "sqlite")
    assert.match(String((await findings())?.message), /SQLite 3\.\d+.* with FTS5/)
    writeFileSync(join(home, "history.db"), "no database at all ".repeat(1000))
    assert.deepStrictEqual((await findings())?.ok, false)
    const { stderr } = await grove("history", "折叠", "--json")
    assert.match(stderr, /history was damaged; 2 prompts/)
    assert.strictEqual((await json("history")).length, 2)
    assert.deepStrictEqual((await findings())?.ok, true)
  })
})
