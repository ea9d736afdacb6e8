/** How uses of prompts are written: many in one transaction, with a handful of statements however many they are. */
import { createHash } from "node:crypto"
import { Prompts } from "@grove/core"
import { Data, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as SqliteDatabase from "./SqliteDatabase.ts"
import * as Terms from "./Terms.ts"

/** A use to be written, and whether one that is there already is to be passed over. */
export interface Pending {
  readonly use: Prompts.PromptUse
  readonly skipKnown: boolean
}

export type Outcome = keyof Prompts.Added

/** So many at once: enough that statements cost little, few enough that their text stays small. */
const CHUNK = 1000

const hashOf = (prompt: string): string => createHash("sha256").update(prompt).digest("base64url").slice(0, 24)

/** The word that stands for a folder in the index. */
export const placeTerm = (folder: number): string => `f${folder}`

/** What is known of a prompt while it is being written; by uses of the person where there are any. */
interface Draft {
  readonly hash: string
  readonly prompt: string
  readonly id: number | undefined
  readonly placesBefore: string
  readonly places: Set<string>
  uses: number
  firstAt: number
  lastAt: number
  cwd: string | null
  session: string | null
  entry: string | null
  isChanged: boolean
}

interface StoredRow {
  readonly id: number
  readonly hash: string
  readonly place: string
  readonly uses: number
  readonly first_at: number
  readonly last_at: number
  readonly cwd: string | null
  readonly session: string | null
  readonly entry: string | null
}

const draftOf = (prompt: string, hash: string, stored: StoredRow | undefined): Draft => ({
  hash,
  prompt,
  id: stored?.id,
  placesBefore: stored?.place ?? "",
  places: new Set(stored === undefined || stored.place === "" ? [] : stored.place.split(" ")),
  uses: stored?.uses ?? 0,
  firstAt: stored?.first_at ?? 0,
  lastAt: stored?.last_at ?? 0,
  cwd: stored?.cwd ?? null,
  session: stored?.session ?? null,
  entry: stored?.entry ?? null,
  isChanged: false
})

/** Only what the person typed is told of a prompt, unless nobody but others wrote it. */
const note = (draft: Draft, use: Prompts.PromptUse, isRepeat: boolean, folder: number | undefined): void => {
  const isPerson = use.author === Prompts.PERSON
  if (!isPerson && draft.uses > 0) return
  const isFirst = draft.id === undefined && !draft.isChanged
  const startsAnew = isFirst || (isPerson && draft.uses === 0)
  if (startsAnew || use.at < draft.firstAt) draft.firstAt = use.at
  if (startsAnew || use.at >= draft.lastAt) {
    draft.lastAt = use.at
    draft.cwd = use.cwd
    draft.session = use.session
    draft.entry = use.entry
  }
  if (isPerson && (!isRepeat || draft.uses === 0)) draft.uses++
  if (isPerson && folder !== undefined) draft.places.add(placeTerm(folder))
  draft.isChanged = true
}

const json = (value: unknown): string => JSON.stringify(value)

/** By what a use is known: its time, and the entry that it became, which a fork shares. */
const keysOf = (hash: string, { at, author, entry }: Pick<Prompts.PromptUse, "at" | "author" | "entry">) => [
  json([hash, author, at]),
  ...(entry === null ? [] : [json([hash, author, entry])])
]

const knownUses = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, hashes: ReadonlyArray<string>) {
  const rows = yield* sql.unsafe<{ hash: string; at: number; author: string; entry: string | null }>(
    `SELECT p.hash, u.at, u.author, u.entry FROM prompt p JOIN prompt_use u ON u.prompt_id = p.id
     WHERE p.hash IN (SELECT value FROM json_each(?))`,
    [json(hashes)]
  )
  return new Set(rows.flatMap((row) => keysOf(row.hash, row)))
})

const foldersOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, uses: ReadonlyArray<Prompts.PromptUse>) {
  const paths = [...new Set(uses.map(({ cwd }) => cwd).filter((cwd) => cwd !== null))]
  if (paths.length === 0) return new Map<string, number>()
  yield* sql.unsafe("INSERT OR IGNORE INTO folder (path) SELECT value FROM json_each(?)", [json(paths)])
  const rows = yield* sql.unsafe<{ id: number; path: string }>(
    "SELECT id, path FROM folder WHERE path IN (SELECT value FROM json_each(?))",
    [json(paths)]
  )
  return new Map(rows.map(({ id, path }) => [path, id]))
})

/** Adds to, or with a negative sign takes from, the counts of the words of these prompts. */
export const countWords = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  prompts: ReadonlyArray<{ readonly prompt: string; readonly gram: string }>,
  sign: 1 | -1
) {
  const counts = new Map<string, number>()
  for (const { prompt, gram } of prompts) {
    for (const term of Terms.vocabulary(prompt, gram)) counts.set(term, (counts.get(term) ?? 0) + sign)
  }
  if (counts.size === 0) return
  const changed = json([...counts])
  yield* sql.unsafe(
    `INSERT INTO word (term, n) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true
     ON CONFLICT (term) DO UPDATE SET n = n + excluded.n`,
    [changed]
  )
  if (sign === -1) {
    yield* sql.unsafe("DELETE FROM word WHERE n <= 0 AND term IN (SELECT value ->> 0 FROM json_each(?))", [changed])
  }
})

