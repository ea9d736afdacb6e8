/**
 * Sessions of other programs, for those who only look: files that Grove reads as they are stay where they are, all
 * others are translated into the cache, again whenever they have changed. Nothing is written to a store of another.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type SessionRef, SessionStore } from "@grove/core"
import { type Format, Import, Sources, Stores } from "@grove/formats"
import { FileBlobStore, JsonlSessionStore, SessionPaths } from "@grove/storage-files"
import { Effect, Layer } from "effect"
import * as ForeignDatabases from "./ForeignDatabases.ts"

/** Programs whose session files are Grove's own. */
const READ_AS_THEY_ARE = new Set<Format>(["pi", "omp"])

const copiesOf = (paths: SessionPaths.SessionPaths, format: Format): SessionPaths.SessionPaths =>
  SessionPaths.make({ home: paths.home, sessionDirectory: join(paths.cache, "foreign", format) })

/** One folder of sessions for each store. */
export const roots = (paths: SessionPaths.SessionPaths, stores: ReadonlyArray<Stores.Store>) => {
  const own = stores.filter(({ format }) => READ_AS_THEY_ARE.has(format))
  const others = new Set(stores.map(({ format }) => format).filter((format) => !READ_AS_THEY_ARE.has(format)))
  return [
    ...own.map(({ format, folder }) => ({ source: format, paths: { ...paths, sessions: folder, isFlat: false } })),
    ...[...others].map((format) => ({ source: format, paths: copiesOf(paths, format) }))
  ]
}

type Stamps = { [file: string]: string }

const stampsIn = (path: string): Stamps => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Stamps
  } catch {
    return {}
  }
}

const stampOf = (file: string): string => {
  const { size, mtimeMs } = statSync(file)
  return `${size} ${mtimeMs}`
}

const translate = Effect.fnUntraced(function* (store: Stores.Store, copies: SessionPaths.SessionPaths) {
  const sessions = yield* SessionStore
  const noted = `${copies.sessions}.json`
  const stamps = stampsIn(noted)
  const known = new Map<string, SessionRef>()
  for (const { id, path } of yield* sessions.list({ subAgents: true })) if (id !== null) known.set(id, { id, path })
  for (const found of Stores.filesOf(store)) {
    const stamp = stampOf(found.file)
    if (stamps[found.file] === stamp) continue
    // One file that cannot be read, or is being written, does not keep back the others.
    yield* Effect.ignore(
      Effect.gen(function* () {
        const translated = yield* Sources.translate(found)
        for (const session of translated.sessions) {
          const { id, path } = yield* Import.session(session, { known: (id) => known.get(id) })
          if (path !== null) known.set(id, { id, path })
        }
        stamps[found.file] = stamp
      })
    )
    yield* Effect.yieldNow
  }
  yield* Effect.sync(() => {
    mkdirSync(join(copies.cache, "foreign"), { recursive: true, mode: 0o700 })
    writeFileSync(noted, JSON.stringify(stamps), { mode: 0o600 })
  })
})

/** Brings the copies up to date, one store after the other. What cannot be had is left out. */
export const refresh = (paths: SessionPaths.SessionPaths, stores: ReadonlyArray<Stores.Store>) =>
  Effect.forEach(
    stores.filter(({ format }) => !READ_AS_THEY_ARE.has(format)),
    (store) => {
      const copies = copiesOf(paths, store.format)
      const files = Layer.provide(
        JsonlSessionStore.layer({ paths: copies, durability: "never" }),
        FileBlobStore.layer({ directory: copies.blobs })
      )
      return Effect.ignore(translate(store, copies).pipe(Effect.provide(files), Effect.provide(ForeignDatabases.layer)))
    },
    { discard: true }
  )
