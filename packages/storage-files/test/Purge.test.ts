import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { BlobStore, ContextBuilder, type EntryId, Jsonl, type SessionRef, SessionTree } from "@grove/core"
import { EntryArbitrary } from "@grove/core/testing"
import { Effect, Result } from "effect"
import * as Breadcrumbs from "../src/Breadcrumbs.ts"
import * as Disk from "../src/Disk.ts"
import * as EntryRemoval from "../src/EntryRemoval.ts"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import * as FileConsents from "../src/FileConsents.ts"
import { FileRefused } from "../src/FileRefused.ts"
import * as JsonlSessionStore from "../src/JsonlSessionStore.ts"
import * as Persist from "../src/Persist.ts"
import * as Purge from "../src/Purge.ts"
import * as TextRemoval from "../src/TextRemoval.ts"
import * as Trash from "../src/Trash.ts"
import { type Home, id, killedAnywhere, makeHome, pathOf, reply } from "./support/Home.ts"
import { prepare } from "./support/prepare.ts"
import { fileOf, header, image, type Json, temporary, user, withoutPrivilege, write } from "./support.ts"

const { live } = it

const SECRET = "hunter2-very-secret"
const treeOf = (bytes: Uint8Array | string): SessionTree => {
  const { rows, last } = Result.getOrThrow(Jsonl.read(Buffer.from(bytes)))
  return SessionTree.from(
    rows.map(({ entry }) => entry),
    last
  )
}
const treeAt = (path: string) => treeOf(readFileSync(path))
const holding = (home: Home, text: string): ReadonlyArray<string> =>
  Object.entries(home.contents())
    .filter(([, data]) => data.includes(text))
    .map(([name]) => name)

// ------------------------------------------------------------------------------------------------------- sessions

const target = (home: Home): Purge.Target => ({ is: "session", session: { id: "s1", path: pathOf(home.home, "s1") } })
const purgeSession = (home: Home) => Purge.purge(home, target(home))

interface Filled {
  readonly home: Home
  readonly own: string
  readonly shared: string
  readonly others: { readonly [path: string]: string }
}

/** One session with the secret in everything that may belong to one, and others that must not notice. */
const filled = (): Filled => {
  const home = makeHome()
  const [own, shared] = [home.blob(`own ${SECRET}`), home.blob("shared")]
  home.session("s2", user("b1", null, [image(shared.slice(-64))]))
  home.session("s10", user("c1", null, "its name begins alike"))
  home.write("running/s10.a1.json", "{}")
  home.write("running/s1.s1.a1.json", "{}")
  home.write("terminal-sessions/pts-2", `/home/ada\n${pathOf(home.home, "s2")}\n`)
  const { [`blobs/${own.slice(-64)}`]: _, ...others } = home.contents()
  const path = home.session(
    "s1",
    user("a1", null, [{ type: "text", text: SECRET }, image(own.slice(-64)), image(shared.slice(-64))])
  )
  write(`${path}.draft`, fileOf(header({ id: "s1" }), user("a1", null, SECRET)))
  write(`${path}.v1.bak`, SECRET)
  write(`${path}.rejected`, SECRET)
  write(path.replace(/([^/]+)$/, ".$1.0123456789ab.tmp"), SECRET)
  home.write(`sessions/--moved--/${path.slice(path.lastIndexOf("/") + 1)}.bak`, SECRET)
  write(home.indexOf(path), SECRET)
  home.write("cache/catalogue-00.json", SECRET)
  home.write("running/s1.0123456789ab.json", SECRET)
  home.write("terminal-sessions/pts-3", `/home/ada\n${path}\n`)
  return { home, own, shared, others }
}

