/** A file examined as a whole: lines, tree, bodies and the blobs it names. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { BlobStore, Blobs } from "@grove/core"
import { Effect } from "effect"
import * as FileCheck from "../src/FileCheck.ts"
import { fileOf, header, image, temporary, user, utf8, write } from "./support.ts"

const examined = (data: string | Uint8Array) =>
  FileCheck.examine(write(join(temporary(), "one.jsonl"), data)).pipe(Effect.provide(BlobStore.layerMemory))

const kinds = ({ problems }: FileCheck.Report) => problems.map(({ line, kind }) => `${line} ${kind}`)

it.effect("a sound file has no problems", () =>
  Effect.gen(function* () {
    const file = write(join(temporary(), "one.jsonl"), fileOf(header(), user("a", null, "hello")))
    const report = yield* FileCheck.examine(file).pipe(Effect.provide(BlobStore.layerMemory))
    assert.deepStrictEqual(report, { file, ok: true, version: 3, entries: 1, problems: [] })
  })
)

it.effect("problems of lines, of the tree, of bodies and of blobs stand together in file order", () =>
  Effect.gen(function* () {
    const report = yield* examined(
      `${fileOf(
        header({ version: 4 }),
        user("a", "nobody", "orphan"),
        "junk",
        user("b", "a", [image("0".repeat(64))]),
        user("c", "d", "cycle"),
        user("d", "c", "cycle"),
        user("e", "b", 7),
        "[]",
        "{}",
        user("e", "b", "again"),
        header(),
        {
          ...user("f", "e", ""),
          type: "custom_message",
          content: [image("1".repeat(64))],
          customType: "x",
          display: true
        }
      )}{"torn`
    )
    assert.isFalse(report.ok)
    assert.strictEqual(report.version, 4)
    assert.deepStrictEqual(kinds(report), [
      "1 newer-version",
      "2 unknown-parent",
      "3 not-json",
      "4 missing-blob",
      "5 cycle",
      "8 not-object",
      "9 bad-entry",
      "10 duplicate-id",
      "11 second-header",
      "12 missing-blob",
      "13 torn-tail"
    ])
  })
)

it.effect("a blob that is there is no problem, and one that is named twice in a line is told once", () =>
  Effect.gen(function* () {
    const blobs = yield* BlobStore
    const there = yield* blobs.put(utf8("picture"))
    const gone = Blobs.hashOf(utf8("gone"))
    const file = write(
      join(temporary(), "one.jsonl"),
      fileOf(header(), user("a", null, [image(there), image(gone), image(gone)]))
    )
    const { problems } = yield* FileCheck.examine(file)
    assert.deepStrictEqual(problems, [{ line: 2, kind: "missing-blob", message: `blob ${gone} of entry a is missing` }])
  }).pipe(Effect.provide(BlobStore.layerMemory))
)

it.effect("a blob is missed wherever a reader would ask for it", () =>
  Effect.gen(function* () {
    const lost = ["0", "1", "2", "3"].map((digit) => image(digit.repeat(64)))
    const entry = (id: string, parentId: string | null, fields: object) => ({ ...user(id, parentId, "x"), ...fields })
    const report = yield* examined(
      fileOf(
        header(),
        entry("a", null, { fullText: { "/message/content": `blob:sha256:${"4".repeat(64)}` } }),
        entry("b", "a", { type: "context_edit", targetId: "a", replacement: { content: [lost[0]] } }),
        entry("c", "b", {
          type: "compaction",
          summary: "s",
          tokensBefore: 1,
          systemMessage: { role: "system", content: [lost[1]] }
        }),
        user("d", "c", [{ type: "toolResult", content: [lost[2], { type: "text", text: "and" }, lost[3]] }])
      )
    )
    const missing = report.problems.filter(({ kind }) => kind === "missing-blob")
    assert.deepStrictEqual(missing.map(({ line, message }) => `${line} ${message.slice(5, 6)}`).sort(), [
      "2 4",
      "3 0",
      "4 1",
      "5 2",
      "5 3"
    ])
  })
)

it.effect("what is no session is a report in file order, not a failure", () =>
  Effect.gen(function* () {
    const report = yield* examined("junk\nmore junk\n")
    assert.deepStrictEqual([report.ok, report.version, report.entries], [false, null, 0])
    assert.deepStrictEqual(kinds(report), ["1 not-json", "1 no-header", "2 not-json"])
    assert.deepStrictEqual(kinds(yield* examined(fileOf(user("a", null, "hello")))), ["1 no-header"])
  })
)

it.effect("an empty file is sound", () =>
  Effect.gen(function* () {
    const { ok, version, entries } = yield* examined("")
    assert.deepStrictEqual([ok, version, entries], [true, null, 0])
  })
)

it.effect("whatever the bytes are, there is a report", () =>
  Effect.gen(function* () {
    for (let seed = 1; seed <= 50; seed++) {
      const noise = Uint8Array.from({ length: 300 }, (_, i) => (i * seed * 7919 + ((i * i) >> 3)) % 256)
      const report = yield* examined(Buffer.concat([Buffer.from(seed % 2 ? fileOf(header()) : ""), noise]))
      assert.isFalse(report.ok)
    }
  })
)

it.effect("only a file that cannot be read at all is a failure, and says which", () =>
  Effect.gen(function* () {
    const folder = temporary()
    const examine = (file: string) => Effect.flip(FileCheck.examine(file)).pipe(Effect.provide(BlobStore.layerMemory))
    const missing = yield* examine(join(folder, "nowhere"))
    assert.deepStrictEqual([missing.reason._tag, missing.session], ["SessionNotFound", join(folder, "nowhere")])
    mkdirSync(join(folder, "directory"))
    assert.strictEqual((yield* examine(join(folder, "directory"))).reason._tag, "StoreRefused")
    assert.strictEqual((yield* examine("/dev/null")).reason._tag, "StoreRefused")
  })
)
