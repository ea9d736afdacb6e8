/** Blobs on plain files keep the promises of every blob store, and some that only files can break. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Blobs } from "@grove/core"
import { BlobStoreContract } from "@grove/core/testing"
import { Effect, Layer } from "effect"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import { temporary, utf8, withoutPrivilege, write } from "./support.ts"

const Folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "grove-blobs-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
BlobStoreContract.suite(
  "FileBlobStore",
  Layer.unwrap(Effect.map(Folder, (directory) => FileBlobStore.layer({ directory })))
)

const bytes = utf8("some bytes")
const hash = Blobs.hashOf(bytes)
const modeOf = (path: string) => statSync(path).mode & 0o777

/** What `get` answers: the text, or why not. */
const got = (options: FileBlobStore.Options, wanted = hash) =>
  Effect.runPromise(
    Effect.match(FileBlobStore.make(options).get(wanted), {
      onSuccess: (found) => Buffer.from(found).toString(),
      onFailure: ({ reason }) => reason._tag
    })
  )
const put = (directory: string, data = bytes) => Effect.runPromise(FileBlobStore.make({ directory }).put(data))

describe("a blob that is put", () => {
  it("is one file named by its hash, and nothing else is left behind", async () => {
    const directory = join(temporary(), "home", "blobs")
    assert.strictEqual(await put(directory), hash)
    assert.deepStrictEqual(readdirSync(directory), [hash])
    assert.deepStrictEqual(readFileSync(join(directory, hash)), Buffer.from(bytes))
  })

  it("is for its owner alone, and so are the folders made for it", async () => {
    const folder = temporary()
    const before = process.umask(0)
    try {
      await put(join(folder, "home", "blobs"))
    } finally {
      process.umask(before)
    }
    assert.strictEqual(modeOf(join(folder, "home/blobs", hash)), 0o600)
    assert.strictEqual(modeOf(join(folder, "home/blobs")), 0o700)
    assert.strictEqual(modeOf(join(folder, "home")), 0o700)
  })

  it("again is not written again, but counts as young again", async () => {
    const directory = join(temporary(), "blobs")
    const path = join(directory, hash)
    await put(directory)
    const { ino } = statSync(path)
    utimesSync(path, new Date(0), new Date(0))
    await put(directory)
    assert.strictEqual(statSync(path).ino, ino)
    assert.isAbove(statSync(path).mtimeMs, 0)
  })

  it.each(["shorter", "other data", "much longer than it was"])(
    "where %j stands in its place is whole again",
    async (damage) => {
      const directory = join(temporary(), "blobs")
      write(join(directory, hash), damage)
      await put(directory)
      assert.strictEqual(await got({ directory }), "some bytes")
    }
  )

  it("where it cannot be is refused, and no part of it stays", async () => {
    const folder = temporary()
    const inTheWay = write(join(folder, "file"), "")
    const refused = await Effect.runPromise(
      Effect.flip(FileBlobStore.make({ directory: join(inTheWay, "blobs") }).put(bytes))
    )
    assert.strictEqual(refused.reason._tag, "BlobRefused")
    mkdirSync(join(folder, "blobs", hash), { recursive: true })
    const blocked = await Effect.runPromise(
      Effect.flip(FileBlobStore.make({ directory: join(folder, "blobs") }).put(bytes))
    )
    assert.strictEqual(blocked.reason._tag, "BlobRefused")
    assert.deepStrictEqual(readdirSync(join(folder, "blobs")), [hash])
  })
})

describe("a blob that is sought", () => {
  it("is missing where no place has it, and looking makes no folder", async () => {
    const directory = join(temporary(), "blobs")
    assert.strictEqual(await got({ directory, fallbacks: [join(directory, "nowhere")] }), "BlobMissing")
    assert.isFalse(existsSync(directory))
  })

  it("is refused where other bytes have its name", async () => {
    const directory = temporary()
    write(join(directory, hash), "other data")
    assert.strictEqual(await got({ directory }), "BlobDamaged")
  })

  it("is taken from the first place that has it whole", async () => {
    const [a, b, c] = [temporary(), temporary(), temporary()]
    await put(b)
    await put(c)
    assert.strictEqual(await got({ directory: a, fallbacks: [b, c] }), "some bytes")
    write(join(a, hash), "damaged")
    assert.strictEqual(await got({ directory: a, fallbacks: [b] }), "some bytes")
    write(join(b, hash), "damaged too")
    assert.strictEqual(await got({ directory: a, fallbacks: [b] }), "BlobDamaged")
  })

  it("is missing where a folder, a pipe or a device has its name, and nothing waits for it", async () => {
    const [folder, pipe, device] = [temporary(), temporary(), temporary()]
    mkdirSync(join(folder, hash))
    execFileSync("mkfifo", [join(pipe, hash)])
    symlinkSync("/dev/zero", join(device, hash))
    for (const directory of [folder, pipe, device]) assert.strictEqual(await got({ directory }), "BlobMissing")
    assert.strictEqual(await got({ directory: folder, fallbacks: [pipe, device] }), "BlobMissing")
  })

  it("is refused where it may not be read", async () => {
    const directory = temporary()
    chmodSync(write(join(directory, hash), bytes), 0)
    assert.strictEqual(await withoutPrivilege(() => got({ directory })), "BlobRefused")
  })
})

describe("the places beside a file", () => {
  it("are beside its three nearest parent directories", () => {
    assert.deepStrictEqual(FileBlobStore.beside("/agent/sessions/--cwd--/nested/one.jsonl"), [
      "/agent/sessions/--cwd--/blobs",
      "/agent/sessions/blobs",
      "/agent/blobs"
    ])
  })

  it("end at the root", () => {
    assert.deepStrictEqual(FileBlobStore.beside("/sessions/one.jsonl"), ["/blobs"])
    assert.deepStrictEqual(FileBlobStore.beside("/one.jsonl"), ["/blobs"])
  })

  it("are the same for a relative path", () => {
    assert.deepStrictEqual(FileBlobStore.beside("one.jsonl"), FileBlobStore.beside(join(process.cwd(), "one.jsonl")))
  })
})

describe("a reference", () => {
  it("is a hash of 64 small hex digits and nothing else, so it is never a path", () => {
    assert.strictEqual(Blobs.hashIn(`blob:sha256:${hash}`), hash)
    for (const text of [
      "",
      `blob:sha256:${hash.toUpperCase()}`,
      `blob:sha256:${hash}/`,
      `blob:sha256:${hash}\n`,
      "blob:sha256:../x",
      hash,
      null,
      7
    ]) {
      assert.isUndefined(Blobs.hashIn(text), JSON.stringify(text))
    }
  })
})
