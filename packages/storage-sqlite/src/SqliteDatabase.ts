/** A database file: made private, opened for several processes at once, brought to the current version, set aside if damaged. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs"
import { dirname } from "node:path"
import { Clock, Data, Effect, Schedule, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import * as Nul from "./Nul.ts"
import * as SqliteDriver from "./SqliteDriver.ts"

/** No driver loads, or the database cannot be used; `path` says which. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly path: string
  readonly problem: "no-driver" | "damaged" | "newer" | "busy" | "refused"
  readonly cause: unknown
}> {}

export interface Options {
  readonly path: string
  /** Statements that lead from each version to the next, from an empty file on. */
  readonly migrations: ReadonlyArray<ReadonlyArray<string>>
  readonly driver?: SqliteDriver.Driver | undefined
}

/** Deleted text is overwritten, not only unlinked. */
const PRAGMAS = [
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = NORMAL",
  "PRAGMA secure_delete = ON",
  "PRAGMA foreign_keys = ON",
  "PRAGMA temp_store = MEMORY",
  "PRAGMA cache_size = -16384",
  "PRAGMA mmap_size = 268435456"
]

const textOf = (cause: unknown): string => {
  const parts: Array<string> = []
  for (let at: unknown = cause, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    parts.push(at.message, String((at as { readonly code?: unknown }).code ?? ""))
    const reason: unknown = (at as { readonly reason?: unknown }).reason
    if (reason instanceof Error) parts.push(textOf(reason))
  }
  return parts.join(" ")
}

/** What SQLite itself said, beneath all that wraps it. */
export const reasonOf = (cause: unknown): string => {
  let at = cause
  for (let depth = 0; at instanceof Error && depth < 8; depth++) {
    const { reason } = at as { readonly reason?: unknown }
    const next = reason instanceof Error ? reason : at.cause
    if (!(next instanceof Error)) return at.message
    at = next
  }
  return String(at)
}

const problemOf = (cause: unknown): DatabaseError["problem"] => {
  const text = textOf(cause)
  if (/SQLITE_CORRUPT|SQLITE_NOTADB|malformed|not a database/i.test(text)) return "damaged"
  return /SQLITE_BUSY|database is locked/i.test(text) ? "busy" : "refused"
}

export const errorOf = (path: string, cause: unknown): DatabaseError =>
  cause instanceof DatabaseError ? cause : new DatabaseError({ path, problem: problemOf(cause), cause })

const connectionTo = (database: SqliteDriver.Database): SqlConnection.Connection => {
  const failed = (cause: unknown) =>
    new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { operation: "execute" }) })
  const all = (sql: string, parameters: ReadonlyArray<unknown>) =>
    Effect.suspend(() => {
      try {
        const found = database.all(sql, parameters.map(Nul.written))
        if (!(found instanceof Promise)) return Effect.succeed(found.map(Nul.read))
        return Effect.tryPromise({ try: () => found.then((rows) => rows.map(Nul.read)), catch: failed })
      } catch (cause) {
        return Effect.fail(failed(cause))
      }
    })
  const rows: SqlConnection.Connection["execute"] = (sql, parameters, transform) =>
    transform === undefined ? all(sql, parameters) : Effect.map(all(sql, parameters), transform)
  const values = (sql: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(all(sql, parameters), (rows) => rows.map((row) => Object.values(row)))
  return {
    execute: rows,
    executeUnprepared: rows,
    executeRaw: all,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (sql, parameters, transform) =>
      Stream.unwrap(Effect.map(rows(sql, parameters, transform), Stream.fromIterable))
  }
}

const makePrivate = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, "a", 0o600))
  chmodSync(path, 0o600)
}

const migrate = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  path: string,
  migrations: Options["migrations"]
) {
  const version = sql.unsafe<{ user_version: number }>("PRAGMA user_version")
  const current = Effect.map(version, ([row]) => row?.user_version ?? 0)
  const found = yield* current
  if (found > migrations.length) return yield* new DatabaseError({ path, problem: "newer", cause: found })
  if (found === migrations.length) return
  yield* sql.withTransaction(
    Effect.gen(function* () {
      // Another process may have been faster.
      for (const statement of migrations.slice(yield* current).flat()) yield* sql.unsafe(statement)
      yield* sql.unsafe(`PRAGMA user_version = ${migrations.length}`)
    })
  )
})

