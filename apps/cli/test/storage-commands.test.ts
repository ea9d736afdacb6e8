/** The commands that keep a home tidy: rm, gc, purge, backup. */
import { createHash } from "node:crypto"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Confirm from "../src/Confirm.ts"
import * as StorageWords from "../src/StorageWords.ts"
import {
  assertInert,
  assertRefused,
  at,
  fileOf,
  header,
  onlyValue,
  program,
  type Ran,
  reply,
  run,
  user
} from "./support.ts"

const OLD = "0195aaaa-0000-7000-8000-00000000aaaa"
const NEW = "0195bbbb-0000-7000-8000-00000000bbbb"
const SECRET = "hunter2-very-secret"

interface Home {
  readonly folder: string
  readonly home: string
  readonly old: string
  readonly new: string
  readonly used: string
  readonly unused: string
  readonly grove: (
    args: ReadonlyArray<string>,
    options?: { readonly uid?: number; readonly stdin?: string }
  ) => Promise<Ran>
  readonly json: <A>(args: ReadonlyArray<string>) => Promise<A>
  readonly text: (args: ReadonlyArray<string>) => Promise<string>
  readonly ids: () => Promise<ReadonlyArray<string>>
}

const made: Array<string> = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const write = (path: string, data: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, data)
  return path
}

/** Two sessions of other years, a blob that one of them names, and one that none does. */
const makeHome = (): Home => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "grove-storage-")))
  made.push(folder)
  const home = join(folder, "home")
  const pathOf = (id: string) => join(home, "sessions/--home-ada--", `2026-01-01T00-00-00-000Z_${id}.jsonl`)
  const blob = (data: string) => {
    const path = write(join(home, "blobs", createHash("sha256").update(data).digest("hex")), data)
    const then = new Date(Date.now() - 60 * 60_000)
    utimesSync(path, then, then)
    return path
  }
  const [used, unused] = [blob("used"), blob("not used")]
  const image = { type: "image", mimeType: "image/png", data: `blob:sha256:${used.slice(-64)}` }
  const asked = { message: { role: "user", content: [{ type: "text", text: `the key is ${SECRET}` }, image] } }
  write(
    pathOf(OLD),
    fileOf(
      header({ id: OLD }),
      user("a1", null, "", { ...asked, timestamp: "2020-01-01T00:00:00.000Z" }),
      reply("a2", "a1", "noted")
    )
  )
  const now = new Date().toISOString()
  write(
    pathOf(NEW),
    fileOf(
      header({ id: NEW }),
      user("b1", null, "hello", { timestamp: now }),
      reply("b2", "b1", "hi", {}, { timestamp: now })
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
  const grove: Home["grove"] = (args, { uid, stdin } = {}) => {
    const who = uid === undefined ? {} : { uid, gid: uid }
    const options = { cwd: folder, env, timeout: 20_000, killSignal: "SIGKILL", ...who } as const
    if (stdin === undefined) return run(process.execPath, [program, ...args], options)
    const script =
      'const [input, ...words] = process.argv.slice(1); const r = require("node:child_process").spawnSync(process.execPath, words, { input }); process.stdout.write(r.stdout); process.stderr.write(r.stderr); process.exit(r.status)'
    return run(process.execPath, ["-e", script, stdin, program, ...args], options)
  }
  const text = async (args: ReadonlyArray<string>) => {
    const { code, stdout, stderr } = await grove(args)
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" }, `grove ${args.join(" ")}`)
    assertInert(stdout)
    return stdout
  }
  const json = async <A>(args: ReadonlyArray<string>): Promise<A> => onlyValue(await text([...args, "--json"]))
  const ids = async () => (await json<ReadonlyArray<{ id: string }>>(["ls"])).map(({ id }) => id).toSorted()
  return { folder, home, old: pathOf(OLD), new: pathOf(NEW), used, unused, grove, json, text, ids }
}

/** Every byte of a home but its caches. */
const stateOf = (home: string): string =>
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith("cache"))
    .toSorted()
    .map((name) => {
      try {
        return `${name} ${readFileSync(join(home, name), "latin1")}`
      } catch {
        return name
      }
    })
    .join("\n")

const holding = (home: string, text: string): ReadonlyArray<string> =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))

