/** `grove import`, and sessions of other programs that are only looked at. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { append, contentsOf, furnish, places } from "../foreign.ts"
import { assertRefused, onlyValue, program, type Ran, run } from "../support.ts"

type Json = { readonly [key: string]: unknown }

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const person = () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-import-")))
  folders.push(folder)
  mkdirSync(join(folder, "work"))
  const env = { PATH: process.env.PATH ?? "", HOME: folder, LANG: "C.UTF-8", COLUMNS: "100", TZ: "UTC" }
  const grove = (...args: ReadonlyArray<string>): Promise<Ran> =>
    run(process.execPath, [program, ...args], { cwd: join(folder, "work"), env })
  const json = async <A>(...args: ReadonlyArray<string>): Promise<A> => {
    const { code, stdout, stderr } = await grove(...args, "--json")
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
    return onlyValue(stdout)
  }
  return { folder, home: join(folder, ".grove"), grove, json }
}

interface Source {
  readonly file: string
  readonly format: string | null
  readonly status: string
  readonly sessions: ReadonlyArray<{ readonly id: string; readonly path: string | null; readonly entries: number }>
  readonly repaired: ReadonlyArray<Json>
  readonly unmapped: ReadonlyArray<Json>
}
interface Summary {
  readonly id: string
  readonly path: string
  readonly source: string
  readonly firstMessage: string
}

const CLAUDE = "808e66ec-55e1-4cf0-8a72-e71cf57d39b5"

describe("a home in which every program was used", () => {
  const { folder, home, grove, json } = person()
  furnish(folder)
  const before = contentsOf(folder)
  const assertUntouched = () => {
    const now = contentsOf(folder)
    for (const [path, bytes] of before) assert.strictEqual(now.get(path), bytes, path)
    for (const path of now.keys()) assert(before.has(path) || path.startsWith(home), `${path} has come`)
  }

  it("ls --all shows each session with its source, ls shows none", async () => {
    const all = await json<ReadonlyArray<Summary>>("ls", "--all")
    assert.deepStrictEqual(new Set(all.map(({ source }) => source)), new Set(Object.keys(places)))
    assert.strictEqual(all.filter(({ source }) => source === "opencode").length, 6)
    assert.strictEqual(all.filter(({ source }) => source === "neovate").length, 2)
    assert(all.some(({ id }) => id.endsWith(".agent-a9f4657")))
    assert.deepStrictEqual(await json("ls"), [])
    const { stdout } = await grove("ls", "--all")
    assert.match(stdout, /claude-code: When does the ferry leave\?/)
  })

  it("search finds a word in each", async () => {
    const words = {
      pi: "Rome",
      neovate: "discount",
      "claude-code": "ferry",
      codex: "dimmer",
      opencode: "tidy",
      gemini: "Bergen"
    }
    for (const [format, word] of Object.entries(words)) {
      const hits = await json<ReadonlyArray<{ readonly path: string }>>("search", word)
      assert(
        hits.some(({ path }) => path.includes(`/cache/foreign/${format}/`)),
        format
      )
    }
  })

  it("history finds what was typed, once", async () => {
    const hits = await json<ReadonlyArray<Json>>("history", "No, change it to Monday")
    assert.deepStrictEqual([hits[0]!.prompt, hits[0]!.uses, hits[0]!.session], ["No, change it to Monday", 1, CLAUDE])
    assert.strictEqual((await json<ReadonlyArray<Json>>("history", "No, change it to Monday"))[0]!.uses, 1)
  })

  it("tree shows the branches that Claude Code hides; show, context and branches answer too", async () => {
    const { entries } = await json<{ readonly entries: ReadonlyArray<Json> }>("tree", CLAUDE)
    assert.deepStrictEqual(
      entries.map(({ preview }) => preview).filter((text) => /Sunday$|Monday$/.test(String(text))),
      ["Change it to Sunday", "No, change it to Monday"]
    )
    assert.strictEqual((await json<ReadonlyArray<Json>>("branches", CLAUDE)).length, 2)
    assert.strictEqual((await json<Json>("show", CLAUDE)).readOnly, true)
    assert.strictEqual(
      (await json<{ readonly messages: ReadonlyArray<Json> }>("context", CLAUDE.slice(-12))).messages.length,
      4
    )
  })

  it("what would write says to import first", async () => {
    const source = join(folder, places["claude-code"][0])
    for (const words of [
      ["edit", CLAUDE, "name", "x"],
      ["append", CLAUDE],
      ["rm", CLAUDE],
      ["-p", "hello", "--session", CLAUDE]
    ]) {
      assertRefused(await grove(...words), 1, new RegExp(`import it first: grove import ${source}`))
    }
    const copy = (await json<ReadonlyArray<Summary>>("ls", "--all")).find(({ id }) => id === CLAUDE)!.path
    assertRefused(await grove("edit", copy, "name", "x"), 1, /import it first/)
    assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
  })

  it("nothing is made anew while nothing has changed, and a copy that was deleted is", async () => {
    const copies = () =>
      readdirSync(join(home, "cache/foreign/claude-code")).map((name) => {
        const path = join(home, "cache/foreign/claude-code", name)
        return [path, statSync(path).mtimeMs] as const
      })
    const made = copies()
    await json("ls", "--all")
    assert.deepStrictEqual(copies(), made)
    rmSync(join(home, "cache"), { recursive: true })
    assert.strictEqual((await json<ReadonlyArray<Json>>("ls", "--all")).length, 15)
    assert.deepStrictEqual(
      copies().map(([path]) => path),
      made.map(([path]) => path)
    )
  })

  it("a dry run tells and writes nothing", async () => {
    const { stdout } = await grove("import", "--dry-run")
    assert.match(stdout, /claude-code {1}3 sessions: 3 new/)
    assert.match(stdout, /Nothing was written\.\n$/)
    assert.deepStrictEqual(await json("ls"), [])
  })

  it("import without a path takes all of them in, once", async () => {
    const first = await json<{ readonly sources: ReadonlyArray<Source> }>("import")
    assert.deepStrictEqual(new Set(first.sources.map(({ format }) => format)), new Set(Object.keys(places)))
    assert.deepStrictEqual(new Set(first.sources.map(({ status }) => status)), new Set(["new"]))
    const again = await json<{ readonly sources: ReadonlyArray<Source> }>("import")
    assert.deepStrictEqual(new Set(again.sources.map(({ status }) => status)), new Set(["unchanged"]))
    const paths = first.sources.flatMap(({ sessions }) => sessions.map(({ path }) => path!))
    const checked = await json<ReadonlyArray<{ readonly ok: boolean; readonly problems: ReadonlyArray<Json> }>>(
      "check",
      ...paths
    )
    assert.deepStrictEqual(
      checked.flatMap(({ problems }) => problems),
      []
    )
  })

  it("what was imported is listed once, as Grove's own", async () => {
    const all = await json<ReadonlyArray<Summary>>("ls", "--all")
    assert.deepStrictEqual(new Set(all.map(({ source }) => source)), new Set(["grove"]))
    assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
  })

  it("no source was touched, and nothing has come beside them", () => {
    assertUntouched()
  })
})

describe("a source that goes on", () => {
  const { folder, json, grove } = person()
  furnish(folder)
  const source = join(folder, places["claude-code"][0])
  const say = (uuid: string, parentUuid: string, content: string) => ({
    ...{ type: "user", uuid, parentUuid, sessionId: CLAUDE, timestamp: "2026-03-03T10:00:00.000Z" },
    message: { role: "user", content }
  })
  const LAST = "2033db06-7e90-4124-8f78-ea8237c71990"

  it("is added to; where a person has gone on, beside them", async () => {
    await json("import", source)
    append(source, say("11111111-0000-4000-8000-000000000001", LAST, "And on Tuesday?"))
    const grown = await json<{ readonly sources: ReadonlyArray<Source> }>("import", source)
    assert.strictEqual(grown.sources[0]!.status, "updated")
    const shown = await json<{ readonly leaf: string }>("show", CLAUDE)
    assert.strictEqual(shown.leaf, "11111111-0000-4000-8000-000000000001")
    await grove("-p", "mine", "--session", CLAUDE)
    const mine = (await json<{ readonly leaf: string }>("show", CLAUDE)).leaf
    append(source, say("11111111-0000-4000-8000-000000000002", "11111111-0000-4000-8000-000000000001", "Theirs"))
    await json("import", source)
    assert.strictEqual((await json<{ readonly leaf: string }>("show", CLAUDE)).leaf, mine)
    assert.strictEqual((await json<ReadonlyArray<Json>>("branches", CLAUDE)).length, 3)
    assert.strictEqual((await json<Json>("check", (await json<Json>("show", CLAUDE)).path as string)).ok, true)
  })

  it("is shown as it is now", async () => {
    const gemini = join(folder, places.gemini[0])
    await json("ls", "--all")
    append(gemini, { id: "new", timestamp: "2026-11-18T08:00:00.000Z", type: "user", content: "And Narvik?" })
    const hits = await json<ReadonlyArray<Json>>("search", "Narvik")
    assert.strictEqual(hits.length, 1)
    rmSync(gemini)
    assert.deepStrictEqual(await json("search", "Narvik"), [])
  })
})

describe("what is asked for", () => {
  const { folder, home, json, grove } = person()
  furnish(folder)

  it("roots can be named or turned off", async () => {
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, "config.json"), '{"roots":false}')
    assert.deepStrictEqual(await json("ls", "--all"), [])
    writeFileSync(join(home, "config.json"), '{"roots":[{"format":"gemini","folder":"~/.gemini/tmp"}]}')
    const listed = await json<ReadonlyArray<Summary>>("ls", "--all")
    assert.deepStrictEqual(
      listed.map(({ source }) => source),
      ["gemini"]
    )
    writeFileSync(join(home, "config.json"), '{"roots":[{"format":"fax","folder":"/"}]}')
    assertRefused(await grove("ls", "--all"), 1, /config\.json is not as it should be/)
    rmSync(join(home, "config.json"))
  })

  it("a file that is nothing known fails, others are imported all the same", async () => {
    const odd = join(folder, "odd.jsonl")
    writeFileSync(odd, "hello\n")
    const { code, stdout } = await grove("import", odd, join(folder, places.gemini[0]), "--json")
    assert.strictEqual(code, 1)
    const { sources } = onlyValue<{ readonly sources: ReadonlyArray<Source> }>(stdout)
    assert.deepStrictEqual(
      sources.map(({ status, format }) => [status, format]),
      [
        ["failed", null],
        ["new", "gemini"]
      ]
    )
    assertRefused(await grove("import", join(folder, "missing.jsonl")), 1, /cannot import/)
    assertRefused(await grove("import", odd, "--from", "fax"), 2, /--from is one of/)
    const told = await grove("import", odd)
    assert.match(told.stdout, /odd\.jsonl: failed, no format that is known/)
  })

  it("a file is read as what it is said to be", async () => {
    const plain = join(folder, "plain.txt")
    writeFileSync(plain, readFileSync(join(folder, places.neovate[0])))
    const { sources } = await json<{ readonly sources: ReadonlyArray<Source> }>("import", plain, "--from", "neovate")
    assert.deepStrictEqual(
      sources.map(({ status, format }) => [status, format]),
      [["new", "neovate"]]
    )
  })
})