describe("a purged session", () => {
  live("takes along what was allowed in it, also from the trash, and nothing that was allowed in others", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const consents = FileConsents.make({ directory: FileConsents.folder(home.home) })
      const [first, second, other] = ["s1", "s2", "s3"].map((session) => ({
        id: session,
        path: home.session(session, user("a1", null, "hello"))
      })) as [SessionRef, SessionRef, SessionRef]
      for (const session of [first, second, other]) yield* consents.note(session, { mode: "yolo", tools: [] })
      yield* Trash.move(home.paths, second)
      assert.strictEqual((yield* consents.find(second)).mode, "yolo")
      for (const session of [first, second]) yield* Purge.purge(home, { is: "session", session })
      const kept = Object.keys(home.contents()).filter((name) => name.startsWith("consents/"))
      assert.deepStrictEqual(kept.length, 1)
      assert.strictEqual((yield* consents.find(other)).mode, "yolo")
    })
  )

  live("is really gone: no byte of it is left, and others are as they were", () =>
    Effect.gen(function* () {
      const { home, others } = filled()
      const survey = yield* Purge.survey(home, target(home))
      assert.deepStrictEqual([survey.entries, survey.blobs, survey.rewrites.length], [1, 1, 0])
      const before = Object.keys(home.contents())
      const purged = yield* purgeSession(home)
      assert.deepStrictEqual(home.contents(), others)
      assert.deepStrictEqual([purged.entries, purged.blobs], [1, 1])
      const gone = before.filter((name) => !(name in others) && !name.startsWith("blobs/"))
      assert.deepStrictEqual(purged.removed.map((path) => path.slice(home.home.length + 1)).toSorted(), gone)
    })
  )

  live("is gone from the trash too, wherever it was found", () =>
    Effect.gen(function* () {
      const { home, others } = filled()
      yield* Trash.move(home.paths, { id: "s1", path: pathOf(home.home, "s1") })
      yield* purgeSession(home)
      const { ...left } = home.contents() as Record<string, string>
      assert.deepStrictEqual(left, others)
      assert.deepStrictEqual(yield* Trash.list(home.home), [])
    })
  )

  live("in the trash takes nothing of a session that has come to be in its place", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = write(join(temporary(), "notes.jsonl"), fileOf(header({ id: "s1" })))
      yield* Trash.move(home.paths, { id: "s1", path })
      const newer = fileOf(header({ id: "s2" }), user("a1", null, "mine"))
      write(path, newer)
      write(`${path}.bak`, "mine too")
      yield* Purge.purge(home, { is: "session", session: { id: "s1", path } })
      assert.strictEqual(readFileSync(path, "utf8"), newer)
      assert.isTrue(existsSync(`${path}.bak`))
      assert.deepStrictEqual(yield* Trash.list(home.home), [])
    })
  )

  live("behind a link is gone itself, not only the link's target spared", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const file = write(join(temporary(), "real.jsonl"), fileOf(header({ id: "s1" })))
      mkdirSync(home.home, { recursive: true })
      symlinkSync(file, join(home.home, "link.jsonl"))
      yield* Purge.purge(home, { is: "session", session: { id: "s1", path: join(home.home, "link.jsonl") } })
      assert.isFalse(existsSync(file))
    })
  )

  live("stays whole if what others name cannot be known", () =>
    Effect.gen(function* () {
      const { home } = filled()
      chmodSync(join(home.home, ".."), 0o755)
      chmodSync(home.home, 0o755)
      chmodSync(pathOf(home.home, "s2"), 0o000)
      const before = Object.keys(home.contents())
      const error = yield* Effect.promise(() =>
        withoutPrivilege(() => Effect.runPromise(Effect.flip(purgeSession(home))))
      )
      assert.strictEqual(error._tag, "FileRefused")
      assert.deepStrictEqual(Object.keys(home.contents()), before)
    })
  )

  live("that was killed on its way can be purged again, and is then gone", () =>
    Effect.gen(function* () {
      const places = yield* killedAnywhere(
        filled,
        ({ home }) => purgeSession(home),
        ({ home, others, shared }, step) =>
          Effect.gen(function* () {
            assert.isTrue(home.hasBlob(shared))
            for (const [name, data] of Object.entries(others)) assert.strictEqual(home.contents()[name], data)
            const isLeft = holding(home, SECRET).length > 0
            const isFound = existsSync(pathOf(home.home, "s1"))
            assert.isTrue(isFound || !isLeft, `killed at step ${step}, what is left can be asked for`)
            if (isFound) yield* purgeSession(home)
            assert.deepStrictEqual(holding(home, SECRET), [])
          })
      )
      assert.isAbove(places, 8)
    })
  )
})

