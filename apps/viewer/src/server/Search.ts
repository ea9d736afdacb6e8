/** What was said in any session, by session. */
import type { LocalServer } from "@grove/local-http"
import { SessionText } from "@grove/storage-sqlite"
import { Effect } from "effect"
import type * as Wire from "../wire/Wire.ts"
import { json } from "./Api.ts"
import type { LibraryError, Listed, Reads } from "./Library.ts"
import * as LinearSearch from "./LinearSearch.ts"
import type { Hit, Searches } from "./Texts.ts"

const MOST_HITS = 1000
const MOST_OF_ONE = 3
const MOST_SESSIONS = 60
const FIRST_WORDS = 300

/** Sessions in the order of their best hit. */
const grouped = (hits: ReadonlyArray<Hit>): ReadonlyArray<Wire.SearchGroup> => {
  const groups = new Map<Listed, Array<Hit>>()
  for (const hit of hits) {
    const known = groups.get(hit.listed)
    if (known === undefined) groups.set(hit.listed, [hit])
    else known.push(hit)
  }
  return [...groups].map(([{ key, summary }, found]) => ({
    key,
    name: summary.name,
    firstMessage: summary.firstMessage?.slice(0, FIRST_WORDS) ?? null,
    cwd: summary.cwd,
    modified: summary.modified,
    count: found.length,
    hits: found.slice(0, MOST_OF_ONE).map(({ listed: _, ...hit }) => hit)
  }))
}

/** `q`: the words. `scope`: one folder. `role`: who said it. Where the index cannot be used, sessions are read through. */
export const search = Effect.fnUntraced(function* (
  library: Reads,
  texts: Searches,
  url: URL
): Effect.fn.Return<LocalServer.Reply, LibraryError> {
  const text = url.searchParams.get("q") ?? ""
  const scope = url.searchParams.get("scope")
  const role = SessionText.ROLES.find((each) => each === url.searchParams.get("role"))
  const all = yield* library.list
  const projects = [...new Set(all.flatMap(({ summary }) => summary.cwd ?? []))].toSorted()
  const none: Wire.SearchResult = {
    groups: [],
    hits: 0,
    sessions: 0,
    elsewhere: 0,
    projects,
    isLinear: false,
    isPartial: false
  }
  if (text.trim() === "") return json(none)
  const query = { text, role, limit: MOST_HITS }
  const found = yield* texts.search(query).pipe(
    Effect.map((hits) => ({ hits, isPartial: hits.length >= MOST_HITS, isLinear: false })),
    Effect.catch(() => Effect.map(LinearSearch.search(library, all, query), (each) => ({ ...each, isLinear: true })))
  )
  const { isLinear, isPartial } = found
  const hits = found.hits.filter(({ listed }) => scope === null || listed.summary.cwd === scope)
  const groups = grouped(hits)
  return json({
    groups: groups.slice(0, MOST_SESSIONS),
    hits: hits.length,
    sessions: groups.length,
    elsewhere: found.hits.length - hits.length,
    projects,
    isLinear,
    isPartial
  } satisfies Wire.SearchResult)
})
