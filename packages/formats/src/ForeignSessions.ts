/**
 * Sessions of other programs, to be read without importing them. Each is kept as a translated copy in the cache, so that
 * whatever reads session files reads these too; a copy is made anew when its source has changed. Safe to delete.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
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

const ABSENT = "-"

const stateOf = (path: string): string => {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch {
    return ABSENT
  }
}

const isFresh = (kept: Kept | undefined, own: ReadonlySet<string>): kept is Kept =>
  kept !== undefined &&
  Object.entries(kept.states).every(([path, state]) => stateOf(path) === state) &&
  kept.copies.every((copy) => stateOf(copy) !== ABSENT && !own.has(nameIn(copy))) &&
  kept.left.every((id) => own.has(id))

const nameIn = (copy: string): string => /_([^/\\]*)\.jsonl$/.exec(copy)?.[1] ?? ""

/** Named as sessions are. */
const copyFor = (cache: string, format: Format, { header: { id, timestamp = "" } }: TranslatedSession): string =>
  join(folderIn(cache), format, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`)

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
    return taken.has(path) || !write(path, encode(session)) ? [] : [path]
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
    let kept: Kept
    if (isFresh(before, own)) kept = before
    else {
      isChanged = true
      onFile(found.file)
      kept = yield* copied(options, found, taken)
    }
    sources[found.file] = kept
    for (const copy of kept.copies) taken.add(copy)
  }
  const gone = Object.values(known).flatMap(({ copies }) => copies.filter((copy) => !taken.has(copy)))
  for (const copy of gone) rmSync(copy, { force: true })
  if (isChanged || gone.length > 0 || Object.keys(known).length !== Object.keys(sources).length) {
    write(indexIn(cache), JSON.stringify({ version: VERSION, sources } satisfies Index))
  }
  return rootsOf(cache, stores)
})

const rootsOf = (cache: string, stores: ReadonlyArray<Stores.Store>): ReadonlyArray<Root> =>
  formats
    .filter((format) => stores.some((store) => store.format === format))
    .map((format) => ({ format, folder: join(folderIn(cache), format) }))

/** The file that a copy was made of. */
export const sourceOf = (cache: string, copy: string): string | undefined =>
  Object.entries(load(cache)).find(([, { copies }]) => copies.includes(copy))?.[0]
