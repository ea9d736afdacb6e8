/** Replies being generated, each in a file `running/<session>.<entry>.json` that says who is at work. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { EntryId, RunningReplies, type RunningReply, workOf } from "@grove/core"
import { Clock, Effect, Layer, Option, Schema } from "effect"
import * as CacheFile from "./CacheFile.ts"

export interface Options {
  readonly home: string
  /** Who asks; this process, unless a test says otherwise. */
  readonly owner?: string
}

export const folder = (home: string): string => join(home, "running")

const Note = Schema.Struct({
  session: Schema.String,
  entry: EntryId,
  parentId: Schema.NullOr(EntryId),
  model: Schema.String,
  started: Schema.String,
  text: Schema.String,
  group: Schema.optionalKey(Schema.Unknown),
  owner: Schema.String
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Note))

// ------------------------------------------------------------------------------------------------------ owners

/** When a process began, in ticks since the machine did: numbers of processes are used again, this is not. */
const startOf = (pid: number | string): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name of the program, in parentheses, may hold anything; the fields after it do not.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
  } catch {
    return ""
  }
}

/** Machine, process, and when that began. */
export const ownerOf = (pid: number): string => [hostname(), pid, startOf(pid)].map(encodeURIComponent).join(":")

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Of a process on another machine nobody here knows; it is believed to be at work so long after its last note. */
const PATIENCE = 3_600_000

const isAlive = (owner: string, notedAt: number, now: number): boolean => {
  const [host, pid, start] = owner.split(":").map(decodeURIComponent)
  if (host !== hostname()) return now - notedAt < PATIENCE
  const number = Number(pid)
  return Number.isSafeInteger(number) && number > 0 && isRunning(number) && startOf(number) === start
}

// ------------------------------------------------------------------------------------------------------- notes

/** Whoever takes a note over adds their name to that of its file: only one of many can rename it. */
const ENDING = /\.json(?:~(.*))?$/

interface Found {
  readonly path: string
  readonly reply: RunningReply
  readonly isAlive: boolean
}

const orNone = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

export const make = ({ home, owner = ownerOf(process.pid) }: Options) => {
  const directory = folder(home)
  // Names of sessions that others wrote may be anything, also no name for a file.
  const prefixOf = (session: string): string => `${encodeURIComponent(session)}.`
  const pathOf = (session: string, entry: EntryId): string =>
    // Without a dot, so that where the session's name ends is never in doubt.
    join(directory, `${prefixOf(session)}${encodeURIComponent(entry).replaceAll(".", "%2E")}.json`)
  const takenBy = (path: string): string => `${path.replace(/~[^~]*$/, "")}~${encodeURIComponent(owner)}`

  const foundIn = (path: string, now: number): ReadonlyArray<Found> => {
    const note = Option.getOrUndefined(decode(orNone(() => readFileSync(path, "utf8"))))
    const notedAt = orNone(() => statSync(path).mtimeMs)
    const [, taker] = ENDING.exec(path) ?? []
    if (note === undefined || notedAt === undefined) return []
    const { owner: writer, ...reply } = note
    const owner = taker === undefined ? writer : (orNone(() => decodeURIComponent(taker)) ?? "")
    return [{ path, reply, isAlive: orNone(() => isAlive(owner, notedAt, now)) ?? false }]
  }

  const find = (session: string, now: number): ReadonlyArray<Found> =>
    (orNone(() => readdirSync(directory)) ?? [])
      .filter((name) => name.startsWith(orNone(() => prefixOf(session)) ?? "/") && ENDING.test(name))
      .flatMap((name) => foundIn(join(directory, name), now))
      .filter(({ reply }) => reply.session === session)
      .sort((a, b) => (a.reply.started < b.reply.started ? -1 : 1))

  const take = ({ path, reply }: Found): ReadonlyArray<RunningReply> =>
    orNone(() => {
      renameSync(path, takenBy(path))
      return [reply]
    }) ?? []

  return RunningReplies.of({
    note: (reply) =>
      Effect.sync(() => {
        orNone(() => CacheFile.write(pathOf(reply.session, reply.entry), JSON.stringify({ ...reply, owner })))
      }),
    forget: (session, entry) =>
      Effect.sync(() => {
        orNone(() => {
          const path = pathOf(session, entry)
          for (const each of [path, takenBy(path)]) rmSync(each, { force: true })
        })
      }),
    list: (session) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        find(session, now)
          .filter(({ isAlive }) => isAlive)
          .map(({ reply }) => reply)
      ),
    works: Effect.map(Clock.currentTimeMillis, (now) => {
      const names = (orNone(() => readdirSync(directory)) ?? []).filter((name) => ENDING.test(name))
      const found = names.flatMap((name) => foundIn(join(directory, name), now))
      return workOf(found.map(({ reply, isAlive }) => ({ session: reply.session, isAlive })))
    }),
    takeAbandoned: (session) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        find(session, now)
          .filter(({ isAlive }) => !isAlive)
          .flatMap(take)
      )
  })
}

export const layer = (options: Options) => Layer.sync(RunningReplies, () => make(options))
