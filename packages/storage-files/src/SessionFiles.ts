/** Session files as a whole: opened lazily when they are large, brought up to date, mended, moved. */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { type Entry, EntryTable, Header, Jsonl, type Problem, SessionTree, type Store } from "@grove/core"
import { Result } from "effect"
import type { Disk } from "./Disk.ts"
import * as IndexFile from "./IndexFile.ts"
import { LineIndex } from "./LineIndex.ts"
import { scan } from "./LineScan.ts"
import * as LineTable from "./LineTable.ts"
import { rewrite } from "./Rewrite.ts"

/** Up to this size a file is parsed whole; above it, bodies stay in the file until they are asked for. */
export const PARSED_WHOLE = 16 * 1024 * 1024

/** A grown tail smaller than this is scanned again at the next open rather than written to the cache. */
const WORTH_CACHING = 256 * 1024

/** A session file that was read, and where reading stopped. */
export interface Opened {
  readonly snapshot: Store.Snapshot
  readonly inode: number
  /** Whole lines up to here are in the snapshot. */
  readonly end: number
  /** After this, entries that were not read yet cannot be. */
  readonly close: () => void
}

export interface OpenOptions {
  /** Where indexes of large files are kept. */
  readonly cache: string
  readonly parsedWhole?: number
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

/** Reads a session without changing it. Throws what the file system throws. */
export const open = (
  ref: Store.SessionRef,
  path: string,
  { cache, parsedWhole = PARSED_WHOLE }: OpenOptions
): Result.Result<Opened, Jsonl.NotASession> => {
  const file = openRegular(path)
  const { size, ino } = fstatSync(file)
  if (size > parsedWhole) {
    const cached = size > PARSED_WHOLE ? IndexFile.pathFor(cache, path) : undefined
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
      file.last
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
  const loaded = cached === undefined ? undefined : IndexFile.load(cached, file)
  if (loaded !== undefined) {
    const { index } = loaded
    const known = index.facts.end
    if (size > known) {
      scan(file, index, size)
      index.link()
    }
    if (!index.isConfused) {
      if (index.facts.end - known > WORTH_CACHING && index.facts.end === size) IndexFile.save(cached!, index, file)
      return index
    }
  }
  const index = new LineIndex()
  scan(file, index, size)
  index.link()
  const isWhole = index.facts.header !== null && index.facts.end === size
  if (isWhole && cached !== undefined) IndexFile.save(cached, index, file)
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
  if (header === null || Header.version(header) < Header.CURRENT_VERSION) return undefined
  const table = LineTable.make(index, file)
  const last = index.last === EntryTable.NONE ? null : (table.entry(index.last) as Entry.Entry | undefined)
  if (last === undefined) return undefined
  const version = Header.version(header)
  const isNewer = version > Header.CURRENT_VERSION
  const problems = isNewer ? [...index.facts.problems, Jsonl.newerVersion(header, headerLine)] : index.facts.problems
  const opened = snapshot(ref, version, header, title, problems, SessionTree.over(table, last))
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

/** What a migration would do to a file. */
export const planMigration = async (path: string): Promise<Migrated> => {
  const bytes = readRegular(path)
  if (isBlank(bytes)) return { from: null, to: null, changed: false, backup: null }
  const { from, to, text } = Result.getOrThrow(Jsonl.upgrade(bytes))
  return { from, to, changed: text !== undefined, backup: null }
}

/** Rewrites an old file as the current version; the original is kept as `<file>.v<old>.bak`. */
export const migrate = async (disk: Disk, path: string): Promise<Migrated> => {
  const plan = await planMigration(path)
  if (!plan.changed) return plan
  const { backup } = await rewrite({ disk, path, backup: `${path}.v${plan.from}.bak` }, (bytes) => {
    const { text } = Result.getOrThrow(Jsonl.upgrade(bytes))
    return text ?? bytes
  })
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

/** Keeps every readable line; the others go to `<file>.rejected`, and the original to `<file>.<timestamp>.bak`. */
export const repair = async (
  disk: Disk,
  path: string,
  options: { readonly timestamp: string; readonly makeHeader: () => Header.Header }
): Promise<Repaired> => {
  const { readable, entries, rejected } = Jsonl.sort(readFileSync(path), options.makeHeader)
  if (sameBytes(readable, readFileSync(path))) {
    return { changed: false, entries, rejected: 0, backup: null, rejectedFile: null }
  }
  const rejectedFile = rejected.length === 0 ? null : `${path}.rejected`
  if (rejectedFile !== null) await appendLines(disk, rejectedFile, rejected)
  const { backup } = await rewrite(
    { disk, path, backup: `${path}.${options.timestamp.replace(/[:.]/g, "-")}.bak` },
    (bytes) => Jsonl.sort(bytes, options.makeHeader).readable
  )
  return { changed: true, entries, rejected: rejected.length, backup, rejectedFile }
}

const appendLines = async (disk: Disk, path: string, lines: ReadonlyArray<Uint8Array>): Promise<void> => {
  const file = openOrCreate(disk, path)
  try {
    disk.write(file, Buffer.concat(lines.flatMap((line) => [line, Uint8Array.of(10)])))
    await disk.sync(file)
  } finally {
    disk.close(file)
  }
}

const openOrCreate = (disk: Disk, path: string): number => {
  try {
    return disk.open(path, "create")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
    return disk.open(path, "append")
  }
}

/** Gives a session another working directory, and with it another place. The old file is kept as `<file>.bak`. */
export const move = async (
  disk: Disk,
  from: string,
  to: string,
  cwd: string
): Promise<{ readonly backup: string | null }> => {
  disk.makeDirectory(dirname(to))
  const rewritten = await rewrite({ disk, path: from, to, backup: `${from}.bak` }, (bytes) => withCwd(bytes, cwd))
  if (to !== from) disk.remove(from)
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
