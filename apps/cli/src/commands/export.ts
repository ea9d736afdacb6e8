/** `grove export`: a session as a page, a text, or a file of another program. */
import { resolve } from "node:path"
import { Exporter, Redactor } from "@grove/formats"
import { FileBlobStore, Persist } from "@grove/storage-files"
import { Effect } from "effect"
import { UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as ExportFile from "../ExportFile.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import { personOf } from "../Person.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Words from "../Words.ts"

/** What is no secret, but tells of a person or is sealed; told after the secrets. */
const others: { readonly [kind: string]: string } = {
  home: "home directory",
  user: "user name",
  signature: "signature"
}

const said = (counts: Redactor.Counts): string => {
  const secrets = [...counts].filter(([kind]) => others[kind] === undefined)
  const sum = secrets.reduce((all, [, count]) => all + count, 0)
  const kinds = secrets.map(([kind, count]) => `${count} ${kind}`).join(", ")
  const rest = Object.entries(others).flatMap(([kind, name]) => {
    const count = counts.get(kind) ?? 0
    return count === 0 ? [] : [`${name} ${Words.count(count, "time")}`]
  })
  if (sum === 0 && rest.length === 0) return "nothing had to be redacted"
  const parts = [...(sum === 0 ? [] : [`${Words.count(sum, "secret")} (${kinds})`]), ...rest]
  return `redacted ${parts.join(", ")}; --no-redact keeps them`
}

/** Entries as they were before images and long texts were moved out of the line. */
const restoring = (path: string) =>
  Effect.map(Paths, ({ blobs }) => {
    const store = FileBlobStore.make({ directory: blobs, fallbacks: FileBlobStore.beside(path) })
    return Persist.restorer(store)
  })

export const run = Effect.fn("export")(function* ({ arguments: [name], flags }: Input) {
  const to = flags.to as Exporter.Format | undefined
  if (to === undefined) {
    return yield* new UsageError({
      message: `export needs --to ${Exporter.formats.join("|")}; see grove export --help`
    })
  }
  const isSummed = flags.json === true && to !== "json"
  if (isSummed && flags.output === undefined) {
    return yield* new UsageError({ message: "export --json needs -o <file>: standard output holds the export itself" })
  }
  const surroundings = yield* Environment
  const { ref, header, title, tree } = yield* SessionArgument.read(name!)
  const leaf = typeof flags.leaf === "string" ? yield* SessionArgument.entry(tree, flags.leaf) : undefined
  const redactor = flags["no-redact"] === true ? undefined : Redactor.make(personOf(surroundings))
  const restore = yield* restoring(ref.path)
  const bytes = Exporter.stream({ header, title, tree, restore }, { to, leaf, redactor })
  const tell = Effect.suspend(() => (redactor === undefined ? Effect.void : Output.note(said(redactor.counts()))))
  if (typeof flags.output !== "string") return yield* Effect.andThen(ExportFile.print(bytes), tell)

  const file = resolve(surroundings.cwd, flags.output)
  const size = yield* ExportFile.write(file, bytes, { force: flags.force === true })
  if (flags.json !== true) return yield* Effect.andThen(tell, Output.lines([Words.safe(file)]))
  yield* Output.json({
    file,
    bytes: size,
    redacted: redactor === undefined ? null : Object.fromEntries(redactor.counts())
  })
})
