/** `grove history`: every prompt ever typed, found, added, deleted, imported, counted. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { PromptHistory, Prompts, SessionStoreError, Width } from "@grove/core"
import { PromptSources } from "@grove/storage-sqlite"
import { Clock, Effect } from "effect"
import { Failure, Negative, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import * as Confirm from "../Confirm.ts"
import { Environment } from "../Environment.ts"
import * as Foreign from "../Foreign.ts"
import * as History from "../History.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Progress from "../Progress.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const usage = (message: string) => new UsageError({ message: `${message}; see grove history --help` })

const LIMIT = 100

const limitFrom = (given: string | boolean | undefined) => {
  if (given === undefined) return Effect.succeed(LIMIT)
  const limit = Number(given)
  return Number.isInteger(limit) && limit >= 0 ? Effect.succeed(limit) : usage("--limit is a whole number")
}

/** The id of a session a person named; of one that is gone, the name itself. */
const sessionId = Effect.fnUntraced(function* (name: string) {
  const found = yield* SessionArgument.look(name).pipe(
    Effect.map(({ ref }) => ref.id),
    Effect.catchIf(
      (error) => error instanceof SessionStoreError && error.reason._tag === "SessionNotFound",
      () => Effect.succeed("")
    )
  )
  return found || name
})

/** Where to look, and how that is called. */
interface Scope {
  readonly place: Prompts.Place
  readonly called: string
}

const scopeFrom = Effect.fnUntraced(function* ({ flags }: Input) {
  const { cwd } = yield* Environment
  const scope = flags.scope ?? (flags.session === undefined ? "all" : "session")
  if (scope === "all" && flags.session !== undefined) return yield* usage("--session goes with --scope session")
  if (scope === "cwd") return { place: { cwd }, called: `in ${cwd}` } satisfies Scope
  if (scope !== "session") return { place: {}, called: "anywhere" } satisfies Scope
  const session = yield* sessionId(typeof flags.session === "string" ? flags.session : "@last")
  return { place: { session }, called: "in this session" } satisfies Scope
})

const iso = (at: number): string => new Date(at).toISOString()

const asJson = ({ id, prompt, uses, firstUsed, lastUsed, cwd, session, entry }: Prompts.PromptHit) => ({
  ...{ id, prompt, uses },
  ...{ firstUsed: iso(firstUsed), lastUsed: iso(lastUsed) },
  ...{ cwd, session, entry }
})

const row = (hit: Prompts.PromptHit, now: number, columns: number, style: Style.Style): string => {
  const folder = hit.cwd === null ? "" : (hit.cwd.split("/").at(-1) ?? "")
  const right =
    `  ×${hit.uses}`.padStart(6) +
    `  ${Width.pad(style.line(folder, 12), 12)} ${Words.age(hit.lastUsed, now).padStart(4)}`
  const left = `${String(hit.id).padStart(6)}  `
  const room = Math.max(16, columns - left.length - Width.of(right))
  return `${left}${Width.pad(style.line(hit.prompt, room), room)}${right}`
}

const hint = (line: string) => Effect.sync(() => void process.stderr.write(`grove: ${Words.safe(line)}\n`))

/** Says why there is nothing, and which wider scope has how many. */
const explainEmpty = Effect.fnUntraced(function* (text: string, { place, called }: Scope) {
  const history = yield* PromptHistory
  const { cwd } = yield* Environment
  const isMany = (n: number) => (n >= 1000 ? "1,000 or more" : String(n))
  const tell = (scope: string, n: number) => hint(`no match ${called}; ${isMany(n)} with --scope ${scope}`)
  if (place.session !== undefined) {
    const here = yield* history.count({ text, cwd })
    if (here > 0) return yield* tell("cwd", here)
  }
  if (place.session !== undefined || place.cwd !== undefined) {
    const all = yield* history.count({ text })
    if (all > 0) return yield* tell("all", all)
  }
  const total = yield* history.count({ text: "" })
  yield* hint(
    total === 0
      ? "the history is empty; it fills as prompts are typed, and grove history import brings older ones"
      : `no match ${called}`
  )
})

const search = Effect.fnUntraced(function* (input: Input) {
  const history = yield* PromptHistory
  const surroundings = yield* Environment
  const text = input.arguments.join(" ")
  const limit = yield* limitFrom(input.flags.limit)
  const scope = yield* scopeFrom(input)
  const hits = yield* history.search({ text, ...scope.place, limit, near: { cwd: surroundings.cwd } })
  if (hits.length === 0 && limit > 0) yield* explainEmpty(text, scope)
  if (hits.some(({ fit }) => fit === "near")) yield* hint("nothing fits as typed; these come near")
  if (input.flags.json === true) return yield* Output.json(hits.map(asJson))
  if (hits.length === 0) return
  const now = yield* Clock.currentTimeMillis
  const style = Style.make(surroundings)
  yield* Output.lines(hits.map((hit) => row(hit, now, surroundings.columns, style)))
})

