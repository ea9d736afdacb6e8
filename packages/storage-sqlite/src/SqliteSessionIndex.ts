/**
 * Full text of all sessions. A cache: safe to delete, brought up to date when somebody searches, by what the files have
 * gained since. A file that has not changed costs one look at its state.
 */
import { createHash } from "node:crypto"
import { closeSync, openSync, readSync, rmSync, statSync } from "node:fs"
import { basename } from "node:path"
import { Entry, Header, Jsonl, SearchQuery } from "@grove/core"
import { Clock, Effect, Result } from "effect"
import type { SqlClient } from "effect/sql"
import { migrations } from "./IndexSchema.ts"
import * as SessionText from "./SessionText.ts"
import * as Snippet from "./Snippet.ts"
import * as SqliteDatabase from "./SqliteDatabase.ts"
import type * as SqliteDriver from "./SqliteDriver.ts"
import * as Terms from "./Terms.ts"

export interface Options {
  readonly path: string
  readonly driver?: SqliteDriver.Driver | undefined
}

export interface SessionQuery {
  /** As `SearchQuery` understands it; the filters may also stand in it. */
  readonly text: string
  readonly role?: string | undefined
  readonly tool?: string | undefined
  readonly label?: string | undefined
  /** Part of the working directory. */
  readonly project?: string | undefined
  readonly after?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface SessionHit extends Snippet.Snippet {
  readonly session: string | null
  readonly path: string
  readonly entry: string
  readonly role: string
  /** The tools it calls, or is the answer of. */
  readonly tools: ReadonlyArray<string>
  readonly at: number
}

export interface Updated {
  readonly files: number
  /** Files that were read, because they were new or had changed. */
  readonly read: number
  readonly entries: number
}

export interface SessionIndex {
  /** Makes the index what these files hold, and forgets all others. */
  readonly update: (
    files: ReadonlyArray<string>,
    onFile?: (path: string) => void
  ) => Effect.Effect<Updated, SqliteDatabase.DatabaseError>
  /** Best first, the newest first among equals. */
  readonly search: (query: SessionQuery) => Effect.Effect<ReadonlyArray<SessionHit>, SqliteDatabase.DatabaseError>
}

const FILTERS = ["cwd", "session", "label", "role", "tool", "after", "before"] as const

export const parse = (text: string, now: number): SearchQuery.SearchQuery =>
  SearchQuery.parse(text.normalize("NFC"), { filters: FILTERS, now })

// ------------------------------------------------------------------------------------------------- reading files

/** One thing that a line says. */
type Said =
  | { readonly is: "header"; readonly session: string | null; readonly cwd: string | null; readonly version: number }
  | { readonly is: "entry"; readonly entry: Entry.Entry; readonly start: number; readonly length: number }

const CHUNK = 4 * 1024 * 1024
const LF = 10

interface Line {
  readonly bytes: Uint8Array
  readonly start: number
  /** Where the next line begins; of a line that nothing ends yet, its own start. */
  readonly next: number
}

/** The lines from `from` on, never more in memory than the longest of them and a chunk. */
function* linesFrom(file: number, from: number): Generator<Line> {
  let held = Buffer.alloc(0)
  let start = from
  for (let offset = from; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const size = readSync(file, chunk, 0, CHUNK, offset)
    if (size === 0) break
    offset += size
    held = held.length === 0 ? chunk.subarray(0, size) : Buffer.concat([held, chunk.subarray(0, size)])
    let at = 0
    for (let lf = held.indexOf(LF, at); lf >= 0; lf = held.indexOf(LF, at)) {
      yield { bytes: held.subarray(at, lf), start: start + at, next: start + lf + 1 }
      at = lf + 1
    }
    start += at
    held = held.subarray(at)
  }
  if (held.length > 0) yield { bytes: held, start, next: start }
}

const saidBy = (bytes: Uint8Array, start: number): Said | undefined => {
  const parsed = Jsonl.parseLine(bytes[0] === 0xef && bytes[1] === 0xbb ? bytes.subarray(3) : bytes)
  if (parsed.is !== "value") return undefined
  if (Header.isHeader(parsed.value)) {
    const { id, cwd } = parsed.value
    const isText = typeof cwd === "string"
    return { is: "header", session: id, cwd: isText ? cwd : null, version: Header.version(parsed.value) }
  }
  const entry = Entry.fromJson(parsed.value)
  return entry === undefined ? undefined : { is: "entry", entry, start, length: bytes.length }
}

/** Files of old versions get their ids by migration, so they are read as a whole. */
const saidByOld = (bytes: Uint8Array): ReadonlyArray<Said> => {
  const read = Jsonl.read(bytes)
  if (Result.isFailure(read)) return []
  return read.success.rows.map(({ entry, start, end }) => ({ is: "entry", entry, start, length: end - start }))
}

// ------------------------------------------------------------------------------------------------------ updating

interface KnownFile {
  readonly id: number
  readonly path: string
  readonly ino: string
  readonly state: string
  readonly known: number
  readonly print: string
}

interface Found {
  readonly path: string
  readonly ino: string
  readonly state: string
  readonly size: number
}

/** As the file is now; nothing if it is gone. */
const look = (path: string): Found | undefined => {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
    return { path, ino: `${dev} ${ino}`, state: `${ino} ${size} ${mtimeMs} ${ctimeMs}`, size }
  } catch {
    return undefined
  }
}

