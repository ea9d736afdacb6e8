/** What people and programs are told when the disk fails, and what is in the file and in memory then. */
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  BlobStore,
  BlobStoreError,
  Blobs,
  type Entry,
  type NewEntry,
  type SessionLog,
  SessionStore,
  type SessionStoreError,
  Sessions,
  type Store
} from "@grove/core"
import { Effect, Fiber, Layer, Stream } from "effect"
import { Disk, real } from "../src/Disk.ts"
import * as JsonlSessionStore from "../src/JsonlSessionStore.ts"
import * as SessionPaths from "../src/SessionPaths.ts"
import * as FaultyDisk from "./support/FaultyDisk.ts"
import { HEADER, line } from "./support/Lines.ts"
import { sessionsLayer } from "./support/Stores.ts"
import { temporary, write } from "./support.ts"

const prompt = (text: string): NewEntry => ({ type: "message", message: { role: "user", content: text } })
const reply = (text: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text }] }
})

interface Told {
  readonly path: string
  readonly code: unknown
}
const codeOf = (cause: unknown): unknown => (cause as NodeJS.ErrnoException).code

/** Runs over sessions on a disk that can be made to fail. */
const over =
  <A>(
    test: (setting: {
      readonly disk: FaultyDisk.FaultyDisk
      readonly told: Array<Told>
      readonly home: string
    }) => Effect.Effect<A, unknown, Sessions | SessionStore | import("effect").Scope.Scope>
  ) =>
  () =>
    Effect.suspend(() => {
      const home = temporary()
      const disk = FaultyDisk.make(real)
      const told: Array<Told> = []
      const onFailure = (path: string, cause: unknown) => told.push({ path, code: codeOf(cause) })
      return Effect.scoped(test({ disk, told, home })).pipe(Effect.provide(sessionsLayer(home, { disk, onFailure })))
    })

const entriesAt = (ref: Store.SessionRef) =>
  SessionStore.use((store) => Effect.scoped(Effect.map(store.read(ref), ({ tree }) => [...tree.entries])))

const causeOf = ({ reason }: SessionStoreError): unknown =>
  reason._tag === "StoreRefused" ? codeOf(reason.cause) : reason._tag

const { failing, shortBy } = FaultyDisk
const failSync = async () => failing("EIO")()

const faults: ReadonlyArray<readonly [string, string, (disk: FaultyDisk.FaultyDisk) => void]> = [
  ["is full", "ENOSPC", (disk) => disk.next("write", failing("ENOSPC"))],
  [
    "becomes full in the middle of a line",
    "ENOSPC",
    (disk) =>
      disk.next(
        "write",
        shortBy((length) => length >> 1)
      )
  ],
  [
    "becomes full before the last byte",
    "ENOSPC",
    (disk) =>
      disk.next(
        "write",
        shortBy((length) => length - 1)
      )
  ],
  ["may not be written", "EACCES", (disk) => disk.next("write", failing("EACCES"))],
  ["breaks", "EIO", (disk) => disk.next("write", failing("EIO"))],
  ["cannot keep what was written", "EIO", (disk) => [1, 2].forEach(() => void disk.next("sync", failSync))],
  ["cannot be looked at", "EIO", (disk) => disk.next("stat", failing("EIO"))]
]

