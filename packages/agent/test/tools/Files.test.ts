/** The tools that read, write and edit files. */

import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Tool } from "../../src/Tool.ts"
import { edit, read, write } from "../../src/Tools.ts"
import { put, temporary, textOf } from "../support.ts"

const run = (tool: Tool, args: { readonly [name: string]: unknown }, cwd: string) =>
  Effect.runPromise(tool.run(args, { cwd }))
const described = (tool: Tool, args: { readonly [name: string]: unknown }, cwd: string) =>
  Effect.runPromise(tool.describe(args, { cwd }))
/** What it says, where it has to fail. */
const trouble = async (tool: Tool, args: { readonly [name: string]: unknown }, cwd: string) => {
  const outcome = await run(tool, args, cwd)
  assert.isTrue(outcome.isError)
  return textOf(outcome)
}
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join("")

describe("arguments", () => {
  it.each([read, write, edit])(
    "$definition.name is asked for with a schema, and tells what is wrong with others",
    async (tool) => {
      const { type, required } = tool.definition.parameters as { type: string; required: ReadonlyArray<string> }
      assert.strictEqual(type, "object")
      assert.include(required, "path")
      const cwd = temporary()
      assert.match(
        await trouble(tool, { path: 7 }, cwd),
        new RegExp(`^Wrong arguments for ${tool.definition.name}: .*path`)
      )
      assert.deepStrictEqual((await described(tool, {}, cwd)).paths, [])
      assert.deepStrictEqual(readdirSync(cwd), [])
    }
  )

  it.each([read, write, edit])("$definition.name tells of a path that is none", async (tool) => {
    const args = { path: "a\0b", content: "", oldText: "a", newText: "b" }
    assert.notStrictEqual(await trouble(tool, args, temporary()), "")
  })
})

describe("read", () => {
  it("answers with the text as it is, and says what it would read", async () => {
    const cwd = temporary()
    const path = put(join(cwd, "a.txt"), "é\r\nx")
    assert.strictEqual(textOf(await run(read, { path: "a.txt" }, cwd)), "é\r\nx")
    assert.deepStrictEqual(await described(read, { path: "a.txt", offset: 3 }, cwd), {
      line: "read a.txt from line 3",
      paths: [path]
    })
  })

  it("takes 2000 lines at a time, and says how to go on", async () => {
    const cwd = temporary()
    put(join(cwd, "a"), numbered(1, 2_001))
    const first = textOf(await run(read, { path: "a" }, cwd))
    assert.strictEqual(first, `${numbered(1, 2_000)}[more lines follow: go on with offset 2001]`)
    assert.strictEqual(textOf(await run(read, { path: "a", offset: 2_001 }, cwd)), "line 2001\n")
    assert.strictEqual(textOf(await run(read, { path: "a", offset: 2_000, limit: 9 }, cwd)), numbered(2_000, 2_001))
    assert.strictEqual(
      textOf(await run(read, { path: "a", offset: 5, limit: 2 }, cwd)),
      "line 5\nline 6\n[more lines follow: go on with offset 7]"
    )
    assert.match(await trouble(read, { path: "a", offset: 9_999 }, cwd), /^a has only 2001 lines/)
  })

  it("takes whole lines of at most 50 KB in all, also where they straddle what is read at once", async () => {
    const cwd = temporary()
    const line = (n: number) => `${n}${"é".repeat(10_000)}\n`
    put(join(cwd, "a"), [1, 2, 3, 4].map(line).join(""))
    assert.strictEqual(
      textOf(await run(read, { path: "a" }, cwd)),
      `${line(1)}${line(2)}[more lines follow: go on with offset 3]`
    )
    assert.strictEqual(textOf(await run(read, { path: "a", offset: 3 }, cwd)), line(3) + line(4))
  })

  it("shows the beginning of a line that is too long, and where the next one is", async () => {
    const cwd = temporary()
    put(join(cwd, "a"), `${"x".repeat(200_000)}\nnext\n`)
    const text = textOf(await run(read, { path: "a" }, cwd))
    assert.isTrue(text.startsWith("x".repeat(51_200)) && text.length < 51_400)
    assert.match(text, /line 1 goes on.*offset 2\]$/)
    assert.strictEqual(textOf(await run(read, { path: "a", offset: 2 }, cwd)), "next\n")
  })

  it("does not take a large file into memory", async () => {
    const cwd = temporary()
    const path = put(join(cwd, "a"), numbered(1, 1_000))
    truncateSync(path, 8 * 1024 ** 3)
    const before = process.memoryUsage().rss
    assert.match(textOf(await run(read, { path: "a", limit: 2 }, cwd)), /line 2\n\[more/)
    assert.isBelow(process.memoryUsage().rss - before, 100 * 1024 ** 2)
  })

  it("shows an image by its bytes, whatever its name", async () => {
    const cwd = temporary()
    const bytes = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64"
    )
    put(join(cwd, "a.txt"), bytes)
    assert.deepStrictEqual((await run(read, { path: "a.txt" }, cwd)).content, [
      { type: "text", text: "a.txt (image/png)" },
      { type: "image", data: bytes.toString("base64"), mimeType: "image/png" }
    ])
    put(join(cwd, "large.jpg"), Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(3_750_000)]))
    assert.match(await trouble(read, { path: "large.jpg" }, cwd), /at most 3750000/)
  })

  it("refuses what is binary, a folder, a pipe, and what is not there, each in its own words", async () => {
    const cwd = temporary()
    put(join(cwd, "bin"), Buffer.from([1, 2, 0, 3]))
    mkdirSync(join(cwd, "dir"))
    execFileSync("mkfifo", [join(cwd, "pipe")])
    assert.match(await trouble(read, { path: "bin" }, cwd), /^bin is binary \(4 bytes\)/)
    assert.match(await trouble(read, { path: "dir" }, cwd), /^dir is a directory/)
    assert.match(await trouble(read, { path: "pipe" }, cwd), /^pipe is no regular file/)
    assert.strictEqual(await trouble(read, { path: "no" }, cwd), "no does not exist")
    assert.strictEqual(textOf(await run(read, { path: put(join(cwd, "empty"), "") }, cwd)), "(empty is empty)")
  })
})

