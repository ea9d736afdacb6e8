/** Port: the words of all sessions, found again. */
import { Context, type Effect, Schema } from "effect"
import type { SearchHit } from "./Api.ts"

export class SearchFailed extends Schema.TaggedError<SearchFailed>()("SearchFailed", { message: Schema.String }) {}

export class SessionSearch extends Context.Service<
  SessionSearch,
  {
    /** Best first. */
    readonly search: (query: string, limit: number) => Effect.Effect<ReadonlyArray<SearchHit>, SearchFailed>
  }
>()("@grove/server/SessionSearch") {}
