/** A session file examined as a whole: every line, every body, every blob it names. */
import { stat } from "node:fs/promises"
import { BlobStore, Check, Jsonl, type Problem, SessionTree } from "@grove/core"
import { Clock, Effect, Result } from "effect"
import { readBytes } from "./JsonlSessionStore.ts"
import * as Persist from "./Persist.ts"

export interface Report {
  readonly file: string
  readonly ok: boolean
  readonly version: number | null
  readonly entries: number
  readonly problems: ReadonlyArray<Problem>
}

const missingBlobs = Effect.fnUntraced(function* (rows: ReadonlyArray<Jsonl.Row>) {
  const blobs = yield* BlobStore
  const problems: Array<Problem> = []
  for (const { entry, line } of rows) {
    for (const hash of Persist.hashesIn(entry)) {
      const found = yield* Effect.result(blobs.get(hash))
      if (Result.isFailure(found)) {
        const what = found.failure.reason._tag === "BlobDamaged" ? "is damaged" : "is missing"
        problems.push({ line, kind: "missing-blob", message: `blob ${hash} of entry ${entry.id} ${what}` })
      }
    }
  }
  return problems
})

/** How long an unfinished last line must stay as it is before it counts as torn rather than as being written. */
const AT_REST = 1000

/** Reads a file whose last line, if unfinished, has been at rest long enough to be judged. */
const readAtRest = Effect.fnUntraced(function* (file: string) {
  for (;;) {
    const bytes = yield* readBytes(file)
    const read = Jsonl.read(bytes)
    if (Result.isFailure(read) || read.success.tail === null) return read
    const { mtimeMs } = yield* Effect.promise(() => stat(file))
    const age = (yield* Clock.currentTimeMillis) - mtimeMs
    if (age >= AT_REST || age < 0) return read
    yield* Effect.sleep(AT_REST - age)
    const after = yield* readBytes(file)
    if (after.length === bytes.length) return read
  }
})

/** Fails only where the file cannot be read at all; a file that is no session is a report too. */
export const examine = Effect.fn("FileCheck.examine")(function* (file: string) {
  const read = yield* readAtRest(file)
  if (Result.isFailure(read)) {
    const problems = (read.failure.problems as ReadonlyArray<Problem>).toSorted((a, b) => a.line - b.line)
    return { file, ok: false, version: null, entries: 0, problems } satisfies Report
  }
  const { rows, last, version, header } = read.success
  const tree = SessionTree.from(
    rows.map(({ entry }) => entry),
    last,
    header?.id ?? null
  )
  const found = [...Check.problems(read.success, tree), ...(yield* missingBlobs(rows))]
  const problems = found.sort((a, b) => a.line - b.line)
  return { file, ok: problems.length === 0, version, entries: rows.length, problems } satisfies Report
})
