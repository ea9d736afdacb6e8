/**
 * How prompts are found: the index proposes, the text decides. Every step is bounded, so that a key typed into a million
 * prompts is answered before the next one: words that are everywhere stop at the newest prompts that have them, and what
 * no index knows is sought among the prompts used last.
 */
import { Prompts, SearchQuery, SearchText } from "@grove/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { placeTerm } from "./HistoryWriter.ts"
import * as Terms from "./Terms.ts"

type Query = SearchQuery.SearchQuery

/** The newest so many that the index proposes are looked at. */
const PROPOSED = 200
/** Prompts used last: looked through where the index had to stop, or cannot know. */
const LATELY = 200
const LATELY_WHEN_NOTHING_FITS = 5000
/** What is said of larger numbers is "many". */
export const MOST_COUNTED = 1000
/** Up to so many prompts with a beginning are found by the beginning; if there are more, by their commonest words. */
const RARE = 20_000
const COMMONEST = 32
/** A word so rare decides alone; the others are asked of the texts. */
const DECISIVE = 200

interface StoredPrompt {
  readonly id: number
  readonly prompt: string
  readonly uses: number
  readonly first_at: number
  readonly last_at: number
  readonly cwd: string | null
  readonly session: string | null
  readonly entry: string | null
}

const COLUMNS = "p.id, p.prompt, p.uses, p.first_at, p.last_at, p.cwd, p.session, p.entry"

/** A condition with its parameters. */
interface Condition {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, (character) => `\\${character}`)
const containing = (column: string, text: string): Condition => ({
  sql: `${column} LIKE ? ESCAPE '\\'`,
  parameters: [`%${escaped(text)}%`]
})

/** What one use must be: where, when and by whom. */
const useConditions = ({ filters }: Query, { cwd, session }: Prompts.PromptQuery): ReadonlyArray<Condition> => [
  { sql: "u.author = ?", parameters: [filters.author ?? Prompts.PERSON] },
  ...(cwd === undefined ? [] : [{ sql: "u.cwd = ?", parameters: [cwd] }]),
  ...(session === undefined ? [] : [{ sql: "u.session = ?", parameters: [session] }]),
  ...(filters.cwd === undefined ? [] : [containing("u.cwd", filters.cwd)]),
  ...(filters.session === undefined ? [] : [containing("u.session", filters.session)]),
  ...(filters.after === undefined ? [] : [{ sql: "u.at >= ?", parameters: [filters.after] }]),
  ...(filters.before === undefined ? [] : [{ sql: "u.at < ?", parameters: [filters.before] }])
]

const joined = (conditions: ReadonlyArray<Condition>): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(" AND "),
  parameters: conditions.flatMap(({ parameters }) => parameters)
})

const hasFilter = ({ filters }: Query): boolean => Object.keys(filters).length > 0

/** What must hold of a prompt beside its text. The folder is asked of the index where there is one. */
const promptConditions = (query: Query, asked: Prompts.PromptQuery): ReadonlyArray<Condition> => {
  const { author = Prompts.PERSON } = query.filters
  const person = author === Prompts.PERSON ? [{ sql: "p.uses > 0", parameters: [] }] : []
  if (!hasFilter(query) && asked.session === undefined) return person
  const use = joined(useConditions(query, asked))
  const exists = `EXISTS (SELECT 1 FROM prompt_use u WHERE u.prompt_id = p.id AND ${use.sql})`
  return [...person, { sql: exists, parameters: use.parameters }]
}

/** The first text that does not begin like this one. */
const AFTER = "\u{10ffff}"

interface Indexed {
  readonly match: string
  /** About how many prompts there are. */
  readonly total: number
}

const prefixMatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, text: string) {
  // Few words begin like most: these are read as they come, without being summed up and put in order.
  const few = yield* sql.unsafe<{ term: string; n: number }>(
    "SELECT term, n FROM word WHERE term >= ? AND term < ? LIMIT ?",
    [text, text + AFTER, COMMONEST]
  )
  const sum = few.reduce((all, { n }) => all + n, 0)
  const isAll = few.length < COMMONEST
  const rows =
    isAll && sum <= RARE
      ? []
      : yield* sql.unsafe<{ term: string; total: number }>(
          "SELECT term, sum(n) OVER () AS total FROM word WHERE term >= ? AND term < ? ORDER BY n DESC LIMIT ?",
          [text, text + AFTER, COMMONEST]
        )
  const total = rows[0]?.total ?? sum
  if (total <= RARE) return { match: `${Terms.quoted(text)} *`, total }
  return { match: `(${rows.map(({ term }) => Terms.quoted(term)).join(" OR ")})`, total }
})

const termMatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, term: Terms.Term) {
  if (term.is === "prefix") return yield* prefixMatch(sql, term.text)
  const [row] = yield* sql.unsafe<{ n: number | null }>(
    "SELECT min(coalesce(w.n, 0)) AS n FROM json_each(?) j LEFT JOIN word w ON w.term = j.value",
    [JSON.stringify(term.text.split(" "))]
  )
  return { match: Terms.quoted(term.text), total: row?.n ?? 0 }
})

const wordMatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { is, text }: SearchQuery.Word) {
  const terms = Terms.termsOf(text, is === "whole" || is === "end")
  if (terms.length === 0) return undefined
  const found: ReadonlyArray<Indexed> = yield* Effect.forEach(terms, (term) => termMatch(sql, term))
  return { match: `(${found.map(({ match }) => match).join(" AND ")})`, total: Math.min(...found.map((f) => f.total)) }
})

/** What the index can say about one of several words; nothing if it cannot say it about each. */
const clauseMatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, clause: SearchQuery.Clause) {
  const found: Array<Indexed> = []
  for (const word of clause) {
    const match = yield* wordMatch(sql, word)
    // A literal `^` or `$` has the same words as what it may mean.
    if (match !== undefined) found.push(match)
    else if (clause.length === 1 || word.is === "part") return undefined
  }
  if (found.length === 0) return undefined
  return {
    match: `(${[...new Set(found.map(({ match }) => match))].join(" OR ")})`,
    total: found.reduce((sum, { total }) => sum + total, 0)
  }
})

/** The query as the index understands it; `undefined` if none of its words is in an index. */
const matchOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, query: Query) {
  const clauses: Array<Indexed> = []
  for (const clause of query.clauses) {
    const found = yield* clauseMatch(sql, clause)
    if (found !== undefined) clauses.push(found)
  }
  if (clauses.length === 0) return undefined
  const isDecided = clauses.some(({ total }) => total <= DECISIVE)
  const asked = isDecided ? clauses.filter(({ total }) => total <= RARE) : clauses
  return `{prompt gram} : (${asked.map(({ match }) => match).join(" AND ")})`
})

const hitOf = (row: StoredPrompt, fit: Prompts.Fit): Prompts.PromptHit => ({
  id: row.id,
  prompt: row.prompt,
  uses: row.uses,
  firstUsed: row.first_at,
  lastUsed: row.last_at,
  cwd: row.cwd,
  session: row.session,
  entry: row.entry,
  fit
})

/** Of these rows those whose text fits. */
const fitting = (query: Query, rows: ReadonlyArray<StoredPrompt>): ReadonlyArray<Prompts.PromptHit> =>
  rows.flatMap((row) => {
    const fit = Prompts.fitOf(query, row.prompt)
    return fit === undefined ? [] : [hitOf(row, fit)]
  })

const inPlace = (place: string | undefined): ReadonlyArray<Condition> =>
  place === undefined
    ? []
    : [
        {
          sql: "p.id IN (SELECT rowid FROM history_fts WHERE history_fts MATCH ?)",
          parameters: [`place : ${Terms.quoted(place)}`]
        }
      ]