describe("whatever remembers sessions elsewhere", () => {
  live("is told before any file is touched", () =>
    Effect.gen(function* () {
      const { home } = filled()
      const told: Array<[Purge.Target, boolean]> = []
      const remember: Purge.Forgetter = (what) =>
        Effect.sync(() => void told.push([what, existsSync(pathOf(home.home, "s1"))]))
      yield* Effect.provideService(purgeSession(home), Purge.Forgetters, [remember, remember])
      assert.deepStrictEqual(told, [
        [target(home), true],
        [target(home), true]
      ])
    })
  )

  live("and cannot forget keeps everything", () =>
    Effect.gen(function* () {
      const { home } = filled()
      const before = home.contents()
      const stubborn: Purge.Forgetter = () => Effect.fail(new FileRefused({ path: "history.db", cause: "locked" }))
      yield* Effect.flip(Effect.provideService(purgeSession(home), Purge.Forgetters, [stubborn]))
      assert.deepStrictEqual(home.contents(), before)
    })
  )
})

// -------------------------------------------------------------------------------------------------------- entries

const mark = (entry: string, parentId: string | null, customType: string, data: Json): Json => ({
  ...other("custom", entry, parentId, { customType, data })
})
const other = (type: string, entry: string, parentId: string | null, fields: Json): Json => ({
  type,
  id: entry,
  parentId,
  timestamp: "2026-01-01T00:02:00.000Z",
  ...fields
})

const without = (text: string | Uint8Array, entry: string): string => {
  const removed = EntryRemoval.remove(Buffer.from(text), id(entry), {
    id: "feedfacecafe",
    timestamp: "2026-02-01T00:00:00.000Z"
  })
  return Buffer.from(Result.getOrThrow(removed)?.bytes ?? text).toString("utf8")
}
const lines = (text: string): ReadonlyArray<Json> =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
const byId = (text: string, entry: string): Json => lines(text).find((line) => line.id === entry)!

const conversation = [
  user("a1", null, "one"),
  reply("a2", "a1", SECRET),
  user("a3", "a2", "three"),
  reply("a4", "a3", "four")
]

