/**
 * The ways to reach SQLite from Node, behind one shape. `sqlite3` works on threads of its own and is taken where it could
 * be built; `node:sqlite` comes with newer Nodes; `@photostructure/sqlite` is prebuilt and always there.
 */
import { createRequire } from "node:module"

export type Value = string | number | bigint | null | Uint8Array
export type Row = { readonly [column: string]: Value }

export interface Database {
  readonly all: (sql: string, parameters: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  readonly close: () => Promise<void>
}

export interface Driver {
  readonly name: string
  readonly open: (path: string) => Promise<Database>
}

/** What of the package `sqlite3` is used. */
interface Asynchronous {
  readonly Database: new (
    path: string,
    done: (error: Error | null) => void
  ) => {
    readonly all: (sql: string, parameters: unknown, done: (error: Error | null, rows: Array<Row>) => void) => void
    readonly close: (done: (error: Error | null) => void) => void
  }
}

const asynchronous = ({ Database }: Asynchronous): Driver => ({
  name: "sqlite3",
  open: (path) =>
    new Promise((resolve, reject) => {
      const database = new Database(path, (error) => {
        if (error !== null) return reject(error)
        resolve({
          all: (sql, parameters) =>
            new Promise((resolve, reject) =>
              database.all(sql, parameters, (error, rows) => (error === null ? resolve(rows) : reject(error)))
            ),
          close: () =>
            new Promise((resolve, reject) => database.close((error) => (error === null ? resolve() : reject(error))))
        })
      })
    })
})

/** What `node:sqlite` and `@photostructure/sqlite` have in common. */
interface Synchronous {
  readonly DatabaseSync: new (
    path: string
  ) => {
    readonly prepare: (sql: string) => { readonly all: (...parameters: ReadonlyArray<unknown>) => Array<Row> }
    readonly close: () => void
  }
}

/** Statements kept prepared; more than any one adapter has. */
const MOST_PREPARED = 64

const synchronous = (name: string, { DatabaseSync }: Synchronous): Driver => ({
  name,
  open: async (path) => {
    const database = new DatabaseSync(path)
    const prepared = new Map<string, ReturnType<typeof database.prepare>>()
    const prepare = (sql: string) => {
      const known = prepared.get(sql)
      if (known !== undefined) return known
      if (prepared.size >= MOST_PREPARED) prepared.clear()
      const made = database.prepare(sql)
      prepared.set(sql, made)
      return made
    }
    return {
      all: async (sql, parameters) => prepare(sql).all(...parameters),
      close: async () => database.close()
    }
  }
})

const require = createRequire(import.meta.url)

/** A package that is not installed, was not built or does not run here is no driver. */
const attempt = <A>(name: string, make: (module: A) => Driver): ReadonlyArray<() => Driver | undefined> => [
  () => {
    try {
      return make(require(name) as A)
    } catch {
      return undefined
    }
  }
]

const candidates = [
  ...attempt<Asynchronous>("sqlite3", asynchronous),
  ...attempt<Synchronous>("node:sqlite", (module) => synchronous("node:sqlite", module)),
  ...attempt<Synchronous>("@photostructure/sqlite", (module) => synchronous("@photostructure/sqlite", module))
]

/** Every driver that loads here, best first. */
export const available = (): ReadonlyArray<Driver> =>
  candidates.map((load) => load()).filter((driver) => driver !== undefined)

/** The first that loads. */
export const preferred = (): Driver | undefined => {
  for (const load of candidates) {
    const driver = load()
    if (driver !== undefined) return driver
  }
  return undefined
}
