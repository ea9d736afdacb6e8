import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { SessionSummary } from "@grove/core"
import { Effect } from "effect"
import * as Breadcrumbs from "../src/Breadcrumbs.ts"
import * as Elsewhere from "../src/Elsewhere.ts"
import * as Gc from "../src/Gc.ts"
import * as Trash from "../src/Trash.ts"
import { age, HOUR, type Home, makeHome, referenceTo } from "./support/Home.ts"
import { fileOf, header, image, temporary, user, withoutPrivilege, write } from "./support.ts"

/** Files have real times, so the clock is real too. */
const { live } = it
const collect = ({ paths }: Home, dryRun = false) => Gc.collect({ paths, dryRun })

const naming = (reference: string) => user("a1", null, [image(reference.slice("blob:sha256:".length))])

describe("a blob", () => {
  live("that no file names is removed, others are kept", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const [used, unused] = [home.blob("used"), home.blob("unused, of some length")]
      home.session("s1", naming(used))
      assert.deepStrictEqual(yield* collect(home), { kept: 1, removed: 1, bytes: 22, temporary: 0 })
      assert.isTrue(home.hasBlob(used))
      assert.isFalse(home.hasBlob(unused))
      assert.deepStrictEqual(yield* collect(home), { kept: 1, removed: 0, bytes: 0, temporary: 0 })
    })
  )

  live("is only counted, not removed, on a dry run", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const unused = home.blob("unused")
      home.write("blobs/.x.0123456789ab.tmp", "x")
      age(join(home.paths.blobs, ".x.0123456789ab.tmp"))
      const before = home.contents()
      assert.deepStrictEqual(yield* collect(home, true), { kept: 0, removed: 1, bytes: 6, temporary: 1 })
      assert.deepStrictEqual(home.contents(), before)
      assert.isTrue(home.hasBlob(unused))
    })
  )

  const draft = "sessions/--home-ada--/x.jsonl.draft"
  live.each([
    ["a session", "sessions/--home-ada--/x.jsonl"],
    ["a draft", draft],
    ["a backup", "sessions/--home-ada--/x.jsonl.v1.bak"],
    ["a second backup", "sessions/--home-ada--/x.jsonl.bak.2"],
    ["rejected lines", "sessions/--home-ada--/x.jsonl.rejected"],
    ["a sub-agent's session", "sessions/--home-ada--/x/agent.jsonl"],
    ["the trash", "trash/2026/x.jsonl"],
    ["a running reply", "running/s1.a1.json"]
  ])("stays while %s names it", ([_, name]) =>
    Effect.gen(function* () {
      const home = makeHome()
      const used = home.blob("used")
      home.write(name!, fileOf(naming(used)))
      assert.strictEqual((yield* collect(home)).removed, 0)
      assert.isTrue(home.hasBlob(used))
    })
  )

  const damages: ReadonlyArray<readonly [string, (line: string) => string]> = [
    ["torn after it", (line: string) => line.slice(0, line.indexOf("blob:sha256:") + 76)],
    ["no JSON at all", (line: string) => `garbage ${line} garbage`],
    ["not UTF-8", (line: string) => `\xff\xfe${line}`],
    ["not ended by a line end", (line: string) => line.trimEnd()]
  ]
  live.each(damages)("stays while a line names it that is %s", ([_, damage]) =>
    Effect.gen(function* () {
      const home = makeHome()
      const used = home.blob("used")
      home.write("sessions/x/x.jsonl", Buffer.from(`${fileOf(header())}${damage(fileOf(naming(used)))}`, "latin1"))
      assert.strictEqual((yield* collect(home)).removed, 0)
    })
  )

  live("stays wherever its name lies in a large file, also across the pieces it is read in", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const used = home.blob("used")
      const MEGA = 1024 * 1024
      for (const shift of [0, 1, 11, 12, 40, 75, 76, 77]) {
        home.write("sessions/x/x.jsonl", `${"x".repeat(MEGA - shift)}${used}${"y".repeat(MEGA)}`)
        assert.strictEqual((yield* collect(home)).removed, 0, `${shift} bytes before the border`)
      }
      home.write("sessions/x/x.jsonl", `${"x".repeat(MEGA)}${used.slice(0, -1)}`)
      assert.strictEqual((yield* collect(home)).removed, 1, "a name cut short is none")
    })
  )

  live("stays while it is young: its line may be about to be written", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = join(home.paths.blobs, home.blob("new").slice(-64))
      utimesSync(path, new Date(), new Date(Date.now() - Gc.GRACE + 10_000))
      assert.strictEqual((yield* collect(home)).removed, 0)
      assert.strictEqual((yield* collect(home, true)).removed, 0)
      utimesSync(path, new Date(), new Date(Date.now() - Gc.GRACE - 10_000))
      assert.strictEqual((yield* collect(home)).removed, 1)
    })
  )

  live("stays while a session in a folder elsewhere names it", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const folder = temporary()
      const references = ["flat", "noted", "crumbed"].map((text) => home.blob(text))
      const [flat, noted, crumbed] = references
      write(join(folder, "flat/x.jsonl"), fileOf(naming(flat!)))
      write(join(folder, "noted/x.jsonl"), fileOf(naming(noted!)))
      write(join(folder, "crumbed/x.jsonl.draft"), fileOf(naming(crumbed!)))
      yield* Elsewhere.note(home.home, join(folder, "noted"))
      yield* Elsewhere.note(home.home, join(folder, "noted/x.jsonl"))
      yield* Elsewhere.note(home.home, join(home.home, "sessions/a.jsonl"))
      assert.deepStrictEqual(Elsewhere.list(home.home), [join(folder, "noted")])
      const terminal = Breadcrumbs.terminalId({ ttyPath: "/dev/pts/1", env: {} })!
      yield* Breadcrumbs.write(home.home, terminal, { cwd: "/a", file: join(folder, "crumbed/x.jsonl") })
      const paths = { ...home.paths, sessions: join(folder, "flat"), isFlat: true }
      assert.strictEqual((yield* Gc.collect({ paths })).removed, 0)
      assert.strictEqual((yield* collect(home)).removed, 1, "only what was never noted")
      assert.deepStrictEqual(references.map(home.hasBlob), [false, true, true])
    })
  )

  live("stays while it is named behind a link", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const folder = temporary()
      const used = home.blob("used")
      write(join(folder, "x.jsonl"), fileOf(naming(used)))
      mkdirSync(join(home.home, "sessions"), { recursive: true })
      symlinkSync(folder, join(home.home, "sessions/linked"))
      symlinkSync(home.home, join(folder, "loop"))
      assert.strictEqual((yield* collect(home)).removed, 0)
    })
  )

  live("stays when the draft that names it gets its name while blobs are looked for", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const used = home.blob("used")
      home.write("sessions/a/first.jsonl", "")
      const path = home.write("sessions/b/x.jsonl.draft", fileOf(naming(used)))
      const promote = () => existsSync(path) && renameSync(path, path.slice(0, -".draft".length))
      assert.strictEqual((yield* Gc.collect({ paths: home.paths, onFile: promote })).removed, 0)
    })
  )
})