describe("a file without an entry", () => {
  it("is the same lines, with what followed it following its parent", () => {
    const text = fileOf(header(), ...conversation)
    assert.strictEqual(
      without(text, "a2"),
      fileOf(header(), conversation[0]!, { ...conversation[2]!, parentId: "a1" }, conversation[3]!)
    )
    const root = without(text, "a1")
    assert.strictEqual(byId(root, "a2").parentId, null)
    assert.deepStrictEqual(treeOf(root).roots(), [id("a2")])
  })

  it("keeps the bytes of every other line, whatever they are", () => {
    const odd =
      '{"parentId" : "a2", "big":12345678901234567890,"n":1.0, "id":"x1","type":"future","deep":{"parentId":"a2","q":"\\"parentId\\":\\"a2\\""}}'
    const text = fileOf(header(), ...conversation, odd, "not JSON at all", '{"type":"message"', "  ", '["id","a2"]')
    const left = without(text, "a2").split("\n")
    assert.include(left, odd.replace('"a2", "big"', '"a1", "big"'))
    for (const line of ["not JSON at all", '{"type":"message"', "  ", '["id","a2"]']) assert.include(left, line)
    const crlf = without(`\ufeff${text.replaceAll("\n", "\r\n")}`, "a2")
    assert.strictEqual(crlf, `\ufeff${without(text, "a2").replaceAll("\n", "\r\n")}`)
    const latin1 = Buffer.concat([
      Buffer.from(fileOf(header(), ...conversation)),
      Buffer.from('{"type":"message","id":"y","parentId":"a2","text":"\xff\xfe"}\n', "latin1")
    ])
    const removed = Result.getOrThrow(EntryRemoval.remove(latin1, id("a2"), { id: "m", timestamp: "" }))!
    assert.include(Buffer.from(removed.bytes).toString("latin1"), '"parentId":"a1","text":"\xff\xfe"}')
  })

  it("has lost what was said about it, and nothing that was said about others", () => {
    const about = [
      other("label", "l1", "a4", { targetId: "a2", label: "here" }),
      other("label", "l2", "l1", { targetId: "a1", label: "stays" }),
      other("context_edit", "e1", "l2", { targetId: "a2", replacement: null }),
      mark("m1", "e1", "grove.annotation", { targetId: "a2", note: SECRET }),
      mark("m2", "e1", "grove.annotation", { targetId: "a1", note: "stays" }),
      mark("m3", "e1", "grove.state", { targetIds: ["a2"], enabled: false }),
      mark("m4", "e1", "grove.state", { targetIds: ["a2", "a3"], asked: ["a2"], enabled: false }),
      mark("m5", "e1", "grove.edit", { op: "undo", targetId: "m3" }),
      mark("m6", "e1", "grove.leaf", { targetId: "a2" }),
      user("a5", "e1", "five")
    ]
    const left = without(fileOf(header(), ...conversation, ...about), "a2")
    assert.deepStrictEqual(
      lines(left)
        .map((line) => line.id)
        .slice(1),
      ["a1", "a3", "a4", "l2", "m2", "m4", "a5"]
    )
    assert.deepStrictEqual(byId(left, "m4").data, { targetIds: ["a3"], asked: [], enabled: false })
    assert.strictEqual(byId(left, "l2").parentId, "a4")
    assert.strictEqual(byId(left, "a5").parentId, "l2")
    assert.notInclude(left, '"a2"')
    assert.strictEqual(treeOf(left).leaf, "a5")
  })

  it("keeps what was pruned pruned, and what was grafted grafted", () => {
    const edits = [
      mark("p1", "a4", "grove.edit", { op: "prune", targetId: "a2", roots: ["a3"] }),
      mark("p2", "a4", "grove.edit", { op: "prune", targetId: "a1", roots: ["a2"] }),
      mark("g1", "a4", "grove.edit", {
        op: "graft",
        sources: ["a2", "a3"],
        targetId: "a2",
        copies: { a2: "x2", a3: "x3" }
      })
    ]
    const left = without(fileOf(header(), ...conversation, ...edits), "a2")
    assert.deepStrictEqual(byId(left, "p1").data, { op: "prune", targetId: "a1", roots: ["a3"] })
    assert.deepStrictEqual(byId(left, "p2").data, { op: "prune", targetId: "a1", roots: ["a3"] })
    assert.deepStrictEqual(byId(left, "g1").data, {
      op: "graft",
      sources: ["a3"],
      targetId: "a1",
      copies: { a3: "x3" }
    })
    const rootless = without(
      fileOf(header(), ...conversation, mark("p1", "a4", "grove.edit", { op: "prune", targetId: "a1", roots: ["a2"] })),
      "a1"
    )
    assert.notInclude(rootless, "p1", "a prune at a root that is gone has nothing to stand on")
  })

  it("keeps what a compaction kept, and where a branch was left", () => {
    const compaction = other("compaction", "c1", "a4", { summary: "s", firstKeptEntryId: "a2", tokensBefore: 1.0 })
    const summary = other("branch_summary", "b1", "a2", { summary: "s", fromId: "a2" })
    const left = without(fileOf(header(), ...conversation, compaction, summary), "a2")
    assert.strictEqual(byId(left, "c1").firstKeptEntryId, "a3")
    assert.deepStrictEqual([byId(left, "b1").fromId, byId(left, "b1").parentId], ["a1", "a1"])
    const roots = without(
      fileOf(header(), ...conversation, other("branch_summary", "b1", "a1", { summary: "s", fromId: "a1" })),
      "a1"
    )
    assert.deepStrictEqual([byId(roots, "b1").fromId, byId(roots, "b1").parentId], ["root", null])
  })

  it("leaves the person where they stood, or just above", () => {
    const branches = [...conversation, user("b3", "a2", "another branch"), reply("b4", "b3", "its end")]
    assert.strictEqual(treeOf(without(fileOf(header(), ...branches), "b4")).leaf, "b3")
    const back = [...branches, mark("m1", "a2", "grove.leaf", { targetId: "a2" })]
    const left = without(fileOf(header(), ...back), "a2")
    assert.strictEqual(treeOf(left).leaf, "a1")
    assert.strictEqual(lines(left).at(-1)!.customType, "grove.leaf")
    assert.strictEqual(treeOf(without(fileOf(header(), user("a1", null, "x")), "a1")).leaf, null)
    assert.strictEqual(treeOf(without(fileOf(header(), ...branches).trimEnd(), "b4")).leaf, "b3")
  })

  it("has lost every line of it: repeated, replaced, or torn", () => {
    const torn = JSON.stringify(conversation[1]).slice(0, -4)
    assert.include(torn, SECRET)
    const text = fileOf(
      header(),
      ...conversation,
      torn,
      conversation[1]!,
      { ...conversation[1]!, message: { role: "user", content: `old ${SECRET}` } },
      conversation[3]!
    )
    assert.notInclude(without(text, "a2"), SECRET)
    assert.notInclude(without(`${fileOf(header(), ...conversation)}${torn}`, "a2"), SECRET)
    const alone = `${fileOf(header(), conversation[0]!)}${torn}`
    assert.notInclude(without(alone, "a2"), SECRET, "also if torn is all there is of it")
  })

  it("is of the current version, if it was of an old one", () => {
    const old = (role: string, content: string) => ({
      type: "message",
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role, content }
    })
    const v1 = fileOf(
      { type: "session", id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
      old("user", "one"),
      old("assistant", SECRET),
      old("user", "three")
    )
    const before = treeOf(v1)
    const [first, second, third] = before.entries
    const left = without(v1, second!.id)
    assert.notInclude(left, SECRET)
    assert.strictEqual(lines(left)[0]!.version, 3)
    assert.deepStrictEqual(
      treeOf(left).entries.map(({ id }) => id),
      [first!.id, third!.id]
    )
  })

  it("is the file itself if the entry is not in it", () => {
    const text = fileOf(header(), ...conversation, { type: "x", id: "q", parentId: null, note: '"id":"a9"' })
    assert.strictEqual(without(text, "a9"), text)
    assert.isUndefined(Result.getOrThrow(EntryRemoval.remove(Buffer.from(text), id("a9"), { id: "m", timestamp: "" })))
  })

  it("may be long and hang on one entry: 100,000 labels of it go in one walk", () => {
    const labels = Array.from({ length: 100_000 }, (_, i) =>
      other("label", `l${i}`, i === 0 ? "a4" : `l${i - 1}`, { targetId: "a2", label: "x" })
    )
    const left = without(fileOf(header(), ...conversation, ...labels, user("z", "l99999", "end")), "a2")
    assert.strictEqual(byId(left, "z").parentId, "a4")
  })

  it.prop(
    "for any session and any of its entries: it is gone, the others are not, and all hang together",
    [EntryArbitrary.entries],
    ([entries]) => {
      const text = fileOf(header(), ...entries)
      for (const { id: entry } of entries) {
        const before = treeOf(text)
        const after = treeOf(without(text, entry))
        assert.isFalse(after.has(entry))
        for (const { id: kept } of after.entries) {
          const ancestors = before
            .path(kept)
            .map((one) => one.id)
            .filter((one) => after.has(one))
          if (before.has(kept))
            assert.deepStrictEqual(
              after.path(kept).map((one) => one.id),
              ancestors
            )
        }
        assert.strictEqual(without(without(text, entry), entry), without(text, entry))
        ContextBuilder.build(after, after.leaf)
      }
    }
  )
})