describe.each(faults)("an append to a disk that %s", (_, code, fail) => {
  it.live(
    "fails with the reason, moves nobody and is told of once",
    over(({ disk, told }) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { path } = yield* sessions.create({ cwd: "/w" })
        const session = yield* sessions.open(path)
        const kept = yield* session.main.append(prompt("kept"))
        fail(disk)
        const error = yield* Effect.flip(session.main.append(prompt("refused")))
        assert.strictEqual(error._tag, "SessionStoreError")
        assert.deepStrictEqual([error.session, causeOf(error)], [path, code])
        assert.deepStrictEqual([session.tree.size, session.tree.leaf, yield* session.main.leaf], [1, kept.id, kept.id])
        assert.deepStrictEqual(told, [{ path, code }])
      })
    )
  )

  it.live(
    "is followed by one that succeeds, and memory and file say the same in the end",
    over(({ disk, told }) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const ref = yield* sessions.create({ cwd: "/w" })
        const session = yield* sessions.open(ref.path)
        const kept = yield* session.main.append(prompt("kept"))
        fail(disk)
        yield* Effect.flip(session.main.append(prompt("refused")))
        const after = yield* session.main.append(prompt("after"))
        assert.strictEqual(after.parentId, kept.id)
        yield* Effect.sleep("500 millis")
        const stored = yield* entriesAt(ref)
        assert.sameDeepMembers([...session.tree.entries], stored)
        assert.isTrue(stored.some(({ id }) => id === kept.id) && stored.some(({ id }) => id === after.id))
        assert.isTrue(readFileSync(ref.path, "utf8").endsWith(`\n${JSON.stringify(after)}\n`))
        assert.strictEqual(told.length, 1)
      })
    )
  )

  it.live(
    "makes flush fail until another succeeds, and closing is no second failure",
    over(({ disk }) =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const sessions = yield* Sessions
        const ref = yield* sessions.create({ cwd: "/w" })
        const entry = (id: string) => JSON.parse(line(id)) as Entry.Entry
        const log = yield* store.open(ref)
        fail(disk)
        assert.strictEqual(causeOf(yield* Effect.flip(log.append([entry("refused")]))), code)
        assert.strictEqual(causeOf(yield* Effect.flip(log.flush)), code)
        yield* log.append([entry("after")])
        yield* log.flush
        yield* Effect.scoped(
          Effect.gen(function* () {
            const other = yield* store.open(ref)
            disk.next("write", failing("EIO"))
            yield* Effect.flip(other.append([entry("refused too")]))
          })
        )
      })
    )
  )
})

describe("a sync that fails once", () => {
  it.live(
    "is made good within the same append, and nobody hears of the line as somebody else's",
    over(({ disk, told }) =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const sessions = yield* Sessions
        const ref = yield* sessions.create({ cwd: "/w" })
        const log = yield* store.open(ref)
        const entry = JSON.parse(line("mine")) as Entry.Entry
        const heard = yield* collecting(log)
        disk.next("sync", failSync)
        yield* log.append([entry])
        yield* Effect.sleep("600 millis")
        assert.deepStrictEqual(yield* entriesAt(ref), [entry])
        assert.deepStrictEqual([heard, told], [[], []])
      })
    )
  )
})

/** Everything a log is told of, as it comes. */
const collecting = (log: SessionLog) =>
  Effect.gen(function* () {
    const heard: Array<Entry.Entry> = []
    yield* log.changes.pipe(
      Stream.runForEach((entries) => Effect.sync(() => void heard.push(...entries))),
      Effect.forkScoped({ startImmediately: true })
    )
    return heard
  })

