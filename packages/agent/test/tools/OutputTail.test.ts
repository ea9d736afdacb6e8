import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { OutputTail, plain } from "../../src/tools/OutputTail.ts"
import { temporary } from "../support.ts"

const small = { lines: 3, bytes: 16, fileBytes: 64 }

const printedBy = (chunks: ReadonlyArray<string | Uint8Array>, limits = small) => {
  const folder = temporary()
  const tail = new OutputTail(folder, limits)
  for (const chunk of chunks) tail.add(Buffer.from(chunk as string))
  const printed = tail.printed()
  tail.close()
  return { ...printed, kept: printed.file === undefined ? undefined : readFileSync(printed.file, "utf8"), folder }
}

describe("what is printed", () => {
  it("is shown whole as long as it is short, and leaves no file", () => {
    const { folder, ...printed } = printedBy(["ab", "c\n", "d"])
    assert.deepStrictEqual(printed, { text: "abc\nd", isCut: false, bytes: 5, isFileWhole: false, kept: undefined })
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it.prop(
    "is shown by its end and kept whole in a file, however it arrives",
    [Schema.Array(Schema.String)],
    ([chunks]) => {
      const limits = { lines: 1_000, bytes: 16, fileBytes: 1_000_000 }
      const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))
      const { text, isCut, bytes: count, kept } = printedBy(chunks, limits)
      const whole = bytes.toString()
      assert.deepStrictEqual([count, isCut], [bytes.length, bytes.length > 16])
      if (isCut) assert.strictEqual(kept, whole)
      else assert.strictEqual(text, plain(whole))
      if (isCut && /^[ -~]*$/.test(whole)) assert.strictEqual(text, whole.slice(-16))
    }
  )

  it("has at most so many lines", () => {
    assert.strictEqual(printedBy(["1\n2\n3\n"]).text, "1\n2\n3\n")
    const { text, isCut, kept } = printedBy(["1\n2\n3\n4\n"])
    assert.deepStrictEqual([text, isCut, kept], ["2\n3\n4\n", true, "1\n2\n3\n4\n"])
    assert.strictEqual(printedBy(["1\n2\n3\n4"]).text, "2\n3\n4")
    assert.strictEqual(printedBy(["\n\n\n\n"]).text, "\n\n\n")
  })

  it("begins with a whole character", () => {
    assert.strictEqual(printedBy(["é".repeat(9), "x"]).text, `${"é".repeat(7)}x`)
  })

  it("fills a file only so far, which is said, and nobody else can read it", () => {
    const { file, kept, isFileWhole, bytes } = printedBy(["x".repeat(50), "y".repeat(50)])
    assert.deepStrictEqual([kept, isFileWhole, bytes], ["x".repeat(50) + "y".repeat(14), false, 100])
    assert.strictEqual(statSync(file!).mode & 0o777, 0o600)
  })

  it("is kept for a week: the next long output removes what is older, and nothing that is not ours", () => {
    const folder = temporary()
    const made = (name: string, days: number) => {
      writeFileSync(join(folder, name), "")
      const then = new Date(Date.now() - days * 86_400_000)
      utimesSync(join(folder, name), then, then)
    }
    made("grove-output-0123456789abcdef.log", 8)
    made("grove-output-fedcba9876543210.log", 6)
    made("grove-output-mine.log", 100)
    const short = new OutputTail(folder, small)
    short.add(Buffer.from("short"))
    short.printed()
    assert.strictEqual(readdirSync(folder).length, 3)
    const long = new OutputTail(folder, small)
    long.add(Buffer.from("x".repeat(50)))
    const { file } = long.printed()
    long.close()
    assert.sameMembers(readdirSync(folder), [
      "grove-output-fedcba9876543210.log",
      "grove-output-mine.log",
      basename(file!)
    ])
  })

  it("is shown also where no file can be written", () => {
    const folder = temporary()
    rmSync(folder, { recursive: true })
    const tail = new OutputTail(folder, small)
    tail.add(Buffer.from("x".repeat(40)))
    tail.add(Buffer.from("y"))
    assert.deepStrictEqual(tail.printed(), { text: `${"x".repeat(15)}y`, isCut: true, bytes: 41, isFileWhole: false })
  })
})

describe("plain text", () => {
  it.each([
    ["\x1b[1;31mred\x1b[0m", "red"],
    ["\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"],
    ["10%\r20%\r100%\ndone\r\n", "100%\ndone\n"],
    ["a\r", "a"],
    ["\x07\x00\x9b31m\ttab", "\ufffd\ufffd\ufffd31m\ttab"],
    ["\x1b", "\ufffd"]
  ])("of %j is %j", (text, expected) => assert.strictEqual(plain(text), expected))

  it.prop("has no control but line ends and tabs, whatever the bytes are", [Schema.Uint8Array], ([bytes]) => {
    assert.notMatch(plain(new TextDecoder().decode(bytes)), /(?![\n\t])\p{Cc}/u)
  })
})
