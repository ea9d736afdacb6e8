/**
 * Sessions of other programs, to be read without importing them. Each is kept as a translated copy in the cache, so that
 * whatever reads session files reads these too; a copy is made anew when its source has changed. Safe to delete.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { isObject } from "@grove/core"
import { Effect } from "effect"
import { type Format, formats } from "./Format.ts"
import { encode, type TranslatedSession } from "./read/Translation.ts"
import * as Sources from "./Sources.ts"
import * as Stores from "./Stores.ts"

/** The sessions of one format: a folder of session files that nobody writes to but this module. */
export interface Root {
  readonly format: Format
  readonly folder: string
}

export interface Options {
  /** The cache of the home. */
  readonly cache: string
  readonly stores: ReadonlyArray<Stores.Store>
  /** Ids of the sessions of the home: what was imported stands for its original. */
  readonly own: ReadonlySet<string>
  /** Told each source that is translated. */
  readonly onFile?: (file: string) => void
}

/** Where all copies are. */
export const folderIn = (cache: string): string => join(cache, "foreign")

/** A source as it was when its copies were made. */
interface Kept {
  /** The state of everything that was looked at. */
  readonly states: { readonly [path: string]: string }
  readonly copies: ReadonlyArray<string>
  /** Ids of sessions that have no copy, since the home has them. */
  readonly left: ReadonlyArray<string>
}

const VERSION = 1

interface Index {
  readonly version: number
  readonly sources: { readonly [file: string]: Kept }
}

const indexIn = (cache: string): string => join(folderIn(cache), "index.json")

const load = (cache: string): Index["sources"] => {
  try {
    const index: unknown = JSON.parse(readFileSync(indexIn(cache), "utf8"))
    return isObject(index) && index.version === VERSION ? (index as unknown as Index).sources : {}
  } catch {
    return {}
  }
}

/** Whole or not at all; a cache that cannot be written is no failure. */
const write = (path: string, text: string): boolean => {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, text, { mode: 0o600 })
    renameSync(temporary, path)
    return true
  } catch {
    rmSync(temporary, { force: true })
    return false
  }
}

/** Of many sessions in one source few change: a copy that says the same is not made newer by that. */
const isThere = (path: string, text: string): boolean => {
  try {
    return readFileSync(path, "utf8") === text
  } catch {
    return false
  }
}

const ABSENT = "-"

const stateOf = (path: string): string => {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch {
    return ABSENT
  }
}

const nameIn = (copy: string): string => /_([^/\\]*)\.jsonl$/.exec(copy)?.[1] ?? ""

/** Named as sessions are. */
const copyFor = (cache: string, format: Format, { header: { id, timestamp = "" } }: TranslatedSession): string =>
  join(folderIn(cache), format, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`)

/** What is kept of a source, if that still holds: what the home has come to hold since needs no copy any more. */
const stillTrue = (kept: Kept | undefined, own: ReadonlySet<string>): Kept | undefined => {
  if (kept === undefined || !kept.left.every((id) => own.has(id))) return undefined
  const isSame = Object.entries(kept.states).every(([path, state]) => stateOf(path) === state)
  if (!isSame || kept.copies.some((copy) => stateOf(copy) === ABSENT)) return undefined
  const taken = kept.copies.filter((copy) => own.has(nameIn(copy)))
  if (taken.length === 0) return kept
  const copies = kept.copies.filter((copy) => !own.has(nameIn(copy)))
  return { ...kept, copies, left: [...kept.left, ...taken.map(nameIn)] }
}

/** The copies of one source. One that cannot be read or translated has none, until it changes. */
const copied = Effect.fnUntraced(function* ({ cache, own }: Options, found: Sources.Found, taken: ReadonlySet<string>) {
  // What changes while it is read is read again the next time.
  const before = stateOf(found.file)
  const translated = yield* Effect.option(Sources.translate(found))
  const { sessions, lookedAt } =
    translated._tag === "Some" ? translated.value : { sessions: [], lookedAt: new Set([found.file]) }
  const states = Object.fromEntries([...lookedAt].map((path) => [path, path === found.file ? before : stateOf(path)]))
  const others = sessions.filter(({ header }) => !own.has(header.id))
  const copies = others.flatMap((session) => {
    const path = copyFor(cache, found.format, session)
    if (taken.has(path)) return []
    const text = encode(session)
    return isThere(path, text) || write(path, text) ? [path] : []
  })
  const left = sessions.map(({ header }) => header.id).filter((id) => own.has(id))
  return { states, copies, left } satisfies Kept
})

/** Brings the copies up to date, and says where they are. Where nothing has changed, nothing is opened. */
export const refresh = Effect.fn("ForeignSessions.refresh")(function* (options: Options) {
  const { cache, stores, own, onFile = () => {} } = options
  const known = load(cache)
  const sources: { [file: string]: Kept } = {}
  const taken = new Set<string>()
  let isChanged = false
  for (const found of stores.flatMap(Stores.filesOf)) {
    const before = known[found.file]
    let kept = stillTrue(before, own)
    if (kept === undefined) {
      onFile(found.file)
      kept = yield* copied(options, found, taken)
    }
    if (kept !== before) isChanged = true
    sources[found.file] = kept
    for (const copy of kept.copies) taken.add(copy)
  }
  for (const copy of formats.flatMap((format) => copiesIn(join(folderIn(cache), format)))) {
    if (!taken.has(copy)) rmSync(copy, { force: true })
  }
  if (isChanged || Object.keys(known).length !== Object.keys(sources).length) {
    write(indexIn(cache), JSON.stringify({ version: VERSION, sources } satisfies Index))
  }
  return rootsOf(cache, stores)
})

const copiesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

const rootsOf = (cache: string, stores: ReadonlyArray<Stores.Store>): ReadonlyArray<Root> =>
  formats
    .filter((format) => stores.some((store) => store.format === format))
    .map((format) => ({ format, folder: join(folderIn(cache), format) }))

/** The file that a copy was made of. */
export const sourceOf = (cache: string, copy: string): string | undefined =>
  Object.entries(load(cache)).find(([, { copies }]) => copies.includes(copy))?.[0]
