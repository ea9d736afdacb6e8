/** `grove fork`: a path of a session as a new one. */
import { resolve } from "node:path"
import { EntryIds, Sessions } from "@grove/core"
import { Effect, Layer } from "effect"
import { Failure } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as SessionArgument from "../SessionArgument.ts"

export const run = Effect.fn("fork")(function* ({ arguments: [name], flags }: Input) {
  const { cwd: here } = yield* Environment
  const { ref, header, tree } = yield* SessionArgument.read(name!)
  const at = typeof flags.at === "string" ? { at: yield* SessionArgument.entry(tree, flags.at) } : {}
  // An empty file belongs to no folder.
  const cwd = typeof flags.cwd === "string" ? resolve(here, flags.cwd) : header?.cwd || here
  const forked = yield* Sessions.use((sessions) =>
    sessions.fork(ref.path, { ...at, cwd, all: flags.all === true })
  ).pipe(
    Effect.provide(Layer.provide(Sessions.layer, EntryIds.layer)),
    Effect.catchTag("UnknownEntry", ({ id }) => new Failure({ message: `no entry ${id} in ${ref.path}` }))
  )
  if (flags.json === true) return yield* Output.json(forked)
  yield* Output.lines([forked.path])
})
