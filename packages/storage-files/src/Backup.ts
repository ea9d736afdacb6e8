/**
 * A copy of the home that can be used as one, made while others go on writing: sessions up to their last whole line,
 * every blob those lines name, what the person has set. Caches and secrets are left out.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { Effect, Schema } from "effect"
import { real as disk } from "./Disk.ts"
import { attempt, isMissing, refusedAt } from "./FileRefused.ts"
import * as FileTree from "./FileTree.ts"
import * as Marks from "./Marks.ts"
import type { SessionPaths } from "./SessionPaths.ts"

/** There is something in the directory already. */
export class BackupNotEmpty extends Schema.TaggedError<BackupNotEmpty>()("BackupNotEmpty", {
  directory: Schema.String
}) {}
/** The directory is part of what would be copied. */
export class BackupInside extends Schema.TaggedError<BackupInside>()("BackupInside", {
  directory: Schema.String,
  folder: Schema.String
}) {}

export interface Made {
  readonly directory: string
  readonly sessions: number
  readonly blobs: number
  readonly bytes: number
}

/** Stands in a backup until it is whole. */
const INCOMPLETE = ".incomplete"
/** Where a folder of sessions that the person named is copied to. */
const FLAT = "session-dir"
const CHUNK = 1024 * 1024
const LF = 10

// ------------------------------------------------------------------------------------------------------- copying

/** Where a log ends whose last line may be half written: after its last LF, or at its end if the rest is whole. */
const endOfLog = async (file: FileHandle, size: number): Promise<number> => {
  const tail: Array<Buffer> = []
  for (let start = size; start > 0; ) {
    const length = Math.min(CHUNK, start)
    start -= length
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
    const lf = buffer.subarray(0, bytesRead).lastIndexOf(LF)
    tail.push(buffer.subarray(lf + 1, bytesRead))
    if (lf >= 0 && !isWhole(Buffer.concat(tail.toReversed()))) return start + lf + 1
    if (lf >= 0) return size
  }
  return isWhole(Buffer.concat(tail.toReversed())) ? size : 0
}

/** Some programs write no LF at the end; a line that is cut off is no JSON. */
const isWhole = (line: Buffer): boolean => {
  try {
    JSON.parse(line.toString("utf8"))
    return true
  } catch {
    return false
  }
}

/** Copies a file durably; `undefined` if it is gone. */
const copy = async (from: string, to: string, isLog: boolean): Promise<number | undefined> => {
  const source = await open(from, "r").catch((cause) => (isMissing(cause) ? undefined : Promise.reject(cause)))
  if (source === undefined) return undefined
  try {
    const { size } = await source.stat()
    const end = isLog ? await endOfLog(source, size) : size
    disk.makeDirectory(dirname(to))
    const target = await open(to, "wx", 0o600)
    try {
      const buffer = Buffer.allocUnsafe(CHUNK)
      for (let at = 0; at < end; ) {
        const { bytesRead } = await source.read(buffer, 0, Math.min(CHUNK, end - at), at)
        if (bytesRead === 0) break
        // Of what a disk takes only in part the rest is tried again, so that a full one says so.
        const { bytesWritten } = await target.write(buffer, 0, bytesRead, at).catch((cause) => {
          throw refusedAt(to)(cause)
        })
        at += bytesWritten
      }
      await target.sync()
    } finally {
      await target.close()
    }
    return end
  } finally {
    await source.close()
  }
}

const syncFolders = (directory: string): void => {
  const folders = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const folder of [...folders, directory]) {
    const file = openSync(folder, "r")
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  }
}

/** How often a database is copied that changes meanwhile. */
const MOST_TRIES = 20
const DATABASE = ["history.db", "history.db-wal", "history.db-journal"]

const stateOf = (files: ReadonlyArray<string>): string =>
  files
    .map((path) => {
      try {
        const { ino, size, mtimeMs } = statSync(path)
        return `${ino} ${size} ${mtimeMs}`
      } catch {
        return "none"
      }
    })
    .join("\n")

// ----------------------------------------------------------------------------------------------------- the backup

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)

/** Where a path leads, links followed as far as it exists. */
const real = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
  }
}

const prepare = Effect.fnUntraced(function* (directory: string, folders: ReadonlyArray<string>) {
  const folder = folders.find((one) => isWithin(real(directory), real(one)))
  if (folder !== undefined) return yield* new BackupInside({ directory, folder })
  const isFree = yield* attempt(directory, () => {
    disk.makeDirectory(directory)
    return readdirSync(directory).length === 0
  })
  if (!isFree) return yield* new BackupNotEmpty({ directory })
})

