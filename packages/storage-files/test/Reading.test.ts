/** Sessions found, listed and read on real files, in folders that hold more than sessions. */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { SessionStore } from "@grove/core"
import { Effect, Layer } from "effect"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import * as JsonlSessionStore from "../src/JsonlSessionStore.ts"
import * as SessionPaths from "../src/SessionPaths.ts"
import { fileOf, header, type Json, temporary, user, withoutPrivilege, write } from "./support.ts"

const layerOf = (home: string, sessionDirectory?: string) => {
  const paths = SessionPaths.make({ home, sessionDirectory })
  return Layer.provide(JsonlSessionStore.layer({ paths }), FileBlobStore.layer({ directory: paths.blobs }))
}
const session = (id: string, fields: Json = {}): string => fileOf(header({ id, ...fields }), user("a", null, id))

const list = (options?: { readonly cwd?: string; readonly subAgents?: boolean }) =>
  Effect.map(
    SessionStore.use((store) => store.list(options)),
    (summaries) => summaries.map(({ id }) => id).sort()
  )
const find = (name: string) => SessionStore.use((store) => store.find(name))
const refused = (name: string) => Effect.map(Effect.flip(find(name)), ({ reason }) => reason._tag)

/** Runs over a home that was filled before. */
const over = (fill: (home: string) => void, test: (home: string) => Effect.Effect<void, unknown, SessionStore>) => () =>
  Effect.suspend(() => {
    const home = temporary()
    fill(home)
    return Effect.provide(test(home), layerOf(home))
  })

describe("a sessions folder", () => {
  it.effect(
    "is read for its regular .jsonl files alone: links, pipes and other files are passed over",
    over(
      (home) => {
        const folder = join(home, "sessions/--a--")
        write(join(folder, "own.jsonl"), session("own-0001"))
        write(join(folder, "own.jsonl.bak"), session("backup-0001"))
        write(join(folder, "notes.txt"), session("text-0001"))
        mkdirSync(join(folder, "folder.jsonl"))
        execFileSync("mkfifo", [join(folder, "pipe.jsonl")])
        const outside = write(join(home, "outside/one.jsonl"), session("outside-0001"))
        symlinkSync(outside, join(folder, "link.jsonl"))
        symlinkSync(join(home, "outside"), join(home, "sessions/--outside--"))
        symlinkSync(join(home, "sessions"), join(folder, "loop"))
      },
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* list(), ["own-0001"])
          assert.deepStrictEqual(yield* list({ subAgents: true }), ["own-0001"])
          for (const id of ["outside-0001", "backup-0001", "text-0001"])
            assert.strictEqual(yield* refused(id), "SessionNotFound")
        })
    )
  )

  it.effect(
    "leaves out what is no session, and says nothing of it",
    over(
      (home) => {
        write(join(home, "sessions/--a--/good.jsonl"), session("good-0001"))
        write(join(home, "sessions/--a--/empty.jsonl"), "")
        write(join(home, "sessions/--a--/junk.jsonl"), "junk\n")
        write(
          join(home, "sessions/--a--/headless.jsonl"),
          fileOf(user("a", null, "x"), header({ id: "headless-0001" }))
        )
        write(
          join(home, "sessions/--a--/binary.jsonl"),
          Uint8Array.from({ length: 999 }, (_, i) => (i * 31) % 256)
        )
      },
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* list({ subAgents: true }), ["good-0001"])
          assert.strictEqual(yield* refused("headless-0001"), "SessionNotFound")
        })
    )
  )

  it.effect(
    "leaves out what may not be read, folders included",
    over(
      (home) => {
        write(join(home, "sessions/--a--/open.jsonl"), session("open-0001"))
        chmodSync(write(join(home, "sessions/--a--/hidden.jsonl"), session("hidden-0001")), 0)
        write(join(home, "sessions/--b--/closed.jsonl"), session("closed-0001"))
        chmodSync(join(home, "sessions/--b--"), 0)
        chmodSync(home, 0o755)
      },
      (home) =>
        Effect.gen(function* () {
          const listed = yield* Effect.promise(() =>
            withoutPrivilege(() => Effect.runPromise(Effect.provide(list({ subAgents: true }), layerOf(home))))
          )
          chmodSync(join(home, "sessions/--b--"), 0o755)
          assert.deepStrictEqual(listed, ["open-0001"])
        })
    )
  )

  it.effect(
    "holds what sub-agents made below the folder of a session; they are listed when asked for, and found by name",
    over(
      (home) => {
        write(join(home, "sessions/--a--/one.jsonl"), session("person-0001"))
        write(join(home, "sessions/--a--/one/agent.jsonl"), session("agent-0001"))
        write(join(home, "sessions/--a--/one/agent/deeper.jsonl"), session("agent-0002"))
        const task = {
          type: "session_init",
          id: "a",
          parentId: null,
          timestamp: "",
          systemPrompt: "",
          task: "",
          tools: []
        }
        write(join(home, "sessions/--a--/task.jsonl"), fileOf(header({ id: "agent-0003" }), task))
      },
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* list(), ["person-0001"])
          assert.deepStrictEqual(yield* list({ subAgents: true }), [
            "agent-0001",
            "agent-0002",
            "agent-0003",
            "person-0001"
          ])
          assert.strictEqual(basename((yield* find("agent-0002")).path), "deeper.jsonl")
        })
    )
  )

  it.effect(
    "is searched by the directory in the header, since different directories share a folder",
    over(
      (home) => {
        const folder = join(home, "sessions", SessionPaths.folderFor("/a/b-c"))
        write(join(folder, "one.jsonl"), session("first-0001", { cwd: "/a/b-c" }))
        write(join(folder, "two.jsonl"), session("second-0001", { cwd: "/a-b/c" }))
        write(join(folder, "none.jsonl"), session("nowhere-0001", { cwd: undefined }))
      },
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* list({ cwd: "/a/b-c" }), ["first-0001"])
          assert.deepStrictEqual(yield* list({ cwd: "/a-b/c" }), ["second-0001"])
          assert.deepStrictEqual(yield* list({ cwd: "/a/b/c" }), [])
        })
    )
  )

  it.effect(
    "that is not there is empty, and looking does not make it",
    over(
      () => {},
      (home) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* list({ subAgents: true }), [])
          assert.strictEqual(yield* refused("some-0001"), "SessionNotFound")
          assert.isUndefined(statSync(join(home, "sessions"), { throwIfNoEntry: false }))
        })
    )
  )

  it.effect(
    "that is a file is refused",
    over(
      (home) => write(join(home, "sessions"), ""),
      () =>
        Effect.gen(function* () {
          const { reason } = yield* Effect.flip(SessionStore.use((store) => store.list()))
          assert.strictEqual(reason._tag, "StoreRefused")
        })
    )
  )
})

