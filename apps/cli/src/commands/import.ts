/** `grove import`: sessions of other programs as sessions of this home. */
import { resolve } from "node:path"
import { type SessionRef, SessionStore } from "@grove/core"
import { type Format, formats, Import, Sources, Stores, type Translation } from "@grove/formats"
import { Effect } from "effect"
import { Failure, Negative } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as ForeignDatabases from "../ForeignDatabases.ts"
import * as Output from "../Output.ts"
import * as Progress from "../Progress.ts"
import { explain } from "../SessionArgument.ts"
import * as Words from "../Words.ts"

type Status = Import.Imported["status"] | "failed"

interface Source {
  readonly file: string
  readonly format: Format | null
  readonly status: Status
  readonly sessions: ReadonlyArray<Import.Imported>
  readonly repaired: ReadonlyArray<Translation.Note>
  readonly unmapped: ReadonlyArray<Translation.Note>
  /** Why it failed, for people. */
  readonly because?: string
}

type Wanted = ReturnType<typeof Sources.discover>[number]

const failed = ({ file, format }: Wanted, because: string): Source => ({
  ...{ file, format: format ?? null, status: "failed", sessions: [], repaired: [], unmapped: [], because }
})

/** Of several sessions in one source: new if all are, unchanged if all are. */
const statusOf = (sessions: ReadonlyArray<Import.Imported>): Status => {
  const [first] = sessions
  return first === undefined
    ? "unchanged"
    : sessions.every(({ status }) => status === first.status)
      ? first.status
      : "updated"
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const importSource = Effect.fnUntraced(
  function* (wanted: Wanted, known: Map<string, SessionRef>, dryRun: boolean) {
    const { file, format } = wanted
    if (format === undefined) return failed(wanted, "no format that is known; --from names one")
    const { sessions, repaired, unmapped } = yield* Sources.translate({ file, format })
    if (sessions.length === 0 && repaired.length > 0) {
      return { ...failed(wanted, `nothing in it is a session of ${format}`), repaired, unmapped }
    }
    const imported: Array<Import.Imported> = []
    for (const session of sessions) {
      const one: Import.Imported = yield* Import.session(session, { known: (id) => known.get(id), dryRun })
      if (one.path !== null) known.set(one.id, { id: one.id, path: one.path })
      imported.push(one)
    }
    return { file, format, status: statusOf(imported), sessions: imported, repaired, unmapped }
  },
  (effect, wanted) =>
    Effect.catchTags(effect, {
      SourceRefused: ({ cause }) => Effect.succeed(failed(wanted, `cannot be read: ${reasonOf(cause)}`)),
      SessionStoreError: (error) => Effect.succeed(failed(wanted, explain(error)))
    })
)

const isFormat = (name: unknown): name is Format => formats.some((format) => format === name)

/** What a person named, or whatever other programs keep in the usual places. */
const wantedFrom = Effect.fnUntraced(function* ({ arguments: words, flags }: Input) {
  const { cwd, userHome, variables } = yield* Environment
  const format = isFormat(flags.from) ? flags.from : undefined
  if (words.length === 0) {
    const stores = Stores.find(userHome, variables).filter((store) => format === undefined || store.format === format)
    return stores.flatMap(Stores.filesOf)
  }
  return yield* Effect.try({
    try: () => words.flatMap((word) => Sources.discover(resolve(cwd, word), format)),
    catch: (cause) =>
      new Failure({
        message:
          (cause as NodeJS.ErrnoException).code === "ENOENT"
            ? `cannot import: no such file or folder: ${(cause as NodeJS.ErrnoException).path}`
            : `cannot import: ${reasonOf(cause)}`
      })
  })
})

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => a + b, 0)

const line = ({ file, format, status, sessions, repaired, unmapped, because }: Source): string => {
  if (status === "failed") return Words.safe(`${file}: failed, ${because}`)
  const added = sum(sessions.map((session) => session.added))
  const parts = [
    `${status}, ${Words.count(sessions.length, "session")}`,
    ...(status === "unchanged" ? [] : [Words.count(added, "entry", "entries")]),
    ...(repaired.length === 0 ? [] : [`${repaired.length} repaired`]),
    ...(unmapped.length === 0 ? [] : [`${unmapped.length} left out`])
  ]
  return Words.safe(`${file} (${format}): ${parts.join(", ")}`)
}

/** A line for each store, so that a whole home fits a screen. */
const summary = (sources: ReadonlyArray<Source>, dryRun: boolean): ReadonlyArray<string> => {
  const met = formats.filter((format) => sources.some((source) => source.format === format))
  const rows = met.map((format) => {
    const own = sources.filter((source) => source.format === format)
    const sessions = own.flatMap((source) => source.sessions)
    const by = (status: Status) => sessions.filter((session) => session.status === status).length
    const counts = `${by("new")} new, ${by("updated")} updated, ${by("unchanged")} unchanged`
    const failures = own.filter(({ status }) => status === "failed").length
    return `${format.padEnd(11)} ${Words.count(sessions.length, "session")}: ${counts}${failures > 0 ? `; ${Words.count(failures, "file")} failed` : ""}`
  })
  return [...rows, ...(dryRun ? ["Nothing was written."] : [])]
}

/** So many files are told one by one; of more, only what failed. */
const MOST_LINES = 20

const told = (sources: ReadonlyArray<Source>): ReadonlyArray<Source> =>
  sources.length <= MOST_LINES ? sources : sources.filter(({ status }) => status === "failed")

const importAll = Effect.fnUntraced(function* (input: Input) {
  const { flags } = input
  const store = yield* SessionStore
  const dryRun = flags["dry-run"] === true
  const wanted = yield* wantedFrom(input)
  const known = new Map<string, SessionRef>()
  for (const { id, path } of yield* store.list({ subAgents: true })) if (id !== null) known.set(id, { id, path })
  const progress = yield* Progress.files("Importing file")
  const sources: Array<Source> = []
  for (const one of wanted) {
    progress.onFile(one.file)
    sources.push(yield* importSource(one, known, dryRun))
  }
  yield* progress.clear
  if (flags.json === true) {
    const shape = sources.map(({ file, format, status, sessions, repaired, unmapped }) => ({
      ...{ file, format, status, repaired, unmapped },
      sessions: sessions.map(({ id, path, entries }) => ({ id, path, entries }))
    }))
    yield* Output.json({ sources: shape })
    for (const { file, because } of sources) if (because !== undefined) yield* Output.note(`${file}: ${because}`)
  } else if (sources.length === 0) {
    yield* Output.lines(["No sessions of other programs were found; name a file or a folder."])
  } else yield* Output.lines([...told(sources).map(line), ...summary(sources, dryRun)])
  if (sources.some(({ status }) => status === "failed")) return yield* new Negative()
})

export const run = Effect.fn("import")((input: Input) => Effect.provide(importAll(input), ForeignDatabases.layer))
