/** The full-text index of this home's sessions. SQLite is not loaded by commands that do not need it. */
import { join } from "node:path"
import { Catalogue, type SessionPaths } from "@grove/storage-files"
import { SqliteSessionIndex } from "@grove/storage-sqlite"
import { Effect } from "effect"
import { Failure } from "./CliError.ts"
import * as Foreign from "./Foreign.ts"
import * as History from "./History.ts"
import * as Progress from "./Progress.ts"

/** A folder that the person named has an index of its own. */
export const pathFor = ({ home, cache, sessions, isFlat }: SessionPaths.SessionPaths): string =>
  isFlat ? join(cache, `${sessions.replace(/[^A-Za-z0-9]+/g, "-").slice(-100)}.index.db`) : join(home, "index.db")

/** The index, brought up to date. */
export const open = Effect.fnUntraced(
  function* (paths: SessionPaths.SessionPaths) {
    const index = yield* SqliteSessionIndex.open({ path: pathFor(paths) })
    const progress = yield* Progress.files("Indexing session")
    const foreign = yield* Foreign.files
    const files = [...Catalogue.discover(paths, true).map(({ path }) => path), ...foreign]
    yield* index.update(files, progress.onFile)
    yield* progress.clear
    return index
  },
  Effect.mapError((error) => (error._tag === "Failure" ? error : new Failure({ message: History.explain(error) })))
)