describe("nothing is deleted", () => {
  const refusing = (prepare: (home: Home) => void, undo: (home: Home) => void) =>
    Effect.gen(function* () {
      const home = makeHome()
      const unused = home.blob("unused")
      chmodSync(join(home.home, ".."), 0o755)
      prepare(home)
      for (const name of ["", "blobs"]) chmodSync(join(home.home, name), 0o777)
      const error = yield* Effect.promise(() => withoutPrivilege(() => Effect.runPromise(Effect.flip(collect(home)))))
      undo(home)
      assert.strictEqual(error._tag, "FileRefused")
      assert.isTrue(home.hasBlob(unused))
      return error.path
    })

  live("if a session cannot be read", () =>
    Effect.gen(function* () {
      const path = yield* refusing(
        (home) => chmodSync(home.session("s1"), 0o000),
        () => {}
      )
      assert.match(path, /s1\.jsonl$/)
    })
  )

  live("if a folder of sessions cannot be looked into", () =>
    Effect.gen(function* () {
      const path = yield* refusing(
        (home) => {
          home.session("s1")
          chmodSync(join(home.home, "sessions/--home-ada--"), 0o000)
        },
        (home) => chmodSync(join(home.home, "sessions/--home-ada--"), 0o700)
      )
      assert.match(path, /--home-ada--$/)
    })
  )

  live("if a folder elsewhere is not there: its disk may not be mounted", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const unused = home.blob("unused")
      const folder = temporary()
      yield* Elsewhere.note(home.home, join(folder, "disk/sessions/x.jsonl"))
      const error = yield* Effect.flip(collect(home))
      assert.strictEqual(error.path, join(folder, "disk/sessions/x.jsonl"))
      assert.isTrue(home.hasBlob(unused))
      mkdirSync(join(folder, "disk/sessions"), { recursive: true })
      assert.strictEqual((yield* collect(home)).removed, 1, "a file that is gone from a folder that is there is gone")
    })
  )
})