const add = Effect.fnUntraced(function* ({ flags }: Input, words: ReadonlyArray<string>) {
  const history = yield* PromptHistory
  const { cwd } = yield* Environment
  if (words.length === 0) return yield* usage("add needs the text, or - for standard input")
  const prompt = words.length === 1 && words[0] === "-" ? readFileSync(0, "utf8") : words.join(" ")
  const session = typeof flags.session === "string" ? yield* sessionId(flags.session) : null
  const at = yield* Clock.currentTimeMillis
  const place = typeof flags.cwd === "string" ? resolve(cwd, flags.cwd) : cwd
  const use = { prompt, at, cwd: place, session, entry: null, author: Prompts.PERSON }
  const counts = yield* history.addAll([use])
  if (counts.blank > 0) return yield* new Failure({ message: "that is nothing but blanks; nothing was added" })
  yield* flags.json === true ? Output.json(counts) : Output.lines(["Added."])
})

const remove = Effect.fnUntraced(function* (input: Input, words: ReadonlyArray<string>) {
  const { flags } = input
  const history = yield* PromptHistory
  const surroundings = yield* Environment
  const text = words.join(" ")
  if ((flags.id === undefined) === (text.trim() === "")) return yield* usage("delete needs either --id or a query")
  const isDryRun = flags["dry-run"] === true
  const scope = yield* scopeFrom(input)
  const all = { ...scope.place, exhaustive: true, limit: Number.POSITIVE_INFINITY }
  const id = Number(flags.id)
  if (flags.id !== undefined && !Number.isInteger(id)) return yield* usage("--id is a number that grove history shows")
  const found = yield* history.search({ text, ...all })
  const hits = flags.id === undefined ? found : found.filter((hit) => hit.id === id)
  if (hits.length === 0) {
    return yield* new Failure({ message: flags.id === undefined ? `no match ${scope.called}` : `no prompt ${id}` })
  }
  const many = Words.count(hits.length, "prompt")
  if (!isDryRun) {
    yield* Confirm.confirm({
      about: `Deleting ${many}${hits.length === 1 ? ` (${Style.make(surroundings).line(hits[0]!.prompt, 40)})` : ""} cannot be undone.`,
      isAgreed: flags.yes === true,
      otherwise: "nothing was deleted"
    })
  }
  const deleted = isDryRun ? 0 : yield* history.remove(hits.map((hit) => hit.id))
  if (flags.json === true) return yield* Output.json({ matched: hits.map(asJson), deleted })
  if (!isDryRun) return yield* Output.lines([`Deleted ${Words.count(deleted, "prompt")}.`])
  const now = yield* Clock.currentTimeMillis
  const shown = Style.make(surroundings)
  yield* Output.lines([
    `Would delete ${many}:`,
    ...hits.slice(0, LIMIT).map((hit) => row(hit, now, surroundings.columns, shown)),
    ...(hits.length > LIMIT ? [`  and ${hits.length - LIMIT} more`] : [])
  ])
})

// ------------------------------------------------------------------------------------------------------- import

const ALIASES: { readonly [name: string]: PromptSources.Format } = { pi: "grove", omp: "grove" }

const formatFrom = (given: string | boolean | undefined) => {
  if (given === undefined || given === "auto") return Effect.succeed(undefined)
  const format = ALIASES[String(given)] ?? PromptSources.FORMATS.find((name) => name === given)
  const known = [...PromptSources.FORMATS, ...Object.keys(ALIASES)].join(", ")
  return format === undefined ? usage(`--from is one of ${known}`) : Effect.succeed(format)
}

const filesIn = (path: string): ReadonlyArray<string> =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((item) => item.isFile() && item.name.endsWith(".jsonl"))
        .map((item) => join(item.parentPath, item.name))
        .sort()
    : [path]

interface Source {
  readonly file: string
  readonly format: string | null
  readonly new: number
  readonly seen: number
  readonly bad: number
}

