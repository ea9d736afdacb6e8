import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Backup from "../src/Backup.ts"
import { contentsOf, type Home, makeHome, pathOf } from "./support/Home.ts"
import { fileOf, header, image, temporary, user, withoutPrivilege, write } from "./support.ts"

const { live } = it

const make = (home: Home, directory: string, onFile?: (path: string) => void) =>
  Backup.make({ paths: home.paths, directory, onFile })

const filled = (): Home => {
  const home = makeHome()
  const blob = home.blob("a blob")
  const path = home.session("s1", user("a1", null, [image(blob.slice(-64))]))
  write(`${path}.v1.bak`, "version 1")
  write(`${path}.rejected`, "{")
  write(`${pathOf(home.home, "s2")}.draft`, fileOf(header({ id: "s2" }), user("b1", null, "hello")))
  home.write("trash/2026.json", "{}")
  home.write("trash/2026/x.jsonl", "trashed")
  home.write("running/s1.a1.json", "{}")
  home.write(`consents/${"0".repeat(64)}`, "{}")
  home.write("config.json", "{}")
  home.write("history.db", "prompts")
  home.write("history.db-wal", "more prompts")
  return home
}

describe("a backup", () => {
  live("holds everything that cannot be made again, as it was", () =>
    Effect.gen(function* () {
      const home = filled()
      const directory = join(temporary(), "new/folder")
      const made = yield* make(home, directory)
      assert.deepStrictEqual(contentsOf(directory), home.contents())
      assert.deepStrictEqual({ ...made, bytes: 0 }, { directory, sessions: 2, blobs: 1, bytes: 0 })
      const bytes = Object.values(contentsOf(directory)).reduce((sum, data) => sum + data.length, 0)
      assert.strictEqual(made.bytes, bytes)
    })
  )

  live("holds no caches, no keys, and nothing half written", () =>
    Effect.gen(function* () {
      const home = filled()
      const before = home.contents()
      const others = ["cache/a.idx", "cache/catalogue-1.json", "index.db", "auth.json", "server.token"]
      const halves = [
        "sessions/--home-ada--/.x.jsonl.0123456789ab.tmp",
        "blobs/.x.0123456789ab.tmp",
        "consents/.x.0123456789ab.tmp"
      ]
      for (const name of [...others, ...halves]) home.write(name, "x")
      const directory = temporary()
      yield* make(home, directory)
      assert.deepStrictEqual(contentsOf(directory), before)
    })
  )

  live("is for its owner's eyes only", () =>
    Effect.gen(function* () {
      const directory = join(temporary(), "backup")
      yield* make(filled(), directory)
      for (const name of ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" })]) {
        const stats = statSync(join(directory, name))
        assert.strictEqual(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, name)
      }
    })
  )

  live("of sessions in a folder of their own holds those too", () =>
    Effect.gen(function* () {
      const folder = temporary()
      write(join(folder, "x.jsonl"), fileOf(header()))
      write(join(folder, "holiday.mov"), "not a session")
      const home = makeHome({ sessionDirectory: folder })
      home.session("s1")
      const directory = temporary()
      const made = yield* make(home, directory)
      assert.deepStrictEqual(Object.keys(contentsOf(directory)), ["session-dir/x.jsonl", pathOf("", "s1")])
      assert.strictEqual(made.sessions, 2)
    })
  )

  live("of a home where nothing is yet is empty", () =>
    Effect.gen(function* () {
      const directory = join(temporary(), "backup")
      assert.deepStrictEqual(yield* make(makeHome(), directory), { directory, sessions: 0, blobs: 0, bytes: 0 })
      assert.deepStrictEqual(readdirSync(directory), [])
    })
  )
})