describe("a session file that somebody", () => {
  const opened = (ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const sessions = yield* Sessions
      const ref = yield* sessions.create({ cwd: "/w" })
      const log = yield* store.open(ref)
      yield* log.append(ids.map((id) => JSON.parse(line(id)) as Entry.Entry))
      const append = (id: string) => log.append([JSON.parse(line(id)) as Entry.Entry])
      return { ref, log, append, heard: yield* collecting(log) }
    })

  it.live(
    "removed is said to be gone, and is written on when it is back",
    over(() =>
      Effect.gen(function* () {
        const { ref, append } = yield* opened(["a"])
        renameSync(ref.path, `${ref.path}.away`)
        const error = yield* Effect.flip(append("b"))
        assert.strictEqual(error.reason._tag, "SessionNotFound")
        renameSync(`${ref.path}.away`, ref.path)
        yield* append("c")
        assert.deepStrictEqual(
          (yield* entriesAt(ref)).map(({ id }) => id),
          ["a", "c"]
        )
      })
    )
  )

  it.live(
    "removed for good is not made again by writing on",
    over(() =>
      Effect.gen(function* () {
        const { ref, append } = yield* opened(["a"])
        rmSync(ref.path)
        yield* Effect.flip(append("b"))
        yield* Effect.flip(append("c"))
        assert.deepStrictEqual(readdirSync(dirname(ref.path)), [])
      })
    )
  )

  it.live(
    "replaced by one that holds it and more is written on, and only what is new is told",
    over(() =>
      Effect.gen(function* () {
        const { ref, append, heard } = yield* opened(["a", "b"])
        const other = `${readFileSync(ref.path, "utf8")}${line("theirs")}`
        renameSync(write(`${ref.path}.new`, other), ref.path)
        yield* append("c")
        assert.deepStrictEqual(
          (yield* entriesAt(ref)).map(({ id }) => id),
          ["a", "b", "theirs", "c"]
        )
        assert.deepStrictEqual(
          heard.map(({ id }) => id),
          ["theirs"]
        )
      })
    )
  )

  it.live(
    "replaced by one without its entries, or cut short, is refused and left as it is",
    over(() =>
      Effect.gen(function* () {
        const changes = [
          (path: string) => renameSync(write(`${path}.new`, HEADER), path),
          (path: string) => truncateSync(path, HEADER.length)
        ]
        for (const change of changes) {
          const { ref, append } = yield* opened(["a", "b"])
          change(ref.path)
          const before = readFileSync(ref.path, "utf8")
          const error = yield* Effect.flip(append("c"))
          assert.match(String(error.reason._tag === "StoreRefused" && error.reason.cause), /replaced by one without/)
          assert.strictEqual(readFileSync(ref.path, "utf8"), before)
        }
      })
    )
  )

  it.live(
    "left empty is no session to be written, and stays empty",
    over(({ home }) =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        for (const content of ["", " \n\n"]) {
          const path = write(`${home}/empty.jsonl`, content)
          const log = yield* store.open({ id: "", path })
          const error = yield* Effect.flip(log.append([JSON.parse(line("a"))]))
          assert.strictEqual(error.reason._tag, "NotASession")
          assert.strictEqual(readFileSync(path, "utf8"), content)
        }
      })
    )
  )
})

describe("a session that cannot be made", () => {
  const makings: ReadonlyArray<readonly [string, (disk: FaultyDisk.FaultyDisk) => void]> = [
    ["ENOSPC", (disk) => disk.next("write", failing("ENOSPC"))],
    [
      "ENOSPC",
      (disk) =>
        disk.next(
          "write",
          shortBy((length) => length >> 1)
        )
    ],
    ["EIO", (disk) => disk.next("sync", failSync)],
    ["EACCES", (disk) => disk.next("open", failing("EACCES"))],
    ["EROFS", (disk) => disk.next("makeDirectory", failing("EROFS"))]
  ]
  it.live.each(makings)("for %s leaves nothing behind, and can be made later", ([code, fail]) =>
    over(({ disk, home }) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        for (const draft of [false, true]) {
          fail(disk)
          const id = `session-${draft}` as never
          assert.strictEqual(causeOf(yield* Effect.flip(sessions.create({ cwd: "/w", id, draft }))), code)
          const left = readdirSync(home, { recursive: true, encoding: "utf8" })
          assert.deepStrictEqual(
            left.filter((name) => name.includes(id)),
            []
          )
          yield* sessions.create({ cwd: "/w", id, draft })
        }
      })
    )()
  )
})

describe("a draft", () => {
  const drafted = Effect.gen(function* () {
    const sessions = yield* Sessions
    const ref = yield* sessions.create({ cwd: "/w", draft: true })
    const session = yield* sessions.open(ref.path)
    yield* session.main.append(prompt("hello"))
    return { ref, session, names: () => readdirSync(dirname(ref.path)) }
  })

  it.live(
    "whose reply is kept but whose name the disk refuses stays a draft, and gets its name with the next append",
    over(({ disk }) =>
      Effect.gen(function* () {
        const { ref, session, names } = yield* drafted
        disk.next("rename", failing("EACCES"))
        const error = yield* Effect.flip(session.main.append(reply("kept")))
        assert.strictEqual(causeOf(error), "EACCES")
        assert.strictEqual(names().length, 1)
        assert.isTrue(names()[0]!.endsWith(".draft"))
        yield* Effect.sleep("50 millis")
        assert.deepStrictEqual([...session.tree.entries], yield* entriesAt(ref))
        assert.strictEqual(session.tree.size, 2)
        yield* session.main.append(prompt("next"))
        assert.isTrue(names()[0]!.endsWith(".jsonl"))
        assert.sameDeepMembers([...session.tree.entries], yield* entriesAt(ref))
      })
    )
  )

  it.live(
    "is removed by its maker when it got no reply and nobody else wrote to it",
    over(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const sessions = yield* Sessions
        const ref = yield* sessions.create({ cwd: "/w", draft: true })
        const log = yield* store.open(ref)
        yield* log.append([JSON.parse(line("mine"))])
        yield* log.discardDraft
        assert.deepStrictEqual(readdirSync(dirname(ref.path)), [])
      })
    )
  )

  it.live(
    "is not removed once somebody else wrote to it",
    over(() =>
      Effect.gen(function* () {
        const store = yield* SessionStore
        const sessions = yield* Sessions
        const ref = yield* sessions.create({ cwd: "/w", draft: true })
        const log = yield* store.open(ref)
        yield* Effect.scoped(Effect.flatMap(store.open(ref), (other) => other.append([JSON.parse(line("theirs"))])))
        yield* log.discardDraft
        assert.deepStrictEqual(
          (yield* entriesAt(ref)).map(({ id }) => id),
          ["theirs"]
        )
      })
    )
  )
})

