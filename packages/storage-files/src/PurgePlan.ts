/** What has to be done for a session, an entry or a text to be really gone. */
import { createHash, randomBytes } from "node:crypto"
import { lstatSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type BlobHash, Blobs, type EntryId, Jsonl, type SessionRef } from "@grove/core"
import { Clock, Effect, Result, Schema } from "effect"
import { asBuffer } from "./Bytes.ts"
import * as EntryRemoval from "./EntryRemoval.ts"
import * as FileConsents from "./FileConsents.ts"
import { attempt, isMissing } from "./FileRefused.ts"
import * as FileTree from "./FileTree.ts"
import * as IndexFile from "./IndexFile.ts"
import * as Marks from "./Marks.ts"
import * as SessionFamily from "./SessionFamily.ts"
import type { SessionPaths } from "./SessionPaths.ts"
import * as TextRemoval from "./TextRemoval.ts"
import * as Trash from "./Trash.ts"

/** What is to be gone. */
export type Target =
  | { readonly is: "session"; readonly session: SessionRef }
  | { readonly is: "entry"; readonly session: SessionRef; readonly entry: EntryId }
  | { readonly is: "text"; readonly text: string }

/** The file is no session, so no entry can be taken out of it; nothing was changed. */
export class PurgeNotASession extends Schema.TaggedError<PurgeNotASession>()("PurgeNotASession", {
  path: Schema.String,
  line: Schema.Int
}) {}
/** Taking this text out would break the files; nothing was changed. */
export class PurgeUnfitText extends Schema.TaggedError<PurgeUnfitText>()("PurgeUnfitText", {
  objection: Schema.String
}) {}

export interface Options {
  readonly paths: SessionPaths
  readonly onFile?: ((path: string) => void) | undefined
}

export interface Changed {
  readonly bytes: Uint8Array
  readonly entries: number
}

/** A file that is written anew. */
export interface Change {
  readonly path: string
  readonly entries: number
  /** `undefined` if the bytes hold nothing that must go. */
  readonly apply: (bytes: Uint8Array) => Changed | undefined
}

export interface PurgePlan {
  /** In the order in which they go. */
  readonly files: ReadonlyArray<string>
  readonly changes: ReadonlyArray<Change>
  /** Go first, and again last: until then they could be made again from what is still there. */
  readonly caches: ReadonlyArray<string>
  readonly entries: number
  readonly blobs: ReadonlySet<BlobHash>
  /** Blobs that take the place of those that go. */
  readonly stored: ReadonlyArray<Uint8Array>
}

