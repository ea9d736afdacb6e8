/** The words of all sessions: found through the full-text index, which is a cache and made when somebody first searches. */
import { SqliteSessionIndex } from "@grove/storage-sqlite"
import { Context, Effect, Layer, Scope, Semaphore } from "effect"
import { Library, type Listed } from "./Library.ts"

export interface Hit extends Omit<SqliteSessionIndex.SessionHit, "path" | "session"> {
  readonly listed: Listed
}

/** The index cannot be used; `problem` is a short word for why. */
export interface NoIndex {
  readonly problem: string
}

export interface Searches {
  /** Best first. */
  readonly search: (query: SqliteSessionIndex.SessionQuery) => Effect.Effect<ReadonlyArray<Hit>, NoIndex>
}

const make = Effect.fnUntraced(function* (path: string) {
  const library = yield* Library
  const opened = yield* Effect.cached(SqliteSessionIndex.open({ path }))
  const scope = yield* Effect.scope
  const oneAtATime = Semaphore.makeUnsafe(1).withPermits(1)
  const search = (query: SqliteSessionIndex.SessionQuery): Effect.Effect<ReadonlyArray<Hit>, NoIndex> =>
    Effect.gen(function* () {
      const index = yield* Effect.provideService(opened, Scope.Scope, scope)
      const all = yield* library.list
      const byFile = new Map(all.map((listed) => [listed.file, listed]))
      yield* index.update([...byFile.keys()])
      const found = yield* index.search(query)
      return found.flatMap(({ path, session: _, ...hit }) => {
        const listed = byFile.get(path)
        return listed === undefined ? [] : [{ ...hit, listed }]
      })
    }).pipe(
      Effect.mapError((error) => ({ problem: error._tag === "UnreadableSession" ? error.code : error.problem })),
      oneAtATime
    )
  return Texts.of({ search })
})

export class Texts extends Context.Service<Texts, Searches>()("@grove/viewer/Texts") {
  /** `path` is where the index is kept. */
  static readonly layer = (path: string) => Layer.effect(Texts, make(path))
}
