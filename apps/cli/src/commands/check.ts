/** `grove check`: every problem of a file, by line. */
import { BlobStore } from "@grove/core"
import { FileBlobStore, FileCheck } from "@grove/storage-files"
import { Effect } from "effect"
import { Negative } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
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

export const run = Effect.fn("check")(function* ({ arguments: files, flags }: Input) {
  const { blobs } = yield* Paths
  const reports = yield* Effect.forEach(files, (file) => {
    const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(file) })
    return Effect.provideService(FileCheck.examine(file), BlobStore, store)
  })
  if (flags.json === true) yield* Output.json(files.length === 1 ? reports[0] : reports)
  else yield* Output.lines(reports.flatMap(forPeople))
  if (reports.some(({ ok }) => !ok)) return yield* new Negative()
})