const SAMPLE = 4096
const SAMPLES = 16

/** Tells a file that has grown from one that was written anew in its place: a hash of samples of its first bytes. */
const printOf = (file: number, size: number): string => {
  const hash = createHash("sha256")
  const sample = Buffer.alloc(SAMPLE)
  const step = Math.max(SAMPLE, (size - SAMPLE) / (SAMPLES - 1))
  for (let at = 0; at < size; at += step) {
    const start = Math.floor(at)
    hash.update(sample.subarray(0, readSync(file, sample, 0, Math.min(SAMPLE, size - start), start)))
  }
  return hash.digest("base64url")
}

/** So many entries, or so many characters of them, go into one statement. */
const MOST_ITEMS = 500
const MOST_CHARACTERS = 2_000_000

interface Item {
  readonly entry: string
  readonly role: string
  readonly tools: string
  readonly at: number
  readonly start: number
  readonly length: number
  readonly text: string
}

const json = (value: unknown): string => JSON.stringify(value)

/** NUL ends a text for SQLite, and nobody searches for it. */
const searchable = (text: string): string => text.replaceAll("\0", " ")

const insertItems = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  file: number,
  items: ReadonlyArray<Item>,
  nextId: number
) {
  // Of several lines with one id the last counts.
  const distinct = [...new Map(items.map((item) => [item.entry, item])).values()]
  yield* sql.unsafe("DELETE FROM item WHERE file_id = ? AND entry IN (SELECT value FROM json_each(?))", [
    file,
    json(distinct.map(({ entry }) => entry))
  ])
  yield* sql.unsafe(
    `INSERT INTO item (id, file_id, entry, role, tools, at, start, length)
     SELECT value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6
     FROM json_each(?)`,
    [
      file,
      json(
        distinct.map(({ entry, role, tools, at, start, length }, i) => [
          ...[nextId + i, entry, role, tools, at, start, length]
        ])
      )
    ]
  )
  const texts = distinct.map(({ text }, i) => [nextId + i, searchable(text), Terms.grams(text)])
  yield* sql.unsafe(
    "INSERT INTO item_fts (rowid, text, gram) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
    [json(texts)]
  )
  return nextId + distinct.length
})

/** What reading a file comes to, gathered until there is enough to write. */
class Gathered {
  readonly labels = new Map<string, string>()
  items: Array<Item> = []
  characters = 0

