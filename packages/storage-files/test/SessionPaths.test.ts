/** Where files are kept follows from what they hold, and from nothing else. */
import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as SessionPaths from "../src/SessionPaths.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const bytes = (text: string) => Buffer.byteLength(text)

describe("the folder of a working directory", () => {
  it.each([
    ["/home/ada/shop", "--home-ada-shop--"],
    ["\\\\server\\share", "---server-share--"],
    ["\\work", "--work--"],
    ["C:\\Users\\ada", "--C--Users-ada--"],
    ["/", "----"],
    ["", "----"],
    ["//double", "---double--"],
    ["relative/path", "--relative-path--"],
    ["/a:b", "--a-b--"],
    ["/日本/こ", "--日本-こ--"],
    ["/with space/and.dot", "--with space-and.dot--"],
    ["/..", "--..--"]
  ])("%j is %j", (cwd, folder) => {
    assert.strictEqual(SessionPaths.folderFor(cwd), folder)
  })

  it("is shared by directories that differ in what a dash stands for", () => {
    assert.strictEqual(SessionPaths.folderFor("/a/b-c"), SessionPaths.folderFor("/a-b/c"))
  })

  it("is the encoded directory up to 200 bytes, and cut with its hash above", () => {
    const fits = "x".repeat(200)
    assert.strictEqual(SessionPaths.folderFor(`/${fits}`), `--${fits}--`)
    const long = "x".repeat(201)
    assert.strictEqual(SessionPaths.folderFor(`/${long}`), `--${"x".repeat(180)}-${sha256(long).slice(0, 8)}--`)
  })

  it("counts bytes, not characters, and cuts between whole characters", () => {
    const fits = "あ".repeat(66)
    assert.strictEqual(bytes(fits), 198)
    assert.strictEqual(SessionPaths.folderFor(`/${fits}`), `--${fits}--`)
    for (const character of ["あ", "é", "🌳"]) {
      for (const shift of ["", "x", "xx", "xxx"]) {
        const encoded = shift + character.repeat(101)
        const kept = shift + character.repeat(Math.floor((180 - shift.length) / bytes(character)))
        assert.strictEqual(SessionPaths.folderFor(`/${encoded}`), `--${kept}-${sha256(encoded).slice(0, 8)}--`)
      }
    }
  })

  it("hashes the directory as it is encoded, so that long ones differ beyond what is kept", () => {
    const shared = `/${"deep/".repeat(50)}`
    assert.notStrictEqual(SessionPaths.folderFor(`${shared}a`), SessionPaths.folderFor(`${shared}b`))
    const encoded = `${"deep-".repeat(50)}a`
    assert.include(SessionPaths.folderFor(`${shared}a`), sha256(encoded).slice(0, 8))
  })

  it("is always one name that any file system takes", () => {
    for (const cwd of [`/${"あ/".repeat(2000)}`, "/a/../../b", "\\..\\..", "/\ud83d", `/${"🌳".repeat(500)}`]) {
      const folder = SessionPaths.folderFor(cwd)
      assert.notMatch(folder, /[/\\:]/)
      assert.isAtMost(bytes(folder), 204)
      assert.match(folder, /^--.*--$/u)
    }
  })
})

describe("the file of a session", () => {
  it("is named by its time, with colons and dots as dashes, and its id", () => {
    assert.strictEqual(
      SessionPaths.fileNameFor("2026-11-03T09:12:04.518Z", "01a1a0ae-10a6"),
      "2026-11-03T09-12-04-518Z_01a1a0ae-10a6.jsonl"
    )
  })

  const header = { cwd: "/home/ada", timestamp: "2026-11-03T09:12:04.518Z", id: "s1" }

  it("is in the folder of its directory, below the sessions of the home", () => {
    const paths = SessionPaths.make({ home: "/h" })
    assert.strictEqual(
      SessionPaths.pathFor(paths, header),
      "/h/sessions/--home-ada--/2026-11-03T09-12-04-518Z_s1.jsonl"
    )
  })

  it("is in the flat folder itself where the person named one", () => {
    const paths = SessionPaths.make({ home: "/h", sessionDirectory: "/flat" })
    const path = SessionPaths.pathFor(paths, header)
    assert.deepStrictEqual([dirname(path), basename(path)], ["/flat", "2026-11-03T09-12-04-518Z_s1.jsonl"])
  })
})

it("a flat folder holds sessions, and everything else stays in the home", () => {
  const { home, sessions, blobs, isFlat } = SessionPaths.make({ home: "/h", sessionDirectory: "/flat" })
  assert.deepStrictEqual([home, sessions, blobs, isFlat], ["/h", "/flat", join("/h", "blobs"), true])
  assert.strictEqual(SessionPaths.make({ home: "/h" }).sessions, "/h/sessions")
  assert.isFalse(SessionPaths.make({ home: "/h", sessionDirectory: undefined }).isFlat)
})
