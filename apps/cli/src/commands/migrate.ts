/** `grove migrate`: old versions brought to the current one. */
import { resolve } from "node:path"
import { Disk, JsonlSessionStore, SessionFiles } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import * as Words from "../Words.ts"

interface Answer extends SessionFiles.Migrated {
  readonly file: string
}

const forPeople = ({ file, from, to, changed, backup }: Answer, isDry: boolean): string => {
  if (!changed) return `${file}: nothing to do, ${from === null ? "it is empty" : `version ${from}`}`
  if (isDry) return `${file}: would go from version ${from} to ${to}`
  return `${file}: version ${from} is now ${to}; the original is ${backup}`
}

export const run = Effect.fn("migrate")(function* ({ arguments: files, flags }: Input) {
  const isDry = flags["dry-run"] === true
  const disk = yield* Disk.Disk
  const answers: Array<Answer> = []
  for (const file of files) {
    const path = resolve(file)
    const done = yield* JsonlSessionStore.attemptAsync(path, () =>
      isDry ? SessionFiles.planMigration(path) : SessionFiles.migrate(disk, path)
    )
    answers.push({ file, ...done })
  }
  if (flags.json === true) return yield* Output.json(answers)
  yield* Output.lines(answers.map((answer) => Words.safe(forPeople(answer, isDry))))
})
