/** Port: reading databases of other programs. */
import type { Json } from "@grove/core"
import { Context, Data, type Effect } from "effect"

/** The file is no database, or cannot be read as one. */
export class DatabaseRefused extends Data.TaggedError("DatabaseRefused")<{ readonly cause: unknown }> {}

export class Databases extends Context.Service<
  Databases,
  {
    /**
     * The rows of each query, in the order of the queries. Nothing is written to the database, nor beside it; a query on
     * tables that are not there has no rows.
     */
    readonly rows: (
      file: string,
      queries: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<Json>>, DatabaseRefused>
  }
>()("@grove/formats/Databases") {}
