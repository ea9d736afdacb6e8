/** A home for tests of what keeps it tidy: sessions, blobs and what else lies in one, and disks that die on the way. */
import { createHash } from "node:crypto"
import { existsSync, lstatSync, readdirSync, readFileSync, utimesSync } from "node:fs"
import { join } from "node:path"
import type { EntryId } from "@grove/core"
import { Effect } from "effect"
import * as Disk from "../../src/Disk.ts"
import * as IndexFile from "../../src/IndexFile.ts"
import * as SessionPaths from "../../src/SessionPaths.ts"
import { fileOf, header, type Json, temporary, user, write } from "../support.ts"

export const HOUR = 60 * 60_000

/** Makes a file look older than any grace. */
export const age = (path: string, milliseconds = HOUR): string => {
  const then = (Date.now() - milliseconds) / 1000
  utimesSync(path, then, then)
  return path
}

export const referenceTo = (data: string | Uint8Array): string =>
  `blob:sha256:${createHash("sha256").update(data).digest("hex")}`

export interface Home {
  readonly paths: SessionPaths.SessionPaths
  readonly home: string
  /** A session file in the folder of `/home/ada`. */
  readonly session: (id: string, ...lines: ReadonlyArray<object | string>) => string
  /** A blob older than any grace: its reference. */
  readonly blob: (data: string | Uint8Array) => string
  readonly hasBlob: (reference: string) => boolean
  readonly write: (name: string, data: string | Uint8Array) => string
  readonly indexOf: (session: string) => string
  /** What is in the home, by path: contents of files. */
  readonly contents: () => { readonly [path: string]: string }
}

export const pathOf = (home: string, id: string): string =>
  join(home, "sessions", "--home-ada--", `2026-01-01T00-00-00-000Z_${id}.jsonl`)

export const contentsOf = (folder: string): { readonly [path: string]: string } => {
  if (!existsSync(folder)) return {}
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile())
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "latin1")]))
}

export const makeHome = (options: { readonly sessionDirectory?: string } = {}): Home => {
  const home = join(temporary(), "home")
  const paths = SessionPaths.make({ home, ...options })
  return {
    paths,
    home,
    session: (id, ...lines) => write(pathOf(home, id), fileOf(header({ id }), ...lines)),
    blob: (data) => {
      const reference = referenceTo(data)
      age(write(join(paths.blobs, reference.slice("blob:sha256:".length)), data))
      return reference
    },
    hasBlob: (reference) => existsSync(join(paths.blobs, reference.slice("blob:sha256:".length))),
    write: (name, data) => write(join(home, name), data),
    indexOf: (session) => IndexFile.pathFor(paths.cache, session),
    contents: () => contentsOf(home)
  }
}

export const id = (text: string): EntryId => text as EntryId

export const reply = (entry: string, parentId: string | null, text: string, fields: Json = {}): Json => ({
  ...user(entry, parentId, [{ type: "text", text }]),
  message: { role: "assistant", content: [{ type: "text", text }] },
  ...fields
})

/** What a killed process says: nothing, ever again. */
class Killed extends Error {}

/** A disk that takes so many steps that change something, and then no more: where a process was killed. */
export const dyingDisk = (steps: number): { readonly disk: Disk.Disk; readonly isDead: () => boolean } => {
  let left = steps
  const step =
    <Args extends ReadonlyArray<unknown>, A>(act: (...args: Args) => A) =>
    (...args: Args): A => {
      if (left-- <= 0) throw new Killed("killed")
      return act(...args)
    }
  const { real } = Disk
  const openToWrite = step(real.open)
  return {
    disk: {
      ...real,
      open: (path, mode) => (mode === "read" ? real.open(path, mode) : openToWrite(path, mode)),
      write: step(real.write),
      sync: step(real.sync),
      syncDirectory: step(real.syncDirectory),
      makeDirectory: step(real.makeDirectory),
      rename: step(real.rename),
      link: step(real.link),
      remove: step(real.remove)
    },
    isDead: () => left < 0
  }
}

/**
 * Does the work once for every step at which it can be killed, each time in a home of its own; `check` says what must
 * hold wherever that was. Answers at how many places it was killed.
 */
export const killedAnywhere = <Made, E>(
  prepare: () => Made,
  work: (made: Made) => Effect.Effect<unknown, E>,
  check: (made: Made, step: number) => Effect.Effect<void, unknown>
): Effect.Effect<number, unknown> =>
  Effect.gen(function* () {
    for (let step = 0; ; step++) {
      const made = prepare()
      const { disk, isDead } = dyingDisk(step)
      yield* Effect.exit(Effect.provideService(work(made), Disk.Disk, disk))
      yield* check(made, step)
      if (!isDead()) return step
    }
  })
