import { mkdirSync, symlinkSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Paths from "../../src/tools/Paths.ts"
import { put, temporary } from "../support.ts"

describe("a path", () => {
  it("is taken from the working directory, and ~ is the person's home", () => {
    assert.strictEqual(Paths.absolute("/work", "a/../b"), "/work/b")
    assert.strictEqual(Paths.absolute("/work", "/etc"), "/etc")
    assert.strictEqual(Paths.absolute("/work", "~"), homedir())
    assert.strictEqual(Paths.absolute("/work", "~/x"), join(homedir(), "x"))
    assert.strictEqual(Paths.absolute("/work", "~x"), "/work/~x")
  })

  it("that does not exist leads where it would be made", () => {
    const folder = temporary()
    assert.strictEqual(Paths.real(join(folder, "a/b/c")), join(folder, "a/b/c"))
  })

  it("leads through links, also through those that lead nowhere yet", () => {
    const folder = temporary()
    mkdirSync(join(folder, "in"))
    mkdirSync(join(folder, "out"))
    symlinkSync(join(folder, "out"), join(folder, "in/dir"))
    symlinkSync("../out/new", join(folder, "in/new"))
    assert.strictEqual(Paths.real(join(folder, "in/dir/x")), join(folder, "out/x"))
    assert.strictEqual(Paths.real(join(folder, "in/new")), join(folder, "out/new"))
    assert.strictEqual(Paths.real(join(folder, "in/new/deep")), join(folder, "out/new/deep"))
  })

  it("that goes in a circle, or through a file, or holds a zero, does not hang or throw", () => {
    const folder = temporary()
    symlinkSync("b", join(folder, "a"))
    symlinkSync("a", join(folder, "b"))
    put(join(folder, "file"), "")
    assert.isUndefined(Paths.real(join(folder, "a")))
    assert.isUndefined(Paths.real(join(folder, "a/b/c")))
    assert.strictEqual(Paths.real(join(folder, "file/x")), join(folder, "file/x"))
    assert.isUndefined(Paths.real("/a\0b"))
  })

  it("is inside a folder by its parts, not by its letters", () => {
    assert.isTrue(Paths.isInside("/a", "/a"))
    assert.isTrue(Paths.isInside("/a", "/a/..b"))
    assert.isTrue(Paths.isInside("/", "/a"))
    for (const outside of ["/", "/ab", "/b/a", "/a/../b"]) assert.isFalse(Paths.isInside("/a", outside), outside)
  })

  it("is shown from the working directory where it is inside", () => {
    assert.deepStrictEqual(
      ["/w/a/b", "/w", "/x"].map((path) => Paths.shown("/w", path)),
      ["a/b", "/w", "/x"]
    )
  })
})
