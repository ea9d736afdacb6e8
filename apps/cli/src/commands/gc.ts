/** `grove gc`: frees what nothing needs, retires old sessions to the trash, and brings them back. */
import { resolve } from "node:path"
import { Ids, SessionStore, type SessionSummary } from "@grove/core"
import { Gc, Trash } from "@grove/storage-files"
import { Clock, Effect } from "effect"
import { UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Progress from "../Progress.ts"
import * as StorageWords from "../StorageWords.ts"
import * as Words from "../Words.ts"

const DAY = 24 * 60 * 60_000
const SPANS: { readonly [unit: string]: number } = { h: DAY / 24, d: DAY, w: 7 * DAY, y: 365 * DAY }

/** `30d` in milliseconds. */
const span = (text: string): Effect.Effect<number, UsageError> => {
  const [, count, unit] = /^(\d{1,5})([hdwy])$/.exec(text) ?? []
  if (count !== undefined) return Effect.succeed(Number(count) * SPANS[unit!]!)
  return new UsageError({ message: `--older-than is a time such as 12h, 30d, 8w or 1y, not ${JSON.stringify(text)}` })
}

const NOTHING_DELETED = "; nothing was deleted"

interface Done {
  readonly blobs: Gc.Collected
  readonly trashed: ReadonlyArray<SessionSummary.SessionSummary>
  readonly restored: ReadonlyArray<Trash.Trashed>
  readonly dryRun: boolean
}

const noBlobs: Gc.Collected = { kept: 0, removed: 0, bytes: 0, temporary: 0 }

const asJson = ({ blobs: { kept, removed, bytes }, trashed, restored, dryRun }: Done) => ({
  blobs: { kept, removed, bytes },
  sessions: { trashed: trashed.map(({ id, path, modified }) => ({ id, path, modified })) },
  restored: restored.map(({ id, path }) => ({ id, path })),
  dryRun
})

const title = ({ id, name, firstMessage }: SessionSummary.SessionSummary): string =>
  `${Ids.short(id ?? "")}  ${name ?? firstMessage ?? "(no messages)"}`

const forPeople = ({ blobs, trashed, dryRun }: Done): ReadonlyArray<string> => {
  const { kept, removed, bytes, temporary } = blobs
  const would = (doing: string, done: string) => (dryRun ? `Would ${doing}` : done)
  const stray = temporary === 0 ? "" : ` and ${Words.count(temporary, "file")} that a crash left half written`
  const inUse = `${Words.count(kept, "blob")} ${kept === 1 ? "is" : "are"} in use or new`
  const sessions = Words.count(trashed.length, "session")
  const isIdle = removed === 0 && temporary === 0
  return [
    ...(trashed.length === 0 ? [] : [`${would("move", "Moved")} ${sessions} to the trash:`]),
    ...trashed.map((session) => `  ${Words.safe(title(session))}`),
    isIdle
      ? `No blob to remove; ${inUse}.`
      : `${would("remove", "Removed")} ${Words.count(removed, "unused blob")} (${StorageWords.size(bytes)})${stray}; ${inUse}.`,
    ...(trashed.length === 0 || dryRun ? [] : ["grove gc --restore <s> puts a session back."])
  ]
}

const restore = Effect.fnUntraced(function* (name: string, dryRun: boolean) {
  const { home } = yield* Paths
  const { cwd } = yield* Environment
  const trashed = yield* Trash.find(home, name.includes("/") ? resolve(cwd, name) : name).pipe(StorageWords.told())
  if (!dryRun) yield* Trash.restore(trashed).pipe(StorageWords.told("; nothing was moved"))
  return trashed
})

const retire = Effect.fnUntraced(function* (age: string, dryRun: boolean) {
  const paths = yield* Paths
  const before = (yield* Clock.currentTimeMillis) - (yield* span(age))
  const store = yield* SessionStore
  const sessions = yield* store.list({ subAgents: true })
  return yield* Gc.retire({ paths, sessions, before, dryRun }).pipe(StorageWords.told())
})

export const run = Effect.fn("gc")(function* ({ flags }: Input) {
  const paths = yield* Paths
  const dryRun = flags["dry-run"] === true
  const age = flags["older-than"]
  if (typeof flags.restore === "string") {
    if (age !== undefined) return yield* new UsageError({ message: "--restore and --older-than undo each other" })
    const restored = yield* restore(flags.restore, dryRun)
    if (flags.json === true) {
      return yield* Output.json(asJson({ blobs: noBlobs, trashed: [], restored: [restored], dryRun }))
    }
    return yield* Output.lines([Words.safe(`${dryRun ? "Would put back" : "Put back"} ${restored.path}`)])
  }
  if (typeof age === "string") yield* span(age)
  if (!dryRun) yield* Trash.settle(paths.home).pipe(StorageWords.told(NOTHING_DELETED))
  const trashed = typeof age === "string" ? yield* retire(age, dryRun) : []
  const progress = yield* Progress.files("Looking for blobs in file")
  const blobs = yield* Gc.collect({ paths, dryRun, onFile: progress.onFile }).pipe(StorageWords.told(NOTHING_DELETED))
  yield* progress.clear
  const done: Done = { blobs, trashed, restored: [], dryRun }
  yield* flags.json === true ? Output.json(asJson(done)) : Output.lines(forPeople(done))
})
