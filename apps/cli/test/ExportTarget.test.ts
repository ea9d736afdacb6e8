import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import * as ExportTarget from "../src/ExportTarget.ts"

const parse = (words: string) => ExportTarget.parse(words, "/home/s/2026_0197.jsonl", "/work")
const target = (words: string) => Result.getOrThrow(parse(words))

it("a format without a file gets one named after the session, in the folder of the chat", () => {
  assert.deepStrictEqual(target(""), { format: "md", file: "/work/2026_0197.md", force: false })
  assert.deepStrictEqual(target(" HTML "), { format: "html", file: "/work/2026_0197.html", force: false })
  // A copy in another agent's format must not be taken for the session itself.
  assert.deepStrictEqual(target("pi"), { format: "pi", file: "/work/2026_0197.pi.jsonl", force: false })
})

it("a file is taken as it is, spaces included, and alone it tells its format", () => {
  assert.deepStrictEqual(target("md out of the box.txt"), {
    format: "md",
    file: "/work/out of the box.txt",
    force: false
  })
  assert.deepStrictEqual(target("html /tmp/a.html"), { format: "html", file: "/tmp/a.html", force: false })
  assert.deepStrictEqual(target("my talk.html"), { format: "html", file: "/work/my talk.html", force: false })
  assert.deepStrictEqual(target("../talk.MD"), { format: "md", file: "/talk.MD", force: false })
})

it("what is neither a format nor a file of one is told, with the formats there are", () => {
  const failed = parse("pdf")
  assert.isTrue(
    Result.isFailure(failed) && failed.failure.message === "no format pdf; there are md, html, json, pi, omp, neovate"
  )
})

it("--force at the end lets a file be replaced", () => {
  assert.deepStrictEqual(target("html a.html --force"), { format: "html", file: "/work/a.html", force: true })
  assert.deepStrictEqual(target("--force"), { format: "md", file: "/work/2026_0197.md", force: true })
})
