/**
 * Appends so many entries to a session and takes in what others append: `writer <path> <name> <count> <durability>`.
 * Prints `done` then, waits for a word that says how many entries there are in all, and prints what its tree is when it
 * has them.
 */
import { createHash } from "node:crypto"
import { dirname } from "node:path"
import { type Entry, SessionStore, type SessionTree } from "@grove/core"
import { Effect, Stream } from "effect"
import type { Durability } from "../../../src/AppendFile.ts"
import { line } from "../Lines.ts"
import { storeLayer } from "../Stores.ts"
import { ready, tell } from "./program.ts"

const [path = "", name = "", count = "", durability = "always"] = process.argv.slice(2)

const word = (): Promise<string> =>
  new Promise((said) => {
    process.stdin.resume().once("data", (text) => said(String(text).trim()))
  })

/** The same for two trees that hold the same entries in the same places, whoever wrote them when. */
const digest = (tree: SessionTree): string => {
  const rows = tree.entries.map((entry) => JSON.stringify(entry)).sort()
  return createHash("sha256").update(rows.join("\n")).digest("hex")
}

const work = Effect.gen(function* () {
  const store = yield* SessionStore
  const log = yield* store.open({ id: "", path })
  const { tree } = log.snapshot
  const heard = new Map<string, number>()
  yield* log.changes.pipe(
    Stream.runForEach((entries) =>
      Effect.sync(() => {
        for (const entry of entries) {
          heard.set(entry.id, (heard.get(entry.id) ?? 0) + 1)
          tree.put(entry)
        }
      })
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* Effect.promise(ready)
  for (let i = 0; i < Number(count); i++) {
    const entry = JSON.parse(line(`${name}-${i}`, 60)) as Entry.Entry
    yield* log.append([entry])
    tree.put(entry)
  }
  tell("done")
  const expected = Number(yield* Effect.promise(word))
  const start = performance.now()
  while (tree.size < expected && performance.now() - start < 20_000) yield* Effect.sleep("20 millis")
  const own = [...heard.keys()].filter((id) => id.startsWith(`${name}-`)).length
  const twice = [...heard.values()].filter((times) => times > 1).length
  tell(JSON.stringify({ size: tree.size, digest: digest(tree), own, twice, waited: performance.now() - start }))
}).pipe(Effect.scoped)

await Effect.runPromise(Effect.provide(work, storeLayer(dirname(path), { durability: durability as Durability })))
process.exit(0)