it.effect(
  "sessions of every version are listed, with entries or without",
  over(
    (home) => {
      const folder = join(home, "sessions/--a--")
      const spoken = { type: "message", message: { role: "user", content: "hello" } }
      for (const version of [undefined, 1, 2, 3, 99]) {
        write(join(folder, `bare-${version}.jsonl`), fileOf(header({ id: `bare-${version}`, version })))
        const entry = version === undefined || version === 1 ? spoken : user("a", null, "hello")
        write(join(folder, `full-${version}.jsonl`), fileOf(header({ id: `full-${version}`, version }), entry))
      }
    },
    () =>
      Effect.gen(function* () {
        const summaries = yield* SessionStore.use((store) => store.list())
        const told = Object.fromEntries(
          summaries.map(({ id, messageCount, firstMessage }) => [id, [messageCount, firstMessage]])
        )
        for (const version of ["undefined", "1", "2", "3", "99"]) {
          assert.deepStrictEqual(told[`bare-${version}`], [0, null], `bare-${version}`)
          assert.deepStrictEqual(told[`full-${version}`], [1, "hello"], `full-${version}`)
        }
      })
  )
)

describe("a flat folder", () => {
  it.effect("holds sessions of many directories side by side, and blobs stay in the home", () =>
    Effect.gen(function* () {
      const [home, flat] = [temporary(), temporary()]
      write(join(flat, "one.jsonl"), session("one-0001", { cwd: "/one" }))
      write(join(flat, "two.jsonl"), session("two-0001", { cwd: "/two" }))
      write(join(flat, "below/agent.jsonl"), session("agent-0001"))
      write(join(home, "sessions/--a--/home.jsonl"), session("home-0001"))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* list(), ["one-0001", "two-0001"])
        assert.deepStrictEqual(yield* list({ cwd: "/two" }), ["two-0001"])
        assert.deepStrictEqual(yield* list({ subAgents: true }), ["agent-0001", "one-0001", "two-0001"])
        assert.strictEqual(yield* refused("home-0001"), "SessionNotFound")
      }).pipe(Effect.provide(layerOf(home, flat)))
    })
  )
})