const storedPrompts = (sql: SqlClient.SqlClient, hashes: Iterable<string>) =>
  sql.unsafe<StoredRow>(
    `SELECT id, hash, place, uses, first_at, last_at, cwd, session, entry FROM prompt
     WHERE hash IN (SELECT value FROM json_each(?))`,
    [json([...hashes])]
  )

const insertPrompts = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, drafts: ReadonlyArray<Draft>) {
  if (drafts.length === 0) return
  const made = drafts.map((draft) => ({ ...draft, gram: Terms.grams(draft.prompt) }))
  yield* sql.unsafe(
    `INSERT INTO prompt (prompt, hash, gram, place, uses, first_at, last_at, cwd, session, entry)
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
       value ->> 7, value ->> 8, value ->> 9 FROM json_each(?)`,
    [
      json(
        made.map(({ prompt, hash, gram, places, uses, firstAt, lastAt, cwd, session, entry }) => [
          prompt.includes("\0") ? "" : prompt,
          ...[hash, gram, [...places].join(" "), uses, firstAt, lastAt, cwd, session, entry]
        ])
      )
    ]
  )
  // SQLite's JSON ends a text at NUL.
  for (const { prompt, hash } of made.filter(({ prompt }) => prompt.includes("\0"))) {
    yield* sql.unsafe("UPDATE prompt SET prompt = ? WHERE hash = ?", [prompt, hash])
  }
  yield* countWords(sql, made, 1)
})

const updatePrompts = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, drafts: ReadonlyArray<Draft>) {
  if (drafts.length === 0) return
  const rows = drafts.map(({ id, uses, firstAt, lastAt, cwd, session, entry }) => [
    ...[id, uses, firstAt, lastAt, cwd, session, entry]
  ])
  yield* sql.unsafe(
    `UPDATE prompt SET uses = j.value ->> 1, first_at = j.value ->> 2, last_at = j.value ->> 3,
       cwd = j.value ->> 4, session = j.value ->> 5, entry = j.value ->> 6
     FROM json_each(?) j WHERE prompt.id = j.value ->> 0`,
    [json(rows)]
  )
  const moved = drafts
    .map(({ id, places, placesBefore }) => ({ id, before: placesBefore, place: [...places].join(" ") }))
    .filter(({ before, place }) => before !== place)
  if (moved.length === 0) return
  yield* sql.unsafe("UPDATE prompt SET place = j.value ->> 1 FROM json_each(?) j WHERE prompt.id = j.value ->> 0", [
    json(moved.map(({ id, place }) => [id, place]))
  ])
})

const writeChunk = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, pending: ReadonlyArray<Pending>) {
  const prepared = pending.map(({ use, skipKnown }) => {
    const prompt = Prompts.normalise(use.prompt)
    return { use, skipKnown, prompt, hash: prompt === "" ? "" : hashOf(prompt) }
  })
  const hashes = [...new Set(prepared.map(({ hash }) => hash))]
  const stored = new Map((yield* storedPrompts(sql, hashes)).map((row) => [row.hash, row]))
  const known = prepared.some(({ skipKnown }) => skipKnown) ? yield* knownUses(sql, hashes) : new Set<string>()
  const folders = yield* foldersOf(
    sql,
    pending.map(({ use }) => use)
  )
  const [before] = yield* sql.unsafe<{ hash: string; author: string }>(
    "SELECT p.hash, u.author FROM prompt_use u JOIN prompt p ON p.id = u.prompt_id ORDER BY u.id DESC LIMIT 1"
  )
  let last: { readonly hash: string; readonly author: string } | undefined = before
  const drafts = new Map<string, Draft>()
  const uses: Array<{ readonly hash: string; readonly use: Prompts.PromptUse; readonly isRepeat: boolean }> = []
  const outcomes = prepared.map(({ use, skipKnown, prompt, hash }): Outcome => {
    if (prompt === "") return "blank"
    const keys = keysOf(hash, use)
    if (skipKnown && keys.some((key) => known.has(key))) return "known"
    for (const key of keys) known.add(key)
    const isRepeat = last?.hash === hash && last.author === use.author
    const draft = drafts.get(hash) ?? draftOf(prompt, hash, stored.get(hash))
    note(draft, use, isRepeat, use.cwd === null ? undefined : folders.get(use.cwd))
    drafts.set(hash, draft)
    uses.push({ hash, use, isRepeat })
    last = { hash, author: use.author }
    return "added"
  })
  yield* insertPrompts(
    sql,
    [...drafts.values()].filter(({ id }) => id === undefined)
  )
  yield* updatePrompts(
    sql,
    [...drafts.values()].filter(({ id, isChanged }) => id !== undefined && isChanged)
  )
  const ids = new Map((yield* storedPrompts(sql, drafts.keys())).map(({ hash, id }) => [hash, id]))
  yield* sql.unsafe(
    `INSERT INTO prompt_use (prompt_id, at, cwd, session, entry, author, is_repeat)
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
     FROM json_each(?)`,
    [
      json(
        uses.map(({ hash, use: { at, cwd, session, entry, author }, isRepeat }) => [
          ...[ids.get(hash), at, cwd, session, entry, author, isRepeat ? 1 : 0]
        ])
      )
    ]
  )
  return outcomes
})

