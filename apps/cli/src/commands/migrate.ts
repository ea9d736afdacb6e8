/** `grove migrate`: old versions brought to the current one. */
import { Header, Jsonl } from "@grove/core"
import { JsonlSessionStore } from "@grove/storage-files"
import { Effect, Result } from "effect"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Output from "../Output.ts"
import * as Words from "../Words.ts"

const plan = Effect.fnUntraced(function* (file: string) {
  const read = Jsonl.read(yield* JsonlSessionStore.readBytes(file))
  if (Result.isFailure(read)) {
    return yield* new Failure({
      message: `${file} is not a session: no session header before line ${read.failure.line}`
    })
  }
  const from = read.success.version
  const changed = from !== null && from < Header.CURRENT_VERSION
  return { file, from, to: changed ? Header.CURRENT_VERSION : from, changed, backup: null }
})

export const run = Effect.fn("migrate")(function* ({ arguments: files, flags }: Input) {
  if (flags["dry-run"] !== true) {
    return yield* new UsageError({ message: "migrate cannot rewrite files yet; --dry-run says what would change" })
  }
  const plans = yield* Effect.forEach(files, plan)
  if (flags.json === true) return yield* Output.json(plans)
  yield* Output.lines(
    plans.map(({ file, from, to, changed }) => {
      if (changed) return Words.safe(`${file}: would go from version ${from} to ${to}`)
      return Words.safe(`${file}: nothing to do, ${from === null ? "it is empty" : `version ${from}`}`)
    })
  )
})
