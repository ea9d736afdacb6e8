/** `grove export`: where it writes, what it refuses, what it says. What it writes is tested where it is made. */
import { spawn } from "node:child_process"
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { assertRefused, fileOf, header, type Json, program, reply, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })
const out = mkdtempSync(join(tmpdir(), "grove-export-"))
afterAll(() => rmSync(out, { recursive: true, force: true }))

const token = `ghp${"_a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuV1234"}`
const session = box.write(
  "trip.jsonl",
  fileOf(
    header({ cwd: join(box.folder, "trip") }),
    user("aaaaaaaaaaaa", null, `my token is ${token}`),
    reply("bbbbbbbbbbbb", "aaaaaaaaaaaa", "keep it"),
    user("cccccccccccc", "aaaaaaaaaaaa", "another way")
  )
)

describe("grove export", () => {
  it("writes to standard output, without secrets, and says on standard error what it took out", async () => {
    const ran = await box.grove(["export", session, "--to", "json"])
    assert.strictEqual(ran.code, 0)
    assert.notInclude(ran.stdout, token)
    assert.notInclude(ran.stdout, box.folder)
    assert.deepInclude(JSON.parse(ran.stdout), { leaf: "cccccccccccc" })
    assert.strictEqual(
      ran.stderr,
      "grove: redacted 1 secret (1 github-token), home directory 1 time; --no-redact keeps them\n"
    )
  })

  it("keeps everything if asked to, and says nothing", async () => {
    const ran = await box.grove(["export", session, "--to", "pi", "--no-redact"])
    assert.deepStrictEqual([ran.code, ran.stderr], [0, ""])
    assert.include(ran.stdout, token)
    assert.include(ran.stdout, box.folder)
  })

  it("takes the user name from its surroundings", async () => {
    const env = { USER: "lovelace" }
    const path = box.write("name.jsonl", fileOf(header(), user("a", null, "says lovelace")))
    const ran = await box.grove(["export", path, "--to", "md"], { env })
    assert.include(ran.stdout, "says [user]")
    assert.include(ran.stderr, "user name 1 time")
  })

  it.each(["html", "md", "json", "pi", "omp", "neovate"])("writes %s", async (to) => {
    const ran = await box.grove(["export", session, "--to", to])
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.include(ran.stdout, "another way")
  })

  it("writes one branch if a leaf is named, by any part of its id", async () => {
    const text = await box.grove(["export", session, "--to", "md", "--leaf", "bbbbbb"])
    assert.include(text.stdout, "keep it")
    assert.notInclude(text.stdout, "another way")
  })

  it("puts images back into the lines", async () => {
    const path = join(box.fixtures, "omp/sessions/images-omp.jsonl")
    assert.include(readFileSync(path, "utf8"), "blob:sha256:")
    const ran = await box.grove(["export", path, "--to", "pi", "--no-redact"])
    const images = ran.stdout.match(/"type":"image","data":"([^"]*)"/g) ?? ran.stdout.match(/"data":"([^"]*)"/g) ?? []
    assert.isTrue(images.some((image) => /"data":"[A-Za-z0-9+/]{1000,}/.test(image)))
  })
})

describe("grove export -o", () => {
  const target = (name: string) => join(out, name)

  it("writes a file that nobody else can read, and prints its path", async () => {
    const file = target("new.html")
    const ran = await box.grove(["export", session, "--to", "html", "-o", file])
    assert.deepStrictEqual([ran.code, ran.stdout], [0, `${file}\n`])
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(file, "utf8"), /^<!doctype html>[\s\S]*<\/html>\n$/)
    assert.deepStrictEqual(
      readdirSync(out).filter((name) => name.endsWith(".tmp")),
      []
    )
  })

  it("does not touch a file that is there, unless forced to", async () => {
    const file = target("old.md")
    writeFileSync(file, "mine")
    assertRefused(await box.grove(["export", session, "--to", "md", "-o", file]), 1, /is there already; --force/)
    assert.strictEqual(readFileSync(file, "utf8"), "mine")
    const forced = await box.grove(["export", session, "--to", "md", "-o", file, "--force"])
    assert.strictEqual(forced.code, 0)
    assert.match(readFileSync(file, "utf8"), /^# /)
  })

  it("replaces a link, not what it points to", async () => {
    const [file, link] = [target("real.md"), target("link.md")]
    writeFileSync(file, "mine")
    symlinkSync(file, link)
    await box.grove(["export", session, "--to", "md", "-o", link, "--force"])
    assert.strictEqual(readFileSync(file, "utf8"), "mine")
    assert.match(readFileSync(link, "utf8"), /^# /)
  })

  it("says in JSON what it did", async () => {
    const file = target("told.html")
    const ran = await box.grove(["export", session, "--to", "html", "-o", file, "--json"])
    const told: Json = JSON.parse(ran.stdout)
    assert.deepStrictEqual(told, { file, bytes: statSync(file).size, redacted: { home: 1, "github-token": 1 } })
    assert.strictEqual(ran.stderr, "")
  })

  it("leaves nothing behind where it cannot write", async () => {
    const missing = join(out, "no-such-folder", "x.html")
    assertRefused(await box.grove(["export", session, "--to", "html", "-o", missing]), 1, /no-such-folder/)
    assert.isFalse(existsSync(join(out, "no-such-folder")))
    const folder = await box.grove(["export", session, "--to", "html", "-o", out, "--force"])
    assertRefused(folder, 1, /directory/)
  })
})

describe("grove export refuses", () => {
  const wrong: ReadonlyArray<readonly [string, ReadonlyArray<string>, number, RegExp]> = [
    ["no format", [], 2, /export needs --to html\|md\|json/],
    ["a format it does not know", ["--to", "pdf"], 2, /--to is one of html, md/],
    ["--json where standard output is the export", ["--to", "html", "--json"], 2, /needs -o/],
    ["an entry that is not there", ["--to", "md", "--leaf", "nope"], 1, /no entry nope/]
  ]
  it.each(wrong)("%s", async (_, words, code, says) => {
    assertRefused(await box.grove(["export", session, ...words]), code, says)
  })

  it("a session that is not there", async () => {
    assertRefused(await box.grove(["export", "/no/such.jsonl", "--to", "md"]), 1, /no such session file/)
  })
})

it("grove export into a pipe that is closed ends quietly", async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => user(`e${i}`, i === 0 ? null : `e${i - 1}`, "x".repeat(200)))
  const path = box.write("long.jsonl", fileOf(header(), ...lines))
  const child = spawn(process.execPath, [program, "export", path, "--to", "pi"], { cwd: box.cwd, env: box.env })
  let stderr = ""
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  child.stdout.once("data", () => child.stdout.destroy())
  const code = await new Promise((done) => child.on("close", done))
  assert.deepStrictEqual([code, stderr], [0, ""])
})

it("grove export of a large session to html holds every entry, and no secret, though most lines are never read", async () => {
  const long = "<p>größer 日本語</p> ".repeat(6000)
  const lines = Array.from({ length: 200 }, (_, i) =>
    user(`f${i}`, i === 0 ? null : `f${i - 1}`, `${i} ${long}${i % 50 === 7 ? ` ${token} ${box.folder}/x` : ""}`)
  )
  const path = box.write("large.jsonl", fileOf(header(), ...lines))
  assert.isAbove(statSync(path).size, 17_000_000)
  const ran = await box.grove(["export", path, "--to", "html"])
  assert.notInclude(ran.stdout, token)
  assert.notInclude(ran.stdout, box.folder)
  assert.include(ran.stderr, "redacted 4 secrets (4 github-token), home directory 4 times")
  const blocks = [...ran.stdout.matchAll(/class="block">([^<]*)<\/script>/g)].flatMap(([, text]) => text!.split("\n"))
  const clean = (line: Json) =>
    JSON.parse(JSON.stringify(line).replaceAll(token, "[redacted github-token]").replaceAll(box.folder, "~"))
  assert.deepStrictEqual(
    blocks.map((line) => JSON.parse(line)),
    lines.map(clean)
  )
})
