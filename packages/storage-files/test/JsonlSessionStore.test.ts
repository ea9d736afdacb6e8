import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, it } from "@effect/vitest"
import { type Entry, SessionStore } from "@grove/core"
import { SessionStoreContract } from "@grove/core/testing"
import { Effect, Layer } from "effect"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import * as JsonlSessionStore from "../src/JsonlSessionStore.ts"
import * as SessionPaths from "../src/SessionPaths.ts"

const layer = Layer.unwrap(
  Effect.sync(() => {
    const paths = SessionPaths.make({ home: mkdtempSync(join(tmpdir(), "grove-store-")) })
    return Layer.provide(JsonlSessionStore.layer({ paths }), FileBlobStore.layer({ directory: paths.blobs }))
  })
)

SessionStoreContract.suite("JsonlSessionStore", layer)

it.effect("a session in the cache can be read, and nothing is appended to it", () =>
  Effect.gen(function* () {
    const paths = SessionPaths.make({ home: mkdtempSync(join(tmpdir(), "grove-store-")) })
    const path = join(paths.cache, "foreign/a.jsonl")
    const text = '{"type":"session","version":3,"id":"a","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}\n'
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    const Store = Layer.provide(JsonlSessionStore.layer({ paths }), FileBlobStore.layer({ directory: paths.blobs }))
    yield* Effect.gen(function* () {
      const store = yield* SessionStore
      const ref = yield* store.find(path)
      assert.isTrue((yield* store.read(ref)).readOnly)
      const log = yield* store.open(ref)
      const note = {
        type: "note",
        id: "n",
        parentId: null,
        timestamp: "2026-01-01T00:00:00Z"
      } as unknown as Entry.Entry
      const refused = yield* Effect.flip(log.append([note]))
      assert.strictEqual(refused.reason._tag, "SessionReadOnly")
      assert.strictEqual(readFileSync(path, "utf8"), text)
    }).pipe(Effect.scoped, Effect.provide(Store))
  })
)