  take(said: Extract<Said, { is: "entry" }>): void {
    const { entry, start, length } = said
    if (entry.type === "label" && typeof entry.targetId === "string") {
      this.labels.set(entry.targetId, typeof entry.label === "string" ? entry.label : "")
    }
    const found = SessionText.of(entry)
    if (found === undefined) return
    const { role, tools, text } = found
    const at = Entry.time(entry.timestamp)
    this.items.push({ entry: entry.id, role, tools: ` ${tools.join(" ")} `, at, start, length, text })
    this.characters += text.length
  }

  get isFull(): boolean {
    return this.items.length >= MOST_ITEMS || this.characters >= MOST_CHARACTERS
  }
}

const writeLabels = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  file: number,
  labels: ReadonlyMap<string, string>
) {
  if (labels.size === 0) return
  yield* sql.unsafe(
    `INSERT INTO label (file_id, entry, label) SELECT ?, value ->> 0, value ->> 1 FROM json_each(?) WHERE true
     ON CONFLICT (file_id, entry) DO UPDATE SET label = excluded.label`,
    [file, json([...labels])]
  )
  yield* sql.unsafe("DELETE FROM label WHERE file_id = ? AND label = ''", [file])
})

/** Reads a file from where it was left, and tells how many entries that gave. */
const readFrom = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  handle: number,
  found: Found,
  before: KnownFile | undefined
) {
  const isGrown =
    before !== undefined &&
    before.ino === found.ino &&
    before.known > 0 &&
    found.size >= before.known &&
    printOf(handle, before.known) === before.print
  if (before !== undefined && !isGrown) yield* sql.unsafe("DELETE FROM file WHERE id = ?", [before.id])
  const [row] = isGrown
    ? [{ id: before.id }]
    : yield* sql.unsafe<{ id: number }>(
        "INSERT INTO file (path, ino, state, known) VALUES (?, ?, '', 0) RETURNING id",
        [found.path, found.ino]
      )
  const file = row!.id
  const [last] = yield* sql.unsafe<{ id: number | null }>("SELECT max(id) AS id FROM item")
  let nextId = (last?.id ?? 0) + 1
  const gathered = new Gathered()
  let entries = 0
  let known = isGrown ? before.known : 0
  const flush = Effect.suspend(() => {
    const { items } = gathered
    gathered.items = []
    gathered.characters = 0
    entries += items.length
    return items.length === 0
      ? Effect.void
      : Effect.map(insertItems(sql, file, items, nextId), (next) => {
          nextId = next
        })
  })
  for (const { bytes, start, next } of linesFrom(handle, known)) {
    known = next
    const said = saidBy(bytes, start)
    if (said === undefined) continue
    if (said.is === "header") {
      yield* sql.unsafe("UPDATE file SET session = ?, cwd = ? WHERE id = ?", [said.session, said.cwd, file])
      if (said.version >= Header.CURRENT_VERSION) continue
      // Never taken for grown: whatever is added may change what the rest is called.
      known = 0
      const whole = Buffer.allocUnsafe(found.size)
      const size = readSync(handle, whole, 0, found.size, 0)
      for (const old of saidByOld(whole.subarray(0, size))) if (old.is === "entry") gathered.take(old)
      break
    }
    gathered.take(said)
    if (gathered.isFull) yield* flush
  }
  yield* flush
  yield* writeLabels(sql, file, gathered.labels)
  const print = printOf(handle, known)
  yield* sql.unsafe("UPDATE file SET state = ?, known = ?, print = ? WHERE id = ?", [found.state, known, print, file])
  return entries
})

const KNOWN = "SELECT id, path, ino, state, known, print FROM file"

const readFile = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, found: Found) {
  const [before] = yield* sql.unsafe<KnownFile>(`${KNOWN} WHERE path = ?`, [found.path])
  // Another process may have been faster.
  if (before?.state === found.state) return 0
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => openSync(found.path, "r")),
    (handle) => readFrom(sql, handle, found, before),
    (handle) => Effect.sync(() => closeSync(handle))
  )
})

