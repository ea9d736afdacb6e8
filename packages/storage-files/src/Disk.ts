/**
 * The few operations that session files are written with. Everything that can fail or lie goes through here, so that
 * tests can stand in a disk that is full, that tears writes, or that forgets what was not synced.
 */
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync
} from "node:fs"
import { dirname, resolve } from "node:path"
import { Context } from "effect"

/** Which file it is, and how long. */
export interface FileState {
  readonly device: number
  readonly inode: number
  readonly size: number
  readonly modified: number
  readonly isFile: boolean
}

export interface Disk {
  /** `append` never creates; `create` fails if the file is there. */
  readonly open: (path: string, mode: "read" | "append" | "create") => number
  readonly close: (file: number) => void
  readonly stat: (path: string) => FileState
  readonly statOpen: (file: number) => FileState
  readonly read: (file: number, into: Uint8Array, position: number) => number
  /** One write at the end of the file; answers how many bytes were taken. */
  readonly write: (file: number, bytes: Uint8Array) => number
  /** Succeeds once the data is on the medium. */
  readonly sync: (file: number) => Promise<void>
  /** Makes names in a directory durable. */
  readonly syncDirectory: (path: string) => void
  /** Makes a directory and those above it; answers the topmost that was made. */
  readonly makeDirectory: (path: string) => string | undefined
  readonly rename: (from: string, to: string) => void
  readonly link: (from: string, to: string) => void
  readonly remove: (path: string) => void
}

const APPEND = constants.O_APPEND | constants.O_RDWR
const FLAGS = {
  read: constants.O_RDONLY,
  append: APPEND,
  create: APPEND | constants.O_CREAT | constants.O_EXCL
} as const

const state = (stats: Stats): FileState => ({
  device: stats.dev,
  inode: stats.ino,
  size: stats.size,
  modified: stats.mtimeMs,
  isFile: stats.isFile()
})

const topmostMissing = (path: string): string => {
  let missing = resolve(path)
  while (!existsSync(dirname(missing))) missing = dirname(missing)
  return missing
}

export const real: Disk = {
  open: (path, mode) => openSync(path, FLAGS[mode], 0o600),
  close: closeSync,
  stat: (path) => state(statSync(path)),
  statOpen: (file) => state(fstatSync(file)),
  read: (file, into, position) => readSync(file, into, 0, into.length, position),
  write: (file, bytes) => writeSync(file, bytes, 0, bytes.length),
  sync: (file) => new Promise((done, failed) => fdatasync(file, (error) => (error ? failed(error) : done()))),
  syncDirectory: (path) => {
    const directory = openSync(path, "r")
    try {
      fsyncSync(directory)
    } finally {
      closeSync(directory)
    }
  },
  makeDirectory: (path) => {
    try {
      return mkdirSync(path, { recursive: true, mode: 0o700 })
    } catch (cause) {
      // Where a file system is read-only, Node says that something is missing; making one folder tells the reason.
      if (isMissing(cause)) mkdirSync(topmostMissing(path), { mode: 0o700 })
      throw cause
    }
  },
  rename: renameSync,
  link: linkSync,
  remove: unlinkSync
}

/** The disk in use; the real one unless a test says otherwise. */
export const Disk = Context.Reference<Disk>("@grove/storage-files/Disk", { defaultValue: () => real })

/** Makes a directory that lasts: what is in one that is forgotten is forgotten too. */
export const makeDirectory = (disk: Disk, path: string): void => {
  const topmost = disk.makeDirectory(path)
  if (topmost === undefined) return
  for (let made = resolve(path); made.length >= resolve(topmost).length; made = dirname(made)) {
    disk.syncDirectory(dirname(made))
  }
}

/** The write took fewer bytes than it was given: the disk is full or broke. */
export class ShortWrite extends Error {
  readonly code = "ENOSPC"
  constructor(written: number, wanted: number) {
    super(`only ${written} of ${wanted} bytes were written; the disk is probably full`)
  }
}

/** One write of all the bytes. A short count is a failure and is never continued. */
export const writeWhole = (disk: Disk, file: number, bytes: Uint8Array): void => {
  const written = disk.write(file, bytes)
  if (written !== bytes.length) throw new ShortWrite(written, bytes.length)
}

/** The bytes from `start` up to `end`, or to the end of the file if that comes first. */
export const readRange = (disk: Disk, file: number, start: number, end: number): Uint8Array => {
  const bytes = new Uint8Array(Math.max(0, end - start))
  let read = 0
  while (read < bytes.length) {
    const more = disk.read(file, bytes.subarray(read), start + read)
    if (more === 0) break
    read += more
  }
  return bytes.subarray(0, read)
}

/** Whether nothing has that name; every other failure is one. */
export const isMissing = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).code === "ENOENT"

/** For what is removed on the way out of a failure, which must not be hidden by another one. */
export const removeIfThere = (disk: Disk, path: string): void => {
  try {
    disk.remove(path)
  } catch {
    // It was never made, or is gone already.
  }
}

const LINE_END = Uint8Array.of(10)

const endsWithLine = (disk: Disk, file: number): boolean => {
  const { size } = disk.statOpen(file)
  return size === 0 || readRange(disk, file, size - 1, size)[0] === LINE_END[0]
}

const openOrCreate = (disk: Disk, path: string): number => {
  try {
    return disk.open(path, "create")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
    return disk.open(path, "append")
  }
}

/** Adds lines to a small file, made if it is not there: durable, name included, and glued to nothing. */
export const appendLines = async (disk: Disk, path: string, lines: ReadonlyArray<Uint8Array>): Promise<void> => {
  const file = openOrCreate(disk, path)
  try {
    const start = endsWithLine(disk, file) ? [] : [LINE_END]
    writeWhole(disk, file, Buffer.concat([...start, ...lines.flatMap((line) => [line, LINE_END])]))
    await disk.sync(file)
  } finally {
    disk.close(file)
  }
  disk.syncDirectory(dirname(path))
}
