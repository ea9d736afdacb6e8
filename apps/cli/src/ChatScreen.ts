/** The chat on the terminal: its session, its looks and its errands, as flags, settings and surroundings have it. */
import { basename } from "node:path"
import { Pricing } from "@grove/agent"
import { type SessionSummary, Sessions, type Store } from "@grove/core"
import { ForeignSessions } from "@grove/formats"
import { Breadcrumbs, type SessionPaths, Trash } from "@grove/storage-files"
import { Chat as Screen, type SessionHit, type Theme } from "@grove/tui"
import { Effect, Layer } from "effect"
import * as Chat from "./Chat.ts"
import * as ChatSession from "./ChatSession.ts"
import { Failure } from "./CliError.ts"
import type { Input } from "./Command.ts"
import { Environment, type Surroundings } from "./Environment.ts"
import * as Errand from "./Errand.ts"
import * as ExportTarget from "./ExportTarget.ts"
import * as Foreign from "./Foreign.ts"
import { Paths } from "./Paths.ts"
import * as Settings from "./Settings.ts"
import * as Signals from "./Signals.ts"
import * as StorageWords from "./StorageWords.ts"
import * as Viewers from "./Viewers.ts"

/** Most terminals are dark; those that say otherwise do so by the colours they draw in. */
const themeFor = ({ colors, variables }: Surroundings, chosen: Theme.Theme | undefined): Theme.Theme => {
  if (!colors) return "none"
  if (chosen !== undefined) return chosen
  const background = Number(/;(\d+)$/.exec(variables.COLORFGBG ?? "")?.[1] ?? "0")
  return background === 7 || background === 15 ? "light" : "dark"
}

const colorsFor = ({ variables }: Surroundings): Theme.Colors =>
  /256|truecolor|24bit|kitty|alacritty|ghostty|wezterm/i.test(`${variables.TERM ?? ""} ${variables.COLORTERM ?? ""}`)
    ? 256
    : 16

/** As a person would name it who is in the folder. */
const nameFrom = (cwd: string, file: string): string => (file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file)

const MOST_HITS = "500"

/** What `grove search` prints, one hit a session with its first snippet. */
const bySession = (printed: unknown): ReadonlyArray<SessionHit> => {
  const found = new Map<string, SessionHit>()
  for (const { path, snippet, marks } of printed as ReadonlyArray<Omit<SessionHit, "count">>) {
    const before = found.get(path)
    found.set(path, { ...(before ?? { path, snippet, marks }), count: (before?.count ?? 0) + 1 })
  }
  return [...found.values()]
}

/** Another program's session, imported: from then on it is one of this home. */
const adopted = (paths: SessionPaths.SessionPaths, copy: string) =>
  Effect.flatMap(Errand.json("import", [ForeignSessions.sourceOf(paths.cache, copy) ?? copy]), (printed) => {
    const { sources } = printed as {
      readonly sources: ReadonlyArray<{ readonly sessions: ReadonlyArray<Store.SessionRef> }>
    }
    const imported = sources
      .flatMap(({ sessions }) => sessions)
      .find(({ id }) => basename(copy).endsWith(`_${id}.jsonl`))
    return imported === undefined
      ? Effect.fail(new Failure({ message: `it could not be imported; ${Foreign.advice(paths, copy)}` }))
      : Effect.succeed(imported.path)
  })

export const run = Effect.fn("ChatScreen.run")(function* ({ arguments: [prompt], flags }: Input) {
  const surroundings = yield* Environment
  const paths = yield* Paths
  const { home, cwd, terminal, unicode, variables, sessionDirectory } = surroundings
  const settings = yield* Settings.read
  const isPicking = flags.resume === true
  const wanted = isPicking ? ({ _tag: "New" } as const) : yield* ChatSession.wanted(flags)
  const beside = wanted._tag === "Existing" ? wanted.ref.path : undefined
  const records = wanted._tag !== "Unrecorded"

  const begin = Effect.gen(function* (): Effect.fn.Return<Screen.Beginning, never, Sessions> {
    if (isPicking) return { _tag: "Pick" }
    if (wanted._tag === "Existing") return { _tag: "Open", path: wanted.ref.path }
    if (wanted._tag !== "Fork") return { _tag: "New" }
    const sessions = yield* Sessions
    const ref = yield* Effect.orDie(sessions.fork(wanted.source.path, { cwd }))
    return { _tag: "Open", path: ref.path }
  })

  const chat = Effect.gen(function* () {
    return yield* Screen.run({
      home,
      cwd,
      begin: yield* begin,
      path: wanted._tag === "NewAt" ? wanted.path : undefined,
      prompt,
      model: typeof flags.model === "string" ? flags.model : undefined,
      approval: typeof flags.approval === "string" ? (flags.approval as "default") : undefined,
      linear: flags.linear === true,
      price: Pricing.today(settings.models?.overrides),
      outputs: yield* Chat.Outputs,
      doubleEscape: settings.doubleEscape ?? "branch",
      theme: themeFor(surroundings, settings.theme),
      colors: colorsFor(surroundings),
      unicode: unicode && settings.ascii !== true,
      editor: variables.VISUAL || variables.EDITOR || undefined,
      onOpened: (file) =>
        records && terminal !== undefined
          ? Effect.ignore(Breadcrumbs.write(home, terminal, { cwd, file }))
          : Effect.void,
      foreign:
        sessionDirectory === undefined
          ? Effect.map(Errand.json("ls", ["--all"]), (all) =>
              (all as ReadonlyArray<SessionSummary.SessionSummary>).filter(({ path }) => Foreign.isCopy(paths, path))
            )
          : Effect.succeed([]),
      adopt: (path) => (Foreign.isCopy(paths, path) ? adopted(paths, path) : Effect.succeed(path)),
      discard: (path) =>
        Foreign.isCopy(paths, path)
          ? new Failure({ message: "it is another program's; only that program can remove it" })
          : Effect.asVoid(Trash.move(paths, { id: basename(path, ".jsonl"), path }).pipe(StorageWords.told())),
      exportTo: (path, words) =>
        Effect.flatMap(Effect.fromResult(ExportTarget.parse(words, path, cwd)), ({ format, file, force }) =>
          Effect.map(
            Errand.finish(["export", path, "--to", format, "-o", file, ...(force ? ["--force"] : [])]),
            // The flag that its last words name is one of the command line.
            (said) => [`written to ${nameFrom(cwd, file)}`, ...said.split("; ").slice(0, 1)].join("; ")
          )
        ),
      search: (query) => {
        const where = sessionDirectory === undefined ? [] : ["--session-dir", sessionDirectory]
        return Effect.map(Errand.json("search", ["--limit", MOST_HITS, ...where, "--", query]), bySession)
      },
      view: yield* Viewers.make(surroundings)
    })
  })
  const services = Layer.mergeAll(Chat.history({ records, isOnScreen: true }), Chat.layer({ records, beside }))
  const code = yield* Effect.provide(chat, services)
  if (code === 130 || code === 143) return yield* new Signals.Signalled({ code })
  process.exitCode = code
})