describe("grove rm", () => {
  it("moves a session to the trash, from where gc --restore brings it back", async () => {
    const home = makeHome()
    const before = readFileSync(home.old, "utf8")
    const removed = await home.json<{ id: string; path: string; trashed: string }>(["rm", "aaaa"])
    assert.deepStrictEqual(Object.keys(removed), ["id", "path", "trashed"])
    assert.deepStrictEqual([removed.id, removed.path], [OLD, home.old])
    assert.strictEqual(readFileSync(removed.trashed, "utf8"), before)
    assert.deepStrictEqual(await home.ids(), [NEW])
    const done = await home.json<{ restored: unknown }>(["gc", "--restore", "aaaa"])
    assert.deepStrictEqual(done.restored, [{ id: OLD, path: home.old }])
    assert.strictEqual(readFileSync(home.old, "utf8"), before)
    assert.deepStrictEqual(await home.ids(), [OLD, NEW])
  })

  it("tells people how to get it back", async () => {
    const home = makeHome()
    const shown = await home.text(["rm", home.old])
    assert.match(shown, /^Moved 0000aaaa to the trash\.\ngrove gc --restore 0000aaaa puts it back/)
    assert.strictEqual(await home.text(["gc", "--restore", home.old]), `Put back ${home.old}\n`)
  })

  it("refuses what is no session, or is not there, and touches nothing", async () => {
    const home = makeHome()
    const notes = write(join(home.folder, "notes.jsonl"), "my notes\n")
    assertRefused(await home.grove(["rm", notes]), 1, /is not a session/)
    assertRefused(await home.grove(["rm", "ffff"]), 1, /no session ffff/)
    assertRefused(await home.grove(["rm"]), 2, /needs <s>/)
    assert.isTrue(existsSync(notes))
    assert.deepStrictEqual(await home.ids(), [OLD, NEW])
  })
})

describe("grove gc", () => {
  it("removes what no session names, and says how much that was", async () => {
    const home = makeHome()
    const expected = { blobs: { kept: 1, removed: 1, bytes: 8 }, sessions: { trashed: [] }, restored: [] }
    const before = stateOf(home.home)
    assert.deepStrictEqual(await home.json(["gc", "--dry-run"]), { ...expected, dryRun: true })
    assert.strictEqual(
      await home.text(["gc", "--dry-run"]),
      "Would remove 1 unused blob (8 B); 1 blob is in use or new.\n"
    )
    assert.strictEqual(stateOf(home.home), before)
    assert.deepStrictEqual(await home.json(["gc"]), { ...expected, dryRun: false })
    assert.deepStrictEqual([existsSync(home.used), existsSync(home.unused)], [true, false])
    assert.strictEqual(await home.text(["gc"]), "No blob to remove; 1 blob is in use or new.\n")
  })

  it("moves sessions without a message for so long to the trash, and only those", async () => {
    const home = makeHome()
    const before = stateOf(home.home)
    const dry = await home.json<{ sessions: unknown }>(["gc", "--older-than", "30d", "--dry-run"])
    const trashed = [{ id: OLD, path: home.old, modified: at(1) }]
    assert.deepStrictEqual(dry.sessions, { trashed })
    assert.strictEqual(stateOf(home.home), before)
    assert.deepStrictEqual((await home.json<{ sessions: unknown }>(["gc", "--older-than", "30d"])).sessions, {
      trashed
    })
    assert.deepStrictEqual(await home.ids(), [NEW])
    assert.isTrue(existsSync(home.used), "what is in the trash keeps its blobs")
    await home.text(["gc", "--restore", OLD])
    assert.match(
      await home.text(["gc", "--older-than", "4w"]),
      /^Moved 1 session to the trash:\n {2}0000aaaa {2}the key is/
    )
  })

  it("deletes nothing if one session cannot be read", async () => {
    if (process.geteuid?.() !== 0) return
    const home = makeHome()
    const open = (path: string) => chmodSync(path, 0o777)
    for (const path of [home.folder, home.home, join(home.home, "sessions"), dirname(home.old), dirname(home.used)])
      open(path)
    chmodSync(home.old, 0o000)
    const ran = await home.grove(["gc"], { uid: 65534 })
    assertRefused(ran, 1, /aaaa\.jsonl: permission denied; .*; nothing was deleted/)
    assert.isTrue(existsSync(home.unused))
  })

  it("puts nothing back over what is there", async () => {
    const home = makeHome()
    await home.text(["rm", OLD])
    write(home.old, "somebody else's")
    assertRefused(
      await home.grove(["gc", "--restore", OLD]),
      1,
      /is there already; move that away first; nothing was moved/
    )
    assert.strictEqual(readFileSync(home.old, "utf8"), "somebody else's")
  })

  it("refuses times it does not understand, and wishes that undo each other", async () => {
    const home = makeHome()
    for (const time of ["30", "d", "-1d", "1.5d", "30 days", "0x1d"]) {
      assertRefused(await home.grove(["gc", `--older-than=${time}`]), 2, /--older-than is a time such as/)
    }
    assertRefused(await home.grove(["gc", "--older-than", "1d", "--restore", "aaaa"]), 2, /undo each other/)
    assertRefused(await home.grove(["gc", "--restore", "ffff"]), 1, /no session ffff in the trash/)
    assert.isTrue(existsSync(home.unused))
  })
})