describe("write", () => {
  it("makes a file and the folders on the way", async () => {
    const cwd = temporary()
    const outcome = await run(write, { path: "a/b.txt", content: "1\n2\n" }, cwd)
    assert.strictEqual(textOf(outcome), "Made a/b.txt: 2 lines, 4 bytes.")
    assert.strictEqual(readFileSync(join(cwd, "a/b.txt"), "utf8"), "1\n2\n")
  })

  it("replaces a file, keeps its mode, leaves nothing beside it, and tells the difference", async () => {
    const cwd = temporary()
    const path = put(join(cwd, "run.sh"), "one\ntwo\n")
    chmodSync(path, 0o775)
    const request = await described(write, { path: "run.sh", content: "one\n2\n" }, cwd)
    assert.strictEqual(readFileSync(path, "utf8"), "one\ntwo\n")
    const outcome = await run(write, { path: "run.sh", content: "one\n2\n" }, cwd)
    assert.strictEqual(textOf(outcome), "Replaced run.sh: 2 lines, 6 bytes.")
    assert.deepStrictEqual(outcome.details, { diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" })
    assert.deepStrictEqual(request.preview, { kind: "diff", text: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" })
    assert.strictEqual(statSync(path).mode & 0o777, 0o775)
    assert.deepStrictEqual(readdirSync(cwd), ["run.sh"])
  })

  it("writes through a link, which stays one", async () => {
    const cwd = temporary()
    put(join(cwd, "real"), "old")
    symlinkSync("real", join(cwd, "link"))
    await run(write, { path: "link", content: "new" }, cwd)
    assert.isTrue(lstatSync(join(cwd, "link")).isSymbolicLink())
    assert.strictEqual(readFileSync(join(cwd, "real"), "utf8"), "new")
  })

  it("refuses a folder, and a file where a folder should be, and leaves nothing behind", async () => {
    const cwd = temporary()
    mkdirSync(join(cwd, "dir"))
    put(join(cwd, "file"), "")
    assert.match(await trouble(write, { path: "dir", content: "" }, cwd), /^dir is a directory/)
    assert.match(await trouble(write, { path: "file/x", content: "" }, cwd), /^file\/x is not there/)
    assert.deepStrictEqual(readdirSync(cwd), ["dir", "file"])
  })

  it("has no diff where the texts have too little in common, and is quick about it", async () => {
    const cwd = temporary()
    put(join(cwd, "a"), numbered(1, 100_000))
    const outcome = await run(write, { path: "a", content: numbered(200_000, 300_000) }, cwd)
    assert.deepStrictEqual([outcome.isError, outcome.details], [false, {}])
  })
})

describe("edit", () => {
  const after = async (bytes: string | Uint8Array, args: object) => {
    const cwd = temporary()
    const path = put(join(cwd, "a"), bytes)
    const outcome = await run(edit, { path: "a", ...args }, cwd)
    return { outcome, bytes: readFileSync(path), text: readFileSync(path, "latin1") }
  }

  it("replaces the one text, keeps the mode, and tells the difference", async () => {
    const cwd = temporary()
    const path = put(join(cwd, "a"), "one\ntwo\nthree\n")
    chmodSync(path, 0o640)
    const args = { path: "a", oldText: "two", newText: "2 $& $1" }
    const diff = "@@ -1,3 +1,3 @@\n one\n-two\n+2 $& $1\n three\n"
    assert.deepStrictEqual(await described(edit, args, cwd), {
      line: "edit a",
      preview: { kind: "diff", text: diff },
      paths: [path]
    })
    const outcome = await run(edit, args, cwd)
    assert.deepStrictEqual([textOf(outcome), outcome.details], ["Edited a.", { diff }])
    assert.strictEqual(readFileSync(path, "utf8"), "one\n2 $& $1\nthree\n")
    assert.strictEqual(statSync(path).mode & 0o777, 0o640)
  })

  it("keeps the line ends and the byte order mark of the file", async () => {
    const { text } = await after("\ufeffa\r\nb\r\nc\r\n", { oldText: "a\nb", newText: "1\n2\n3" })
    assert.strictEqual(text, "\xef\xbb\xbf1\r\n2\r\n3\r\nc\r\n")
    assert.strictEqual((await after("a\r\nb", { oldText: "a", newText: "x\ny" })).text, "x\r\ny\r\nb")
    assert.strictEqual((await after("a\nb\r\nc\r\nd", { oldText: "b\nc", newText: "x\ny" })).text, "a\nx\r\ny\r\nd")
    assert.strictEqual((await after("a\r\nb\nc\nd", { oldText: "b\nc", newText: "x" })).text, "a\r\nx\nd")
  })

  it("keeps every other byte, also of what is no UTF-8", async () => {
    const { bytes } = await after(Buffer.from([0xff, 0x61, 0xc3, 0xa9, 0x00, 0xfe]), { oldText: "é", newText: "ü" })
    assert.deepStrictEqual([...bytes], [0xff, 0x61, 0xc3, 0xbc, 0x00, 0xfe])
  })

  it("changes nothing where the text is not there once, and says where it is", async () => {
    const many = await after("x\ny\nx\n", { oldText: "x", newText: "z" })
    assert.strictEqual(
      textOf(many.outcome),
      "oldText is 2 times in a (lines 1, 3): add more of what is around it, or use replaceAll"
    )
    assert.strictEqual(many.text, "x\ny\nx\n")
    const none = await after("if (a) {\n\treturn 1\n}\n", { oldText: "    return 1\n  }", newText: "" })
    assert.match(textOf(none.outcome), /^oldText is not in a\. Something like it is at line 2/)
    assert.match(textOf((await after("a", { oldText: "b", newText: "" })).outcome), /not in a\. Read the file again\.$/)
  })

  it("replaces all where that is wanted", async () => {
    assert.strictEqual((await after("aaaa", { oldText: "aa", newText: "b", replaceAll: true })).text, "bb")
  })

  it("refuses what would change nothing, make a file, or burst the memory", async () => {
    assert.match(textOf((await after("a", { oldText: "", newText: "b" })).outcome), /^oldText is empty/)
    assert.match(textOf((await after("a", { oldText: "a", newText: "a" })).outcome), /nothing would change/)
    const burst = { oldText: "a", newText: "b".repeat(100_000), replaceAll: true }
    assert.match(textOf((await after("a".repeat(10_000), burst)).outcome), /too large/)
    const cwd = temporary()
    assert.match(await trouble(edit, { path: "no", oldText: "a", newText: "b" }, cwd), /^no does not exist; .* write$/)
    assert.isFalse(existsSync(join(cwd, "no")))
  })

  it.live("edits that come at once do not undo each other", () =>
    Effect.gen(function* () {
      const cwd = temporary()
      const path = put(join(cwd, "a"), numbered(1, 20))
      symlinkSync("a", join(cwd, "b"))
      const edits = Array.from({ length: 20 }, (_, i) =>
        edit.run({ path: i % 2 === 0 ? "a" : "b", oldText: `line ${i + 1}\n`, newText: `new ${i + 1}\n` }, { cwd })
      )
      yield* Effect.all(edits, { concurrency: "unbounded" })
      assert.strictEqual(readFileSync(path, "utf8"), numbered(1, 20).replaceAll("line", "new"))
    })
  )

  it.live("an interruption leaves the file as it was or as it should be, and nothing beside it", () =>
    Effect.gen(function* () {
      const cwd = temporary()
      const path = put(join(cwd, "a"), "old")
      const fiber = yield* Effect.forkChild(edit.run({ path: "a", oldText: "old", newText: "new" }, { cwd }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.match(readFileSync(path, "utf8"), /^(old|new)$/)
      assert.deepStrictEqual(readdirSync(cwd), ["a"])
    })
  )
})
