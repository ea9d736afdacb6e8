/**
 * Really gone: a session, an entry or a text, with every copy of it that Grove has made. Nothing is kept, so whoever
 * asks for this is first shown what `survey` finds. What is interrupted can be asked for again, and is then finished.
 */
import { rmdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { BlobStoreError } from "@grove/core"
import { Context, Effect } from "effect"
import { Disk } from "./Disk.ts"
import * as FileBlobStore from "./FileBlobStore.ts"
import { attempt, FileRefused, isMissing } from "./FileRefused.ts"
import * as PurgePlan from "./PurgePlan.ts"
import { rewrite } from "./Rewrite.ts"
import type { SessionPaths } from "./SessionPaths.ts"

export { type Options, PurgeNotASession, PurgeUnfitText, type Target } from "./PurgePlan.ts"

/** Whatever remembers sessions outside their files, as a history or an index does. */
export type Forgetter = (target: PurgePlan.Target) => Effect.Effect<void, FileRefused>

/** Told to forget before any file is touched. Packages that keep such memories add theirs. */
export const Forgetters = Context.Reference<ReadonlyArray<Forgetter>>("@grove/storage-files/Forgetters", {
  defaultValue: () => []
})

/** What would go. */
export interface Survey {
  readonly files: ReadonlyArray<string>
  /** Files that are written anew. */
  readonly rewrites: ReadonlyArray<string>
  /** How many entries go or change. */
  readonly entries: number
  readonly blobs: number
}

export interface Purged {
  readonly removed: ReadonlyArray<string>
  readonly entries: number
  readonly blobs: number
}

/** What `purge` would do. Changes nothing; fails where that could not be known for sure. */
export const survey = Effect.fn("Purge.survey")(function* (options: PurgePlan.Options, target: PurgePlan.Target) {
  const { files, changes, entries, blobs } = yield* PurgePlan.make(options, target)
  return { files, rewrites: changes.map(({ path }) => path), entries, blobs: blobs.size } satisfies Survey
})

const removeFile = Effect.fnUntraced(function* (path: string) {
  const disk = yield* Disk
  return yield* attempt(path, () => {
    try {
      disk.remove(path)
      return true
    } catch (cause) {
      if (isMissing(cause)) return false
      throw cause
    }
  })
})

/** Which of them were there. */
const removeAll = (paths: Iterable<string>) =>
  Effect.map(
    Effect.forEach(paths, (path) => Effect.map(removeFile(path), (wasThere) => (wasThere ? [path] : []))),
    (found) => found.flat()
  )

/** A file that others append to meanwhile may come to hold again what was taken out. */
const MOST_REWRITES = 5

const rewriteFile = Effect.fnUntraced(function* ({ path, apply }: PurgePlan.Change) {
  const disk = yield* Disk
  yield* Effect.tryPromise({
    try: async () => {
      for (let i = 0; i < MOST_REWRITES && apply(PurgePlan.readIfThere(path)) !== undefined; i++) {
        await rewrite({ disk, path }, (bytes) => apply(bytes)?.bytes ?? bytes)
      }
    },
    catch: (cause) => new FileRefused({ path, cause })
  })
})

/** Empty folders of the trash, and names that must not come back after a power cut. */
const tidy = Effect.fnUntraced(function* (removed: ReadonlyArray<string>) {
  const disk = yield* Disk
  for (const folder of new Set(removed.map(dirname))) {
    yield* attempt(folder, () => {
      if (basename(dirname(folder)) === "trash") rmdirSync(folder)
      else disk.syncDirectory(folder)
    }).pipe(Effect.ignore)
  }
})

const carryOut = Effect.fnUntraced(function* (paths: SessionPaths, plan: PurgePlan.PurgePlan) {
  const { files, changes, caches, entries, blobs, stored } = plan
  const store = FileBlobStore.make({ directory: paths.blobs })
  const refused = (cause: BlobStoreError) => new FileRefused({ path: join(paths.blobs, cause.hash), cause })
  yield* Effect.mapError(Effect.forEach(stored, store.put, { discard: true }), refused)
  const stale = caches.filter(PurgePlan.isThere)
  const removeCaches = Effect.forEach(caches, (path) => attempt(path, () => rmSync(path, { force: true })))
  yield* removeCaches
  const removeBlobs = removeAll([...blobs].map((hash) => join(paths.blobs, hash)))
  // A blob whose text is stored anew must outlive the lines that still name it. Others go first: as long as one is
  // there, so is the line by which it would be found again.
  const goneFirst = stored.length === 0 ? yield* removeBlobs : []
  const removed = yield* removeAll(files)
  yield* Effect.forEach(changes, rewriteFile, { discard: true })
  const gone = [...goneFirst, ...(stored.length === 0 ? [] : yield* removeBlobs)]
  yield* removeCaches
  yield* tidy([...removed, ...gone])
  return { removed: [...removed, ...stale], entries, blobs: gone.length } satisfies Purged
})

const added = (a: Purged, b: Purged): Purged => ({
  removed: [...a.removed, ...b.removed],
  entries: a.entries + b.entries,
  blobs: a.blobs + b.blobs
})

/** How often a text is looked for again: a file may have got another name meanwhile, and with it escaped. */
const MOST_ROUNDS = 5

export const purge = Effect.fn("Purge.purge")(function* (options: PurgePlan.Options, target: PurgePlan.Target) {
  let next: PurgePlan.PurgePlan = yield* PurgePlan.make(options, target)
  for (const forget of yield* Forgetters) yield* forget(target)
  let purged: Purged = yield* carryOut(options.paths, next)
  for (let round = 1; target.is === "text" && round < MOST_ROUNDS; round++) {
    next = yield* PurgePlan.make(options, target)
    if (next.changes.length === 0 && next.blobs.size === 0) break
    purged = added(purged, yield* carryOut(options.paths, next))
  }
  return purged
})
