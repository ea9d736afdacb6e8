/** Searching without an index: every session is read, the newest first, for as long as somebody would wait. */
import { type Entry, NONE, SearchQuery, SearchText, type SessionTree } from "@grove/core/model"
import { SessionText, Snippet, SqliteSessionIndex } from "@grove/storage-sqlite"
import { Clock, Effect } from "effect"
import type { Listed, Reads } from "./Library.ts"
import type { Hit } from "./Texts.ts"

const PATIENCE = 4000
const BATCH = 512

const includes = (text: string, part: string | undefined): boolean =>
  part === undefined || SearchText.fold(text).includes(SearchText.fold(part))

/** Which entries of a session the filters leave, and which words they must hold. */
interface Asked {
  readonly words: SearchQuery.SearchQuery
  readonly role: string | undefined
}

const hitOf = (entry: Entry.Entry, at: number, listed: Listed, { words, role }: Asked): Hit | undefined => {
  const { after, before, tool } = words.filters
  if ((after !== undefined && at < after) || (before !== undefined && at >= before)) return undefined
  const said = SessionText.of(entry)
  if (said === undefined || (role !== undefined && said.role !== role)) return undefined
  if (tool !== undefined && !said.tools.includes(tool)) return undefined
  if (SearchQuery.fitOf(words, said.text) === undefined) return undefined
  const tools = [...new Set(said.tools)].filter((name) => name !== "")
  return { listed, entry: entry.id, role: said.role, tools, at, ...Snippet.of(said.text, words) }
}

const hitsIn = (tree: SessionTree, listed: Listed, asked: Asked): ReadonlyArray<Hit> => {
  const { label } = asked.words.filters
  const { labels } = tree.facts
  const rows = tree.rows().filter((row) => {
    if (tree.isMarkAt(row)) return false
    return label === undefined || includes(labels.get(tree.idAt(row)!) ?? "", label)
  })
  const hits: Array<Hit> = []
  for (let from = 0; from < rows.length; from += BATCH) {
    const batch = rows.slice(from, from + BATCH)
    for (const [i, entry] of tree.entriesAt(batch).entries()) {
      const hit = hitOf(entry, tree.timeAt(batch[i] ?? NONE), listed, asked)
      if (hit !== undefined) hits.push(hit)
    }
  }
  return hits.toReversed()
}

export interface Found {
  readonly hits: ReadonlyArray<Hit>
  /** It took too long: not every session was read. */
  readonly isPartial: boolean
}

/** Newest session first, and in each the newest entry. One that cannot be read holds nothing. */
export const search = Effect.fnUntraced(function* (
  library: Reads,
  sessions: ReadonlyArray<Listed>,
  query: SqliteSessionIndex.SessionQuery
) {
  const start = yield* Clock.currentTimeMillis
  const words = SqliteSessionIndex.parse(query.text, start)
  const asked = { words, role: query.role ?? words.filters.role }
  const hits: Array<Hit> = []
  for (const listed of sessions) {
    const { cwd, id } = listed.summary
    if (!includes(cwd ?? "", words.filters.cwd) || !includes(id ?? "", words.filters.session)) continue
    if (hits.length >= query.limit) break
    if ((yield* Clock.currentTimeMillis) - start > PATIENCE) return { hits, isPartial: true } satisfies Found
    const found = yield* library.open(listed).pipe(
      Effect.map(({ opened }) => hitsIn(opened.snapshot.tree, listed, asked)),
      Effect.orElseSucceed(() => [])
    )
    hits.push(...found.slice(0, query.limit - hits.length))
    yield* Effect.yieldNow
  }
  return { hits, isPartial: false } satisfies Found
})
