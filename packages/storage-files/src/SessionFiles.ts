/** Session files as a whole: opened lazily when they are large, brought up to date, mended, moved. */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { type Entry, EntryTable, Header, Jsonl, type Problem, SessionTree, type Store } from "@grove/core"
import { Result } from "effect"
import { appendLines, type Disk, isMissing, makeDirectory, readRange, removeIfThere, writeWhole } from "./Disk.ts"
import * as IndexFile from "./IndexFile.ts"
import { LineIndex } from "./LineIndex.ts"
import { scan } from "./LineScan.ts"
import * as LineTable from "./LineTable.ts"
import * as Rewrite from "./Rewrite.ts"

/** Up to this size a file is parsed whole; above it, bodies stay in the file until they are asked for. */
export const PARSED_WHOLE = 16 * 1024 * 1024

/** A grown tail smaller than this is scanned again at the next open: that takes a few milliseconds, writing the index more. */
const WORTH_CACHING = 2 * 1024 * 1024

/** A session file that was read, and where reading stopped. */
export interface Opened {
  readonly snapshot: Store.Snapshot
  readonly inode: number
  /** Whole lines up to here are in the snapshot. */
  readonly end: number
  /** After this, entries that were not read yet cannot be. Problems of a body are known once it was read. */
  readonly close: () => void
}

export interface OpenOptions {
  /** Where indexes of large files are kept. */
  readonly cache: string
  readonly parsedWhole?: number
  /** The index of a file larger than this is kept in the cache. */
  readonly cachedAbove?: number
}

/** Only regular files are opened: a pipe or a device would hang or never end. */
const openRegular = (path: string): number => {
  const stats = statSync(path)
  if (stats.isDirectory()) throw Object.assign(new Error("it is a directory"), { code: "EISDIR" })
  if (!stats.isFile()) throw Object.assign(new Error("it is not a regular file"), { code: "EINVAL" })
  return openSync(path, "r")
}

