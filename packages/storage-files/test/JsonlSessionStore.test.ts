import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
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