describe("grove purge", () => {
  it("asks first, and without a terminal to ask on it does nothing", async () => {
    const home = makeHome()
    const before = stateOf(home.home)
    for (const words of [[OLD], [OLD, "--entry", "a1"], ["--text", SECRET]]) {
      assertRefused(await home.grove(["purge", ...words]), 1, /cannot be undone.*no terminal.*--yes/)
      assertRefused(await home.grove(["purge", ...words, "--json"]), 1, /--yes/)
    }
    assert.strictEqual(stateOf(home.home), before)
  })

  it("leaves no byte of a session, and nothing of the others is touched", async () => {
    const home = makeHome()
    const other = readFileSync(home.new, "utf8")
    write(`${home.old}.v1.bak`, SECRET)
    const { removed, entries, blobs } = await home.json<{
      removed: ReadonlyArray<string>
      entries: number
      blobs: number
    }>(["purge", "aaaa", "--yes"])
    assert.includeMembers([...removed], [home.old, `${home.old}.v1.bak`])
    assert.deepStrictEqual([entries, blobs], [2, 1])
    assert.deepStrictEqual(holding(home.home, SECRET), [])
    assert.isFalse(existsSync(home.used))
    assert.strictEqual(readFileSync(home.new, "utf8"), other)
    assert.deepStrictEqual(await home.ids(), [NEW])
  })

  it("finds a session in the trash too", async () => {
    const home = makeHome()
    await home.text(["rm", "aaaa"])
    assertRefused(await home.grove(["purge", "aaaa"]), 1, /which is in the trash/)
    assert.match(
      await home.text(["purge", "aaaa", "--yes"]),
      /^Purged session 0000aaaa, which is in the trash: 2 entries, 2 files removed, 1 blob\.\n/
    )
    assert.deepStrictEqual(holding(home.home, SECRET), [])
    assertRefused(await home.grove(["gc", "--restore", "aaaa"]), 1, /in the trash/)
    assertRefused(await home.grove(["purge", "aaaa", "--yes"]), 1, /no session aaaa/)
  })

  it("takes one entry out of a session, which then is a session without it", async () => {
    const home = makeHome()
    const purged = await home.json<{ entries: number; blobs: number }>(["purge", "aaaa", "--entry", "a1", "--yes"])
    assert.deepStrictEqual([purged.entries, purged.blobs], [1, 1])
    assert.deepStrictEqual(holding(home.home, SECRET), [])
    const tree = await home.json<{ leaf: string; roots: unknown }>(["tree", "aaaa"])
    assert.deepStrictEqual([tree.leaf, tree.roots], ["a2", ["a2"]])
    assert.isTrue((await home.json<{ ok: boolean }>(["check", home.old])).ok)
    assert.deepStrictEqual(readdirSync(dirname(home.old)).length, 2, "no backup is kept")
    assertRefused(await home.grove(["purge", "aaaa", "--entry", "a1", "--yes"]), 1, /no entry a1/)
  })

  it("takes a text out of every session, given as a word or on standard input", async () => {
    const home = makeHome()
    const expected = readFileSync(home.old, "utf8").replace(SECRET, "[removed]")
    assert.deepStrictEqual(await home.json(["purge", "--text", "not in there"]), {
      removed: [],
      entries: 0,
      blobs: 0,
      prompts: 0
    })
    const ran = await home.grove(["purge", "--text=-", "--yes"], { stdin: `${SECRET}\n` })
    assert.deepStrictEqual([ran.code, ran.stderr, ran.stdout], [0, "", "Purged that text: 1 entry, 0 blobs.\n"])
    assert.strictEqual(readFileSync(home.old, "utf8"), expected)
    assert.deepStrictEqual(holding(home.home, SECRET), [])
  })

  it("refuses what makes no sense, and touches nothing", async () => {
    const home = makeHome()
    const before = stateOf(home.home)
    assertRefused(await home.grove(["purge", "--yes"]), 2, /needs <s> or --text/)
    assertRefused(await home.grove(["purge", OLD, "--text", SECRET, "--yes"]), 2, /takes no session/)
    assertRefused(await home.grove(["purge", "--text", "message", "--yes"]), 1, /a word that session files are made of/)
    assertRefused(await home.grove(["purge", "--text", "abc", "--yes"]), 1, /shorter than 4/)
    assertRefused(await home.grove(["purge", "--text=", "--yes"]), 2, /needs/)
    assertRefused(await home.grove(["purge", "ffff", "--yes"]), 1, /no session ffff/)
    const newer = write(join(home.folder, "newer.jsonl"), fileOf(header({ version: 4 }), user("a1", null, "x")))
    assertRefused(await home.grove(["purge", newer, "--entry", "a1", "--yes"]), 1, /can only be read/)
    assert.strictEqual(stateOf(home.home), before)
  })
})

