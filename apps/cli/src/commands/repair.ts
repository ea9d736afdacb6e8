/** `grove repair`: the readable lines of a damaged file. */
import { basename, resolve } from "node:path"
import { EntryIds } from "@grove/core"
import { Disk, JsonlSessionStore, SessionFiles } from "@grove/storage-files"
import { Clock, Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Words from "../Words.ts"

/** The id in `<timestamp>_<id>.jsonl`, for a file that lost its header. */
const idIn = (path: string): string | undefined => /_([A-Za-z0-9][A-Za-z0-9._-]*)\.jsonl$/.exec(basename(path))?.[1]

export const run = Effect.fn("repair")(function* ({ arguments: [name], flags }: Input) {
  const path = resolve(name!)
  const { cwd } = yield* Environment
  const disk = yield* Disk.Disk
  const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
  const id = idIn(path) ?? (yield* EntryIds.use(({ session }) => session).pipe(Effect.provide(EntryIds.layer)))
  const makeHeader = () => ({ type: "session", version: 3, id, timestamp, cwd }) as const
  const repaired = yield* JsonlSessionStore.attemptAsync(path, () =>
    SessionFiles.repair(disk, path, { timestamp, makeHeader })
  )
  if (flags.json === true) return yield* Output.json({ file: name, ...repaired })
  const { changed, entries, rejected, backup, rejectedFile } = repaired
  const held = Words.count(entries, "entry", "entries")
  if (!changed) return yield* Output.lines([Words.safe(`${name}: nothing to repair, ${held}`)])
  yield* Output.lines([
    Words.safe(`${name}: ${held} kept; the original is ${backup}`),
    ...(rejectedFile === null ? [] : [Words.safe(`${Words.count(rejected, "line")} set apart in ${rejectedFile}`)])
  ])
})
