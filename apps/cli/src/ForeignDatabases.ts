/** Databases of other programs, over whatever SQLite there is. */
import { DatabaseRefused, Databases } from "@grove/formats"
import { SqliteTables } from "@grove/storage-sqlite"
import { Effect, Layer } from "effect"

export const layer = Layer.succeed(Databases, {
  rows: (file, queries) =>
    Effect.tryPromise({
      try: () => SqliteTables.read(file, queries),
      catch: (cause) => new DatabaseRefused({ cause })
    })
})