const DRAFT = ".draft"
const isFinished = (name: string): boolean => !name.endsWith(".tmp")
const isLog = (name: string): boolean => name.endsWith(".jsonl") || name.endsWith(`.jsonl${DRAFT}`)

/** What has been copied, and what is being copied now. */
interface Progress {
  bytes: number
  at: string
  readonly onFile: ((path: string) => void) | undefined
}

/** Copies one file; answers whether it was there. */
const copyOne = async (progress: Progress, from: string, to: string, endsWithLine = false): Promise<boolean> => {
  progress.at = from
  const size = await copy(from, to, endsWithLine)
  progress.bytes += size ?? 0
  return size !== undefined
}

/** Copies what is below a folder now; answers how many files that were. */
const copyFolder = async (progress: Progress, from: string, to: string): Promise<number> => {
  let copied = 0
  for (const { path } of FileTree.list(from, isFinished)) {
    progress.onFile?.(path)
    if (await copyOne(progress, path, join(to, relative(from, path)))) copied++
  }
  return copied
}

/** How often files are looked for that got another name while others were copied. */
const MOST_ROUNDS = 10

/** Copies sessions and what lies beside them; answers how many sessions that were. */
const copySessions = async (
  progress: Progress,
  from: string,
  to: string,
  accepts: (name: string) => boolean
): Promise<number> => {
  const seen = new Set<string>()
  const copied = new Set<string>()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const news = FileTree.list(from, (name) => isFinished(name) && accepts(name)).filter(({ path }) => !seen.has(path))
    for (const { path } of news) {
      progress.onFile?.(path)
      seen.add(path)
      if (await copyOne(progress, path, join(to, relative(from, path)), isLog(path))) copied.add(path)
    }
    if (news.length === 0) break
  }
  // A draft that got its name meanwhile was copied under both.
  for (const path of [...copied].filter((one) => one.endsWith(DRAFT))) {
    if (!copied.has(path.slice(0, -DRAFT.length)) || existsSync(path)) continue
    const copy = join(to, relative(from, path))
    progress.bytes -= statSync(copy).size
    rmSync(copy)
    copied.delete(path)
  }
  return [...copied].filter(isLog).length
}

/** A database and what belongs to it are copied together: again, if one of them changed meanwhile. */
const copyDatabase = async (progress: Progress, home: string, directory: string): Promise<void> => {
  const from = DATABASE.map((name) => join(home, name))
  const { bytes } = progress
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const before = stateOf(from)
    progress.bytes = bytes
    for (const path of from) {
      const to = join(directory, basename(path))
      rmSync(to, { force: true })
      await copyOne(progress, path, to)
    }
    if (stateOf(from) === before) return
  }
  throw new Error("it is written to all the time; close what uses it and try again")
}

const copyHome = async (progress: Progress, paths: SessionPaths, directory: string): Promise<Made> => {
  const { home } = paths
  writeFileSync(join(directory, INCOMPLETE), "", { mode: 0o600 })
  let sessions = await copySessions(progress, join(home, "sessions"), join(directory, "sessions"), () => true)
  if (paths.isFlat) {
    sessions += await copySessions(progress, paths.sessions, join(directory, FLAT), Marks.mayNameBlobs)
  }
  for (const name of ["trash", "running", "consents"])
    await copyFolder(progress, join(home, name), join(directory, name))
  // After the lines that name them: a blob is durable before its line, so none of those can be missing here.
  const blobs = await copyFolder(progress, paths.blobs, join(directory, "blobs"))
  for (const name of ["config.json", "elsewhere"]) await copyOne(progress, join(home, name), join(directory, name))
  await copyDatabase(progress, home, directory)
  progress.at = directory
  syncFolders(directory)
  rmSync(join(directory, INCOMPLETE))
  syncFolders(directory)
  return { directory, sessions, blobs, bytes: progress.bytes }
}

/** Fails with what could not be copied; a backup that is not whole says so by a file `.incomplete`. */
export const make = Effect.fn("Backup.make")(function* (options: {
  readonly paths: SessionPaths
  readonly directory: string
  readonly onFile?: ((path: string) => void) | undefined
}) {
  const { paths, onFile } = options
  const directory = resolve(options.directory)
  yield* prepare(directory, [paths.home, paths.sessions])
  const progress: Progress = { bytes: 0, at: directory, onFile }
  return yield* Effect.tryPromise({
    try: () => copyHome(progress, paths, directory),
    catch: (cause) => refusedAt(progress.at)(cause)
  })
})
