/** Copies of other programs' sessions follow their sources. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ForeignSessions from "../src/ForeignSessions.ts"
import { tables } from "./support.ts"

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url))
const REWIND = "808e66ec-55e1-4cf0-8a72-e71cf57d39b5"

/** A store of two sessions of Claude Code, and what a refresh of it does. */
const store = () => {
  const folder = mkdtempSync(join(tmpdir(), "grove-foreign-"))
  const [projects, cache] = [join(folder, "projects"), join(folder, "cache")]
  mkdirSync(join(projects, "-w"), { recursive: true })
  const source = join(projects, "-w", `${REWIND}.jsonl`)
  cpSync(join(fixtures, "claude-code/rewind.jsonl"), source)
  cpSync(join(fixtures, "claude-code/compacted.jsonl"), join(projects, "-w/ea00d1a0-450c-456a-8e32-89e1eb7f382e.jsonl"))
  const read: Array<string> = []
  const refresh = (own: ReadonlyArray<string> = []) =>
    Effect.gen(function* () {
      read.length = 0
      const stores = [{ format: "claude-code" as const, folder: projects }]
      const [root] = yield* ForeignSessions.refresh({
        cache,
        stores,
        own: new Set(own),
        onFile: (file) => read.push(file)
      })
      return existsSync(root!.folder) ? readdirSync(root!.folder).map((name) => name.replace(/^.*_|\.jsonl$/g, "")) : []
    }).pipe(Effect.provide(tables))
  const copyOf = (id: string) =>
    join(
      cache,
      "foreign/claude-code",
      readdirSync(join(cache, "foreign/claude-code")).find((name) => name.includes(id))!
    )
  return { folder, cache, source, read, refresh, copyOf, clear: Effect.sync(() => rmSync(folder, { recursive: true })) }
}

describe("ForeignSessions", () => {
  it.effect("a source is read when it has changed, and only then", () =>
    Effect.gen(function* () {
      const { source, read, refresh, copyOf, clear } = store()
      assert.strictEqual((yield* refresh()).length, 2)
      assert.strictEqual(read.length, 2)
      yield* refresh()
      assert.deepStrictEqual(read, [])
      writeFileSync(source, readFileSync(source, "utf8").split("\n").slice(0, 4).join("\n"))
      yield* refresh()
      assert.deepStrictEqual(read, [source])
      assert.strictEqual(readFileSync(copyOf(REWIND), "utf8").split("\n").length, 6)
      yield* clear
    })
  )

  it.effect("a copy that would say the same stays as it is", () =>
    Effect.gen(function* () {
      const { source, read, refresh, copyOf, clear } = store()
      yield* refresh()
      const before = statSync(copyOf(REWIND)).ino
      utimesSync(source, new Date(), new Date(0))
      yield* refresh()
      assert.deepStrictEqual(read, [source])
      assert.strictEqual(statSync(copyOf(REWIND)).ino, before)
      yield* clear
    })
  )

  it.effect("a copy goes with its source, and comes back when it was deleted", () =>
    Effect.gen(function* () {
      const { source, refresh, copyOf, clear } = store()
      yield* refresh()
      rmSync(copyOf(REWIND))
      assert.include(yield* refresh(), REWIND)
      rmSync(source)
      assert.notInclude(yield* refresh(), REWIND)
      yield* clear
    })
  )

  it.effect("what the home has needs no copy, until it has it no more", () =>
    Effect.gen(function* () {
      const { source, read, refresh, clear } = store()
      yield* refresh()
      assert.notInclude(yield* refresh([REWIND]), REWIND)
      assert.deepStrictEqual(read, [])
      yield* refresh([REWIND])
      assert.deepStrictEqual(read, [])
      assert.include(yield* refresh(), REWIND)
      assert.deepStrictEqual(read, [source])
      yield* clear
    })
  )

  it.effect("copies and their list are nobody else's to read, and name their source", () =>
    Effect.gen(function* () {
      const { cache, source, refresh, copyOf, clear } = store()
      yield* refresh()
      for (const path of [copyOf(REWIND), join(cache, "foreign/index.json")])
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(ForeignSessions.sourceOf(cache, copyOf(REWIND)), source)
      assert.isUndefined(ForeignSessions.sourceOf(cache, "/elsewhere"))
      yield* clear
    })
  )

  it.effect("a cache that is damaged is made anew, and a source that is nothing has no copy", () =>
    Effect.gen(function* () {
      const { cache, source, refresh, clear } = store()
      yield* refresh()
      writeFileSync(join(cache, "foreign/index.json"), "{")
      writeFileSync(source, "hello\n")
      assert.deepStrictEqual(yield* refresh(), ["ea00d1a0-450c-456a-8e32-89e1eb7f382e"])
      yield* clear
    })
  )
})
