/** Session files opened to be read: whole when they are small, lazily when they are large. Changes nothing but caches. */
import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs"
import { type Entry, EntryTable, Header, Jsonl, type Problem, SessionTree, type Store } from "@grove/core"
import { Result } from "effect"
import * as IndexFile from "./IndexFile.ts"
import { LineIndex } from "./LineIndex.ts"
import { scan } from "./LineScan.ts"
import * as LineTable from "./LineTable.ts"

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
