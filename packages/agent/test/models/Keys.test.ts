import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as Keys from "../../src/models/Keys.ts"

const withFile = (text: string, mode = 0o600) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const file = join(mkdtempSync(join(tmpdir(), "grove-keys-")), "auth.json")
      writeFileSync(file, text)
      chmodSync(file, mode)
      return file
    }),
    (file) => Effect.sync(() => rmSync(join(file, ".."), { recursive: true }))
  )

const find = (options: Keys.Options, provider = "oak") => Keys.make(options).find(provider, ["OAK_KEY", "OLD_OAK_KEY"])

describe("a key", () => {
  it.live("is found in the first variable that is set, then in the file, in either form", () =>
    Effect.gen(function* () {
      const file = yield* withFile('{"oak":"from file\\n","elm":{"key":"elm-key"}}'.replace(" ", "-"))
      const found = (environment: Keys.Options["environment"], provider?: string) =>
        Effect.map(find({ environment, file }, provider), Redacted.value)
      assert.strictEqual(yield* found({ OAK_KEY: " a \n", OLD_OAK_KEY: "b" }), "a")
      assert.strictEqual(yield* found({ OAK_KEY: "", OLD_OAK_KEY: "b" }), "b")
      assert.strictEqual(yield* found({}), "from-file")
      assert.strictEqual(yield* found({}, "elm"), "elm-key")
    })
  )

  it.live("in a file that others can read is not used, and the remedy says what to do", () =>
    Effect.gen(function* () {
      const file = yield* withFile('{"oak":"secret"}', 0o644)
      const error = yield* Effect.flip(find({ environment: {}, file }))
      assert(error._tag === "NoKey")
      assert.strictEqual(error.remedy, `others can read ${file}, so it is not used; chmod 600 it`)
    })
  )

  it.live("that is nowhere is missed by name; a file that is no JSON says so without showing it", () =>
    Effect.gen(function* () {
      const file = yield* withFile("{oak: secret")
      const broken = yield* Effect.flip(find({ environment: {}, file }))
      assert(broken._tag === "NoKey")
      assert.strictEqual(broken.remedy, `${file} could not be read as JSON`)
      const nowhere = yield* Effect.flip(find({ environment: {}, file: `${file}.not` }, "toString"))
      assert(nowhere._tag === "NoKey")
      assert.strictEqual(nowhere.remedy, `set OAK_KEY or set OLD_OAK_KEY or put it into ${file}.not`)
    })
  )

  it.live("knows where it was found", () =>
    Effect.gen(function* () {
      const file = yield* withFile('{"oak":"secret"}')
      const labelOf = (environment: Keys.Options["environment"]) =>
        Effect.map(find({ environment, file }), ({ label }) => label)
      assert.deepStrictEqual([yield* labelOf({ OLD_OAK_KEY: "b" }), yield* labelOf({})], ["OLD_OAK_KEY", file])
    })
  )

  it.live("does not show itself when it is printed", () =>
    Effect.gen(function* () {
      const key = yield* find({ environment: { OAK_KEY: "secret" } })
      assert.notInclude(`${key} ${JSON.stringify(key)}`, "secret")
    })
  )
})
