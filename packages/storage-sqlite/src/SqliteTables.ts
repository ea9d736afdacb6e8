/** Tables of another program's database, read from a copy: opening a database may write to it and beside it. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SqliteDriver from "./SqliteDriver.ts"

/** What has not yet been moved into the database lies beside it. */
const LOG = "-wal"

const isMissingTable = (cause: unknown): boolean =>
  cause instanceof Error && /no such (table|column)/i.test(cause.message)

/** The rows of each query; none where its tables are not there. */
export const read = async (
  file: string,
  queries: ReadonlyArray<string>
): Promise<ReadonlyArray<ReadonlyArray<SqliteDriver.Row>>> => {
  const driver = SqliteDriver.preferred()
  if (driver === undefined) throw new Error("no SQLite driver loads on this machine")
  const folder = mkdtempSync(join(tmpdir(), "grove-tables-"))
  try {
    const copy = join(folder, "copy.db")
    copyFileSync(file, copy)
    if (existsSync(`${file}${LOG}`)) copyFileSync(`${file}${LOG}`, `${copy}${LOG}`)
    const database = await driver.open(copy)
    try {
      const found: Array<ReadonlyArray<SqliteDriver.Row>> = []
      for (const query of queries) {
        try {
          found.push(await database.all(query, []))
        } catch (cause) {
          if (!isMissingTable(cause)) throw cause
          found.push([])
        }
      }
      return found
    } finally {
      await database.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