export const isThere = (path: string): boolean => {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

/** A file that is gone holds nothing. */
export const readIfThere = (path: string): Uint8Array => {
  try {
    return readFileSync(path)
  } catch (cause) {
    if (isMissing(cause)) return new Uint8Array()
    throw cause
  }
}

const sum = (changes: ReadonlyArray<Change>): number => changes.reduce((total, { entries }) => total + entries, 0)

/** Lists of sessions are caches that hold names and first prompts. */
const catalogues = ({ cache }: SessionPaths): ReadonlyArray<string> =>
  FileTree.list(cache, (name) => name.startsWith("catalogue")).map(({ path }) => path)

// ------------------------------------------------------------------------------------------- what a session has

/** Everything a home holds of one session, in place and in the trash. */
interface Holdings {
  /** Sessions and drafts; the session in its place last. */
  readonly logs: ReadonlyArray<string>
  readonly backups: ReadonlyArray<string>
  readonly caches: ReadonlyArray<string>
  readonly running: ReadonlyArray<{ readonly path: string; readonly entry: string }>
  readonly breadcrumbs: ReadonlyArray<string>
  readonly consents: ReadonlyArray<string>
  /** Of the trash. */
  readonly notes: ReadonlyArray<string>
}

const isLog = (path: string): boolean => /\.jsonl(\.draft)?$/.test(path)
const isIndex = (path: string): boolean => path.endsWith(".idx")

const holdings = Effect.fnUntraced(function* (paths: SessionPaths, { id, path }: SessionRef) {
  const { home } = paths
  const trashed = (yield* Trash.list(home)).filter((one) => one.id === id)
  return yield* attempt(path, (): Holdings => {
    const family = SessionFamily.of(paths, SessionFamily.resolved(path))
    // Since a session went to the trash, another may have come to be where it was.
    const isAnother = trashed.length > 0 && family.logs.some((log) => idIn(readFileSync(log)) !== id)
    if (isAnother)
      return holdingsOf(paths, { id, path }, { ...family, logs: [], backups: [], temporary: [], indexes: [] }, trashed)
    return holdingsOf(paths, { id, path }, family, trashed)
  })
})

/** What the person allowed in a session, wherever it was when they did. */
const consentsTo = (home: string, id: string, places: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(places)].map((path) => FileConsents.fileOf(FileConsents.folder(home), { id, path })).filter(isThere)

const idIn = (bytes: Uint8Array): string | undefined => {
  const read = Jsonl.read(bytes)
  return Result.isSuccess(read) ? read.success.header?.id : undefined
}

const holdingsOf = (
  paths: SessionPaths,
  { id, path: named }: SessionRef,
  family: SessionFamily.SessionFamily,
  trashed: ReadonlyArray<Trash.Trashed>
): Holdings => {
  const { home } = paths
  const parts = trashed.flatMap(({ files, folder, path }) =>
    files.flatMap(({ name, from }, i) => {
      // What an interrupted move to the trash has left behind is still in its place.
      const places = [join(folder, name), ...(isThere(path) ? [] : [from])]
      return places.map((place) => ({ place, isLog: i === 0 || isLog(place) }))
    })
  )
  const others = parts.filter(({ place }) => isThere(place) && !family.logs.includes(place))
  const kept = others.filter((part) => !part.isLog).map(({ place }) => place)
  return {
    logs: [...others.filter((part) => part.isLog).map(({ place }) => place), ...family.logs.toReversed()],
    backups: [...family.temporary, ...family.backups, ...kept.filter((place) => !isIndex(place))],
    caches: [...family.indexes, ...kept.filter(isIndex), ...catalogues(paths)],
    running: SessionFamily.running(home, id),
    breadcrumbs: SessionFamily.breadcrumbs(home, family.path),
    consents: consentsTo(home, id, [named, family.path, ...trashed.map(({ path }) => path)]),
    notes: trashed.map(({ folder }) => `${folder}.json`)
  }
}

/** Blobs that these files name and no others do, save those that are `left` in the files themselves. */
const onlyNamedIn = Effect.fnUntraced(function* (
  { paths, onFile }: Options,
  files: ReadonlyArray<string>,
  left: ReadonlySet<BlobHash>
) {
  const own = yield* Marks.inFiles(files)
  const identities = yield* attempt(paths.home, () => files.map(FileTree.identityOf))
  const except = new Set(identities.filter((identity) => identity !== undefined))
  const others = yield* Marks.inHome(paths, { except, onFile })
  return new Set([...own].filter((hash) => !others.has(hash) && !left.has(hash)))
})

const planSession = Effect.fnUntraced(function* (options: Options, session: SessionRef) {
  const { logs, backups, caches, running, breadcrumbs, consents, notes } = yield* holdings(options.paths, session)
  const files = [...running.map(({ path }) => path), ...breadcrumbs, ...consents, ...backups, ...logs, ...notes]
  const blobs = yield* onlyNamedIn(options, files, new Set())
  const entries = yield* attempt(session.path, () => {
    const read = Jsonl.read(readFileSync(logs.at(-1) ?? session.path))
    return Result.isSuccess(read) ? read.success.rows.length : 0
  })
  return { files, changes: [], caches, entries, blobs, stored: [] } satisfies PurgePlan
})

const planEntry = Effect.fnUntraced(function* (options: Options, session: SessionRef, entry: EntryId) {
  const { logs, backups, caches, running } = yield* holdings(options.paths, session)
  const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
  const changes: Array<Change> = []
  const left = new Set<BlobHash>()
  for (const path of logs) {
    const bytes = yield* attempt(path, () => readFileSync(path))
    const mark = { id: randomBytes(6).toString("hex"), timestamp }
    const removed = EntryRemoval.remove(bytes, entry, mark)
    if (Result.isFailure(removed)) return yield* new PurgeNotASession({ path, line: removed.failure.line })
    for (const hash of Marks.inBytes(removed.success?.bytes ?? bytes)) left.add(hash)
    if (removed.success === undefined) continue
    const { entries, above } = removed.success
    // Others may go on appending below it until they notice.
    const apply = (now: Uint8Array) =>
      Result.getOrThrow(EntryRemoval.remove(now, entry, mark)) ?? EntryRemoval.rehang(now, above)
    changes.push({ path, entries, apply })
  }
  const holding = yield* attempt(session.path, () =>
    backups.filter((path) => EntryRemoval.holds(readFileSync(path), entry))
  )
  const files = [...running.filter((reply) => reply.entry === entry).map(({ path }) => path), ...holding]
  const blobs = yield* onlyNamedIn(options, [...files, ...changes.map(({ path }) => path)], left)
  return { files, changes, caches, entries: sum(changes), blobs, stored: [] } satisfies PurgePlan
})

// --------------------------------------------------------------------------------------------------------- a text

const LF = 10

/** Lines with their line ends; what is no log is one. */
function* linesOf(path: string, bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const lf = path.endsWith(".json") ? -1 : bytes.indexOf(LF, start)
    const end = lf < 0 ? bytes.length : lf + 1
    yield bytes.subarray(start, end)
    start = end
  }
}

