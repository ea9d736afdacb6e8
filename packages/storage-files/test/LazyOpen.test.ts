import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as IndexFile from "../src/IndexFile.ts"
import * as LazyEager from "./support/LazyEager.ts"
import { fileOf, header, temporary, user, utf8, write } from "./support.ts"

const fixtures = new URL("../../../fixtures/", import.meta.url)
const names = ["pi/", "omp/sessions/"].flatMap((folder) =>
  readdirSync(new URL(folder, fixtures))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => `${folder}${name}`)
)
const fixture = (name: string): Buffer => readFileSync(new URL(name, fixtures))

describe("a session opened without parsing it", () => {
  it.each(names)("says what it says when it is parsed: %s", (name) => {
    LazyEager.check(temporary(), fixture(name))
  })

  it.each(names)("says the same when its index is there, and when lines came after that: %s", (name) => {
    const bytes = fixture(name)
    for (const share of [0.3, 0.8, 1]) {
      const cut = bytes.lastIndexOf(10, Math.floor(bytes.length * share)) + 1
      LazyEager.checkGrown(temporary(), bytes.subarray(0, cut), bytes.subarray(cut))
    }
  })

  const sound = (id: string, parentId: string | null = null) => user(id, parentId, id)
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<object | string>]> = [
    [
      "a header that begins like an entry",
      [header(), sound("a"), { type: "session", id: "b", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" }]
    ],
    [
      "a damaged line that repeats the id of a sound one",
      [header(), sound("a"), JSON.stringify(sound("a")).replace('"content"', "content"), sound("b", "a")]
    ],
    [
      "a damaged line whose id a sound one repeats",
      [header(), JSON.stringify(sound("a")).replace('"content"', "content"), sound("a"), sound("b", "a")]
    ],
    [
      "a damaged line between an entry and its parent",
      [header(), sound("a"), JSON.stringify(sound("b", "a")).replace('"content"', "content"), sound("c", "b")]
    ],
    [
      "a parent that is not there, and one that goes round",
      [
        header(),
        sound("a", "nobody"),
        sound("b", "c"),
        sound("c", "b"),
        sound("d", "a"),
        JSON.stringify(sound("e", "d")).replace('"content"', "content"),
        sound("f", "e")
      ]
    ],
    [
      "a message with its envelope at the end",
      [
        header(),
        {
          type: "message",
          customType: "x",
          message: { role: "user", content: "" },
          id: "a",
          parentId: null,
          timestamp: "2026-01-01T00:00:00.000Z"
        },
        sound("b", "a")
      ]
    ],
    [
      "roles and types beyond ASCII",
      [
        header(),
        { ...sound("a"), message: { role: "rôle", content: "" } },
        { ...sound("b", "a"), type: "título" },
        { ...sound("c", "b"), message: { role: "", content: "" } },
        sound("d", "c")
      ]
    ],
    [
      "times that are none",
      [
        header(),
        sound("a"),
        ...[
          "2026-13-01T00:00:00.000Z",
          "0026-01-01T00:00:00.000Z",
          "20a6-01-01T00:00:00.000Z",
          "2026/01/01T00:00:00.000Z"
        ].map((timestamp, i) => ({ ...sound(`b${i}`, "a"), timestamp })),
        sound("z", "a")
      ]
    ],
    [
      "more types than two bytes can number",
      [
        header(),
        ...Array.from({ length: 70_000 }, (_, i) => ({
          ...sound(`${i}`, i === 0 ? null : `${i - 1}`),
          type: `type ${i}`
        }))
      ]
    ]
  ]
  it.each(cases)("is read right with %s", (_, lines) => {
    LazyEager.check(temporary(), utf8(fileOf(...lines)))
  })

  it("is read right when a line is longer than the buffer, whether it ends or not", () => {
    const long = sound("long")
    const bytes = fileOf(header(), sound("a"), { ...long, more: "x".repeat(5_000_000) }, sound("b", "long"))
    LazyEager.check(temporary(), utf8(bytes))
    LazyEager.check(temporary(), utf8(bytes.slice(0, 4_000_000)))
  })

  it("is read right when it is nested deeper than anybody can follow", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
    const line = JSON.stringify({ ...sound("deep", "a"), more: 0 }).replace('"more":0', `"more":${deep}`)
    const home = temporary()
    const path = write(join(home, "deep.jsonl"), fileOf(header(), sound("a"), line, sound("b", "deep")))
    LazyEager.withLazy(home, path, {}, (lazy) => {
      const { tree } = Result.getOrThrow(lazy)
      assert.deepStrictEqual([tree.size, tree.entries.length, tree.leaf], [3, 3, "b"])
      assert.strictEqual(tree.path("b").length, 3)
    })
  })

  it("takes time in proportion to its size, also where no line ever ends", { retry: 3 }, () => {
    const timed = (megabytes: number): number => {
      const home = temporary()
      const path = write(join(home, "x.jsonl"), `${fileOf(header(), sound("a"))}${"x".repeat(megabytes << 20)}`)
      const times = Array.from({ length: 3 }, () => {
        const start = performance.now()
        LazyEager.withLazy(home, path, {}, () => {})
        return performance.now() - start
      })
      return Math.min(...times)
    }
    timed(4)
    // Both are larger than what a processor keeps near itself; four times the size is sixteen times the work if lines are scanned again.
    assert.isBelow(timed(128) / timed(32), 10)
  })
})

