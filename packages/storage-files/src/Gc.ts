/** Frees what nothing needs any more: blobs that no file names, and files that a killed process left half written. */
import { randomBytes } from "node:crypto"
import { lstatSync, renameSync, unlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { BlobHash, SessionSummary } from "@grove/core"
import { Clock, Effect } from "effect"
import * as Breadcrumbs from "./Breadcrumbs.ts"
import { attempt, isMissing } from "./FileRefused.ts"
import * as FileTree from "./FileTree.ts"
import * as Marks from "./Marks.ts"
import * as SessionFamily from "./SessionFamily.ts"
import type { SessionPaths } from "./SessionPaths.ts"
import * as Trash from "./Trash.ts"

/** A blob is written before the line that names it, so a young one may be about to be named. */
export const GRACE = 5 * 60_000

export interface Options {
  readonly paths: SessionPaths
  /** Only says what would be done. */
  readonly dryRun?: boolean
  readonly onFile?: ((path: string) => void) | undefined
}

export interface Collected {
  readonly kept: number
  readonly removed: number
  /** What the removed blobs took. */
  readonly bytes: number
  /** Half-written files that were removed too. */
  readonly temporary: number
}

const HASH = /^[0-9a-f]{64}$/
const TEMPORARY = /^\.?(.+)\.[0-9a-f]{12}\.tmp$/

/** Whether it is gone now, or was. */
const unlinked = (path: string): boolean => {
  try {
    unlinkSync(path)
    return true
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
}

/**
 * Deletes a blob unless somebody has just stored it again: it is set apart first, so that whoever stores it from then
 * on writes it anew.
 */
const removeBlob = (path: string, before: number): boolean => {
  const apart = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`)
  try {
    renameSync(path, apart)
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
  if (lstatSync(apart).mtimeMs >= before) {
    renameSync(apart, path)
    return false
  }
  return unlinked(apart)
}

/** Half-written files, whose process is gone. One that may be the last copy of a session is left where it is. */
const strays = ({ home, sessions, blobs, cache }: SessionPaths, before: number): ReadonlyArray<FileTree.Found> => {
  const isTemporary = (name: string) => TEMPORARY.test(name)
  const logs = [...new Set([join(home, "sessions"), sessions])].flatMap((root) => FileTree.list(root, isTemporary))
  const present = new Set(
    [...new Set(logs.map(({ path }) => dirname(path)))].flatMap((folder) =>
      FileTree.list(folder, Marks.mayNameBlobs).map(({ path }) => path)
    )
  )
  const isSuperseded = ({ path }: FileTree.Found) =>
    present.has(join(dirname(path), TEMPORARY.exec(basename(path))?.[1] ?? ""))
  const kept = ["running", "consents", "trash"].map((name) => join(home, name))
  const folders = [blobs, cache, Breadcrumbs.folder(home), ...kept]
  const others = folders.flatMap((folder) => FileTree.list(folder, isTemporary))
  return [...logs.filter(isSuperseded), ...others].filter(({ modified }) => modified < before)
}

/**
 * Marks and sweeps. If one file that may name blobs cannot be read, nothing is deleted: what it names would be lost.
 */
export const collect = Effect.fn("Gc.collect")(function* ({ paths, dryRun = false, onFile }: Options) {
  const before = (yield* Clock.currentTimeMillis) - GRACE
  const marks = yield* Marks.inHome(paths, { onFile })
  const blobs = yield* attempt(paths.blobs, () => FileTree.list(paths.blobs, (name) => HASH.test(name)))
  const unnamed = blobs.filter(({ path, modified }) => !marks.has(basename(path) as BlobHash) && modified < before)
  let removed = 0
  let bytes = 0
  for (const { path, size } of unnamed) {
    if (!dryRun && !(yield* attempt(path, () => removeBlob(path, before)))) continue
    removed++
    bytes += size
  }
  let temporary = 0
  for (const { path } of yield* attempt(paths.home, () => strays(paths, before))) {
    if (dryRun || (yield* attempt(path, () => unlinked(path)))) temporary++
  }
  return { kept: blobs.length - removed, removed, bytes, temporary } satisfies Collected
})

/** Sessions whose newest message is older. A draft belongs to the chat that made it, so it is not among them. */
export const expired = (
  sessions: ReadonlyArray<SessionSummary.SessionSummary>,
  before: number
): ReadonlyArray<SessionSummary.SessionSummary> =>
  sessions.filter(({ modified, draft }) => !draft && modified !== null && Date.parse(modified) < before)

/** Moves expired sessions to the trash, save those a reply is being generated for. Answers which. */
export const retire = Effect.fn("Gc.retire")(function* (options: {
  readonly paths: SessionPaths
  readonly sessions: ReadonlyArray<SessionSummary.SessionSummary>
  readonly before: number
  readonly dryRun?: boolean
}) {
  const { paths, sessions, before, dryRun = false } = options
  const retired: Array<SessionSummary.SessionSummary> = []
  for (const session of expired(sessions, before)) {
    const id = session.id ?? basename(session.path, ".jsonl")
    const running = yield* attempt(paths.home, () => SessionFamily.running(paths.home, id))
    if (running.length > 0) continue
    if (!dryRun) yield* Trash.move(paths, { id, path: session.path })
    retired.push(session)
  }
  return retired
})