describe("half-written files", () => {
  live("of a process that is gone are removed, and those of one that may be writing are kept", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const session = home.session("s1")
      const names = [
        `blobs/.${"0".repeat(64)}.0123456789ab.tmp`,
        "cache/x.idx.0123456789ab.tmp",
        "cache/catalogue-00.json.0123456789ab.tmp",
        "terminal-sessions/.pts-3.0123456789ab.tmp",
        `consents/.${"0".repeat(64)}.0123456789ab.tmp`,
        session.slice(home.home.length + 1).replace(/([^/]+)$/, ".$1.0123456789ab.tmp")
      ]
      for (const name of names) home.write(name, "half")
      assert.strictEqual((yield* collect(home)).temporary, 0)
      for (const name of names) age(join(home.home, name))
      assert.strictEqual((yield* collect(home)).temporary, names.length)
      for (const name of names) assert.isFalse(existsSync(join(home.home, name)), name)
      assert.isTrue(existsSync(session))
    })
  )

  live("are left alone where they may be the last copy of a session, or are not ours", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const names = ["sessions/a/.gone.jsonl.0123456789ab.tmp", "sessions/a/notes.tmp", "blobs/theirs.tmp"]
      for (const name of names) age(home.write(name, "x"))
      assert.strictEqual((yield* collect(home)).temporary, 0)
      for (const name of names) assert.isTrue(existsSync(join(home.home, name)), name)
    })
  )
})

describe("old sessions", () => {
  const summary = (path: string, id: string, modified: string | null, draft = false) =>
    ({ id, path, modified, draft }) as SessionSummary.SessionSummary

  live("go to the trash with what belongs to them, and keep their blobs", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const used = home.blob("used")
      const old = home.session("old", naming(used))
      const young = home.session("young")
      const before = Date.parse("2026-06-01")
      const sessions = [summary(old, "old", "2026-01-01T00:00:00Z"), summary(young, "young", "2026-07-01T00:00:00Z")]
      assert.deepStrictEqual(yield* Gc.retire({ ...home, sessions, before, dryRun: true }), [sessions[0]!])
      assert.isTrue(existsSync(old))
      assert.deepStrictEqual(yield* Gc.retire({ ...home, sessions, before }), [sessions[0]!])
      assert.isFalse(existsSync(old))
      assert.isTrue(existsSync(young))
      assert.strictEqual((yield* collect(home)).removed, 0)
      const [trashed] = yield* Trash.list(home.home)
      yield* Trash.restore(trashed!)
      assert.isTrue(existsSync(old))
    })
  )

  live("stay where a reply is being generated for them", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const old = home.session("old")
      const other = home.session("old.2")
      home.write("running/old.0123456789ab.json", "{}")
      const sessions = [summary(old, "old", "2026-01-01T00:00:00Z"), summary(other, "old.2", "2026-01-01T00:00:00Z")]
      const retired = yield* Gc.retire({ ...home, sessions, before: Date.parse("2026-06-01") })
      assert.deepStrictEqual(retired, [sessions[1]!])
      assert.isTrue(existsSync(old))
    })
  )

  it("are those whose newest message is older; drafts and sessions without a time are not", () => {
    const before = Date.parse("2026-06-01")
    const names = Gc.expired(
      [
        summary("/a", "a", "2026-05-31T23:59:59.999Z"),
        summary("/b", "b", "2026-06-01T00:00:00.000Z"),
        summary("/c", "c", null),
        summary("/d", "d", "2020-01-01T00:00:00.000Z", true),
        summary("/e", "e", "no time at all")
      ],
      before
    ).map(({ id }) => id)
    assert.deepStrictEqual(names, ["a"])
  })
})

live("a home without anything in it is clean", () =>
  Effect.gen(function* () {
    const home = makeHome()
    assert.deepStrictEqual(yield* collect(home), { kept: 0, removed: 0, bytes: 0, temporary: 0 })
    assert.isFalse(existsSync(home.home), "and nothing is made of it")
  })
)

live("what lies among the blobs and is none stays", () =>
  Effect.gen(function* () {
    const home = makeHome()
    const names = ["README", "0".repeat(63), `${"A".repeat(64)}`, `${"0".repeat(64)}.png`]
    for (const name of names) age(home.write(`blobs/${name}`, "x"), 30 * 24 * HOUR)
    yield* collect(home)
    assert.deepStrictEqual(readdirSync(home.paths.blobs).sort(), names.sort())
    assert.strictEqual(referenceTo("x").length, 76)
  })
)
