/** `grove check`: every problem of a file, by line. */
import { BlobStore, type SessionStoreError } from "@grove/core"
import { FileBlobStore, FileCheck } from "@grove/storage-files"
import { Effect } from "effect"
import { Negative } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import { explain } from "../SessionArgument.ts"
import * as Words from "../Words.ts"

const forPeople = ({ file, ok, version, entries, problems }: FileCheck.Report): ReadonlyArray<string> => {
  const held = Words.count(entries, "entry", "entries")
  const what = version === null ? "" : `, version ${version}`
  if (ok) return [Words.safe(`${file}: ok, ${held}${what}`)]
  return [
    ...problems.map(({ line, kind, message }) => Words.safe(`${file}:${line}: ${kind}: ${message}`)),
    Words.safe(`${file}: ${Words.count(problems.length, "problem")}, ${held} readable${what}`)
  ]
}

/** A file that cannot be read, among several: it is reported like the others, and holds them up no more than they it. */
const unreadable = (file: string, error: SessionStoreError): FileCheck.Report => ({
  file,
  ok: false,
  version: null,
  entries: 0,
  problems: [{ line: 0, kind: "no-header", message: explain(error) }]
})

export const run = Effect.fn("check")(function* ({ arguments: files, flags }: Input) {
  const { blobs } = yield* Paths
  const reports = yield* Effect.forEach(files, (file) => {
    const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(file) })
    const examined = Effect.provideService(FileCheck.examine(file), BlobStore, store)
    if (files.length === 1) return examined
    return Effect.catch(examined, (error) => Effect.succeed(unreadable(file, error)))
  })
  if (flags.json === true) yield* Output.json(files.length === 1 ? reports[0] : reports)
  else yield* Output.lines(reports.flatMap(forPeople))
  if (reports.some(({ ok }) => !ok)) return yield* new Negative()
})
