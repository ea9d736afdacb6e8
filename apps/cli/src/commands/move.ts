/** `grove move`: a session for another working directory. */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { Disk, JsonlSessionStore, SessionFiles, SessionPaths } from "@grove/storage-files"
import { Effect } from "effect"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"

const isDirectory = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

export const run = Effect.fn("move")(function* ({ arguments: [name], flags }: Input) {
  if (typeof flags.cwd !== "string")
    return yield* new UsageError({ message: "move needs --cwd <dir>; see grove move --help" })
  const { cwd: here } = yield* Environment
  const paths = yield* Paths
  const cwd = resolve(here, flags.cwd)
  if (!isDirectory(cwd)) return yield* new Failure({ message: `${cwd} is not a directory` })
  const { ref, header } = yield* SessionArgument.read(name!)
  if (header === null) return yield* new Failure({ message: `${ref.path} is empty; there is nothing to move` })
  const isKeptByGrove = ref.path.startsWith(`${paths.sessions}/`) && !paths.isFlat
  const place = { cwd, timestamp: header.timestamp ?? "", id: header.id }
  const to = isKeptByGrove ? SessionPaths.pathFor(paths, place) : ref.path
  if (to !== ref.path && existsSync(to))
    return yield* new Failure({ message: `${to} is there already; nothing was moved` })
  const disk = yield* Disk.Disk
  const { backup } = yield* JsonlSessionStore.attemptAsync(ref.path, () => SessionFiles.move(disk, ref.path, to, cwd))
  if (flags.json === true) return yield* Output.json({ id: header.id, from: ref.path, path: to, cwd, backup })
  yield* Output.lines([to])
})
