/** `grove backup`: a copy of everything, made while others go on writing. */
import { resolve } from "node:path"
import { Backup } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Progress from "../Progress.ts"
import * as StorageWords from "../StorageWords.ts"
import * as Words from "../Words.ts"

export const run = Effect.fn("backup")(function* ({ arguments: [name], flags }: Input) {
  const paths = yield* Paths
  const { cwd } = yield* Environment
  const progress = yield* Progress.files("Copying file")
  const made = yield* Backup.make({ paths, directory: resolve(cwd, name!), onFile: progress.onFile }).pipe(
    StorageWords.told()
  )
  yield* progress.clear
  if (flags.json === true) return yield* Output.json(made)
  const { directory, sessions, blobs, bytes } = made
  const held = `${Words.count(sessions, "session")} and ${Words.count(blobs, "blob")} (${StorageWords.size(bytes)})`
  yield* Output.lines([
    Words.safe(`Copied ${held} to ${directory}`),
    "Keys and tokens are not in it. GROVE_HOME set to that folder uses it."
  ])
})
