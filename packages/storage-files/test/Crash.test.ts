/** Programs killed with SIGKILL. `scripts/crash.mjs` runs the same for longer. */
import { assert, describe, it } from "@effect/vitest"
import { steps } from "../src/Rewrite.ts"
import * as Crash from "./support/Crash.ts"

const LONG = 300_000

describe("after kill -9", () => {
  it("of 200 appending programs every acknowledged entry is there, one line is torn at most, the next is whole", {
    timeout: LONG
  }, async () => {
    const { acknowledged, wrong } = await Crash.appends(200)
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(acknowledged, 1000)
  })

  it("of 25 chats every draft and session that was made is there, under one name, with its blobs", {
    timeout: LONG
  }, async () => {
    const { acknowledged, wrong } = await Crash.drafts(25)
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(acknowledged, 50)
  })

  it("of 25 programs that store blobs every blob that was told of is there, and none in part", {
    timeout: LONG
  }, async () => {
    const { acknowledged, wrong } = await Crash.blobs(25)
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(acknowledged, 50)
  })

  it("of 25 programs that write indexes and catalogues everything is read right", { timeout: LONG }, async () => {
    assert.deepStrictEqual((await Crash.caches(25)).wrong, [])
  })

  it("of a migration, a repair, a move and a copy after every step the session is there, and it can be done again", {
    timeout: LONG
  }, async () => {
    assert.deepStrictEqual((await Crash.rewrites(steps)).wrong, [])
  })
})