interface Scope {
  readonly query: Query
  readonly conditions: ReadonlyArray<Condition>
  /** The word of the folder that prompts must have been used in. */
  readonly place: string | undefined
}

const proposed = (sql: SqlClient.SqlClient, { conditions, place }: Scope, match: string) => {
  const where = joined(conditions)
  const placed = place === undefined ? match : `(${match}) AND place : ${Terms.quoted(place)}`
  return sql.unsafe<StoredPrompt>(
    `SELECT ${COLUMNS} FROM history_fts f JOIN prompt p ON p.id = f.rowid
     WHERE f.history_fts MATCH ? AND ${where.sql} ORDER BY f.rowid DESC LIMIT ?`,
    [placed, ...where.parameters, PROPOSED]
  )
}

/** Words as SQLite can look for them inside of texts. It knows the case of ASCII alone; other letters must be as typed. */
const insideConditions = ({ clauses }: Query): ReadonlyArray<Condition> =>
  clauses.map((clause) => {
    const parts = clause.map(({ text }) => containing("p.prompt", text))
    return {
      sql: `(${parts.map(({ sql }) => sql).join(" OR ")})`,
      parameters: parts.flatMap((part) => part.parameters)
    }
  })

/** Those of the prompts used last whose text may fit, the newest first; only such as are older than `below`. */
const lately = (
  sql: SqlClient.SqlClient,
  { query, conditions, place }: Scope,
  window: number,
  below = Number.MAX_SAFE_INTEGER
) => {
  const where = joined([...conditions, ...inPlace(place)])
  // What SQLite cannot judge must all be looked at.
  const most = query.clauses.length === 0 ? window : PROPOSED
  const inside = joined([{ sql: "l.id < ?", parameters: [below] }, ...insideConditions(query)])
  // Which they are, the index of times knows; only those that are old enough are read.
  return sql.unsafe<StoredPrompt>(
    `SELECT ${COLUMNS} FROM (
       SELECT p.id FROM prompt p WHERE ${where.sql} ORDER BY p.last_at DESC LIMIT ?
     ) l CROSS JOIN prompt p ON p.id = l.id WHERE ${inside.sql} LIMIT ?`,
    [...where.parameters, window, ...inside.parameters, most]
  )
}

/** Whether every place where these words can stand is in the index: so it is with ideographs, not inside other words. */
const isIndexed = ({ clauses }: Query): boolean =>
  clauses.length > 0 && clauses.every((clause) => clause.every(({ text }) => [...text].every(SearchText.isCjk)))

const merged = (
  hits: ReadonlyArray<Prompts.PromptHit>,
  more: ReadonlyArray<Prompts.PromptHit>
): ReadonlyArray<Prompts.PromptHit> => {
  const known = new Set(hits.map(({ id }) => id))
  return [...hits, ...more.filter(({ id }) => !known.has(id))]
}

const byIndex = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, scope: Scope) {
  const match = yield* matchOf(sql, scope.query)
  if (match === undefined) return { hits: [], cutAt: undefined }
  const rows = yield* proposed(sql, scope, match)
  return { hits: fitting(scope.query, rows), cutAt: rows.length === PROPOSED ? rows.at(-1)!.id : undefined }
})

// ------------------------------------------------------------------------------------------- what fits only nearly

/** The query without regard to what stands between letters and digits. */
const loosened = (query: Query): Query | undefined => {
  const clauses = query.clauses.flatMap((clause): ReadonlyArray<SearchQuery.Clause> => {
    if (clause.length !== 1) return [clause]
    const parts = clause[0]!.text.match(/[\p{L}\p{N}\p{M}]+/gu)
    return parts === null ? [clause] : parts.map((text) => [{ is: "part", text }])
  })
  return clauses.length === query.clauses.length ? undefined : { ...query, clauses, phrase: "" }
}

