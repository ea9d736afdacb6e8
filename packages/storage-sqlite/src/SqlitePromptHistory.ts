/** The port `PromptHistory` on SQLite: one file for all sessions, used by several processes at once. */
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { PromptHistory, PromptHistoryError, Prompts } from "@grove/core"
import { Clock, Deferred, Effect, Layer, Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import { migrations } from "./HistorySchema.ts"
import * as HistorySearch from "./HistorySearch.ts"
import * as HistoryWriter from "./HistoryWriter.ts"
import * as SqliteDatabase from "./SqliteDatabase.ts"
import type * as SqliteDriver from "./SqliteDriver.ts"

export interface Options {
  /** The database file; made where it is missing. */
  readonly path: string
  readonly driver?: SqliteDriver.Driver | undefined
  /** The prompts that sessions hold: what a damaged file is made anew from. */
  readonly rebuildFrom?: (() => Iterable<Prompts.PromptUse>) | undefined
  /** Told in one line when a damaged file was set aside. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** Left beside a file that turned out to be damaged while it was used, so that the next one to open it knows. */
const damageMark = (path: string): string => `${path}-damaged`

const rebuilt = Effect.fnUntraced(function* (options: Options) {
  const { path, driver, rebuildFrom, onNotice } = options
  const aside = yield* SqliteDatabase.setAside(path)
  rmSync(damageMark(path), { force: true })
  const sql = yield* SqliteDatabase.open({ path, driver, migrations })
  const uses = [...(rebuildFrom?.() ?? [])].sort((a, b) => a.at - b.at)
  yield* HistoryWriter.write(
    sql,
    uses.map((use) => ({ use, skipKnown: true }))
  ).pipe(Effect.mapError((cause) => SqliteDatabase.errorOf(path, cause)))
  onNotice?.(
    `the prompt history was damaged; ${uses.length} prompts were read from the sessions, the old file is ${aside}`
  )
  return sql
})

const open = Effect.fnUntraced(function* (options: Options) {
  const { path, driver } = options
  if (existsSync(damageMark(path))) return yield* rebuilt(options)
  return yield* SqliteDatabase.open({ path, driver, migrations }).pipe(
    Effect.catchIf(
      ({ problem }) => problem === "damaged",
      () => rebuilt(options)
    )
  )
})

interface Job {
  readonly pending: ReadonlyArray<HistoryWriter.Pending>
  readonly done: Deferred.Deferred<ReadonlyArray<HistoryWriter.Outcome>, PromptHistoryError>
}

/** Whatever is asked for while a transaction is under way shares the next one. */
const makeWriter = Effect.fnUntraced(function* (
  write: (
    pending: ReadonlyArray<HistoryWriter.Pending>
  ) => Effect.Effect<ReadonlyArray<HistoryWriter.Outcome>, PromptHistoryError>
) {
  const turns = yield* Semaphore.make(1)
  let jobs: Array<Job> = []
  const flush = turns.withPermits(1)(
    Effect.suspend(() => {
      const taken = jobs
      jobs = []
      if (taken.length === 0) return Effect.void
      return Effect.matchEffect(write(taken.flatMap(({ pending }) => pending)), {
        onFailure: (error) => Effect.forEach(taken, ({ done }) => Deferred.fail(done, error), { discard: true }),
        onSuccess: (outcomes) => {
          let from = 0
          return Effect.forEach(
            taken,
            ({ pending, done }) => {
              const own = outcomes.slice(from, from + pending.length)
              from += pending.length
              return Deferred.succeed(done, own)
            },
            { discard: true }
          )
        }
      })
    })
  )
  yield* Effect.addFinalizer(() => flush)
  return (pending: ReadonlyArray<HistoryWriter.Pending>) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const done = yield* Deferred.make<ReadonlyArray<HistoryWriter.Outcome>, PromptHistoryError>()
        jobs.push({ pending, done })
        yield* flush
        return yield* Deferred.await(done)
      })
    )
})

const stats = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [total] = yield* sql.unsafe<{ prompts: number; uses: number; first: number | null; last: number | null }>(
    `SELECT count(*) AS prompts, coalesce(sum(uses), 0) AS uses, min(first_at) AS first, max(last_at) AS last
     FROM prompt WHERE uses > 0`
  )
  const counted = "FROM prompt_use WHERE author = 'user' AND is_repeat = 0"
  const days = yield* sql.unsafe<{ day: string; uses: number }>(
    `SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, count(*) AS uses ${counted} GROUP BY day ORDER BY day`
  )
  const top = yield* sql.unsafe<{ prompt: string; uses: number }>(
    "SELECT prompt, uses FROM prompt WHERE uses > 1 ORDER BY uses DESC, last_at DESC LIMIT ?",
    [Prompts.STATS_NAMED]
  )
  const folders = yield* sql.unsafe<{ cwd: string | null; uses: number }>(
    `SELECT cwd, count(*) AS uses ${counted} GROUP BY cwd ORDER BY uses DESC LIMIT ?`,
    [Prompts.STATS_NAMED]
  )
  const { prompts, uses, first, last } = total!
  return { prompts, uses, firstUsed: first, lastUsed: last, days, top, folders } satisfies Prompts.PromptStats
})

export const layer = (options: Options): Layer.Layer<PromptHistory, SqliteDatabase.DatabaseError> =>
  Layer.effect(
    PromptHistory,
    Effect.gen(function* () {
      const sql = yield* open(options)
      const failed = (operation: string) => (cause: unknown) => {
        const error = SqliteDatabase.errorOf(options.path, cause)
        if (error.problem === "damaged") writeFileSync(damageMark(options.path), "")
        return new PromptHistoryError({ operation, cause: error })
      }
      const submit = yield* makeWriter((pending) => Effect.mapError(HistoryWriter.write(sql, pending), failed("add")))
      const rehearse = (pending: ReadonlyArray<HistoryWriter.Pending>) =>
        Effect.mapError(HistoryWriter.rehearse(sql, pending), failed("add"))
      const addAll = (uses: ReadonlyArray<Prompts.PromptUse>, skipKnown: boolean, dryRun: boolean) => {
        const pending = uses.map((use) => ({ use, skipKnown }))
        return Effect.map(dryRun ? rehearse(pending) : submit(pending), (outcomes) => {
          const counts = { added: 0, known: 0, blank: 0 }
          for (const outcome of outcomes) counts[outcome]++
          return counts
        })
      }
      return PromptHistory.of({
        add: (use) => Effect.asVoid(addAll([use], false, false)),
        addAll: (uses, { skipKnown = false, dryRun = false } = {}) => addAll(uses, skipKnown, dryRun),
        search: (query) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => HistorySearch.search(sql, query, now)).pipe(
            Effect.mapError(failed("search")),
            // A span for each statement would cost as much as the statement.
            Effect.withTracerEnabled(false),
            Effect.withSpan("SqlitePromptHistory.search")
          ),
        count: (query) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => HistorySearch.count(sql, query, now)).pipe(
            Effect.mapError(failed("count"))
          ),
        remove: (ids) => Effect.mapError(HistoryWriter.remove(sql, ids), failed("remove")),
        forget: (what, { dryRun = false } = {}) =>
          Effect.mapError(
            what.is === "text"
              ? HistoryWriter.forgetText(sql, what.text, dryRun)
              : HistoryWriter.forgetSession(sql, what.session, what.entry, dryRun),
            failed("forget")
          ),
        stats: Effect.mapError(stats(sql), failed("stats"))
      })
    })
  )
