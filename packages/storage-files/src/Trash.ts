/**
 * Where sessions go that nobody wants to see now: a folder each, with a note of where every file came from.
 *
 * The session itself is moved first and put back last, so wherever a move was interrupted, where the session is says
 * which way it went: in the trash it counts as trashed, in its place it counts as never moved.
 */
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Ids, type SessionRef } from "@grove/core"
import { Clock, Effect, Option, Schema } from "effect"
import { Disk, writeWhole } from "./Disk.ts"
import { attempt, isMissing, refusedAt } from "./FileRefused.ts"
import * as Move from "./Move.ts"
import * as SessionFamily from "./SessionFamily.ts"
import type { SessionPaths } from "./SessionPaths.ts"

const Path = Schema.String.check(Schema.isPattern(/^\/|^[A-Za-z]:\\/))
const FileName = Schema.String.check(Schema.isPattern(/^(?!\.{1,2}$)[^/\\\0]+$/))

/** What is written beside a folder in the trash. */
const Note = Schema.Struct({
  version: Schema.Literal(1),
  id: Schema.String,
  trashed: Schema.String,
  /** The session first. */
  files: Schema.NonEmptyArray(Schema.Struct({ name: FileName, from: Path }))
})
const decodeNote = Schema.decodeUnknownOption(Schema.fromJsonString(Note))

/** A session in the trash. */
export interface Trashed {
  readonly id: string
  /** Where it was. */
  readonly path: string
  /** When it was moved, ISO. */
  readonly trashed: string
  /** Its folder in the trash. */
  readonly folder: string
  /** The session first. Not all need to be in the folder: those that are not never left their place, or are back. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly from: string }>
}

/** A file has come to be where one would be put back; nothing was moved. */
export class PlaceTaken extends Schema.TaggedError<PlaceTaken>()("PlaceTaken", { path: Schema.String }) {}
export class NotInTrash extends Schema.TaggedError<NotInTrash>()("NotInTrash", { session: Schema.String }) {}
/** Several answer to that name; `candidates` are ids, or folders where the ids are the same. */
export class TrashAmbiguous extends Schema.TaggedError<TrashAmbiguous>()("TrashAmbiguous", {
  session: Schema.String,
  candidates: Schema.Array(Schema.String)
}) {}

export const folderOf = (home: string): string => join(home, "trash")

const noteOf = (folder: string): string => `${folder}.json`
const inside = ({ folder }: Trashed, { name }: { readonly name: string }): string => join(folder, name)

/** The session's own file in the trash. */
export const file = (trashed: Trashed): string => inside(trashed, trashed.files[0]!)

// ------------------------------------------------------------------------------------------------------- looking

/** What a file system answers, or `otherwise` if nothing is there. */
const orIfMissing = <A>(path: string, otherwise: A, act: () => A): A => {
  try {
    return act()
  } catch (cause) {
    if (isMissing(cause)) return otherwise
    throw refusedAt(path)(cause)
  }
}

const readNote = (path: string): ReadonlyArray<Trashed> => {
  const note = Option.getOrUndefined(decodeNote(orIfMissing(path, "", () => readFileSync(path, "utf8"))))
  if (note === undefined) return []
  const { id, trashed, files } = note
  return [{ id, path: files[0].from.replace(/\.draft$/, ""), trashed, folder: path.slice(0, -".json".length), files }]
}

const notes = (home: string): ReadonlyArray<Trashed> => {
  const folder = folderOf(home)
  const names = orIfMissing(folder, [], () => readdirSync(folder))
  return names
    .filter((name) => name.endsWith(".json") && !name.startsWith("."))
    .flatMap((name) => readNote(join(folder, name)))
}

const isTrashed = (disk: Disk, trashed: Trashed): boolean =>
  Move.exists(disk, file(trashed)) && !Move.isSameFile(disk, file(trashed), trashed.files[0]!.from)

/** What is in the trash, newest first. */
export const list = Effect.fn("Trash.list")(function* (home: string) {
  const disk = yield* Disk
  const found = yield* attempt(folderOf(home), () => notes(home))
  return found
    .filter((trashed) => isTrashed(disk, trashed))
    .sort((a, b) => (a.trashed < b.trashed ? 1 : a.trashed > b.trashed ? -1 : 0))
})

/** The session in the trash that a person named: by id, prefix or suffix, by the path it had, or by its folder. */
export const find = Effect.fn("Trash.find")(function* (home: string, session: string) {
  const all = yield* list(home)
  const exact = all.filter(({ path, folder }) => path === session || basename(folder) === session)
  const ids = Ids.candidates(
    session,
    all.map(({ id }) => id)
  )
  const found = exact.length > 0 ? exact : all.filter(({ id }) => ids.includes(id))
  if (found.length === 1) return found[0]!
  if (found.length === 0) return yield* new NotInTrash({ session })
  const different = new Set(found.map(({ id }) => id))
  const candidates = different.size > 1 ? [...different] : found.map(({ folder }) => basename(folder))
  return yield* new TrashAmbiguous({ session, candidates })
})

// -------------------------------------------------------------------------------------------------------- moving

const writeNote = async (disk: Disk, trashed: Trashed): Promise<void> => {
  const { id, trashed: at, files, folder } = trashed
  const temporary = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString("hex")}.tmp`)
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, id, trashed: at, files })}\n`)
  const note = disk.open(temporary, "create")
  try {
    writeWhole(disk, note, bytes)
    await disk.sync(note)
  } finally {
    disk.close(note)
  }
  disk.rename(temporary, noteOf(folder))
  disk.syncDirectory(dirname(folder))
}