/** How many slips lead from one word to the beginning or all of another, if no more than `most`. */
const slips = (typed: string, word: string, most: number): number => {
  let before: Array<number> = []
  let previous = Array.from({ length: word.length + 1 }, (_, i) => i)
  for (let i = 1; i <= typed.length; i++) {
    const current = [i]
    for (let j = 1; j <= word.length; j++) {
      const same = typed[i - 1] === word[j - 1]
      const isSwap = i > 1 && j > 1 && typed[i - 1] === word[j - 2] && typed[i - 2] === word[j - 1]
      const change = previous[j - 1]! + (same ? 0 : 1)
      current.push(Math.min(change, isSwap ? before[j - 2]! + 1 : change, previous[j]! + 1, current[j - 1]! + 1))
    }
    if (Math.min(...current) > most) return most + 1
    before = previous
    previous = current
  }
  return previous[word.length]!
}

/** Shorter words are too near to too many others. */
const SHORTEST_MISTYPED = 4
const SHORTEST_TWICE_MISTYPED = 8
const MOST_MEANT = 8

/** Words that were perhaps meant: they begin alike, and one slip or two lead to them. */
const meant = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, typed: string) {
  if (typed.length < SHORTEST_MISTYPED || !/^[\p{L}\p{N}]+$/u.test(typed) || SearchText.isCjk(typed[0]!)) return []
  const most = typed.length >= SHORTEST_TWICE_MISTYPED ? 2 : 1
  // Either the first two letters are right or they were swapped or one of them is missing.
  const [a, b] = [typed[0]!, typed[1]!]
  const beginnings = [...new Set([a + b, b + a, a + typed[2]!, b + typed[2]!])]
  const found: Array<{ readonly term: string; readonly away: number; readonly n: number }> = []
  for (const beginning of beginnings) {
    const rows = yield* sql.unsafe<{ term: string; n: number }>(
      "SELECT term, n FROM word WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
      [beginning, beginning + AFTER, typed.length - most, typed.length + most]
    )
    for (const { term, n } of rows) {
      const away = slips(typed, term, most)
      if (away <= most) found.push({ term, n, away })
    }
  }
  found.sort((x, y) => x.away - y.away || y.n - x.n)
  return [...new Set(found.map(({ term }) => term))].slice(0, MOST_MEANT)
})

const corrected = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, query: Query) {
  const clauses: Array<SearchQuery.Clause> = []
  let isOther = false
  for (const clause of query.clauses) {
    const [word] = clause
    const terms = clause.length === 1 && word!.is === "part" ? yield* meant(sql, word!.text) : []
    if (terms.some((term) => term !== word!.text)) isOther = true
    clauses.push([...clause, ...terms.map((text): SearchQuery.Word => ({ is: "part", text }))])
  }
  return isOther ? { ...query, clauses, phrase: "" } : undefined
})

const nearly = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, scope: Scope) {
  const loose = loosened(scope.query)
  const asNear = (hits: ReadonlyArray<Prompts.PromptHit>) => hits.map((hit) => ({ ...hit, fit: "near" as const }))
  if (loose !== undefined) {
    const { hits } = yield* byIndex(sql, { ...scope, query: loose })
    if (hits.length > 0) return asNear(hits)
  }
  const query = yield* corrected(sql, loose ?? scope.query)
  return query === undefined ? [] : asNear((yield* byIndex(sql, { ...scope, query })).hits)
})

// ------------------------------------------------------------------------------------------------------- the search

