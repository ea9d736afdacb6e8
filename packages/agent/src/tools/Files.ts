/** Files as tools read and write them: whole or not at all, one change of a file at a time. */
import { randomBytes } from "node:crypto"
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Semaphore } from "effect"
import { failed, type ToolOutcome } from "../Tool.ts"
import * as Paths from "./Paths.ts"

/** What went wrong, for a model: one line, with what to do about it. */
export class FileTrouble extends Error {}

const WORDS: { readonly [code: string]: string } = {
  ENOENT: "does not exist",
  ENOTDIR: "is not there: something on the way is no directory",
  EISDIR: "is a directory",
  EACCES: "may not be accessed",
  EPERM: "may not be accessed",
  EROFS: "is on a read-only file system",
  ENOSPC: "could not be written: the disk is full",
  EDQUOT: "could not be written: the quota is used up",
  ENAMETOOLONG: "has a name that is too long",
  ELOOP: "is a link that leads in a circle",
  ERR_INVALID_ARG_VALUE: "is no path"
}

/** Bugs are not the model's to mend: they die. */
const told = (shown: string, cause: unknown): FileTrouble => {
  if (cause instanceof FileTrouble) return cause
  const { code } = cause as NodeJS.ErrnoException
  if (code === undefined) throw cause
  return new FileTrouble(`${shown} ${WORDS[code] ?? `could not be used (${code})`}`)
}

/** What `act` answers; what the file system refuses is told of `shown`. */
export const attempt = <A>(shown: string, act: () => Promise<A>): Effect.Effect<A, FileTrouble> =>
  Effect.tryPromise({ try: act, catch: (cause) => told(shown, cause) })

/** The same for a tool: trouble is an outcome that tells of it. */
export const outcome = (shown: string, act: () => Promise<ToolOutcome>): Effect.Effect<ToolOutcome> =>
  Effect.catch(attempt(shown, act), ({ message }) => Effect.succeed(failed(message)))

/** The open file, if it is a regular one: a pipe or a device would hang or never end. */
export const openRegular = async (path: string, shown: string): Promise<FileHandle> => {
  const found = await stat(path)
  if (found.isDirectory()) throw new FileTrouble(`${shown} is a directory; list it with bash`)
  if (!found.isFile()) throw new FileTrouble(`${shown} is no regular file`)
  return open(path, "r")
}

/** No larger file is changed: a change has the file in memory, before and after. */
export const LARGEST = 50 * 1024 * 1024

/** The bytes of a file and its mode; `undefined` where there is none. */
export const readWhole = async (path: string, shown: string) => {
  let file: FileHandle
  try {
    file = await openRegular(path, shown)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw cause
  }
  try {
    const { size, mode } = await file.stat()
    if (size > LARGEST) throw new FileTrouble(`${shown} is too large to be changed here (${size} bytes); use bash`)
    return { bytes: await file.readFile(), mode: mode & 0o7777 }
  } finally {
    await file.close()
  }
}

/** A temporary file beside it, then a rename: readers see the old file or the new one. The mode stays as it was. */
export const writeWhole = async (path: string, bytes: Uint8Array, mode: number | undefined): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const temporary = join(folder, `.grove-${randomBytes(8).toString("hex")}.tmp`)
  const file = await open(temporary, "wx", mode ?? 0o666)
  try {
    // Whatever the umask took away.
    if (mode !== undefined) await file.chmod(mode)
    await file.writeFile(bytes)
    await file.sync()
    await file.close()
    await rename(temporary, path)
  } catch (cause) {
    await file.close().catch(() => {})
    await rm(temporary, { force: true })
    throw cause
  }
}

interface Turn {
  readonly semaphore: Semaphore.Semaphore
  waiting: number
}
const turns = new Map<string, Turn>()

/**
 * Runs `change` on the real path, alone: calls that come at once do not undo each other. A link stays one, what it leads
 * to is changed.
 */
export const changing = (
  path: string,
  shown: string,
  change: (real: string) => Promise<ToolOutcome>
): Effect.Effect<ToolOutcome> =>
  Effect.suspend(() => {
    const real = Paths.real(path)
    if (real === undefined) return Effect.succeed(failed(`${shown} leads nowhere that can be found out`))
    const turn = turns.get(real) ?? { semaphore: Semaphore.makeUnsafe(1), waiting: 0 }
    turns.set(real, turn)
    turn.waiting++
    // What has begun is finished: an interruption waits for it.
    const changed = Effect.uninterruptible(outcome(shown, () => change(real)))
    return Effect.ensuring(
      turn.semaphore.withPermit(changed),
      Effect.sync(() => {
        if (--turn.waiting === 0) turns.delete(real)
      })
    )
  })