const update = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  files: ReadonlyArray<string>,
  onFile: ((path: string) => void) | undefined
) {
  const rows = yield* sql.unsafe<KnownFile>(KNOWN)
  const known = new Map(rows.map((row) => [row.path, row]))
  const found = files.map(look).filter((file) => file !== undefined)
  const there = new Set(found.map(({ path }) => path))
  const gone = rows.filter(({ path }) => !there.has(path)).map(({ id }) => id)
  if (gone.length > 0) {
    yield* sql.unsafe("DELETE FROM file WHERE id IN (SELECT value FROM json_each(?))", [json(gone)])
  }
  // By their names files are in the order of time, so what is newer is found first.
  const stale = found
    .filter(({ path, state }) => known.get(path)?.state !== state)
    .sort((a, b) => (basename(a.path) < basename(b.path) ? -1 : 1))
  let entries = 0
  for (const file of stale) {
    onFile?.(file.path)
    entries += yield* sql.withTransaction(readFile(sql, file)).pipe(
      // Gone since, or not ours to read: the others are searched all the same.
      Effect.catchDefect(() => Effect.succeed(0))
    )
  }
  return { files: found.length, read: stale.length, entries } satisfies Updated
})

// ----------------------------------------------------------------------------------------------------- searching

/** The newest so many that the index proposes are looked at, page by page, until enough of them fit. */
const PAGE = 200
const MOST_PAGES = 10

const wordMatch = ({ is, text }: SearchQuery.Word): string | undefined => {
  const terms = Terms.termsOf(text, is === "whole" || is === "end")
  if (terms.length === 0) return undefined
  const matches = terms.map((term) => Terms.quoted(term.text) + (term.is === "prefix" ? " *" : ""))
  return `(${matches.join(" AND ")})`
}

const matchOf = ({ clauses }: SearchQuery.SearchQuery): string | undefined => {
  const asked = clauses.flatMap((clause) => {
    const words = clause.map(wordMatch)
    return words.some((word) => word === undefined) ? [] : [`(${[...new Set(words)].join(" OR ")})`]
  })
  return asked.length === 0 ? undefined : asked.join(" AND ")
}

interface Candidate {
  readonly id: number
  readonly entry: string
  readonly role: string
  readonly tools: string
  readonly at: number
  readonly start: number
  readonly length: number
  readonly path: string
  readonly session: string | null
}

/** Opens each file once. */
class Texts {
  readonly #files = new Map<string, number | undefined>()

  #open(path: string): number | undefined {
    if (!this.#files.has(path)) {
      try {
        this.#files.set(path, openSync(path, "r"))
      } catch {
        this.#files.set(path, undefined)
      }
    }
    return this.#files.get(path)
  }

  of({ path, start, length, entry }: Candidate): string | undefined {
    const file = this.#open(path)
    if (file === undefined) return undefined
    const bytes = Buffer.allocUnsafe(length)
    const size = readSync(file, bytes, 0, length, start)
    const parsed = Jsonl.parseLine(bytes.subarray(0, size))
    if (parsed.is !== "value" || typeof parsed.value !== "object" || parsed.value === null) return undefined
    return SessionText.of({ ...parsed.value, id: entry } as Entry.Entry)?.text
  }

  close(): void {
    for (const file of this.#files.values()) if (file !== undefined) closeSync(file)
    this.#files.clear()
  }
}