/** Names under which files of several folders can lie in one. */
const namesFor = (files: ReadonlyArray<string>): ReadonlyArray<{ readonly name: string; readonly from: string }> => {
  const taken = new Set<string>()
  return files.map((from) => {
    let name = basename(from)
    for (let n = 2; taken.has(name); n++) name = `${basename(from)}.${n}`
    taken.add(name)
    return { name, from }
  })
}

const syncFolders = (disk: Disk, folders: Iterable<string>): void => {
  for (const folder of new Set(folders)) if (Move.exists(disk, folder)) disk.syncDirectory(folder)
}

const moveIn = async (disk: Disk, trashed: Trashed): Promise<void> => {
  for (const part of trashed.files) {
    if (Move.isSameFile(disk, part.from, inside(trashed, part))) disk.remove(part.from)
    else if (Move.exists(disk, part.from)) await Move.move(disk, part.from, inside(trashed, part))
  }
  syncFolders(disk, [trashed.folder, ...trashed.files.map(({ from }) => dirname(from))])
}

/** Moves a session with its draft, backups and index. Whatever happens on the way, every file is in one of the places. */
export const move = Effect.fn("Trash.move")(function* (paths: SessionPaths, session: SessionRef) {
  const disk = yield* Disk
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  const name = `${now.replace(/[:.]/g, "-")}-${randomBytes(3).toString("hex")}`
  const folder = join(folderOf(paths.home), name)
  return yield* Effect.tryPromise({
    try: async () => {
      const family = SessionFamily.of(paths, SessionFamily.resolved(session.path))
      const files = namesFor([...family.logs, ...family.backups, ...family.indexes])
      if (family.logs.length === 0) throw Object.assign(new Error("it is not there"), { code: "ENOENT" })
      const trashed: Trashed = { id: session.id, path: family.path, trashed: now, folder, files }
      disk.makeDirectory(folder)
      await writeNote(disk, trashed)
      await moveIn(disk, trashed)
      return trashed
    },
    catch: refusedAt(session.path)
  })
})

/** An index is a cache: where there is a newer one, the old one has no place to go back to. */
const isCache = ({ name }: { readonly name: string }): boolean => name.endsWith(".idx")

const forgetNote = (disk: Disk, { folder }: Trashed): void => {
  try {
    rmdirSync(folder)
  } catch (cause) {
    // What lies there is nobody's yet; the note stays with it.
    if (!isMissing(cause)) return
  }
  if (Move.exists(disk, noteOf(folder))) disk.remove(noteOf(folder))
  disk.syncDirectory(dirname(folder))
}

/** Puts back what is in the folder, the session last. */
const moveOut = async (disk: Disk, trashed: Trashed): Promise<void> => {
  for (const part of trashed.files.toReversed()) {
    const kept = inside(trashed, part)
    if (!Move.exists(disk, kept)) continue
    const isBack = Move.isSameFile(disk, kept, part.from)
    if (isBack || (isCache(part) && Move.exists(disk, part.from))) {
      disk.remove(kept)
      continue
    }
    disk.makeDirectory(dirname(part.from))
    await Move.move(disk, kept, part.from)
  }
  syncFolders(
    disk,
    trashed.files.map(({ from }) => dirname(from))
  )
  forgetNote(disk, trashed)
}

/** Files of others where these would be put back. */
const blocked = (disk: Disk, trashed: Trashed): string | undefined =>
  trashed.files.find((part) => {
    const kept = inside(trashed, part)
    const isTaken = Move.exists(disk, part.from) && Move.exists(disk, kept)
    return isTaken && !isCache(part) && !Move.isSameFile(disk, kept, part.from)
  })?.from

/** Puts a session back exactly where it was. Nothing is overwritten: if one place is taken, nothing is moved. */
export const restore = Effect.fn("Trash.restore")(function* (trashed: Trashed) {
  const disk = yield* Disk
  const path = blocked(disk, trashed)
  if (path !== undefined) return yield* new PlaceTaken({ path })
  yield* Effect.tryPromise({ try: () => moveOut(disk, trashed), catch: refusedAt(trashed.path) })
})

/** Files of a trashed session that are still in their place; none if another session has come to be there. */
const leftBehind = (disk: Disk, trashed: Trashed): Trashed["files"] => {
  if (Move.exists(disk, trashed.path) || Move.exists(disk, trashed.files[0]!.from)) return []
  return trashed.files.filter((part) => {
    const kept = inside(trashed, part)
    return Move.exists(disk, part.from) && (!Move.exists(disk, kept) || Move.isSameFile(disk, kept, part.from))
  })
}

/** How old an unfinished move must be to count as interrupted rather than under way. */
const AT_REST = 5 * 60_000

/** Finishes what was interrupted: moves of which the session arrived, and notes of moves of which it never left. */
export const settle = Effect.fn("Trash.settle")(function* (home: string) {
  const disk = yield* Disk
  const now = yield* Clock.currentTimeMillis
  yield* Effect.tryPromise({
    try: async () => {
      for (const trashed of notes(home)) {
        if (now - Date.parse(trashed.trashed) < AT_REST) continue
        if (isTrashed(disk, trashed)) {
          const files = leftBehind(disk, trashed)
          if (files.length > 0) await moveIn(disk, { ...trashed, files })
        } else if (blocked(disk, trashed) === undefined) await moveOut(disk, trashed)
      }
    },
    catch: refusedAt(folderOf(home))
  })
})