describe("an index in the cache", () => {
  const large = fixture("omp/sessions/walk-11.jsonl")
  const other = fixture("omp/sessions/walk-12.jsonl")

  const setUp = () => {
    const home = temporary()
    const path = write(join(home, "one.jsonl"), large)
    const index = IndexFile.pathFor(join(home, "cache"), path)
    const open = () =>
      LazyEager.withLazy(home, path, { cached: true }, (lazy) => LazyEager.sameAsEager(lazy, readFileSync(path)))
    open()
    return { home, path, index, open }
  }
  const isUsed = (path: string, index: string): boolean => {
    const file = openSync(path, "r")
    try {
      return IndexFile.load(index, file) !== undefined
    } finally {
      closeSync(file)
    }
  }

  it("is made by the first open and used by the next", () => {
    const { path, index } = setUp()
    assert.isTrue(isUsed(path, index))
  })

  it("is used for a file that has grown", () => {
    const { path, index, open } = setUp()
    appendFileSync(path, fileOf(user("later", null, "x")))
    assert.isTrue(isUsed(path, index))
    open()
  })

  it("is not used for a file of the same length whose time has changed", () => {
    const { path, index, open } = setUp()
    const bytes = Buffer.from(large)
    bytes[bytes.lastIndexOf("assistant")] = 65
    writeFileSync(path, bytes)
    assert.isFalse(isUsed(path, index))
    open()
    utimesSync(path, 1, 1)
    assert.isFalse(isUsed(path, index))
    open()
  })

  it("is not used for a file that became shorter, or was replaced by another or by a copy", () => {
    for (const change of [
      (path: string) => truncateSync(path, large.length - 500),
      (path: string) => renameSync(write(`${path}.new`, other), path),
      (path: string) => renameSync(write(`${path}.new`, Buffer.concat([large, Buffer.from("\n")])), path)
    ]) {
      const { path, index, open } = setUp()
      change(path)
      assert.isFalse(isUsed(path, index))
      open()
    }
  })

  it("is not used for a file whose head or tail changed as it grew", () => {
    for (const at of [20, large.length - 20]) {
      const { path, index, open } = setUp()
      const bytes = Buffer.from(large)
      bytes[at]! ^= 1
      writeFileSync(path, Buffer.concat([bytes, Buffer.from(fileOf(user("later", null, "x")))]))
      assert.isFalse(isUsed(path, index))
      open()
    }
  })

  it("is not used when it belongs to another file", () => {
    const { home, path, index, open } = setUp()
    const foreign = write(join(home, "other.jsonl"), other)
    LazyEager.withLazy(home, foreign, { cached: true }, () => {})
    copyFileSync(IndexFile.pathFor(join(home, "cache"), foreign), index)
    assert.isFalse(isUsed(path, index))
    open()
  })

  it("is not used when any byte of it is damaged, when it is cut off anywhere, or when it is something else", () => {
    const { path, index, open } = setUp()
    const sound = readFileSync(index)
    const step = Math.ceil(sound.length / 150)
    for (let at = 0; at < sound.length; at += at < 64 ? 1 : step) {
      const damaged = Buffer.from(sound)
      damaged[at]! ^= 0x10
      writeFileSync(index, damaged)
      // What the header leaves free carries no meaning.
      assert.strictEqual(isUsed(path, index), at >= 52 && at < 64, `byte ${at}`)
      writeFileSync(index, sound.subarray(0, at))
      assert.isFalse(isUsed(path, index), `cut at ${at}`)
    }
    for (const something of ["", "GRVIDX", "{}", "\0".repeat(sound.length), "GRVIDX02".repeat(1000)]) {
      writeFileSync(index, something)
      open()
      assert.isTrue(isUsed(path, index), "it was made anew")
    }
  })

  it("is done without where the cache cannot be written or read", () => {
    const { home, path, index, open } = setUp()
    writeFileSync(index, "")
    write(join(home, "elsewhere"), "")
    const options = { cached: true }
    renameSync(join(home, "cache"), join(home, "cache-before"))
    write(join(home, "cache"), "no folder")
    open()
    LazyEager.withLazy(home, path, options, (lazy) => assert.isTrue(Result.isSuccess(lazy)))
    renameSync(join(home, "cache"), join(home, "no-cache"))
    mkdirSync(index, { recursive: true })
    open()
  })
})
