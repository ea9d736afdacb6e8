/** Sessions of Pi and of oh-my-pi mean the same after their translation. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, type Json, Jsonl, SessionTree } from "@grove/core"
import { Result } from "effect"
import * as Readers from "../../src/read/Readers.ts"
import { alone, assertSound, assertUnshaken, bytesOf, namesIn, sourceOf, utf8 } from "../support.ts"

/** The contexts of a translated file at every leaf, against those of the file itself. */
const assertSameContexts = (path: string, format: "pi" | "omp") => {
  const { sessions } = Readers.read(format, sourceOf(path))
  assert.strictEqual(sessions.length, 1)
  const { tree } = assertSound(sessions[0]!)
  const read = Jsonl.read(bytesOf(path))
  if (Result.isFailure(read)) return
  const entries = read.success.rows.map(({ entry }) => entry)
  const own = SessionTree.from(entries, read.success.last)
  assert.strictEqual(tree.leaf, own.leaf)
  const inline = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value)
        .replace(/"data":"[^"]{100,}"/g, '"data":"blob"')
        .replace(/blob:sha256:\w+/g, "blob")
    )
  for (const { id } of entries.filter((_, i) => i % Math.ceil(entries.length / 60) === 0)) {
    const [a, b] = [ContextBuilder.build(tree, id), ContextBuilder.build(own, id)]
    assert.deepStrictEqual(inline(a.messages), inline(b.messages))
    assert.deepStrictEqual(a.models, b.models)
  }
}

describe("Pi", () => {
  const files = namesIn("pi", /\.jsonl$/).filter((name) => name !== "malformed-empty.jsonl")

  it.each(files)("%s has the contexts it had", (name) => {
    assertSameContexts(`pi/${name}`, "pi")
  })

  it.each(files)("%s is recognised", (name) => {
    if (name !== "malformed-no-header.jsonl") assert.strictEqual(Readers.detect(name, bytesOf(`pi/${name}`)), "pi")
  })

  it("says where every entry stood", () => {
    const { sessions } = Readers.read("pi", sourceOf("pi/linear.jsonl"))
    const lines = Buffer.from(bytesOf("pi/linear.jsonl")).toString().split("\n")
    for (const { id, origin } of sessions[0]!.entries) {
      const { file, line, entry, format } = origin as Json
      assert.deepStrictEqual([file, entry, format], ["/store/pi/linear.jsonl", id, "pi"])
      assert.strictEqual(JSON.parse(lines[Number(line) - 1]!).id, id)
    }
  })

  it("a lost header is made from the name of the file", () => {
    const [, ...lines] = Buffer.from(bytesOf("pi/linear.jsonl")).toString().split("\n")
    const file = "/x/2026-01-02T03-04-05-678Z_0198c0de-0000-7000-8000-000000000001.jsonl"
    const { sessions, repaired } = Readers.read("pi", alone(file, utf8(lines.join("\n"))))
    const { header, entries } = sessions[0]!
    assert.deepStrictEqual(
      [header.id, header.timestamp],
      ["0198c0de-0000-7000-8000-000000000001", "2026-01-02T03:04:05.678Z"]
    )
    assert.strictEqual(entries.length, lines.filter((line) => line !== "").length)
    assert.deepStrictEqual(repaired, [{ line: 1, kind: "no-header" }])
    assert.strictEqual((entries[0]!.origin as Json).line, 1)
  })

  it("an empty file is no session", () => {
    assert.deepStrictEqual(Readers.read("pi", alone("a.jsonl", utf8(""))).sessions, [])
  })

  it("100 mutilated files are read without harm", { timeout: 60_000 }, () => {
    assertUnshaken(
      "pi",
      files.filter((name) => !name.startsWith("repo")).map((name) => `pi/${name}`)
    )
  })
})

describe("oh-my-pi", () => {
  const names = namesIn("omp/sessions", /\.jsonl$/).filter((name) => !/^(empty|whitespace-only|deep-chain)/.test(name))

  it.each(names)("%s has the contexts it had", (name) => {
    assertSameContexts(`omp/sessions/${name}`, "omp")
  })

  it("is told from Pi by what only it writes", () => {
    for (const name of ["title-slot", "all-entry-types", "models-omp"]) {
      assert.strictEqual(Readers.detect("x.jsonl", bytesOf(`omp/sessions/${name}.jsonl`)), "omp", name)
    }
  })

  it("the title of the slot is the name of the session", () => {
    const { sessions } = Readers.read("omp", sourceOf("omp/sessions/title-slot.jsonl"))
    const [slot] = Buffer.from(bytesOf("omp/sessions/title-slot.jsonl")).toString().split("\n")
    assert.strictEqual(sessions[0]!.header.title, JSON.parse(slot!).title)
  })

  it("images come from the blobs beside the sessions", () => {
    const { sessions, unmapped } = Readers.read("omp", sourceOf("omp/sessions/images-omp.jsonl"))
    const text = JSON.stringify(sessions)
    assert.notInclude(text, "blob:sha256:")
    assert.deepStrictEqual(unmapped, [])
    const source = sourceOf("omp/sessions/images-omp.jsonl")
    const without = Readers.read("omp", alone(source.file, source.bytes))
    assert.include(JSON.stringify(without.sessions), "blob:sha256:")
    assert(without.unmapped.some(({ kind }) => kind === "missing-blob"))
  })

  it("a reference that is no hash is never a path", () => {
    const asked: Array<string> = []
    const source = sourceOf("omp/sessions/blob-refs-odd.jsonl")
    Readers.read("omp", { ...source, beside: (path) => void asked.push(path) as undefined })
    for (const path of asked) assert.match(path, /^(\.\.\/)*blobs\/[0-9a-f]{64}$/)
  })

  it("100 mutilated files are read without harm", { timeout: 60_000 }, () => {
    assertUnshaken(
      "omp",
      names.map((name) => `omp/sessions/${name}`)
    )
  })
})
