/**
 * A session file replaced by another version of itself, while others go on appending to it: the old file stays as a
 * backup, the new one takes its name at once, and what the old one gained meanwhile is carried over.
 */
import { randomBytes } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { ShortWrite } from "./AppendFile.ts"
import type { Disk } from "./Disk.ts"

export interface Options {
  readonly disk: Disk
  readonly path: string
  /** The name the new file takes; `path` unless the session moves. */
  readonly to?: string
  /** Keeps the old file under this name, or the next free one after it. */
  readonly backup?: string
  /** Called between the steps, in order; a test that throws here has crashed there. */
  readonly onStep?: (step: Step) => void
}

export type Step = "written" | "synced" | "backed-up" | "renamed" | "named" | "drained"

const LF = 10

const readAll = (disk: Disk, file: number, from: number): Uint8Array => {
  const bytes = new Uint8Array(Math.max(0, disk.statOpen(file).size - from))
  let read = 0
  while (read < bytes.length) {
    const more = disk.read(file, bytes.subarray(read), from + read)
    if (more === 0) break
    read += more
  }
  return bytes.subarray(0, read)
}

const writeAll = (disk: Disk, file: number, bytes: Uint8Array): void => {
  const written = disk.write(file, bytes)
  if (written !== bytes.length) throw new ShortWrite(written, bytes.length)
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

/** How often the old file is looked at once more; writers notice within one append that theirs is no longer the file. */
const DRAINS = 3

/** Lines that reached the old file after it was read. They may be there twice, which makes them one entry. */
const drain = async (disk: Disk, old: number, from: number, target: string): Promise<void> => {
  let position = from
  for (let i = 0; i < DRAINS; i++) {
    const gained = readAll(disk, old, position)
    if (gained.length > 0) {
      const file = disk.open(target, "append")
      try {
        const bytes = gained.at(-1) === LF ? gained : Buffer.concat([gained, Uint8Array.of(LF)])
        writeAll(disk, file, bytes)
        await disk.sync(file)
      } finally {
        disk.close(file)
      }
      position += gained.length
    }
    await new Promise((next) => setImmediate(next))
  }
}

export interface Rewritten {
  readonly backup: string | null
}

/** Replaces the file by what `transform` makes of its bytes. Until the rename nothing has happened; after it, everything. */
export const rewrite = async (options: Options, transform: (bytes: Uint8Array) => Uint8Array): Promise<Rewritten> => {
  const { disk, path, to = path, backup, onStep = () => {} } = options
  const directory = dirname(to)
  const temporary = join(directory, `.${basename(to)}.${randomBytes(6).toString("hex")}.tmp`)
  const old = disk.open(path, "read")
  try {
    const bytes = readAll(disk, old, 0)
    let kept: string | null = null
    let isRenamed = false
    try {
      const file = disk.open(temporary, "create")
      try {
        writeAll(disk, file, transform(bytes))
        onStep("written")
        await disk.sync(file)
      } finally {
        disk.close(file)
      }
      onStep("synced")
      if (backup !== undefined) kept = keepAs(disk, path, backup)
      onStep("backed-up")
      disk.rename(temporary, to)
      isRenamed = true
      onStep("renamed")
    } finally {
      if (!isRenamed) removeIfThere(disk, temporary)
    }
    disk.syncDirectory(directory)
    onStep("named")
    await drain(disk, old, bytes.length, to)
    onStep("drained")
    return { backup: kept }
  } finally {
    disk.close(old)
  }
}

const removeIfThere = (disk: Disk, path: string): void => {
  try {
    disk.remove(path)
  } catch {
    // It was never made, or is gone already.
  }
}
