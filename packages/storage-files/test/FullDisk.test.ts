/** A real file system of one megabyte, filled to the last byte or made read-only. Needs the right to mount one. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { type NewEntry, SessionStore, Sessions } from "@grove/core"
import { Effect } from "effect"
import * as Backup from "../src/Backup.ts"
import { real } from "../src/Disk.ts"
import { makeHome } from "./support/Home.ts"
import { sessionsLayer } from "./support/Stores.ts"
import { temporary, user } from "./support.ts"

const mount = (folder: string): boolean => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const unmount = (folder: string): void => void execFileSync("umount", ["-l", folder], { stdio: "ignore" })

const probe = temporary()
const canMount = mount(probe)
if (canMount) unmount(probe)
else console.warn("SKIPPED: no file system may be mounted here, so no disk is filled in earnest")

const mounted: Array<string> = []
afterEach(() => {
  for (const folder of mounted.splice(0)) unmount(folder)
})
const smallDisk = (): string => {
  const folder = temporary()
  if (!mount(folder)) throw new Error("the file system could be mounted before")
  mounted.push(folder)
  return folder
}

const prompt = (length: number): NewEntry => ({
  type: "message",
  message: { role: "user", content: "x".repeat(length) }
})

describe.skipIf(!canMount)("on a disk that is really full", () => {
  for (const length of [10, 3_000, 200_000]) {
    it.live(`an append of ${length} characters is refused, nothing is lost, and it goes on when there is room`, () =>
      Effect.suspend(() => {
        const home = smallDisk()
        const ballast = join(home, "ballast")
        writeFileSync(ballast, Buffer.alloc(300_000))
        const told: Array<unknown> = []
        return Effect.gen(function* () {
          const sessions = yield* Sessions
          const ref = yield* sessions.create({ cwd: "/w" })
          const session = yield* sessions.open(ref.path)
          const kept: Array<string> = []
          const fill = Effect.gen(function* () {
            for (;;) kept.push((yield* session.main.append(prompt(length))).id)
          })
          const error = yield* Effect.flip(fill)
          assert.strictEqual(error.reason._tag, "StoreRefused")
          assert.strictEqual(
            error.reason._tag === "StoreRefused" && (error.reason.cause as NodeJS.ErrnoException).code,
            "ENOSPC"
          )
          assert.isAbove(kept.length, 2)
          assert.strictEqual(session.tree.leaf, kept.at(-1))
          for (let i = 0; i < 3; i++) yield* Effect.flip(session.main.append(prompt(length)))
          assert.strictEqual(told.length, 1)
          const during = yield* Effect.scoped(SessionStore.use((store) => store.read(ref)))
          assert.deepStrictEqual(
            kept.filter((id) => !during.tree.has(id)),
            []
          )
          assert.isAtMost(during.problems.length, 1)

          rmSync(ballast)
          const next = yield* session.main.append(prompt(length))
          assert.strictEqual(next.parentId, kept.at(-1))
          assert.isTrue(readFileSync(ref.path, "utf8").endsWith(`\n${JSON.stringify(next)}\n`))
          yield* Effect.sleep("500 millis")
          const after = yield* Effect.scoped(SessionStore.use((store) => store.read(ref)))
          assert.deepStrictEqual(
            kept.filter((id) => !after.tree.has(id)),
            []
          )
          assert.sameDeepMembers([...session.tree.entries], [...after.tree.entries])
        }).pipe(Effect.scoped, Effect.provide(sessionsLayer(home, { onFailure: (_, cause) => told.push(cause) })))
      })
    )
  }

  it.live("a session cannot be made, leaves nothing behind, and can be made when there is room", () =>
    Effect.suspend(() => {
      const home = smallDisk()
      const sessionsOf = () =>
        readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".jsonl"))
      return Effect.gen(function* () {
        const sessions = yield* Sessions
        const ballast = join(home, "ballast")
        try {
          writeFileSync(ballast, Buffer.alloc(2_000_000))
        } catch {
          // It is full now.
        }
        const error = yield* Effect.flip(sessions.create({ cwd: "/w" }))
        assert.strictEqual(error.reason._tag, "StoreRefused")
        assert.deepStrictEqual(sessionsOf(), [])
        rmSync(ballast)
        yield* sessions.create({ cwd: "/w" })
        assert.strictEqual(sessionsOf().length, 1)
      }).pipe(Effect.provide(sessionsLayer(home)))
    })
  )
})

describe.skipIf(!canMount)("a backup to a disk that is really full", () => {
  it.live("is refused, also when only the end of the last file does not fit", () =>
    Effect.gen(function* () {
      const home = makeHome()
      home.session("s1", user("a1", null, "x".repeat(900_000)))
      const folder = smallDisk()
      writeFileSync(join(folder, "ballast"), Buffer.alloc(500_000))
      const directory = join(folder, "backup")
      const refused = yield* Effect.flip(Backup.make({ paths: home.paths, directory }))
      assert(refused._tag === "FileRefused")
      assert.isTrue(refused.path.startsWith(directory))
      assert.strictEqual((refused.cause as NodeJS.ErrnoException).code, "ENOSPC")
      assert.include(readdirSync(directory), ".incomplete")
    })
  )
})

describe.skipIf(!canMount)("on a disk that is really read-only", () => {
  it("a folder that cannot be made is refused for that reason, not as if something were missing", () => {
    const home = smallDisk()
    execFileSync("mount", ["-o", "remount,ro", home])
    for (const folder of ["trash", "sessions/--w--"]) {
      assert.throws(() => real.makeDirectory(join(home, folder)), /^EROFS/)
    }
  })
})