describe("a purged entry", () => {
  interface Prepared {
    readonly home: Home
    readonly path: string
    readonly own: string
    readonly shared: string
  }
  const prepared = (): Prepared => {
    const home = makeHome()
    const [own, shared] = [home.blob("own"), home.blob("shared")]
    const secret = user("a2", "a1", [{ type: "text", text: SECRET }, image(own.slice(-64)), image(shared.slice(-64))])
    const rest = [user("a1", null, "one"), secret, user("a3", "a2", [image(shared.slice(-64))])]
    const path = home.session("s1", ...rest)
    write(`${path}.2026.bak`, fileOf(header({ id: "s1" }), ...rest))
    write(`${path}.v1.bak`, "without it")
    write(`${path}.rejected`, JSON.stringify(secret).slice(0, -5))
    write(home.indexOf(path), SECRET)
    home.write("cache/catalogue-00.json", SECRET)
    home.write("running/s1.a2.json", SECRET)
    home.write("running/s1.a3.json", "another's")
    home.write("terminal-sessions/pts-3", `/home/ada\n${path}\n`)
    return { home, path, own, shared }
  }
  const purge = ({ home, path }: Prepared) =>
    Purge.purge(home, { is: "entry", session: { id: "s1", path }, entry: id("a2") })

  live("is gone from the file, from every backup that had it, and with its own blobs", () =>
    Effect.gen(function* () {
      const made = prepared()
      const { home, path, own, shared } = made
      const survey = yield* Purge.survey(home, { is: "entry", session: { id: "s1", path }, entry: id("a2") })
      assert.deepStrictEqual([survey.entries, survey.blobs, survey.rewrites], [1, 1, [path]])
      const purged = yield* purge(made)
      assert.deepStrictEqual([purged.entries, purged.blobs], [1, 1])
      assert.deepStrictEqual(holding(home, SECRET), [])
      assert.deepStrictEqual([home.hasBlob(own), home.hasBlob(shared)], [false, true])
      assert.deepStrictEqual([...treeAt(path).ids()], ["a1", "a3"])
      const left = Object.keys(home.contents()).filter((name) => !name.startsWith("blobs/"))
      assert.deepStrictEqual(left, [
        "running/s1.a3.json",
        pathOf("", "s1"),
        `${pathOf("", "s1")}.v1.bak`,
        "terminal-sessions/pts-3"
      ])
    })
  )

  live("is gone from a copy in the trash too", () =>
    Effect.gen(function* () {
      const made = prepared()
      const { home, path } = made
      const text = readFileSync(path)
      const trashed = yield* Trash.move(home.paths, { id: "s1", path })
      write(path, text)
      yield* purge(made)
      assert.deepStrictEqual(holding(home, SECRET), [])
      assert.deepStrictEqual([...treeAt(Trash.file(trashed)).ids()], ["a1", "a3"])
    })
  )

  live("takes nothing from a file that is no session", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const path = write(pathOf(home.home, "s1"), fileOf(user("a2", null, "no header")))
      const error = yield* Effect.flip(Purge.purge(home, { is: "entry", session: { id: "s1", path }, entry: id("a2") }))
      assert.strictEqual(error._tag, "PurgeNotASession")
      assert.strictEqual(readFileSync(path, "utf8"), fileOf(user("a2", null, "no header")))
    })
  )

  live("stays away while others append: what they wrote meanwhile is kept and hangs where it should", () =>
    Effect.gen(function* () {
      const made = prepared()
      const { path } = made
      let hasAppended = false
      const disk: Disk.Disk = {
        ...Disk.real,
        rename: (from, to) => {
          if (to === path && !hasAppended) {
            hasAppended = true
            appendFileSync(path, fileOf(user("a4", "a2", "meanwhile")))
          }
          Disk.real.rename(from, to)
        }
      }
      yield* Effect.provideService(purge(made), Disk.Disk, disk)
      assert.deepStrictEqual(
        treeAt(path)
          .path("a4")
          .map((one) => one.id),
        ["a1", "a4"]
      )
      assert.isTrue(hasAppended)
    })
  )

  live("that was killed on its way can be purged again; until then the session is whole", () =>
    Effect.gen(function* () {
      const places = yield* killedAnywhere(prepared, purge, (made, step) =>
        Effect.gen(function* () {
          const { path, home, shared } = made
          const ids = [...treeAt(path).ids()]
          assert.includeMembers(ids, ["a1", "a3"], `killed at step ${step}`)
          assert.isTrue(home.hasBlob(shared))
          if (ids.includes("a2" as EntryId)) yield* purge(made)
          assert.deepStrictEqual(holding(home, SECRET), [])
        })
      )
      assert.isAbove(places, 8)
    })
  )
})