const isThere = (path: string): boolean => {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Where others keep their prompts, when no file is named. */
const usualFiles = Effect.gen(function* () {
  const { userHome } = yield* Environment
  return [".claude/history.jsonl", ".codex/history.jsonl"].map((name) => join(userHome, name)).filter(isThere)
})

const importFile = Effect.fnUntraced(function* (
  file: string,
  format: PromptSources.Format | undefined,
  isDryRun: boolean
) {
  const history = yield* PromptHistory
  const text = yield* Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: (cause) => new Failure({ message: `cannot read ${file}: ${(cause as Error).message}` })
  })
  const guessed = format ?? (/_history$|fish_history$/.test(file) ? "shell" : undefined)
  const read = PromptSources.read(text, guessed)
  if (read === undefined) return { file, format: null, new: 0, seen: 0, bad: 1 } satisfies Source
  const counts = yield* history.addAll(read.uses, { skipKnown: true, dryRun: isDryRun })
  return { file, format: read.format, new: counts.added, seen: counts.known, bad: read.bad } satisfies Source
})

const importAll = Effect.fnUntraced(function* ({ flags }: Input, words: ReadonlyArray<string>) {
  const { cwd } = yield* Environment
  const paths = yield* Paths
  const history = yield* PromptHistory
  const format = yield* formatFrom(flags.from)
  const isDryRun = flags["dry-run"] === true
  const progress = yield* Progress.files("Importing file")
  const sources: Array<Source> = []
  const named = yield* Effect.try({
    try: () => words.flatMap((word) => filesIn(resolve(cwd, word))),
    catch: (cause) => new Failure({ message: `cannot import: ${(cause as Error).message}` })
  })
  const files = words.length === 0 ? yield* usualFiles : named
  for (const file of files) {
    progress.onFile(file)
    sources.push(yield* importFile(file, format, isDryRun))
  }
  if (words.length === 0) {
    const uses = [...History.fromSessions(paths)]
    const counts = yield* history.addAll(uses, { skipKnown: true, dryRun: isDryRun })
    sources.push({ file: paths.sessions, format: "grove", new: counts.added, seen: counts.known, bad: 0 })
  }
  yield* progress.clear
  const told = Output.lines([
    ...sources.map((source) =>
      Words.safe(
        source.format === null
          ? `${source.file}: no format that is known; --from names one`
          : `${source.file} (${source.format}): ${source.new} new, ${source.seen} seen, ${source.bad} bad`
      )
    ),
    ...(isDryRun ? ["Nothing was written."] : [])
  ])
  yield* flags.json === true ? Output.json({ sources }) : told
  if (sources.some((source) => source.format === null)) return yield* new Negative()
})

const stats = Effect.fnUntraced(function* ({ flags }: Input) {
  const history = yield* PromptHistory
  const surroundings = yield* Environment
  const found = yield* history.stats
  const { prompts, uses, firstUsed, lastUsed, days, top, folders } = found
  const reuse = uses === 0 ? 0 : (uses - prompts) / uses
  if (flags.json === true) {
    const times = {
      firstUsed: firstUsed === null ? null : iso(firstUsed),
      lastUsed: lastUsed === null ? null : iso(lastUsed)
    }
    return yield* Output.json({ prompts, uses, reuse, ...times, days, top, folders })
  }
  const line = Style.make(surroundings).line
  const listed = (rows: ReadonlyArray<readonly [string, number]>) =>
    rows.map(([text, n]) => `${String(n).padStart(8)}  ${line(text, surroundings.columns - 10)}`)
  yield* Output.lines([
    `${Words.count(prompts, "prompt")}, used ${Words.count(uses, "time")} on ${Words.count(days.length, "day")}; ${Math.round(reuse * 100)} % of uses are of a known prompt.`,
    ...(top.length === 0 ? [] : ["", "Most used"]),
    ...listed(top.map(({ prompt, uses }) => [prompt, uses])),
    ...(folders.length === 0 ? [] : ["", "By folder"]),
    ...listed(folders.map(({ cwd, uses }) => [cwd ?? "(none)", uses]))
  ])
})

export const run = Effect.fn("history")(function* (input: Input) {
  const [first, ...rest] = input.arguments
  // Behind `--` a word is a word.
  const name = input.unguarded > 0 ? first : undefined
  if (name === "add") return yield* History.provide(add(input, rest), { writes: true })
  if (name === "delete") return yield* History.provide(remove(input, rest), { writes: false })
  if (name === "import")
    return yield* History.provide(importAll(input, rest), { writes: input.flags["dry-run"] !== true })
  const { uses, seen } = yield* Foreign.newPrompts
  const isStats = name === "stats" && rest.length === 0
  const asked = Effect.gen(function* () {
    const history = yield* PromptHistory
    if (uses.length > 0) yield* history.addAll(uses, { skipKnown: true })
    yield* seen
    return yield* isStats ? stats(input) : search(input)
  })
  return yield* History.provide(asked, { writes: uses.length > 0 })
})
