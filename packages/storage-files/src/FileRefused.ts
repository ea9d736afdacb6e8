/** The file system would not do what was asked of it. */
import { Effect, Schema } from "effect"

export class FileRefused extends Schema.TaggedError<FileRefused>()("FileRefused", {
  path: Schema.String,
  cause: Schema.Defect()
}) {}

export const isMissing = (cause: unknown): boolean => {
  const code = (cause as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR"
}

/** What `act` answers. What it throws is told of `path`, unless it was told already. */
export const attempt = <A>(path: string, act: () => A): Effect.Effect<A, FileRefused> =>
  Effect.try({ try: act, catch: refusedAt(path) })

export const refusedAt =
  (path: string) =>
  (cause: unknown): FileRefused =>
    cause instanceof FileRefused ? cause : new FileRefused({ path, cause })