describe("while others write", () => {
  const whole = fileOf(header(), user("a1", null, "whole"))
  live.each([
    ["half a line", `${whole}{"type":"mess`, whole],
    ["a line that is whole but for its end", `${whole}${fileOf(user("b1", "a1", "x")).trimEnd()}`, undefined],
    ["half a line longer than what is read at once", `${whole}{"text":"${"x".repeat(3_000_000)}`, whole],
    ["half a header", '{"type":"sess', ""],
    ["an empty line", `${whole}\n`, undefined]
  ])("a session that ends in %s is copied up to its last whole line", ([_, text, copied]) =>
    Effect.gen(function* () {
      const home = makeHome()
      write(pathOf(home.home, "s1"), text!)
      const directory = temporary()
      yield* make(home, directory)
      assert.strictEqual(readFileSync(pathOf(directory, "s1"), "utf8"), copied ?? text)
    })
  )

  live("every blob that a copied line names is copied with it", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = home.session("s1")
      home.session("s2")
      let writes = 0
      const directory = temporary()
      yield* make(home, directory, () => {
        const blob = home.blob(`blob ${writes}`)
        appendFileSync(path, fileOf(user(`a${writes++}`, null, [image(blob.slice(-64))])))
      })
      assert.isAbove(writes, 1)
      const copied = readFileSync(pathOf(directory, "s1"), "utf8")
      for (const [, hash] of copied.matchAll(/blob:sha256:([0-9a-f]{64})/g)) {
        assert.isTrue(existsSync(join(directory, "blobs", hash!)))
      }
    })
  )

  live("a draft that gets its name is copied under that name, once", () =>
    Effect.gen(function* () {
      for (const isFirst of [true, false]) {
        const home = makeHome()
        const draft = write(`${pathOf(home.home, "s5")}.draft`, fileOf(header({ id: "s5" })))
        home.session(isFirst ? "s1" : "s9")
        const directory = temporary()
        const made = yield* make(home, directory, (path) => {
          const isNow = isFirst ? path.includes("_s1") : path.includes("_s9")
          if (isNow && existsSync(draft)) renameSync(draft, pathOf(home.home, "s5"))
        })
        assert.deepStrictEqual(
          Object.keys(contentsOf(directory)).toSorted(),
          [pathOf("", "s5"), pathOf("", isFirst ? "s1" : "s9")].toSorted()
        )
        assert.strictEqual(made.sessions, 2)
      }
    })
  )
})

describe("a backup is refused", () => {
  live("into a folder that is not empty, which is not touched", () =>
    Effect.gen(function* () {
      const directory = temporary()
      write(join(directory, "mine"), "x")
      const error = yield* Effect.flip(make(filled(), directory))
      assert.strictEqual(error._tag, "BackupNotEmpty")
      assert.deepStrictEqual(contentsOf(directory), { mine: "x" })
    })
  )

  live.each([[""], ["backup"], ["sessions/backup"], ["deep/er/backup"]])("into the home: %s", ([name]) =>
    Effect.gen(function* () {
      const home = filled()
      const before = home.contents()
      assert.strictEqual((yield* Effect.flip(make(home, join(home.home, name!))))._tag, "BackupInside")
      assert.deepStrictEqual(home.contents(), before)
      assert.isFalse(existsSync(join(home.home, "backup")))
    })
  )

  live("into the home through a link, and into the folder of sessions", () =>
    Effect.gen(function* () {
      const home = filled()
      const folder = temporary()
      symlinkSync(home.home, join(folder, "link"))
      assert.strictEqual((yield* Effect.flip(make(home, join(folder, "link/backup"))))._tag, "BackupInside")
      const flat = makeHome({ sessionDirectory: folder })
      assert.strictEqual((yield* Effect.flip(make(flat, join(folder, "backup"))))._tag, "BackupInside")
    })
  )

  live("if a file cannot be read, and what was copied until then says that it is not all", () =>
    Effect.gen(function* () {
      const home = filled()
      const unreadable = pathOf(home.home, "s1")
      const folder = temporary()
      const directory = join(folder, "backup")
      mkdirSync(directory)
      for (const path of [folder, join(home.home, "..")]) chmodSync(path, 0o755)
      chmodSync(directory, 0o777)
      chmodSync(unreadable, 0o000)
      const error = yield* Effect.promise(() =>
        withoutPrivilege(() => Effect.runPromise(Effect.flip(make(home, directory))))
      )
      assert.deepStrictEqual([error._tag, (error as { path?: string }).path], ["FileRefused", unreadable])
      assert.isTrue(existsSync(join(directory, ".incomplete")))
    })
  )
})