/** Prompts of others, or of one session: few, so all of them are looked at. */
const throughUses = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, query: Query, asked: Prompts.PromptQuery) {
  const use = joined(useConditions(query, asked))
  const author = query.filters.author ?? Prompts.PERSON
  if (author === Prompts.PERSON) {
    const rows = yield* sql.unsafe<StoredPrompt>(
      `SELECT ${COLUMNS} FROM prompt p WHERE p.id IN (SELECT u.prompt_id FROM prompt_use u WHERE ${use.sql})
       ORDER BY p.last_at DESC LIMIT ?`,
      [...use.parameters, LATELY_WHEN_NOTHING_FITS]
    )
    return fitting(query, rows)
  }
  const rows = yield* sql.unsafe<StoredPrompt>(
    `SELECT p.id, p.prompt, sum(1 - u.is_repeat) AS uses, min(u.at) AS first_at, max(u.at) AS last_at,
       u.cwd, u.session, u.entry
     FROM prompt_use u JOIN prompt p ON p.id = u.prompt_id WHERE ${use.sql}
     GROUP BY p.id ORDER BY last_at DESC LIMIT ?`,
    [...use.parameters, LATELY_WHEN_NOTHING_FITS]
  )
  return fitting(query, rows)
})

/** Read at once when everything is looked at. */
const PAGE = 2000

const everything = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, scope: Scope) {
  const found: Array<Prompts.PromptHit> = []
  const where = joined([...scope.conditions, ...inPlace(scope.place)])
  let last = 0
  for (;;) {
    const rows = yield* sql.unsafe<StoredPrompt>(
      `SELECT ${COLUMNS} FROM prompt p WHERE p.id > ? AND ${where.sql} ORDER BY p.id LIMIT ?`,
      [last, ...where.parameters, PAGE]
    )
    found.push(...fitting(scope.query, rows))
    if (rows.length < PAGE) return found
    last = rows.at(-1)!.id
  }
})

/** The word of a folder; `null` if no prompt was ever used there. */
const placeOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, cwd: string) {
  const [row] = yield* sql.unsafe<{ id: number }>("SELECT id FROM folder WHERE path = ?", [cwd])
  return row === undefined ? null : placeTerm(row.id)
})

export const search = Effect.fn("HistorySearch.search")(function* (
  sql: SqlClient.SqlClient,
  asked: Prompts.PromptQuery,
  now: number
) {
  const query = Prompts.parse(asked.text, now)
  const isNewestFirst = SearchQuery.asksNothing(query)
  const answer = (hits: ReadonlyArray<Prompts.PromptHit>) =>
    Prompts.ranked(hits, { now, near: asked.near, limit: asked.limit, byTime: isNewestFirst })
  const place = asked.cwd === undefined ? undefined : yield* placeOf(sql, asked.cwd)
  if (place === null) return []
  const author = query.filters.author ?? Prompts.PERSON
  if (asked.exhaustive !== true && (asked.session !== undefined || author !== Prompts.PERSON)) {
    return answer(yield* throughUses(sql, query, asked))
  }
  const conditions = promptConditions(query, asked)
  // The index knows the folders of the person alone.
  const scope: Scope = { query, conditions, place: author === Prompts.PERSON ? place : undefined }
  if (asked.exhaustive === true) return answer(yield* everything(sql, scope))
  if (isNewestFirst) return answer(fitting(query, yield* lately(sql, scope, Math.max(0, Math.min(asked.limit, 1e6)))))
  let { hits, cutAt } = yield* byIndex(sql, scope)
  if (cutAt !== undefined) {
    // Typed first long ago, used again lately.
    hits = merged(hits, fitting(query, yield* lately(sql, scope, LATELY, cutAt)))
  } else if (hits.length < asked.limit && !isIndexed(query)) {
    const window = hits.length === 0 ? LATELY_WHEN_NOTHING_FITS : LATELY
    hits = merged(hits, fitting(query, yield* lately(sql, scope, window)))
  }
  return answer(hits.length > 0 ? hits : yield* nearly(sql, scope))
})

export const count = Effect.fn("HistorySearch.count")(function* (
  sql: SqlClient.SqlClient,
  asked: Omit<Prompts.PromptQuery, "limit">,
  now: number
) {
  const hits = yield* search(sql, { ...asked, limit: MOST_COUNTED }, now)
  return hits.filter(({ fit }) => fit !== "near").length
})