/** The bytes of a session file. */
export const readRegular = (path: string): Uint8Array => {
  const file = openRegular(path)
  try {
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** The bytes of a file that is about to be written. */
const readThrough = (disk: Disk, path: string): Uint8Array => {
  const file = disk.open(path, "read")
  try {
    return readRange(disk, file, 0, disk.statOpen(file).size)
  } finally {
    disk.close(file)
  }
}

/** A session file with its first line, durable, directory included. A file that is there and empty may be filled. */
export const create = async (disk: Disk, path: string, header: Uint8Array): Promise<void> => {
  const directory = dirname(path)
  makeDirectory(disk, directory)
  const isFilled = isThere(disk, path) && disk.stat(path).size === 0
  const file = disk.open(path, isFilled ? "append" : "create")
  try {
    writeWhole(disk, file, header)
    await disk.sync(file)
    disk.syncDirectory(directory)
  } catch (cause) {
    // Half a header would be no session, and would keep the place of one.
    if (!isFilled) removeIfThere(disk, path)
    throw cause
  } finally {
    disk.close(file)
  }
}

/** Reads a session without changing it. Throws what the file system throws. */
export const open = (
  ref: Store.SessionRef,
  path: string,
  { cache, parsedWhole = PARSED_WHOLE, cachedAbove = PARSED_WHOLE }: OpenOptions
): Result.Result<Opened, Jsonl.NotASession> => {
  const file = openRegular(path)
  const { size, ino } = fstatSync(file)
  if (size > parsedWhole) {
    const cached = size > cachedAbove ? IndexFile.pathFor(cache, path) : undefined
    const opened = openLarge(ref, file, size, ino, cached)
    if (opened !== undefined) return opened
  }
  const bytes = readFileSync(file)
  closeSync(file)
  return Result.map(snapshotOf(ref, bytes), (snapshot) => {
    const lastLine = bytes.lastIndexOf(10) + 1
    return { snapshot, inode: ino, end: lastLine, close: () => {} }
  })
}

const snapshotOf = (ref: Store.SessionRef, bytes: Uint8Array): Result.Result<Store.Snapshot, Jsonl.NotASession> =>
  Result.map(Jsonl.read(bytes), (file) => {
    const tree = SessionTree.from(
      file.rows.map(({ entry }) => entry),
      file.last,
      file.header?.id ?? null
    )
    return snapshot(ref, file.version, file.header, file.title, file.problems, tree)
  })

const snapshot = (
  ref: Store.SessionRef,
  version: number | null,
  header: Header.Header | null,
  title: Header.TitleSlot | null,
  problems: ReadonlyArray<Problem>,
  tree: SessionTree
): Store.Snapshot => ({
  ref: { id: header?.id ?? ref.id, path: ref.path },
  version,
  readOnly: (version ?? 0) > Header.CURRENT_VERSION,
  header,
  title,
  tree,
  problems
})

/** The index of an open file: the cached one where it is still true, brought up to date or made anew otherwise. */
const indexOf = (file: number, size: number, cached: string | undefined): LineIndex => {
  const readAs = IndexFile.identityOf(file)
  const loaded = cached === undefined ? undefined : IndexFile.load(cached, file)
  if (loaded !== undefined) {
    const { index } = loaded
    const known = index.facts.end
    if (size > known) {
      scan(file, index, size)
      index.link()
    }
    if (!index.isConfused) {
      if (index.facts.end - known > WORTH_CACHING && index.facts.end === size)
        IndexFile.save(cached!, index, file, readAs)
      return index
    }
  }
  const index = LineIndex.forFile(size)
  scan(file, index, size)
  index.link()
  const isWhole = index.facts.header !== null && index.facts.end === size
  if (isWhole && cached !== undefined) IndexFile.save(cached, index, file, readAs)
  return index
}

/** `undefined` for what must be parsed whole: old versions, whose bodies change, and files that are no sessions. */
const openLarge = (
  ref: Store.SessionRef,
  file: number,
  size: number,
  inode: number,
  cached: string | undefined
): Result.Result<Opened, Jsonl.NotASession> | undefined => {
  const index = indexOf(file, size, cached)
  const { header, title, headerLine, end } = index.facts
  const version = header === null ? null : Header.version(header)
  if (header === null || version === null || version < Header.CURRENT_VERSION) return undefined
  const problems = [...index.facts.problems]
  const report = (problem: Problem): void => {
    const before = problems.findLastIndex(({ line }) => line <= problem.line)
    problems.splice(before + 1, 0, problem)
  }
  if (version > Header.CURRENT_VERSION) report(Jsonl.newerVersion(header, headerLine))
  const table = LineTable.make(index, file, report)
  const last = index.last === EntryTable.NONE ? null : (table.entry(index.last) as Entry.Entry | undefined)
  if (last === undefined) return undefined
  const opened = snapshot(ref, version, header, title, problems, SessionTree.over(table, last, header.id))
  let isOpen = true
  return Result.succeed({
    snapshot: opened,
    inode,
    end,
    close: () => {
      if (isOpen) closeSync(file)
      isOpen = false
    }
  })
}

export interface Migrated {
  readonly from: number | null
  readonly to: number | null
  readonly changed: boolean
  readonly backup: string | null
}

/** Nothing but white space is an empty session. */
const isBlank = (bytes: Uint8Array): boolean => {
  for (const { start, end } of Jsonl.spans(bytes)) {
    if (Jsonl.parseLine(bytes.subarray(start, end)).is !== "blank") return false
  }
  return true
}

/** What a migration makes of a file; without a text where nothing needs to change. */
const upgrade = (bytes: Uint8Array): { readonly plan: Migrated; readonly text: Uint8Array | undefined } => {
  if (isBlank(bytes)) return { plan: { from: null, to: null, changed: false, backup: null }, text: undefined }
  const { from, to, text } = Result.getOrThrow(Jsonl.upgrade(bytes))
  return { plan: { from, to, changed: text !== undefined, backup: null }, text }
}

/** What a migration would do to a file. */
export const planMigration = async (path: string): Promise<Migrated> => upgrade(readRegular(path)).plan

/** Rewrites an old file as the current version; the original is kept as `<file>.v<old>.bak`. */
export const migrate = async (disk: Disk, path: string, onStep?: Rewrite.OnStep): Promise<Migrated> => {
  const { plan } = upgrade(readThrough(disk, path))
  if (!plan.changed) return plan
  const options = { disk, path, backup: `${path}.v${plan.from}.bak`, onStep }
  const { backup } = await Rewrite.rewrite(options, (bytes) => upgrade(bytes).text)
  return { ...plan, backup }
}

export interface Repaired {
  readonly changed: boolean
  readonly entries: number
  readonly rejected: number
  readonly backup: string | null
  readonly rejectedFile: string | null
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

export interface RepairOptions {
  readonly timestamp: string
  readonly makeHeader: () => Header.Header
  readonly onStep?: Rewrite.OnStep
}

/** Keeps every readable line; the others go to `<file>.rejected`, and the original to `<file>.<timestamp>.bak`. */
export const repair = async (
  disk: Disk,
  path: string,
  { timestamp, makeHeader, onStep }: RepairOptions
): Promise<Repaired> => {
  const bytes = readThrough(disk, path)
  const { readable, entries, rejected } = Jsonl.sort(bytes, makeHeader)
  if (sameBytes(readable, bytes)) return { changed: false, entries, rejected: 0, backup: null, rejectedFile: null }
  const rejectedFile = rejected.length === 0 ? null : `${path}.rejected`
  if (rejectedFile !== null) await appendLines(disk, rejectedFile, rejected)
  const { backup } = await Rewrite.rewrite(
    { disk, path, backup: `${path}.${timestamp.replace(/[:.]/g, "-")}.bak`, onStep },
    (bytes) => Jsonl.sort(bytes, makeHeader).readable
  )
  return { changed: true, entries, rejected: rejected.length, backup, rejectedFile }
}

const isThere = (disk: Disk, path: string): boolean => {
  try {
    disk.stat(path)
    return true
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
}

/**
 * Gives a session another working directory, and with it another place. The old file is kept as `<file>.bak`. It is
 * rewritten where it is and then moved, so that no writer ever appends to a file that is left behind.
 */
export const move = async (
  disk: Disk,
  from: string,
  to: string,
  cwd: string,
  onStep?: Rewrite.OnStep
): Promise<Rewrite.Rewritten> => {
  const refuseTaken = () => {
    if (to !== from && isThere(disk, to)) throw Object.assign(new Error(`${to} is there`), { code: "EEXIST" })
  }
  refuseTaken()
  makeDirectory(disk, dirname(to))
  const options = { disk, path: from, backup: `${from}.bak`, onStep }
  const rewritten = await Rewrite.rewrite(options, (bytes) => withCwd(bytes, cwd))
  refuseTaken()
  if (to === from) return rewritten
  disk.rename(from, to)
  disk.syncDirectory(dirname(to))
  disk.syncDirectory(dirname(from))
  return rewritten
}

/** The file with another directory in its header; every other line as it was. */
const withCwd = (bytes: Uint8Array, cwd: string): Uint8Array => {
  for (const { start, end } of Jsonl.spans(bytes)) {
    const parsed = Jsonl.parseLine(bytes.subarray(start, end))
    if (parsed.is !== "value" || !Header.isHeader(parsed.value)) continue
    const line = Buffer.from(JSON.stringify({ ...parsed.value, cwd }))
    return Buffer.concat([bytes.subarray(0, start), line, bytes.subarray(end)])
  }
  return bytes
}