describe("blobs", () => {
  const image = (id: string): Entry.Entry =>
    ({
      ...JSON.parse(line(id)),
      message: {
        role: "user",
        content: [{ type: "image", mimeType: "image/png", data: Buffer.alloc(3000, id).toString("base64") }]
      }
    }) as Entry.Entry

  /** A store whose blobs take their time, or are refused. */
  const withBlobs = (put: (bytes: Uint8Array) => Effect.Effect<void, BlobStoreError>) =>
    Layer.effect(
      BlobStore,
      Effect.map(BlobStore, (memory) =>
        BlobStore.of({ get: memory.get, put: (bytes) => Effect.andThen(put(bytes), memory.put(bytes)) })
      )
    ).pipe(Layer.provide(BlobStore.layerMemory))
  const storeWith = (blobs: Layer.Layer<BlobStore>) =>
    Layer.suspend(() => JsonlSessionStore.layer({ paths: SessionPaths.make({ home: temporary() }) })).pipe(
      Layer.provide(blobs),
      Layer.provide(Layer.succeed(Disk, real))
    )
  const header = JSON.parse(HEADER)

  it.live("that take long do not let a later append overtake the one that waits for them", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const ref = yield* store.create(header)
      const log = yield* store.open(ref)
      const first = yield* Effect.forkChild(log.append([image("first")]), { startImmediately: true })
      yield* log.append([JSON.parse(line("second"))])
      yield* Fiber.join(first)
      const ids = readFileSync(ref.path, "utf8")
        .trim()
        .split("\n")
        .slice(1)
        .map((text) => JSON.parse(text).id)
      assert.deepStrictEqual(ids, ["first", "second"])
    }).pipe(Effect.scoped, Effect.provide(storeWith(withBlobs(() => Effect.sleep("50 millis")))))
  )

  it.live("that are refused refuse the append, and no line names what is not there", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const ref = yield* store.create(header)
      const log = yield* store.open(ref)
      const error = yield* Effect.flip(log.append([image("refused")]))
      assert.strictEqual(error.reason._tag, "StoreRefused")
      assert.strictEqual(readFileSync(ref.path, "utf8"), HEADER)
      yield* log.append([JSON.parse(line("after"))])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        storeWith(
          withBlobs((bytes) =>
            Effect.fail(
              new BlobStoreError({
                hash: Blobs.hashOf(bytes),
                reason: new Blobs.BlobRefused({ cause: FaultyDisk.failure("ENOSPC") })
              })
            )
          )
        )
      )
    )
  )

  it.live("do not make a line look like somebody else's when the file is replaced", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const ref = yield* store.create(header)
      const log = yield* store.open(ref)
      const heard = yield* collecting(log)
      yield* log.append([image("mine")])
      log.snapshot.tree.put(image("mine"))
      writeFileSync(`${ref.path}.new`, readFileSync(ref.path))
      renameSync(`${ref.path}.new`, ref.path)
      yield* log.append([JSON.parse(line("next"))])
      yield* Effect.sleep("500 millis")
      assert.deepStrictEqual(heard, [])
    }).pipe(Effect.scoped, Effect.provide(storeWith(withBlobs(() => Effect.void))))
  )
})