describe("a session", () => {
  it.effect(
    "is found by the id in its header, whatever stands before that and however far away it is",
    over(
      (home) => {
        const folder = join(home, "sessions/--a--")
        write(join(folder, "a.jsonl"), fileOf({ type: "title", title: "slot" }, header({ id: "titled-0001" })))
        write(join(folder, "b.jsonl"), fileOf("", "junk", "42", "{}", "[]", header({ id: "late-0001" })))
        write(join(folder, "c.jsonl"), `\ufeff${JSON.stringify(header({ id: "bom-0001" }))}\r\n`)
        write(
          join(folder, "d.jsonl"),
          fileOf("junk ".repeat(20_000), header({ id: "far-0001", title: "x".repeat(200_000) }))
        )
        write(join(folder, "e.jsonl"), JSON.stringify(header({ id: "unended-0001" })))
      },
      () =>
        Effect.gen(function* () {
          for (const id of ["titled-0001", "late-0001", "bom-0001", "far-0001", "unended-0001"]) {
            assert.strictEqual((yield* find(id)).id, id)
          }
        })
    )
  )

  it.effect(
    "is found by path without being in the folder, and read with the id it has",
    over(
      () => {},
      (home) =>
        Effect.gen(function* () {
          const path = write(join(home, "elsewhere/any name.jsonl"), session("elsewhere-0001"))
          const found = yield* find(path)
          assert.strictEqual(found.path, path)
          const { ref, header, tree } = yield* SessionStore.use((store) => store.read(found))
          assert.deepStrictEqual([ref.id, header?.id, tree.size], ["elsewhere-0001", "elsewhere-0001", 1])
        }).pipe(Effect.scoped)
    )
  )

  it.effect(
    "is read without a byte of it changing, old versions and damage included",
    over(
      () => {},
      (home) =>
        Effect.gen(function* () {
          const files = [
            fileOf(header({ version: undefined }), { type: "message", message: { role: "user", content: "v1" } }),
            fileOf(header({ version: 2 }), user("a", null, "v2")),
            `${fileOf(header(), "junk", user("a", "nobody", "x"), user("a", null, "y"))}{"torn`,
            `${JSON.stringify(header())}\r\n\r\n`,
            ""
          ]
          for (const [i, data] of files.entries()) {
            const path = write(join(home, `${i}.jsonl`), data)
            const { mtimeMs, ino } = statSync(path)
            yield* Effect.scoped(SessionStore.use((store) => store.read({ id: "", path })))
            assert.strictEqual(readFileSync(path, "utf8"), data)
            assert.deepStrictEqual([statSync(path).mtimeMs, statSync(path).ino], [mtimeMs, ino])
          }
        })
    )
  )

  it.effect(
    "that cannot be one is refused with the reason",
    over(
      (home) => {
        mkdirSync(join(home, "directory"))
        execFileSync("mkfifo", [join(home, "pipe")])
        write(join(home, "headless"), fileOf("junk", user("a", null, "x")))
      },
      (home) =>
        Effect.gen(function* () {
          const reason = (name: string) =>
            SessionStore.use((store) => store.read({ id: "", path: join(home, name) })).pipe(
              Effect.scoped,
              Effect.flip,
              Effect.map(({ reason }) => reason)
            )
          assert.strictEqual((yield* reason("nowhere"))._tag, "SessionNotFound")
          assert.strictEqual((yield* reason("directory"))._tag, "StoreRefused")
          assert.strictEqual((yield* reason("pipe"))._tag, "StoreRefused")
          const headless = yield* reason("headless")
          assert.deepStrictEqual([headless._tag, "line" in headless ? headless.line : 0], ["NotASession", 2])
        })
    )
  )
})
