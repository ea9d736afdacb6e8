import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import * as ExportTarget from "../src/ExportTarget.ts"

const parse = (words: string) => ExportTarget.parse(words, "/home/s/2026_0197.jsonl", "/work")
const target = (words: string) => Result.getOrThrow(parse(words))

it("a format without a file gets one named after the session, in the folder of the chat", () => {
  assert.deepStrictEqual(target(""), { format: "md", file: "/work/2026_0197.md" })
  assert.deepStrictEqual(target(" HTML "), { format: "html", file: "/work/2026_0197.html" })
  // A copy in another agent's format must not be taken for the session itself.
  assert.deepStrictEqual(target("pi"), { format: "pi", file: "/work/2026_0197.pi.jsonl" })
})

it("a file is taken as it is, spaces included, and alone it tells its format", () => {
  assert.deepStrictEqual(target("md out of the box.txt"), { format: "md", file: "/work/out of the box.txt" })
  assert.deepStrictEqual(target("html /tmp/a.html"), { format: "html", file: "/tmp/a.html" })
  assert.deepStrictEqual(target("my talk.html"), { format: "html", file: "/work/my talk.html" })
  assert.deepStrictEqual(target("../talk.MD"), { format: "md", file: "/talk.MD" })
})

it("what is neither a format nor a file of one is told, with the formats there are", () => {
  const failed = parse("pdf")
  assert.isTrue(
    Result.isFailure(failed) && failed.failure.message === "no format pdf; there are md, html, json, pi, omp, neovate"
  )
})
