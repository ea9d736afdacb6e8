/** The list of all sessions: what it reads, what it remembers, what it leaves out. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterEach, assert, it } from "@effect/vitest"
import { vi } from "vitest"
import * as Catalogue from "../src/Catalogue.ts"
import * as SessionPaths from "../src/SessionPaths.ts"
import { fileOf, header, temporary, user, withoutPrivilege, write } from "./support.ts"

const opened: Array<string> = []
let failure: unknown
vi.mock("../src/SessionReader.ts", async (original) => {
  const real = await original<typeof import("../src/SessionReader.ts")>()
  return {
    ...real,
    open: (...[ref, path, options]: Parameters<typeof real.open>) => {
      opened.push(path)
      if (failure !== undefined) throw failure
      return real.open(ref, path, options)
    }
  }
})
afterEach(() => {
  opened.length = 0
  failure = undefined
})

const home = () => {
  const paths = SessionPaths.make({ home: temporary() })
  const folder = join(paths.sessions, "--home-ada--")
  const add = (name: string, text = "hello") =>
    write(join(folder, `${name}.jsonl`), fileOf(header({ id: name }), user("a", null, text)))
  const list = (subAgents = false) => Catalogue.list(paths, subAgents)
  const messages = () => list().map(({ summary }) => summary?.firstMessage)
  return { paths, folder, add, list, messages }
}

it("a second list opens no session", () => {
  const { add, messages } = home()
  add("one")
  add("two")
  assert.deepStrictEqual(messages(), ["hello", "hello"])
  assert.strictEqual(opened.length, 2)
  messages()
  assert.strictEqual(opened.length, 2)
})

it("a session that was appended to, replaced or touched is read again, and no other", () => {
  const { add, folder, messages } = home()
  const file = add("one", "first")
  add("two")
  messages()
  const { size, mtime, atime } = statSync(file)
  renameSync(write(join(folder, "new"), fileOf(header({ id: "one" }), user("a", null, "other"))), file)
  utimesSync(file, atime, mtime)
  assert.strictEqual(statSync(file).size, size)
  opened.length = 0
  assert.deepStrictEqual(messages().sort(), ["hello", "other"])
  assert.deepStrictEqual(opened, [file])
  writeFileSync(file, fileOf(user("b", "a", "more")), { flag: "a" })
  messages()
  assert.deepStrictEqual(opened, [file, file])
})

it("a session that is gone is not listed, and one that comes back is", () => {
  const { add, messages } = home()
  const file = add("one")
  messages()
  rmSync(file)
  assert.deepStrictEqual(messages(), [])
  add("one", "again")
  assert.deepStrictEqual(messages(), ["again"])
})

it.each(["", "junk", "[]", '{"version":1}', '{"version":0,"files":[]}'])("a cache of %j is made anew", (text) => {
  const { add, messages, paths } = home()
  add("one")
  messages()
  writeFileSync(Catalogue.pathFor(paths.cache, paths.sessions), text)
  assert.deepStrictEqual(messages(), ["hello"])
  opened.length = 0
  messages()
  assert.deepStrictEqual(opened, [])
})

it("the cache is written once, whole, and for its owner alone", () => {
  const { add, messages, paths } = home()
  add("one")
  messages()
  const cache = Catalogue.pathFor(paths.cache, paths.sessions)
  assert.strictEqual(statSync(cache).mode & 0o777, 0o600)
  const before = statSync(cache).ino
  messages()
  assert.strictEqual(statSync(cache).ino, before)
  assert.strictEqual(readdirSync(paths.cache).length, 1)
})

it("where no cache can be written, sessions are listed all the same", () => {
  const { add, messages, paths } = home()
  add("one")
  writeFileSync(paths.cache, "in the way")
  assert.deepStrictEqual(messages(), ["hello"])
})

it("what is no regular file is passed over, and what is no session is not listed as one", () => {
  const { add, folder, messages, list } = home()
  const file = add("one")
  mkdirSync(join(folder, "folder.jsonl"))
  symlinkSync(file, join(folder, "link.jsonl"))
  write(join(folder, "junk.jsonl"), "junk\n")
  assert.deepStrictEqual(messages().filter(Boolean), ["hello"])
  assert.deepStrictEqual(
    list().map(({ summary }) => summary === null),
    [true, false]
  )
})

it("a session that may not be read is left out, and listed once it may", async () => {
  const { add, messages, paths } = home()
  const file = add("one")
  add("two", "open")
  chmodSync(file, 0)
  chmodSync(paths.home, 0o755)
  assert.deepStrictEqual(await withoutPrivilege(async () => messages()), ["open"])
  chmodSync(file, 0o644)
  assert.deepStrictEqual(messages().sort(), ["hello", "open"])
})

it.each(["ENOENT", "EACCES", "EIO"])("a session that answers %s is left out", (code) => {
  const { add, messages } = home()
  add("one")
  failure = Object.assign(new Error(code), { code })
  assert.deepStrictEqual(messages(), [])
})

it.each([new TypeError("x is not a function"), Object.assign(new Error("too many"), { code: "EMFILE" })])(
  "what says nothing about the session, like %s, is not hidden",
  (cause) => {
    const { add, messages } = home()
    add("one")
    failure = cause
    assert.throws(messages, cause.message)
  }
)

it("files of sub-agents are listed only where they are asked for, and stay in the cache between", () => {
  const { add, folder, list } = home()
  add("one")
  write(join(folder, "one", "task.jsonl"), fileOf(header({ id: "task" }), user("a", null, "sub")))
  assert.strictEqual(list().length, 1)
  assert.deepStrictEqual(
    list(true).map(({ isSubAgent }) => isSubAgent),
    [false, true]
  )
})