describe("grove backup", () => {
  it("copies everything into a folder that can be used as a home", async () => {
    const home = makeHome()
    const directory = join(home.folder, "my backup")
    const copied = await home.json<{ directory: string; sessions: number; blobs: number; bytes: number }>([
      "backup",
      "my backup"
    ])
    assert.deepStrictEqual(Object.keys(copied), ["directory", "sessions", "blobs", "bytes"])
    assert.deepStrictEqual([copied.directory, copied.sessions, copied.blobs], [directory, 2, 2])
    assert.strictEqual(stateOf(directory), stateOf(home.home))
    rmSync(home.home, { recursive: true })
    cpSync(directory, home.home, { recursive: true })
    assert.deepStrictEqual(await home.ids(), [OLD, NEW])
  })

  it("tells people how much it was", async () => {
    const home = makeHome()
    assert.match(await home.text(["backup", "b"]), /^Copied 2 sessions and 2 blobs \(\d+(\.\d)? k?B\) to .*\/b\n/)
  })

  it("refuses folders that are not empty, or inside of the home", async () => {
    const home = makeHome()
    write(join(home.folder, "full/mine"), "x")
    assertRefused(await home.grove(["backup", "full"]), 1, /full is not empty/)
    assertRefused(await home.grove(["backup", join(home.home, "b")]), 1, /is inside/)
    assertRefused(await home.grove(["backup"]), 2, /needs <dir>/)
    assert.deepStrictEqual(readdirSync(join(home.folder, "full")), ["mine"])
    assert.isFalse(existsSync(join(home.home, "b")))
  })
})

describe("a question", () => {
  const asked = (answer: string | undefined, isAgreed = false) => {
    const questions: Array<string> = []
    const asker: Confirm.Asker = {
      isThere: () => answer !== undefined,
      ask: async (question) => {
        questions.push(question)
        return answer!
      }
    }
    const effect = Confirm.confirm({ about: "It cannot be undone.", isAgreed, otherwise: "nothing was removed" })
    return Effect.map(Effect.exit(Effect.provideService(effect, Confirm.Asker, asker)), ({ _tag }) => ({
      _tag,
      questions
    }))
  }

  it.effect("is answered by y or yes; everything else is a no", () =>
    Effect.gen(function* () {
      for (const answer of ["y", "Y", "yes", " yes\n"])
        assert.strictEqual((yield* asked(answer))._tag, "Success", answer)
      for (const answer of ["", "n", "no", "yep", "yes please", "\x04"])
        assert.strictEqual((yield* asked(answer))._tag, "Failure", answer)
      assert.deepStrictEqual((yield* asked("y")).questions, ["It cannot be undone. Go on? [y/N] "])
    })
  )

  it.effect("is not asked where the answer was given, and not taken as answered where nobody is there", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(undefined, true), { _tag: "Success", questions: [] })
      assert.deepStrictEqual(yield* asked(undefined), { _tag: "Failure", questions: [] })
    })
  )
})

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [99_949, "99.9 kB"],
  [99_950, "100 kB"],
  [999_499, "999 kB"],
  [999_500, "1.0 MB"],
  [5_120_000_000, "5.1 GB"]
])("%d bytes are told as %s", (bytes, expected) => assert.strictEqual(StorageWords.size(bytes), expected))
