/** A stream of bytes as a file that is there whole or not at all, or on standard output as fast as it is read. */
import { randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, renameSync, statSync, unlinkSync, writeSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { FileRefused } from "@grove/storage-files"
import { Effect, Stream } from "effect"
import { Failure } from "./CliError.ts"
import * as StorageWords from "./StorageWords.ts"

const taken = (path: string) => new Failure({ message: `${path} is there already; --force replaces it` })

const writeAll = (file: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

const isThere = (path: string): boolean => {
  try {
    statSync(path)
    return true
  } catch {
    return false
  }
}

const remove = (path: string): void => {
  try {
    unlinkSync(path)
  } catch {
    // It has its final name already, or never was.
  }
}

/** Readable by nobody else. A file that is there is replaced only where that was asked for. */
export const write = Effect.fnUntraced(function* (
  path: string,
  bytes: Stream.Stream<Uint8Array>,
  { force }: { readonly force: boolean }
) {
  const attempt = <A>(act: () => A) =>
    Effect.try({ try: act, catch: (cause) => new FileRefused({ path, cause }) }).pipe(
      Effect.catch((refused) =>
        (refused.cause as NodeJS.ErrnoException).code === "EEXIST"
          ? Effect.fail(taken(path))
          : StorageWords.told()(Effect.fail(refused))
      )
    )
  if (isThere(path) && !force) return yield* taken(path)
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`)
  yield* Effect.addFinalizer(() => Effect.sync(() => remove(temporary)))
  const file = yield* Effect.acquireRelease(
    attempt(() => openSync(temporary, "wx", 0o600)),
    (file) => Effect.sync(() => closeSync(file))
  )
  let size = 0
  yield* Stream.runForEach(bytes, (some) =>
    attempt(() => {
      writeAll(file, some)
      size += some.length
    })
  )
  yield* attempt(() => {
    fsyncSync(file)
    if (force) renameSync(temporary, path)
    else linkSync(temporary, path)
  })
  return size
}, Effect.scoped)

/** Waits whenever whoever reads it does not keep up; one that has seen enough ends the program, quietly. */
export const print = (bytes: Stream.Stream<Uint8Array>): Effect.Effect<void> =>
  Stream.runForEach(bytes, (some) =>
    Effect.callback<void>((resume) => {
      const done = () => resume(Effect.void)
      if (process.stdout.write(some)) done()
      else process.stdout.once("drain", done)
    })
  )
