/** The prompt history of this home, for the commands that need it: SQLite is not loaded by any other. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PromptHistory, PromptHistoryError, type Prompts } from "@grove/core"
import { Catalogue, type SessionPaths } from "@grove/storage-files"
import { PromptSources, SqliteDatabase, SqlitePromptHistory } from "@grove/storage-sqlite"
import { Effect } from "effect"
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

/** Wrappers of an error know less than what they wrap. */
const rootOf = (cause: unknown): string => {
  let root = cause
  for (let depth = 0; depth < 8 && root instanceof Error && root.cause instanceof Error; depth++) root = root.cause
  return root instanceof Error ? root.message : String(root)
}

/** What is wrong with a database, in one line. */
export const explain = ({ path, problem, cause }: SqliteDatabase.DatabaseError): string =>
  `cannot use ${path}: ${problems[problem] || rootOf(cause)}`

type Trouble = PromptHistoryError | SqliteDatabase.DatabaseError

const isTrouble = (error: unknown): error is Trouble =>
  error instanceof PromptHistoryError || error instanceof SqliteDatabase.DatabaseError

/** One line for whatever the history met; other errors as they are. */
const failed = <E>(error: E): Exclude<E, Trouble> | Failure => {
  if (!isTrouble(error)) return error as Exclude<E, Trouble>
  const met: unknown = error instanceof PromptHistoryError ? error.cause : error
  return new Failure({
    message: met instanceof SqliteDatabase.DatabaseError ? explain(met) : `the prompt history failed: ${String(met)}`
  })
}

const notice = (line: string): void => {
  process.stderr.write(`grove: ${Words.safe(line)}\n`)
}

export const layer = (paths: SessionPaths.SessionPaths) =>
  SqlitePromptHistory.layer({
    path: pathFor(paths),
    rebuildFrom: () => fromSessions(paths),
    onNotice: notice
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