/** References that have become others, in bytes. Both have the same length. */
const withReferences = (bytes: Uint8Array, renamed: ReadonlyMap<string, string>): Uint8Array => {
  if (renamed.size === 0) return bytes
  const before = asBuffer(bytes).toString("latin1")
  const after = before.replace(/blob:sha256:[0-9a-f]{64}/g, (reference) => renamed.get(reference) ?? reference)
  return after === before ? bytes : Buffer.from(after, "latin1")
}

const withoutText =
  (path: string, removal: TextRemoval.TextRemoval, renamed: ReadonlyMap<string, string>) =>
  (bytes: Uint8Array): Changed | undefined => {
    const mayChange = removal.mayBeIn(bytes) || [...renamed.keys()].some((name) => asBuffer(bytes).includes(name))
    if (!mayChange) return undefined
    let entries = 0
    const parts = [...linesOf(path, bytes)].map((line) => {
      const changed = withReferences(removal.fromLine(line), renamed)
      if (changed !== line) entries++
      return changed
    })
    return entries === 0 ? undefined : { bytes: Buffer.concat(parts), entries }
  }

interface ChangedBlobs {
  readonly gone: ReadonlySet<BlobHash>
  readonly stored: ReadonlyArray<Uint8Array>
  readonly renamed: ReadonlyMap<string, string>
}

const referenceTo = (bytes: Uint8Array): string =>
  Blobs.reference(createHash("sha256").update(bytes).digest("hex") as BlobHash)

/** Whole texts kept as blobs become other blobs. Out of an image nothing can be taken, so it goes. */
const changedBlobs = (paths: SessionPaths, removal: TextRemoval.TextRemoval): ChangedBlobs => {
  const gone = new Set<BlobHash>()
  const stored: Array<Uint8Array> = []
  const renamed = new Map<string, string>()
  for (const { path } of FileTree.list(paths.blobs, (name) => /^[0-9a-f]{64}$/.test(name))) {
    const bytes = readFileSync(path)
    if (!removal.isInPlain(bytes)) continue
    const hash = basename(path) as BlobHash
    gone.add(hash)
    if (bytes.includes(0)) continue
    const clean = removal.fromPlain(bytes)
    stored.push(clean)
    renamed.set(Blobs.reference(hash), referenceTo(clean))
  }
  return { gone, stored, renamed }
}

const planText = Effect.fnUntraced(function* ({ paths, onFile }: Options, text: string) {
  const objection = TextRemoval.objection(text)
  if (objection !== undefined) return yield* new PurgeUnfitText({ objection })
  const removal = TextRemoval.make(text)
  const { gone, stored, renamed } = yield* attempt(paths.blobs, () => changedBlobs(paths, removal))
  // Notes of the trash say where files belong; a path is no part of a session.
  const isNote = (path: string) => dirname(path) === Trash.folderOf(paths.home)
  const found = yield* attempt(paths.home, () => Marks.sources(paths).filter(({ path }) => !isNote(path)))
  const changes: Array<Change> = []
  for (const path of new Set(found.map((file) => SessionFamily.resolved(file.path)))) {
    onFile?.(path)
    const apply = withoutText(path, removal, renamed)
    const entries = yield* attempt(path, () => apply(readIfThere(path))?.entries)
    if (entries !== undefined) changes.push({ path, entries, apply })
  }
  const indexes = changes.map(({ path }) => IndexFile.pathFor(paths.cache, path))
  const holding = yield* attempt(paths.cache, () =>
    FileTree.list(paths.cache).filter(({ path }) => removal.isInPlain(readIfThere(path)))
  )
  const listed = yield* attempt(paths.cache, () => catalogues(paths))
  const caches = [...new Set([...indexes, ...listed, ...holding.map(({ path }) => path)])]
  return { files: [], changes, caches, entries: sum(changes), blobs: gone, stored } satisfies PurgePlan
})

/** Everything that must be done for the target to be gone. Changes nothing. */
export const make = (options: Options, target: Target) => {
  switch (target.is) {
    case "session":
      return planSession(options, target.session)
    case "entry":
      return planEntry(options, target.session, target.entry)
    case "text":
      return planText(options, target.text)
  }
}