/** A client for the file until the scope ends. */
export const open = Effect.fn("SqliteDatabase.open")(
  function* (options: Options) {
    const { path, migrations } = options
    const driver = options.driver ?? SqliteDriver.preferred()
    if (driver === undefined) {
      return yield* new DatabaseError({ path, problem: "no-driver", cause: "no SQLite driver loads" })
    }
    yield* Effect.try({ try: () => makePrivate(path), catch: (cause) => errorOf(path, cause) })
    const database = yield* Effect.tryPromise({
      try: () => driver.open(path),
      catch: (cause) => errorOf(path, cause)
    })
    let isOpen = true
    const close = Effect.suspend(() => {
      const wasOpen = isOpen
      isOpen = false
      return wasOpen ? Effect.ignore(Effect.tryPromise(() => database.close())) : Effect.void
    })
    // Not every driver has SQLite do this when the last one leaves.
    const settle = Effect.ignore(Effect.tryPromise(async () => database.all("PRAGMA wal_checkpoint(PASSIVE)", [])))
    yield* Effect.addFinalizer(() => Effect.suspend(() => (isOpen ? Effect.andThen(settle, close) : Effect.void)))
    const semaphore = yield* Semaphore.make(1)
    const acquirers = SqlClient.makeSqliteAcquirers({ connection: Effect.succeed(connectionTo(database)), semaphore })
    const sql = yield* SqlClient.make({
      ...acquirers,
      driver: driver.name,
      compiler: Statement.makeCompilerSqlite(),
      beginTransaction: "BEGIN IMMEDIATE",
      spanAttributes: [["db.system.name", "sqlite"]]
    }).pipe(Effect.provide(Reactivity.layer))
    const ready = Effect.andThen(
      Effect.forEach(PRAGMAS, (pragma) => sql.unsafe(pragma), { discard: true }),
      migrate(sql, path, migrations)
    )
    // Closed before anybody moves the file: what is left open would later write a log that is no longer its own.
    yield* Effect.onError(ready, () => close)
    return sql
  },
  (effect, { path }) => Effect.mapError(effect, (cause) => errorOf(path, cause))
)

/** Empties the log, so that nothing deleted is left in it; waits a while for others who still read from it. */
export const emptyLog = (sql: SqlClient.SqlClient) =>
  sql
    .unsafe<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)")
    .pipe(Effect.repeat({ until: ([row]) => row?.busy !== 1, schedule: Schedule.spaced("20 millis"), times: 250 }))

/** What SQLite keeps beside the file. */
export const FILES = ["", "-wal", "-shm"] as const

/** Moves a damaged file out of the way, nothing of it lost, and answers where it is now. */
export const setAside = Effect.fnUntraced(function* (path: string) {
  const stamp = new Date(yield* Clock.currentTimeMillis).toISOString().replace(/[:.]/g, "-")
  const aside = `${path}.damaged-${stamp}`
  yield* Effect.try({
    try: () => {
      for (const end of FILES) if (existsSync(path + end)) renameSync(path + end, aside + end)
    },
    catch: (cause) => errorOf(path, cause)
  })
  return aside
})

/** Which SQLite there is, if it can do what is needed and, where the file is there, whether that is sound. */
export const probe = Effect.fn("SqliteDatabase.probe")(function* (path: string) {
  const driver = SqliteDriver.preferred()
  if (driver === undefined) {
    return yield* new DatabaseError({ path, problem: "no-driver", cause: "no SQLite driver loads" })
  }
  const ask = (file: string, statements: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: async () => {
        const database = await driver.open(file)
        try {
          let rows: ReadonlyArray<SqliteDriver.Row> = []
          for (const statement of statements) rows = await database.all(statement, [])
          return Object.values(rows[0] ?? {})[0]
        } finally {
          await database.close()
        }
      },
      catch: (cause) => errorOf(path, cause)
    })
  yield* ask(":memory:", ["CREATE VIRTUAL TABLE t USING fts5 (a, content = '', contentless_delete = 1)"])
  const version = yield* ask(":memory:", ["SELECT sqlite_version()"])
  if (existsSync(path)) {
    const sound = yield* ask(path, ["PRAGMA quick_check(1)"])
    if (sound !== "ok") return yield* new DatabaseError({ path, problem: "damaged", cause: sound })
  }
  return { driver: driver.name, version: String(version) }
})
