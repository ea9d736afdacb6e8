/** The prompt history of this home, for the commands that need it: SQLite is not loaded by any other. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PromptHistory, PromptHistoryError, type Prompts } from "@grove/core"
import { Catalogue, type SessionPaths } from "@grove/storage-files"
import { PromptSources, SqliteDatabase, SqlitePromptHistory } from "@grove/storage-sqlite"
import { Context, Effect, Layer } from "effect"
import { Failure } from "./CliError.ts"
import { Paths } from "./Paths.ts"
import * as Words from "./Words.ts"

export const pathFor = (paths: SessionPaths.SessionPaths): string => join(paths.home, "history.db")

/** Every prompt that the sessions of this home hold. */
export function* fromSessions(paths: SessionPaths.SessionPaths): Generator<Prompts.PromptUse> {
  for (const { path, isSubAgent } of Catalogue.discover(paths, true)) {
    const read = PromptSources.read(readFileSync(path, "utf8"), "grove")
    for (const use of read?.uses ?? []) yield isSubAgent ? { ...use, author: "agent" } : use
  }
}

const problems = {
  "no-driver": "no SQLite driver loads on this machine; reinstall Grove, and grove doctor tells more",
  damaged: "the file is damaged; call this again and it is made anew from the sessions",
  newer: "it was written by a newer Grove; update Grove to use it",
  busy: "another program holds it; try again",
  refused: ""
} as const

type Trouble = PromptHistoryError | SqliteDatabase.DatabaseError

const isTrouble = (error: unknown): error is Trouble =>
  error instanceof PromptHistoryError || error instanceof SqliteDatabase.DatabaseError

/** Why the history cannot be used, in a few words. */
export const reasonOf = (trouble: Trouble): string => {
  const met: unknown = trouble instanceof PromptHistoryError ? trouble.cause : trouble
  return met instanceof SqliteDatabase.DatabaseError
    ? problems[met.problem] || SqliteDatabase.reasonOf(met.cause)
    : SqliteDatabase.reasonOf(met)
}

/** What is wrong with a database, in one line. */
export const explain = (trouble: SqliteDatabase.DatabaseError): string =>
  `cannot use ${trouble.path}: ${reasonOf(trouble)}`

/** One line for whatever the history met; other errors as they are. */
const failed = <E>(error: E): Exclude<E, Trouble> | Failure => {
  if (!isTrouble(error)) return error as Exclude<E, Trouble>
  const met: unknown = error instanceof PromptHistoryError ? error.cause : error
  return new Failure({
    message:
      met instanceof SqliteDatabase.DatabaseError ? explain(met) : `the prompt history failed: ${reasonOf(error)}`
  })
}

const notice = (line: string): void => {
  process.stderr.write(`grove: ${Words.safe(line)}\n`)
}

export const layer = (paths: SessionPaths.SessionPaths, onNotice = notice) =>
  SqlitePromptHistory.layer({ path: pathFor(paths), rebuildFrom: () => fromSessions(paths), onNotice })

/**
 * For a chat on the screen: opened when it is first needed, so that nobody waits for it; trouble is told by what needed
 * it, and notices when the screen is gone.
 */
export const lazy = (paths: SessionPaths.SessionPaths): Layer.Layer<PromptHistory> =>
  Layer.effect(
    PromptHistory,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const notices: Array<string> = []
      yield* Effect.addFinalizer(() => Effect.sync(() => notices.forEach(notice)))
      const opened = Layer.buildWithScope(
        layer(paths, (line) => void notices.push(line)),
        scope
      ).pipe(
        Effect.map((services) => Context.get(services, PromptHistory)),
        Effect.mapError((trouble) => new PromptHistoryError({ operation: "open", cause: new Error(explain(trouble)) }))
      )
      const history = yield* Effect.cached(opened)
      const use = <A>(ask: (service: PromptHistory["Service"]) => Effect.Effect<A, PromptHistoryError>) =>
        Effect.flatMap(history, ask)
      return PromptHistory.of({
        add: (prompt) => use((service) => service.add(prompt)),
        addAll: (uses, options) => use((service) => service.addAll(uses, options)),
        search: (query) => use((service) => service.search(query)),
        count: (query) => use((service) => service.count(query)),
        remove: (ids) => use((service) => service.remove(ids)),
        forget: (what, options) => use((service) => service.forget(what, options)),
        stats: use((service) => service.stats)
      })
    })
  )

/** For those that only look. Where nothing was ever kept there is nothing to find, and no file is made. */
export const reader = Effect.fnUntraced(function* (paths: SessionPaths.SessionPaths) {
  const opened = Context.get(yield* Layer.build(lazy(paths)), PromptHistory)
  const empty = Context.get(yield* Layer.build(PromptHistory.layerMemory), PromptHistory)
  const history = Effect.sync(() => (existsSync(pathFor(paths)) ? opened : empty))
  const reads: Pick<PromptHistory["Service"], "search" | "count" | "stats"> = {
    search: (query) => Effect.flatMap(history, (service) => service.search(query)),
    count: (query) => Effect.flatMap(history, (service) => service.count(query)),
    stats: Effect.flatMap(history, (service) => service.stats)
  }
  return reads
})

/**
 * Gives the history to a command and tells its failures in one line. Where nothing was ever kept, reading finds nothing
 * and makes no file.
 */
export const provide = <A, E, R>(
  effect: Effect.Effect<A, E, R | PromptHistory>,
  options: { readonly writes: boolean }
) =>
  Effect.gen(function* () {
    const paths = yield* Paths
    const isEmpty = !options.writes && !existsSync(pathFor(paths))
    const history = isEmpty ? PromptHistory.layerMemory : layer(paths)
    return yield* Effect.mapError(Effect.provide(effect, history), failed)
  })
