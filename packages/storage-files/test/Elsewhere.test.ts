/** Sessions outside the home are remembered there, so that nobody sweeps the blobs they name. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Entry, SessionStore } from "@grove/core"
import { Effect } from "effect"
import { Disk } from "../src/Disk.ts"
import * as Elsewhere from "../src/Elsewhere.ts"
import { forSeeds } from "./support/Chance.ts"
import { MemoryDisk } from "./support/MemoryDisk.ts"
import { sessionsLayer } from "./support/Stores.ts"
import { temporary, user, write } from "./support.ts"

const said = (id: string, content: unknown): Entry.Entry => user(id, null, content) as Entry.Entry
const image = { type: "image", mimeType: "image/png", data: "A".repeat(2048) }

describe("a session that names a blob", () => {
  it.live("is remembered if it lies anywhere but among the sessions of the home", () =>
    Effect.suspend(() => {
      const home = temporary()
      const away = [join(temporary(), "away.jsonl"), join(home, "beside.jsonl")]
      return Effect.gen(function* () {
        const store = yield* SessionStore
        for (const [i, path] of [...away, undefined].entries()) {
          const header = {
            type: "session" as const,
            version: 3,
            id: `s-${i}`,
            timestamp: "2026-01-01T00:00:00.000Z",
            cwd: "/w"
          }
          const ref = yield* store.create(header, path === undefined ? {} : { path })
          const log = yield* store.open(ref)
          yield* log.append([said("text", "no blob")])
          yield* log.append([said("a1", [image])])
          yield* log.append([said("a2", [image])])
        }
        assert.strictEqual(readFileSync(Elsewhere.listFile(home), "utf8"), away.map((path) => `${path}\n`).join(""))
      }).pipe(Effect.scoped, Effect.provide(sessionsLayer(home)))
    })
  )
})

describe("the list of what is elsewhere", () => {
  it("does not glue a path to one that was cut off", async () => {
    const home = temporary()
    write(Elsewhere.listFile(home), "/mnt/a")
    await Effect.runPromise(Elsewhere.note(home, "/mnt/b"))
    assert.strictEqual(readFileSync(Elsewhere.listFile(home), "utf8"), "/mnt/a\n/mnt/b\n")
  })

  it("survives a power cut once it was told of", () =>
    forSeeds(100, async (chance) => {
      const disk = new MemoryDisk()
      await Effect.runPromise(Effect.provideService(Elsewhere.note("/no/such/home", "/mnt/a"), Disk, disk))
      assert.strictEqual(disk.crash(chance).contentOf("/no/such/home/elsewhere").toString(), "/mnt/a\n")
    }))
})
