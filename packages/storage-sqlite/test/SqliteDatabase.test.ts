import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { PromptHistory } from "@grove/core"
import { Effect, Exit, Fiber } from "effect"
import * as SqliteDatabase from "../src/SqliteDatabase.ts"
import * as SqlitePromptHistory from "../src/SqlitePromptHistory.ts"
import { drivers, temporary } from "./support.ts"

const use = (prompt: string, at = 1) => ({ prompt, at, cwd: "/w", session: "s", entry: null, author: "user" })

const inHistory = <A, E>(
  options: SqlitePromptHistory.Options,
  work: (history: PromptHistory["Service"]) => Effect.Effect<A, E>
) => Effect.provide(PromptHistory.use(work), SqlitePromptHistory.layer(options))

/** Everything SQLite has written beside the file. */
const bytesOf = (folder: string): Buffer =>
  Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))))

describe.each(drivers.map((driver) => [driver.name, driver] as const))("a database by %s", (_, driver) => {
  it.effect("is for its owner alone", () =>
    Effect.gen(function* () {
      const folder = join(temporary(), "deep/home")
      const path = join(folder, "history.db")
      yield* inHistory({ path, driver }, (history) => history.add(use("x")))
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    })
  )

  it.effect("has the view and the index that others know, kept in step by triggers", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "history.db")
      yield* inHistory({ path, driver }, (history) => history.addAll([use("fold the tree", 5000), use("折叠", 7000)]))
      const sql = yield* SqliteDatabase.open({ path, driver, migrations: [[]] })
      const found = (match: string) =>
        sql.unsafe(
          `SELECT h.prompt, h.created_at, h.cwd FROM history_fts f JOIN history h ON h.id = f.rowid
           WHERE f.history_fts MATCH ?`,
          [match]
        )
      assert.deepStrictEqual(yield* found("tree"), [{ prompt: "fold the tree", created_at: 5, cwd: "/w" }])
      yield* sql.unsafe("UPDATE prompt SET prompt = 'bend the branch' WHERE prompt = 'fold the tree'")
      assert.deepStrictEqual(yield* found("tree"), [])
      assert.strictEqual((yield* found("branch")).length, 1)
      yield* sql.unsafe("DELETE FROM prompt WHERE prompt = 'bend the branch'")
      assert.deepStrictEqual(yield* found("branch"), [])
      yield* sql.unsafe("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
    }).pipe(Effect.scoped)
  )

  it.effect("holds no byte of what was deleted: not in the table, not in the index, not in the log", () =>
    Effect.gen(function* () {
      const folder = temporary()
      const path = join(folder, "history.db")
      const secret = "hunter2verysecret"
      yield* inHistory({ path, driver }, (history) =>
        Effect.gen(function* () {
          yield* history.addAll(Array.from({ length: 500 }, (_, i) => use(`filler number ${i}`, i)))
          yield* history.add(use(`the key is ${secret} 密钥机密词`, 999))
          yield* history.addAll(Array.from({ length: 500 }, (_, i) => use(`more of number ${i}`, 1000 + i)))
          assert.isTrue(bytesOf(folder).includes(secret))
          const [hit] = yield* history.search({ text: secret, limit: 1 })
          yield* history.remove([hit!.id])
          for (const gone of [secret, "密钥", "机密词"]) assert.isFalse(bytesOf(folder).includes(gone), gone)
        })
      )
      assert.isFalse(bytesOf(folder).includes(secret))
    })
  )

  it.effect("that is damaged is set aside, and made anew from the sessions, with a notice", () =>
    Effect.gen(function* () {
      const folder = temporary()
      const path = join(folder, "history.db")
      writeFileSync(path, "this is no database, however long it is. ".repeat(500))
      const notices: Array<string> = []
      const options = {
        path,
        driver,
        rebuildFrom: () => [use("second", 2), use("first", 1)],
        onNotice: (notice: string) => void notices.push(notice)
      }
      const hits = yield* inHistory(options, (history) => history.search({ text: "", limit: 9 }))
      assert.deepStrictEqual(
        hits.map(({ prompt }) => prompt),
        ["second", "first"]
      )
      assert.strictEqual(notices.length, 1)
      assert.match(notices[0]!, /damaged; 2 prompts/)
      const aside = readdirSync(folder).find((name) => name.includes(".damaged-"))
      assert.match(readFileSync(join(folder, aside!), "utf8"), /^this is no database/)
      yield* inHistory(options, (history) => history.add(use("third", 3)))
      assert.strictEqual(notices.length, 1)
    })
  )

  it.effect("that turns out to be damaged while it is used is made anew by whoever opens it next", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "history.db")
      yield* inHistory({ path, driver }, (history) =>
        history.addAll(Array.from({ length: 3000 }, (_, i) => use(`prompt number ${i} ${"x".repeat(100)}`, i)))
      )
      for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true })
      const bytes = readFileSync(path)
      // The schema stays readable, everything after it is noise.
      bytes.fill(0xa5, 64 * 1024)
      writeFileSync(path, bytes)
      const all = { text: "", limit: 1e6, exhaustive: true }
      const outcome = yield* Effect.exit(inHistory({ path, driver }, (history) => history.search(all)))
      assert.isTrue(Exit.isFailure(outcome))
      const options = { path, driver, rebuildFrom: () => [use("from a session")] }
      const hits = yield* inHistory(options, (history) => history.search(all))
      assert.deepStrictEqual(
        hits.map(({ prompt }) => prompt),
        ["from a session"]
      )
      assert.isFalse(existsSync(`${path}-damaged`))
    })
  )

  it.effect("of a newer version is left as it is", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "history.db")
      yield* inHistory({ path, driver }, (history) => history.add(use("x")))
      const sql = yield* SqliteDatabase.open({ path, driver, migrations: [[]] })
      yield* sql.unsafe("PRAGMA user_version = 99")
      const error = yield* Effect.flip(inHistory({ path, driver }, (history) => history.add(use("y"))))
      assert.deepStrictEqual([error._tag, (error as SqliteDatabase.DatabaseError).problem], ["DatabaseError", "newer"])
    }).pipe(Effect.scoped)
  )

  it.effect("that refuses something is told in its own words", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "x.db")
      const error = yield* Effect.flip(SqliteDatabase.open({ path, driver, migrations: [["SELECT * FROM nowhere"]] }))
      assert.strictEqual(error.problem, "refused")
      assert.match(SqliteDatabase.reasonOf(error.cause), /no such table: nowhere/)
    }).pipe(Effect.scoped)
  )

  it.effect("is brought up to date step by step", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "steps.db")
      const steps = [["CREATE TABLE a (x)"], ["INSERT INTO a VALUES (1)"], ["INSERT INTO a VALUES (2)"]]
      for (const upTo of [1, 3, 3]) {
        yield* Effect.scoped(SqliteDatabase.open({ path, driver, migrations: steps.slice(0, upTo) }))
      }
      const sql = yield* SqliteDatabase.open({ path, driver, migrations: steps })
      assert.deepStrictEqual(yield* sql.unsafe("SELECT x FROM a"), [{ x: 1 }, { x: 2 }])
    }).pipe(Effect.scoped)
  )

  it.effect("that another holds is waited for, and the program goes on meanwhile", () =>
    Effect.gen(function* () {
      const path = join(temporary(), "history.db")
      yield* inHistory({ path, driver }, (history) => history.add(use("first")))
      const other = yield* SqliteDatabase.open({ path, driver, migrations: [[]] })
      yield* other.unsafe("BEGIN IMMEDIATE")
      const work = (history: PromptHistory["Service"]) =>
        Effect.gen(function* () {
          const adding = yield* Effect.forkChild(history.add(use("second", 2)))
          const begun = performance.now()
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          assert.isBelow(performance.now() - begun, 1000)
          yield* other.unsafe("COMMIT")
          yield* Fiber.join(adding)
          return yield* history.search({ text: "", limit: 9 })
        })
      assert.strictEqual((yield* inHistory({ path, driver }, work)).length, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("can be looked at", () =>
    Effect.gen(function* () {
      const folder = temporary()
      const { version } = yield* SqliteDatabase.probe(join(folder, "none.db"))
      assert.match(version, /^3\.\d+/)
      writeFileSync(join(folder, "bad.db"), "no database at all".repeat(100))
      const { problem } = yield* Effect.flip(SqliteDatabase.probe(join(folder, "bad.db")))
      assert.strictEqual(problem, "damaged")
      assert.deepStrictEqual(readdirSync(folder), ["bad.db"])
    })
  )
})
