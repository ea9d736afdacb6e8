/** Session files as a whole: made, brought up to date, mended, moved. */
import { dirname } from "node:path"
import { Header, Jsonl } from "@grove/core"
import { Result } from "effect"
import { appendLines, type Disk, isMissing, makeDirectory, readRange, removeIfThere, writeWhole } from "./Disk.ts"
import * as Rewrite from "./Rewrite.ts"
import { readRegular } from "./SessionReader.ts"

export { type Opened, type OpenOptions, open, PARSED_WHOLE, readRegular } from "./SessionReader.ts"

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
