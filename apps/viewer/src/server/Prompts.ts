/** Every prompt that was typed, and where. Reads: what is deleted is deleted by the command. */
import type { PromptHistory } from "@grove/core"
import type { LocalServer } from "@grove/local-http"
import { Effect } from "effect"
import type * as Wire from "../wire/Wire.ts"
import { json } from "./Api.ts"
import type { LibraryError, Reads } from "./Library.ts"

/** So much of the history as a viewer needs. */
export type PromptReads = Pick<PromptHistory["Service"], "search" | "count" | "stats">

/** Where nobody keeps any. */
export const none: PromptReads = {
  search: () => Effect.succeed([]),
  count: () => Effect.succeed(0),
  stats: Effect.succeed({ prompts: 0, uses: 0, firstUsed: null, lastUsed: null, days: [], top: [], folders: [] })
}

const MOST = 200
const LONGEST = 4000

const unusable = (): LocalServer.Reply =>
  json({ error: "unreadable", message: "The prompt history cannot be read; grove doctor tells more." }, 422)

/** `q`: the words. `cwd`, `session`: only prompts that were used there. */
export const prompts = Effect.fnUntraced(
  function* (library: Reads, history: PromptReads, url: URL) {
    const text = url.searchParams.get("q") ?? ""
    const cwd = url.searchParams.get("cwd")
    const session = url.searchParams.get("session")
    const place = { ...(cwd === null ? {} : { cwd }), ...(session === null ? {} : { session }) }
    const hits = yield* history.search({ text, ...place, limit: MOST })
    const keys = new Map((yield* library.list).flatMap(({ key, summary }) => (summary.id ? [[summary.id, key]] : [])))
    const { prompts, folders } = yield* history.stats
    const isNarrow = cwd !== null || session !== null
    return json({
      prompts: hits.map(({ session: from, prompt, ...hit }) => ({
        ...hit,
        prompt: prompt.slice(0, LONGEST),
        isCut: prompt.length > LONGEST,
        key: (from === null ? null : keys.get(from)) ?? null
      })),
      found: hits.length < MOST ? hits.length : yield* history.count({ text, ...place }),
      elsewhere: isNarrow && hits.length === 0 ? yield* history.count({ text }) : 0,
      all: prompts,
      folders: folders.flatMap(({ cwd: folder, uses }) => (folder === null ? [] : [{ cwd: folder, uses }]))
    } satisfies Wire.Prompts)
  },
  Effect.catchTag("PromptHistoryError", () => Effect.succeed(unusable()))
) satisfies (library: Reads, history: PromptReads, url: URL) => Effect.Effect<LocalServer.Reply, LibraryError>
