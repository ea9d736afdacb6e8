/** A file moved to another name, or another disk, without ever taking the place of a file that is there. */
import { randomBytes } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { type Disk, removeIfThere, writeWhole } from "./Disk.ts"

const CHUNK = 1024 * 1024

/** Copies from `position` to the end as it is now; answers where that was. */
const copyFrom = (disk: Disk, source: number, target: number, position: number): number => {
  const buffer = new Uint8Array(CHUNK)
  for (let at = position; ; ) {
    const read = disk.read(source, buffer, at)
    if (read === 0) return at
    writeWhole(disk, target, buffer.subarray(0, read))
    at += read
  }
}

export const exists = (disk: Disk, path: string): boolean => {
  try {
    disk.stat(path)
    return true
  } catch {
    return false
  }
}

export const isSameFile = (disk: Disk, a: string, b: string): boolean => {
  try {
    const [one, other] = [disk.stat(a), disk.stat(b)]
    return one.device === other.device && one.inode === other.inode
  } catch {
    return false
  }
}

const taken = (path: string) => Object.assign(new Error(`${path} is there already`), { code: "EEXIST" })

/** The copy is whole and durable before the original goes; what others append until then is copied too. */
const moveByCopy = async (disk: Disk, from: string, to: string): Promise<void> => {
  const temporary = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString("hex")}.tmp`)
  const source = disk.open(from, "read")
  try {
    const target = disk.open(temporary, "create")
    try {
      const end = copyFrom(disk, source, target, 0)
      await disk.sync(target)
      if (exists(disk, to)) throw taken(to)
      disk.rename(temporary, to)
      disk.syncDirectory(dirname(to))
      disk.remove(from)
      if (copyFrom(disk, source, target, end) > end) await disk.sync(target)
    } catch (cause) {
      removeIfThere(disk, temporary)
      throw cause
    } finally {
      disk.close(target)
    }
  } finally {
    disk.close(source)
  }
}

/** What file systems say that know no second names, or cannot give one across disks. */
const NO_LINK = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

/**
 * Gives a file another name. Killed in between, the file has both. Fails with `EEXIST` where the name is taken. The
 * folders are not synced.
 */
export const move = async (disk: Disk, from: string, to: string): Promise<void> => {
  try {
    disk.link(from, to)
  } catch (cause) {
    if (!NO_LINK.has((cause as NodeJS.ErrnoException).code ?? "")) throw cause
    return moveByCopy(disk, from, to)
  }
  disk.remove(from)
}