/** Writes all or none, and tells what became of each. */
export const write = Effect.fn("HistoryWriter.write")(function* (
  sql: SqlClient.SqlClient,
  pending: ReadonlyArray<Pending>
) {
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      const outcomes: Array<Outcome> = []
      for (let start = 0; start < pending.length; start += CHUNK) {
        outcomes.push(...(yield* writeChunk(sql, pending.slice(start, start + CHUNK))))
      }
      return outcomes
    })
  )
})

class RolledBack extends Data.TaggedError("RolledBack")<{ readonly outcomes: ReadonlyArray<Outcome> }> {}

/** Tells what would become of each, and writes none. */
export const rehearse = (sql: SqlClient.SqlClient, pending: ReadonlyArray<Pending>) =>
  sql
    .withTransaction(Effect.flatMap(write(sql, pending), (outcomes) => new RolledBack({ outcomes })))
    .pipe(Effect.catchTag("RolledBack", ({ outcomes }) => Effect.succeed(outcomes)))

/** So many are deleted in one transaction. */
const DELETED_AT_ONCE = 500

const removeChunk = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, ids: ReadonlyArray<number>) {
  const chunk = json(ids)
  const gone = yield* sql.unsafe<{ prompt: string; gram: string }>(
    "SELECT prompt, gram FROM prompt WHERE id IN (SELECT value FROM json_each(?))",
    [chunk]
  )
  yield* countWords(sql, gone, -1)
  yield* sql.unsafe("DELETE FROM prompt WHERE id IN (SELECT value FROM json_each(?))", [chunk])
  return gone.length
})

/** Deletes prompts with their uses, the index included. */
export const remove = Effect.fn("HistoryWriter.remove")(function* (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<number>
) {
  let removed = 0
  const distinct = [...new Set(ids)]
  for (let start = 0; start < distinct.length; start += DELETED_AT_ONCE) {
    removed += yield* sql.withTransaction(removeChunk(sql, distinct.slice(start, start + DELETED_AT_ONCE)))
  }
  if (removed > 0) yield* SqliteDatabase.emptyLog(sql)
  return removed
})

/** Makes a prompt what the uses that are left of it say. */
const retell = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: number) {
  const uses = yield* sql.unsafe<Prompts.PromptUse & { id: number; is_repeat: number }>(
    "SELECT id, at, cwd, session, entry, author, is_repeat FROM prompt_use WHERE prompt_id = ? ORDER BY id",
    [id]
  )
  const folders = yield* foldersOf(sql, uses)
  const draft = { ...draftOf("", "", undefined), id }
  for (const use of uses) note(draft, use, use.is_repeat === 1, folders.get(use.cwd ?? ""))
  yield* updatePrompts(sql, [{ ...draft, placesBefore: "?" }])
})

/** Deletes the uses of a session, or of one of its entries, and prompts that have no other. */
export const forgetSession = Effect.fn("HistoryWriter.forgetSession")(function* (
  sql: SqlClient.SqlClient,
  session: string,
  entry: string | undefined,
  dryRun: boolean
) {
  const [where, parameters] =
    entry === undefined ? ["session = ?", [session]] : ["session = ? AND entry = ?", [session, entry]]
  const concerned = yield* sql.unsafe<{ id: number }>(
    `SELECT DISTINCT prompt_id AS id FROM prompt_use WHERE ${where}`,
    parameters
  )
  if (dryRun || concerned.length === 0) return concerned.length
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(`DELETE FROM prompt_use WHERE ${where}`, parameters)
      const left = yield* sql.unsafe<{ id: number }>(
        `SELECT DISTINCT prompt_id AS id FROM prompt_use
         WHERE prompt_id IN (SELECT value FROM json_each(?))`,
        [json(concerned.map(({ id }) => id))]
      )
      const kept = new Set(left.map(({ id }) => id))
      yield* removeChunk(
        sql,
        concerned.map(({ id }) => id).filter((id) => !kept.has(id))
      )
      for (const id of kept) yield* retell(sql, id)
    })
  )
  yield* SqliteDatabase.emptyLog(sql)
  return concerned.length
})

/** Deletes every prompt that holds a text as it stands. */
export const forgetText = Effect.fn("HistoryWriter.forgetText")(function* (
  sql: SqlClient.SqlClient,
  text: string,
  dryRun: boolean
) {
  const rows = yield* sql.unsafe<{ id: number }>(
    "SELECT id FROM prompt WHERE instr(prompt, ?) > 0 OR instr(prompt, ?) > 0",
    [text, Prompts.normalise(text)]
  )
  return dryRun
    ? rows.length
    : yield* remove(
        sql,
        rows.map(({ id }) => id)
      )
})