const conditionsOf = (query: SessionQuery, { filters }: SearchQuery.SearchQuery) => {
  const conditions: Array<readonly [sql: string, value: unknown]> = []
  const like = (text: string) => `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`
  const role = query.role ?? filters.role
  const tool = query.tool ?? filters.tool
  const label = query.label ?? filters.label
  const after = query.after ?? filters.after
  const before = query.before ?? filters.before
  if (role !== undefined) conditions.push(["i.role = ?", role])
  if (tool !== undefined) conditions.push(["i.tools LIKE ? ESCAPE '\\'", like(` ${tool} `)])
  if (after !== undefined) conditions.push(["i.at >= ?", after])
  if (before !== undefined) conditions.push(["i.at < ?", before])
  for (const project of [query.project, filters.cwd]) {
    if (project !== undefined) conditions.push(["f.cwd LIKE ? ESCAPE '\\'", like(project)])
  }
  if (filters.session !== undefined) conditions.push(["f.session LIKE ? ESCAPE '\\'", like(filters.session)])
  if (label !== undefined) {
    const labelled = "SELECT 1 FROM label l WHERE l.file_id = i.file_id AND l.entry = i.entry"
    conditions.push([`EXISTS (${labelled} AND l.label LIKE ? ESCAPE '\\')`, like(label)])
  }
  return conditions
}

const search = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, asked: SessionQuery) {
  const query = parse(asked.text, yield* Clock.currentTimeMillis)
  const match = matchOf(query)
  const conditions = conditionsOf(asked, query)
  const where = conditions.map(([condition]) => ` AND ${condition}`).join("")
  const [from, matched] =
    match === undefined
      ? ["item i JOIN file f ON f.id = i.file_id WHERE i.id < ?", []]
      : [
          "item_fts x JOIN item i ON i.id = x.rowid JOIN file f ON f.id = i.file_id WHERE x.item_fts MATCH ? AND x.rowid < ?",
          [match]
        ]
  const found: Array<SessionHit & { readonly fit: number }> = []
  const texts = new Texts()
  try {
    let below = Number.MAX_SAFE_INTEGER
    for (let page = 0; page < MOST_PAGES && found.length < asked.limit; page++) {
      const rows: ReadonlyArray<Candidate> = yield* sql.unsafe<Candidate>(
        `SELECT i.id, i.entry, i.role, i.tools, i.at, i.start, i.length, f.path, f.session FROM ${from}${where}
         ORDER BY i.id DESC LIMIT ?`,
        [...matched, below, ...conditions.map(([, value]) => value), PAGE]
      )
      for (const row of rows) {
        const text = texts.of(row)
        const fit = text === undefined ? undefined : SearchQuery.fitOf(query, text)
        if (text === undefined || fit === undefined) continue
        const { session, path, entry, role, at } = row
        const tools = [...new Set(row.tools.split(" ").filter(Boolean))]
        found.push({ session, path, entry, role, tools, at, fit, ...Snippet.of(text, query) })
      }
      if (rows.length < PAGE) break
      below = rows.at(-1)!.id
    }
  } finally {
    texts.close()
  }
  return found
    .sort((a, b) => a.fit - b.fit || b.at - a.at)
    .slice(0, Math.max(0, asked.limit))
    .map(({ fit: _, ...hit }): SessionHit => hit)
})

/** Removes the index with all it holds. */
export const forget = (path: string): void => {
  for (const end of SqliteDatabase.FILES) rmSync(path + end, { force: true })
}

/** The index until the scope ends. One that is damaged or of another version is made anew. */
export const open = Effect.fn("SqliteSessionIndex.open")(function* ({ path, driver }: Options) {
  const opened = SqliteDatabase.open({ path, driver, migrations })
  const sql = yield* Effect.catchIf(
    opened,
    ({ problem }) => problem === "damaged" || problem === "newer",
    () =>
      Effect.andThen(
        Effect.sync(() => forget(path)),
        opened
      )
  )
  const failed = (cause: unknown) => {
    const error = SqliteDatabase.errorOf(path, cause)
    if (error.problem === "damaged") forget(path)
    return error
  }
  return {
    update: (files, onFile) => Effect.mapError(update(sql, files, onFile), failed),
    search: (query) => Effect.mapError(search(sql, query), failed)
  } satisfies SessionIndex as SessionIndex
})
