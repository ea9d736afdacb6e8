/** `grove purge`: a session, an entry or a text, really gone. */
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { Facts, Ids, SessionStoreError, type Snapshot, Store } from "@grove/core"
import { Purge, Trash } from "@grove/storage-files"
import { Effect } from "effect"
import { UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Confirm from "../Confirm.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Progress from "../Progress.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as StorageWords from "../StorageWords.ts"
import * as Words from "../Words.ts"

const refOf = ({ ref }: Snapshot) => ({ id: ref.id || basename(ref.path, ".jsonl"), path: ref.path })

const nameOf = ({ ref, header, title, tree }: Snapshot): string =>
  Facts.nameOf(tree.facts, title, header) ?? Ids.short(ref.id || ref.path)

/** What goes, and how a person would call it. */
interface Named {
  readonly target: Purge.Target
  readonly called: string
}

const inTrash = Effect.fnUntraced(function* (name: string) {
  const { home } = yield* Paths
  const { cwd } = yield* Environment
  return yield* Trash.find(home, name.includes("/") ? resolve(cwd, name) : name)
})

/** A session in its place, else one in the trash. */
const session = (name: string) =>
  SessionArgument.read(name).pipe(
    Effect.map(
      (found): Named => ({ target: { is: "session", session: refOf(found) }, called: `session ${nameOf(found)}` })
    ),
    Effect.catchTag("SessionStoreError", (error) => {
      if (error.reason._tag !== "SessionNotFound") return Effect.fail(error)
      const found = Effect.catchTag(inTrash(name), "NotInTrash", () => Effect.fail(error))
      return Effect.map(
        Effect.catchTags(found, {
          TrashAmbiguous: (trouble) => StorageWords.told()(Effect.fail(trouble)),
          FileRefused: (trouble) => StorageWords.told()(Effect.fail(trouble))
        }),
        ({ id, path }): Named => ({
          target: { is: "session", session: { id, path } },
          called: `session ${Ids.short(id)}, which is in the trash`
        })
      )
    })
  )

const entry = Effect.fnUntraced(function* (name: string, entryName: string) {
  const found = yield* SessionArgument.read(name)
  if (found.readOnly) {
    return yield* new SessionStoreError({ session: found.ref.path, reason: new Store.SessionReadOnly() })
  }
  const id = yield* SessionArgument.entry(found.tree, entryName)
  const target: Purge.Target = { is: "entry", session: refOf(found), entry: id }
  return { target, called: `entry ${id} of ${nameOf(found)}` } satisfies Named
})

/** A secret on the command line stays in the shell's history, so it may come from standard input instead. */
const text = Effect.fnUntraced(function* (given: string) {
  const read = given === "-" ? readFileSync(0, "utf8").replace(/\r?\n$/, "") : given
  if (read === "") return yield* new UsageError({ message: "--text needs the text that is to be gone" })
  return { target: { is: "text", text: read }, called: "that text" } satisfies Named
})

const named = ({ arguments: [name], flags }: Input) => {
  const usage = (message: string) => Effect.fail(new UsageError({ message: `${message}; see grove purge --help` }))
  if (typeof flags.text === "string") {
    if (name !== undefined || flags.entry !== undefined)
      return usage("--text goes through all sessions, so it takes no session")
    return text(flags.text)
  }
  if (name === undefined) return usage("purge needs <s> or --text <secret>")
  return typeof flags.entry === "string" ? entry(name, flags.entry) : session(name)
}

const NOTHING = "; nothing was removed"

/** What remembers sessions outside their files; loaded only where there is something to forget. */
const memory = Effect.fnUntraced(function* () {
  const paths = yield* Paths
  if (!existsSync(join(paths.home, "history.db")) && !existsSync(join(paths.home, "index.db"))) return undefined
  const { forgetter, remembered } = yield* Effect.promise(() => import("../Forgetter.ts"))
  return { forgetter: forgetter(paths), remembered: (target: Purge.Target) => remembered(paths, target) }
})

const amounts = ({ files, rewrites, entries, blobs }: Purge.Survey, prompts: number): string =>
  [
    ...(prompts > 0 ? [Words.count(prompts, "prompt")] : []),
    Words.count(entries, "entry", "entries"),
    ...(files.length > 0 ? [Words.count(files.length, "file")] : []),
    ...(rewrites.length > 0 ? [`${Words.count(rewrites.length, "file")} written anew`] : []),
    Words.count(blobs, "blob")
  ].join(", ")

export const run = Effect.fn("purge")(function* (input: Input) {
  const { flags } = input
  const paths = yield* Paths
  const { target, called } = yield* named(input)
  const progress = yield* Progress.files("Looking through file")
  const options = { paths, onFile: progress.onFile }
  const survey = yield* Purge.survey(options, target).pipe(StorageWords.told(NOTHING))
  yield* progress.clear
  const memories = yield* memory()
  const prompts = memories === undefined ? 0 : yield* memories.remembered(target).pipe(StorageWords.told(NOTHING))
  if (target.is === "text" && survey.rewrites.length === 0 && survey.blobs === 0 && prompts === 0) {
    if (flags.json === true) return yield* Output.json({ removed: [], entries: 0, blobs: 0, prompts: 0 })
    return yield* Output.lines(["That text is in no session, draft, backup or prompt."])
  }
  yield* Confirm.confirm({
    about: `Purging ${Words.safe(called)} takes ${amounts(survey, prompts)} and cannot be undone.`,
    isAgreed: flags.yes === true,
    otherwise: "nothing was removed"
  })
  const forgetters = memories === undefined ? [] : [memories.forgetter]
  const purged = yield* Purge.purge(options, target).pipe(
    Effect.provideService(Purge.Forgetters, forgetters),
    StorageWords.told("; call it again to finish")
  )
  yield* progress.clear
  if (flags.json === true) return yield* Output.json({ ...purged, prompts })
  const { entries, blobs } = purged
  // Caches come and go; that they went is no news.
  const removed = purged.removed.filter((path) => dirname(path) !== paths.cache)
  const parts = [
    Words.count(entries, "entry", "entries"),
    ...(removed.length > 0 ? [`${Words.count(removed.length, "file")} removed`] : []),
    Words.count(blobs, "blob"),
    ...(prompts > 0 ? [Words.count(prompts, "prompt")] : [])
  ]
  yield* Output.lines([
    `Purged ${Words.safe(called)}: ${parts.join(", ")}.`,
    ...removed.map((path) => `  ${Words.safe(path)}`)
  ])
})
