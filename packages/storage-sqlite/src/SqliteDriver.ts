/**
 * The ways to reach SQLite from Node, behind one shape: `@photostructure/sqlite`, which is prebuilt, and `node:sqlite`, which
 * comes with newer Nodes.
 */
import { createRequire } from "node:module"
import { setTimeout } from "node:timers/promises"

export type Value = string | number | bigint | null | Uint8Array
export type Row = { readonly [column: string]: Value }

export interface Database {
  /** At once, unless another program holds the database: to wait for what is there costs more than many a statement. */
  readonly all: (sql: string, parameters: ReadonlyArray<unknown>) => ReadonlyArray<Row> | Promise<ReadonlyArray<Row>>
  readonly close: () => Promise<void>
}

export interface Driver {
  readonly name: string
  readonly open: (path: string) => Promise<Database>
}

/** How long a statement waits for another program that holds the database. */
const BUSY_MS = 5000

interface Statement {
  readonly all: (...parameters: ReadonlyArray<unknown>) => Array<unknown>
  readonly columns?: () => ReadonlyArray<{ readonly name: string }>
  readonly setReturnArrays?: (isOn: boolean) => void
}

/** What `node:sqlite` and `@photostructure/sqlite` have in common. */
interface Synchronous {
  readonly DatabaseSync: new (
    path: string
  ) => {
    readonly prepare: (sql: string) => Statement
    readonly close: () => void
  }
}

type Ask = (parameters: ReadonlyArray<unknown>) => ReadonlyArray<Row>

/** Rows are made here from bare values where the driver can give those: it takes longer to make them. */
const askerOf = (statement: Statement): Ask => {
  if (statement.setReturnArrays === undefined || statement.columns === undefined) {
    return (parameters) => statement.all(...parameters) as Array<Row>
  }
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  const rowOf = (values: ReadonlyArray<Value>): Row => {
    const row: { [column: string]: Value } = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]!
    return row
  }
  return (parameters) => (statement.all(...parameters) as Array<ReadonlyArray<Value>>).map(rowOf)
}

/** The first pauses of a wait, then the last of them again and again. */
const PAUSES_MS = [1, 2, 5, 10, 25]

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error &&
  /SQLITE_BUSY|database is locked/i.test(`${(cause as { code?: unknown }).code} ${cause.message}`)

const again = async <A>(work: () => A): Promise<A> => {
  const until = performance.now() + BUSY_MS
  for (let tries = 0; ; tries++) {
    await setTimeout(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)])
    try {
      return work()
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > until) throw cause
    }
  }
}

/** SQLite's own way to wait would hold up the whole program, since the driver has no thread of its own. */
const patiently = <A>(work: () => A): A | Promise<A> => {
  try {
    return work()
  } catch (cause) {
    if (!isBusy(cause)) throw cause
    return again(work)
  }
}

/** Statements kept prepared; more than any one adapter has. */
const MOST_PREPARED = 64

const synchronous = (name: string, { DatabaseSync }: Synchronous): Driver => ({
  name,
  open: async (path) => {
    const database = new DatabaseSync(path)
    database.prepare("PRAGMA busy_timeout = 0").all()
    const prepared = new Map<string, Ask>()
    const prepare = (sql: string): Ask => {
      const known = prepared.get(sql)
      if (known !== undefined) return known
      if (prepared.size >= MOST_PREPARED) prepared.clear()
      const made = askerOf(database.prepare(sql))
      prepared.set(sql, made)
      return made
    }
    return {
      all: (sql, parameters) => patiently(() => prepare(sql)(parameters)),
      close: async () => database.close()
    }
  }
})

const require = createRequire(import.meta.url)

/** A package that is not installed or does not run here is no driver. */
const candidates = ["@photostructure/sqlite", "node:sqlite"].map((name) => () => {
  try {
    return synchronous(name, require(name) as Synchronous)
  } catch {
    return undefined
  }
})

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
