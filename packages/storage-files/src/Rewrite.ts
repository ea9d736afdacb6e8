/**
 * A session file replaced by another version of itself, while others go on appending to it: the old file stays as a
 * backup, the new one takes its name at once, and what the old one gained meanwhile is carried over.
 */
import { randomBytes } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { AppendFile, findLines } from "./AppendFile.ts"
import { type Disk, readRange, removeIfThere, writeWhole } from "./Disk.ts"

export interface Options {
  readonly disk: Disk
  readonly path: string
  /** Keeps the old file under this name, or the next free one after it. */
  readonly backup?: string
  /** Called between the steps, in order; a test that throws here has crashed there. */
  readonly onStep?: OnStep | undefined
}

export const steps = ["written", "synced", "backed-up", "renamed", "drained", "named"] as const
export type Step = (typeof steps)[number]
export type OnStep = (step: Step) => void

export interface Rewritten {
  readonly backup: string | null
}

const LF = 10
const LINE_END = Uint8Array.of(LF)

/** What a file holds from `start` on. */
const readFrom = (disk: Disk, file: number, start: number): Uint8Array =>
  readRange(disk, file, start, disk.statOpen(file).size)

const endOfLines = (bytes: Uint8Array): number => bytes.lastIndexOf(LF) + 1

/** An unfinished last line is being written, or was torn if nothing has come for so many milliseconds. */
const AT_REST = 1000
const PAUSE = 10

/** The whole file, once its last line is finished or at rest. */
const readAtRest = async (disk: Disk, file: number): Promise<Uint8Array> => {
  for (;;) {
    const { modified } = disk.statOpen(file)
    const bytes = readFrom(disk, file, 0)
    const isFinished = endOfLines(bytes) === bytes.length
    if (isFinished || Math.abs(Date.now() - modified) >= AT_REST) return bytes
    await new Promise((next) => setTimeout(next, PAUSE))
  }
}

/** Keeps a second name for the file; a name that is taken is never overwritten. */
const keepAs = (disk: Disk, path: string, wanted: string): string => {
  for (let attempt = 1; ; attempt++) {
    const name = attempt === 1 ? wanted : `${wanted}.${attempt}`
    try {
      disk.link(path, name)
      return name
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
    }
  }
}

/** How often the old file is looked at while the new one is made, and how often after that. */
const LOOKS_BEFORE = 20
const LOOKS_AFTER = 3

/** Those of the lines that nobody has added yet: whoever wrote one and then saw the file replaced brings it along. */
const notYetIn = (disk: Disk, path: string, from: number, lines: Uint8Array): Uint8Array => {
  const file = disk.open(path, "read")
  try {
    const there = readFrom(disk, file, from)
    const missing: Array<Uint8Array> = []
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start) + 1
      const line = lines.subarray(start, end)
      if (findLines(there, line, true) === undefined) missing.push(line)
      start = end
    }
    return Buffer.concat(missing)
  } finally {
    disk.close(file)
  }
}

/** Appends as every writer does, since others write to the new file already. */
const append = async (disk: Disk, path: string, lines: Uint8Array): Promise<void> => {
  const { inode, size } = disk.stat(path)
  const ignore = () => {}
  const hooks = { onForeign: ignore, onReplaced: ignore, onFailure: ignore }
  const file = new AppendFile({ disk, names: [path], durability: "always", from: { inode, end: size }, ...hooks })
  await file.append(lines).finally(() => file.close())
}

/** How far the old file was read as a whole, how far its lines are in the new one, and how long that was when named. */
interface Progress {
  readonly read: number
  readonly end: number
  readonly made: number
}

/**
 * What reached the old file before the new one took its name, written by who looked just before that. Lines first; an
 * unfinished one comes last, if it has grown since it was read.
 */
const drain = async (disk: Disk, old: number, path: string, { read, end: from, made }: Progress): Promise<void> => {
  let end = from
  for (let look = 1; look <= LOOKS_AFTER; look++) {
    const rest = readFrom(disk, old, end)
    const isUnfinished = look === LOOKS_AFTER && endOfLines(rest) < rest.length && end + rest.length > read
    const gained = isUnfinished ? Buffer.concat([rest, LINE_END]) : rest.subarray(0, endOfLines(rest))
    const missing = gained.length === 0 ? gained : notYetIn(disk, path, made, gained)
    if (missing.length > 0) await append(disk, path, missing)
    end += gained.length
    await new Promise((next) => setImmediate(next))
  }
}

/** One attempt; `undefined` if somebody else replaced the file meanwhile. */
const replace = async (
  { disk, path, backup, onStep = () => {} }: Options,
  transform: (bytes: Uint8Array) => Uint8Array | undefined
): Promise<Rewritten | undefined> => {
  const directory = dirname(path)
  const temporary = join(directory, `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`)
  const old = disk.open(path, "read")
  let file: number | undefined
  let isRenamed = false
  try {
    const bytes = await readAtRest(disk, old)
    const text = transform(bytes)
    if (text === undefined) return { backup: null }
    file = disk.open(temporary, "create")
    writeWhole(disk, file, text)
    onStep("written")
    await disk.sync(file)
    onStep("synced")
    const kept = backup === undefined ? null : keepAs(disk, path, backup)
    if (kept !== null) disk.syncDirectory(dirname(kept))
    onStep("backed-up")
    let end = endOfLines(bytes)
    let needsLineEnd = endOfLines(text) < text.length
    for (let look = 0; look < LOOKS_BEFORE; look++) {
      const rest = readFrom(disk, old, end)
      const gained = rest.subarray(0, endOfLines(rest))
      if (gained.length === 0) break
      writeWhole(disk, file, needsLineEnd ? Buffer.concat([LINE_END, gained]) : gained)
      await disk.sync(file)
      end += gained.length
      needsLineEnd = false
    }
    // Nothing waits between that last look and the rename, so that hardly a line falls in between.
    if (disk.stat(path).inode !== disk.statOpen(old).inode) {
      if (kept !== null) disk.remove(kept)
      return undefined
    }
    const made = disk.statOpen(file).size
    disk.rename(temporary, path)
    isRenamed = true
    onStep("renamed")
    await drain(disk, old, path, { read: bytes.length, end, made })
    onStep("drained")
    disk.syncDirectory(directory)
    onStep("named")
    return { backup: kept }
  } finally {
    disk.close(old)
    if (file !== undefined) disk.close(file)
    if (!isRenamed) removeIfThere(disk, temporary)
  }
}

const MOST_ATTEMPTS = 10

/**
 * Replaces the file by what `transform` makes of its bytes, or leaves it if that is nothing. Until the rename nothing
 * has happened; after it, everything.
 */
export const rewrite = async (
  options: Options,
  transform: (bytes: Uint8Array) => Uint8Array | undefined
): Promise<Rewritten> => {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const rewritten = await replace(options, transform)
    if (rewritten !== undefined) return rewritten
  }
  throw new Error("the file was replaced again and again while it was rewritten")
}
