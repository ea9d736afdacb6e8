/** `grove rm`: a session to the trash. */
import { basename } from "node:path"
import { Facts, Ids } from "@grove/core"
import { Trash } from "@grove/storage-files"
import { Effect } from "effect"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as StorageWords from "../StorageWords.ts"
import * as Words from "../Words.ts"

export const run = Effect.fn("rm")(function* ({ arguments: [name], flags }: Input) {
  const paths = yield* Paths
  const { ref, header, title, tree } = yield* SessionArgument.read(name!)
  const id = ref.id || basename(ref.path, ".jsonl")
  const called = Facts.nameOf(tree.facts, title, header)
  const trashed = yield* Trash.move(paths, { id, path: ref.path }).pipe(StorageWords.told())
  if (flags.json === true) return yield* Output.json({ id, path: trashed.path, trashed: Trash.file(trashed) })
  const what = called === null ? Ids.short(id) : `${Ids.short(id)} (${called})`
  yield* Output.lines([
    Words.safe(`Moved ${what} to the trash.`),
    Words.safe(`grove gc --restore ${Ids.short(id)} puts it back; grove purge ${Ids.short(id)} makes it really gone.`)
  ])
})