// ----------------------------------------------------------------------------------------------------------- texts

describe("a text taken out of a line", () => {
  const out = (text: string, line: string): string =>
    Buffer.from(TextRemoval.make(text).fromLine(Buffer.from(line))).toString("utf8")

  it.each([
    ["as it is", "hunter2", '{"a":"say hunter2 now"}', '{"a":"say [removed] now"}'],
    ["as a name", "hunter2", '{"hunter2":1}', '{"[removed]":1}'],
    ["with escapes", "hunter2", '{"a":"h\\u0075nter\\u0032"}', '{"a":"[removed]"}'],
    ["with line ends", "a\nb\tc", '{"a":"xa\\nb\\tcx"}', '{"a":"x[removed]x"}'],
    ["with quotes", 'say "hi"', '{"a":"say \\"hi\\""}', '{"a":"[removed]"}'],
    ["with backslashes", "c:\\temp", '{"a":"c:\\\\temp"}', '{"a":"[removed]"}'],
    ["with slashes", "/etc/key", '{"a":"\\/etc/key"}', '{"a":"[removed]"}'],
    [
      "in other scripts",
      "пароль",
      '{"a":"\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c и пароль"}',
      '{"a":"[removed] и [removed]"}'
    ],
    ["beyond the first plane", "key😀😀", '{"a":"key\\ud83d\\uDE00😀"}', '{"a":"[removed]"}'],
    ["twice", "hunter2", '{"a":"hunter2hunter2"}', '{"a":"[removed][removed]"}'],
    ["in a torn line", "hunter2", '{"a":"say hunter2 n', '{"a":"say [removed] n'],
    ["in what is no JSON", 'a"b"c', 'raw a"b"c raw', "raw [removed] raw"]
  ])("is found %s", (_, text, line, expected) => assert.strictEqual(out(text, line), expected))

  it.each([
    ["a number", "12345", '{"tokens":12345,"n":[123456]}'],
    ["the second half of an escape", "u0061bc", '{"a":"\\\\u0061b c"}'],
    ["a letter after an escaped backslash", "nter", '{"a":"\\\\n","b":"ter"}'],
    ["the hash of a blob", "deadbeef", `{"data":"blob:sha256:${"deadbeef".repeat(8)}"}`],
    ["another case", "Hunter2", '{"a":"hunter2"}']
  ])("is not seen in %s", (_, text, line) => assert.strictEqual(out(text, line), line))

  it("leaves every other byte as it was, and the line the same object where it is not", () => {
    const line = Buffer.from(
      '{"big":12345678901234567890,"n":1.0,"dup":1,"dup":"hunter2", "x" :"\xff\xfe"}\r\n',
      "latin1"
    )
    const { fromLine } = TextRemoval.make("hunter2")
    assert.strictEqual(
      Buffer.from(fromLine(line)).toString("latin1"),
      line.toString("latin1").replace("hunter2", "[removed]")
    )
    const without = Buffer.from('{"a":"\\u0041 b"}')
    assert.strictEqual(fromLine(without), without)
  })

  it.prop(
    "for any line: what is left is JSON of the same shape without the text",
    [EntryArbitrary.entries],
    ([entries]) => {
      for (const entry of entries) {
        const text = 's3cr3t\n"\\/é😀'
        const planted = JSON.parse(JSON.stringify(entry), (_, value) =>
          typeof value === "string" ? `${text}${value}${text}` : value
        )
        const expected = JSON.parse(JSON.stringify(entry), (_, value) =>
          typeof value === "string" ? `[removed]${value}[removed]` : value
        )
        const escaped = JSON.stringify(planted).replace(/[^\x20-\x7e]|r/g, (c) =>
          c === "r"
            ? "r"
            : [...c]
                .map((one) =>
                  Array.from(
                    { length: one.length },
                    (_, i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, "0")}`
                  ).join("")
                )
                .join("")
        )
        for (const line of [JSON.stringify(planted), escaped])
          assert.deepStrictEqual(JSON.parse(out(text, line)), expected)
      }
    }
  )

  it("is refused where it would break the files", () => {
    for (const text of ["a", "abc", "message", "parentId", "assist", "grove.leaf", "blob:sha256:", "removed"]) {
      assert.isDefined(TextRemoval.objection(text), text)
    }
    for (const text of ["hunter2", "sk-ant-0123", "messages from me"])
      assert.isUndefined(TextRemoval.objection(text), text)
  })
})

describe("a purged text", () => {
  const purge = (home: Home, text = SECRET) => Purge.purge(home, { is: "text", text })
  const everywhere = (): Home => {
    const home = makeHome()
    const line = user("a1", null, `my password is ${SECRET}, really`)
    const path = home.session("s1", line, user("a2", "a1", "harmless"))
    write(`${path}.draft`, fileOf(line))
    write(`${path}.v1.bak`, fileOf(line))
    write(`${path}.rejected`, JSON.stringify(line).slice(0, -4))
    home.write(
      "trash/2026.json",
      JSON.stringify({
        version: 1,
        id: "s9",
        trashed: "2026",
        files: [{ name: "x.jsonl", from: `/${SECRET}/x.jsonl` }]
      })
    )
    home.write("trash/2026/x.jsonl", fileOf(header({ id: "s9" }), line))
    home.write("running/s1.a9.json", JSON.stringify({ text: SECRET, started: 1 }, null, 2))
    home.session("s2", user("b1", null, "nothing of the kind"))
    write(home.indexOf(path), SECRET)
    home.write("cache/catalogue-00.json", SECRET)
    return home
  }

  live("is gone from every session, draft, backup and running reply; everything else is as it was", () =>
    Effect.gen(function* () {
      const home = everywhere()
      const before = home.contents()
      assert.deepStrictEqual(yield* Purge.survey(home, { is: "text", text: "not in there" }), {
        files: [],
        rewrites: [],
        entries: 0,
        blobs: 0
      })
      const survey = yield* Purge.survey(home, { is: "text", text: SECRET })
      assert.strictEqual(survey.rewrites.length, 6)
      assert.deepStrictEqual(home.contents(), before)
      const purged = yield* purge(home)
      assert.strictEqual(purged.entries, 6)
      assert.deepStrictEqual(holding(home, SECRET), ["trash/2026.json"], "where a file belongs is no part of a session")
      const after = home.contents()
      for (const [name, data] of Object.entries(before)) {
        if (name.startsWith("cache/") || name === "trash/2026.json") continue
        assert.strictEqual(after[name], data.replaceAll(SECRET, "[removed]"), name)
      }
      assert.deepStrictEqual(
        Object.keys(after).filter((name) => name.startsWith("cache/")),
        []
      )
    })
  )

  live("is gone from whole texts that were kept as blobs, which still belong to their lines", () =>
    Effect.gen(function* () {
      const home = makeHome()
      const store = FileBlobStore.make({ directory: home.paths.blobs })
      const text = `${"x".repeat(600_000)} ${SECRET} end`
      const entry = user("a1", null, text) as never
      const written = yield* Effect.provideService(prepare(entry), BlobStore, store)
      const picture = home.blob(Buffer.from(`\x89PNG\0${SECRET}`, "latin1"))
      const path = home.session("s1", written, user("a2", "a1", [image(picture.slice(-64))]))
      const purged = yield* purge(home)
      assert.strictEqual(purged.blobs, 2)
      assert.deepStrictEqual(holding(home, SECRET), [])
      assert.isFalse(home.hasBlob(picture), "out of an image nothing can be taken, so it goes")
      const [left] = treeAt(path).entries
      const whole = yield* Effect.provideService(Persist.restoreFullText(left!), BlobStore, store)
      assert.strictEqual((whole.message as Json).content, text.replace(SECRET, "[removed]"))
    })
  )

  live("that was killed on its way can be purged again; until then no line and no whole text is lost", () =>
    Effect.gen(function* () {
      const text = `${"x".repeat(600_000)} ${SECRET} end`
      const prepare = () => {
        const home = everywhere()
        const { entry, blobs } = Persist.split(user("a3", "a2", text) as never)
        for (const blob of blobs) home.blob(blob)
        appendFileSync(pathOf(home.home, "s1"), fileOf(entry))
        return home
      }
      const places = yield* killedAnywhere(
        prepare,
        (home) => purge(home),
        (home, step) =>
          Effect.gen(function* () {
            const store = FileBlobStore.make({ directory: home.paths.blobs })
            const tree = treeAt(pathOf(home.home, "s1"))
            assert.deepStrictEqual([...tree.ids()], ["a1", "a2", "a3"], `killed at step ${step}`)
            const whole = yield* Effect.provideService(Persist.restoreFullText(tree.get("a3")!), BlobStore, store)
            const content = (whole.message as { content: string }).content.replace("[removed]", SECRET)
            assert.isTrue(content === text, `killed at step ${step}, the whole text is there`)
            yield* purge(home)
            assert.deepStrictEqual(holding(home, SECRET), ["trash/2026.json"])
          })
      )
      assert.isAbove(places, 20)
    })
  )

  live("is refused if it is a word of the format, and then nothing is touched", () =>
    Effect.gen(function* () {
      const home = everywhere()
      const before = home.contents()
      assert.strictEqual((yield* Effect.flip(purge(home, "message")))._tag, "PurgeUnfitText")
      assert.deepStrictEqual(home.contents(), before)
    })
  )

  live("is told to a program that has the session open, and does not come back from it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const home = makeHome()
        const path = home.session("s1", user("a1", null, SECRET), reply("a2", "a1", "x"))
        const store = yield* JsonlSessionStore.make({ paths: home.paths }).pipe(
          Effect.provideService(BlobStore, FileBlobStore.make({ directory: home.paths.blobs }))
        )
        const log = yield* store.open({ id: "s1", path })
        yield* purge(home)
        yield* log.append([user("a3", "a2", "after") as never])
        assert.deepStrictEqual([...treeAt(path).ids()], ["a1", "a2", "a3"])
        assert.deepStrictEqual(holding(home, SECRET), [])
      })
    )
  )
})

live("breadcrumbs of other sessions stay", () =>
  Effect.gen(function* () {
    const { home } = filled()
    yield* purgeSession(home)
    assert.deepStrictEqual(
      Breadcrumbs.all(home.home).map(({ file }) => file),
      [pathOf(home.home, "s2")]
    )
  })
)
