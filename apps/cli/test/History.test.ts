/** What people read where the prompt history cannot be used. */
import { assert, describe, it } from "@effect/vitest"
import { PromptHistoryError } from "@grove/core"
import { SqliteDatabase } from "@grove/storage-sqlite"
import { SqlError } from "effect/sql"
import * as History from "../src/History.ts"

describe("a history that cannot be used", () => {
  it("is explained in the words of SQLite, not of what they were wrapped in", () => {
    const met = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" })
    const wrapped = new SqlError.SqlError({ reason: SqlError.classifySqliteError(met, { operation: "execute" }) })
    const trouble = SqliteDatabase.errorOf("/home/ada/.grove/history.db", wrapped)
    assert.strictEqual(
      History.reasonOf(new PromptHistoryError({ operation: "forget", cause: trouble })),
      "database or disk is full"
    )
    assert.strictEqual(History.explain(trouble), "cannot use /home/ada/.grove/history.db: database or disk is full")
  })
})
