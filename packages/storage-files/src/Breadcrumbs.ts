/** What each terminal was last doing, so that `-c` in one does not continue what was said in another. */
import { createHash, randomBytes } from "node:crypto"
import {
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"
import { isatty } from "node:tty"
import { SessionSummary } from "@grove/core"
import { Effect, Schema } from "effect"
import { attempt, type FileRefused } from "./FileRefused.ts"

/** Safe as a file name. */
export const TerminalId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/)).pipe(
  Schema.brand("TerminalId")
)
export type TerminalId = typeof TerminalId.Type

// ----------------------------------------------------------------------------------------------- which terminal

const LONGEST_NAME = 100

/** A name that is safe in a file system. Names that had to be changed or shortened are told apart by a hash. */
const safeName = (name: string): TerminalId => {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^[.-]+/, "_")
  if (safe === name && safe.length <= LONGEST_NAME) return safe as TerminalId
  return `${safe.slice(0, LONGEST_NAME)}-${createHash("sha256").update(Buffer.from(name, "utf16le")).digest("hex").slice(0, 8)}` as TerminalId
}

type Variables = { readonly [name: string]: string | undefined }

/**
 * From the innermost out: a pane of a multiplexer inherits the variables of the window it was started in, so that
 * window's id would be the same for all its panes.
 */
const fromVariables = (env: Variables): string | undefined => {
  if (env.TMUX_PANE) return `tmux-${env.TMUX_PANE.replace(/^%/, "")}`
  if (env.ZELLIJ_PANE_ID) {
    return ["zellij", ...(env.ZELLIJ_SESSION_NAME ? [env.ZELLIJ_SESSION_NAME] : []), env.ZELLIJ_PANE_ID].join("-")
  }
  if (env.KITTY_WINDOW_ID) return `kitty-${env.KITTY_WINDOW_ID}`
  if (env.WEZTERM_PANE) return `wezterm-${env.WEZTERM_PANE}`
  if (env.TERM_SESSION_ID) return `apple-${env.TERM_SESSION_ID}`
  if (env.WT_SESSION) return `wt-${env.WT_SESSION}`
  return undefined
}

/** The terminal's device, which every pane has its own of; else what the terminal says of itself; else none. */
export const terminalId = (options: {
  readonly ttyPath: string | undefined
  readonly env: Variables
}): TerminalId | undefined => {
  const device = options.ttyPath?.replace(/^\/dev\//, "").replaceAll("/", "-")
  const name = device || fromVariables(options.env)
  return name === undefined ? undefined : safeName(name)
}

/** Stands for whatever terminal a process has, so it tells none apart. */
const ANY_TERMINAL = "/dev/tty"

const orNone = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The device file of the terminal on standard input. */
export const ttyPath = (): string | undefined => {
  if (!isatty(0)) return undefined
  const device = orNone(() => fstatSync(0).rdev)
  const isIt = (path: string) => path !== ANY_TERMINAL && orNone(() => statSync(path).rdev) === device
  const linked = orNone(() => readlinkSync("/proc/self/fd/0"))
  if (linked !== undefined) return linked.startsWith("/dev/") && isIt(linked) ? linked : undefined
  const terminals = orNone(() => readdirSync("/dev").filter((name) => name.startsWith("tty"))) ?? []
  return terminals.map((name) => `/dev/${name}`).find(isIt)
}

// --------------------------------------------------------------------------------------------------- breadcrumbs

export interface Breadcrumb {
  readonly cwd: string
  /** The name the session file has or will have; never that of a draft. */
  readonly file: string
}

export const folder = (home: string): string => join(home, "terminal-sessions")

const DRAFT = ".draft"
const finalName = (file: string): string => (file.endsWith(`.jsonl${DRAFT}`) ? file.slice(0, -DRAFT.length) : file)

const parse = (text: string): Breadcrumb | undefined => {
  const [cwd = "", file = "", ...rest] = text.split("\n")
  const isWhole = rest.length > 0 && isAbsolute(cwd) && isAbsolute(file)
  return isWhole && !text.includes("\0") ? { cwd, file: finalName(file) } : undefined
}

/** `undefined` where there is none, and where what is there is no breadcrumb. */
export const read = (home: string, terminal: TerminalId): Effect.Effect<Breadcrumb | undefined> =>
  Effect.sync(() => orNone(() => parse(readFileSync(join(folder(home), terminal), "utf8"))))

/** Whole or not at all. A path with a line end in it cannot be said in two lines, so it leaves no breadcrumb. */
export const write = (
  home: string,
  terminal: TerminalId,
  { cwd, file }: Breadcrumb
): Effect.Effect<void, FileRefused> => {
  const path = join(folder(home), terminal)
  return attempt(path, () => {
    if (`${cwd}${file}`.includes("\n")) return
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const temporary = join(dirname(path), `.${terminal}.${randomBytes(6).toString("hex")}.tmp`)
    try {
      writeFileSync(temporary, `${resolve(cwd)}\n${finalName(resolve(file))}\n`, { mode: 0o600, flag: "wx" })
      renameSync(temporary, path)
    } catch (cause) {
      rmSync(temporary, { force: true })
      throw cause
    }
  })
}

/** Every breadcrumb with the file it is in. */
export const all = (home: string): ReadonlyArray<Breadcrumb & { readonly path: string }> =>
  (orNone(() => readdirSync(folder(home))) ?? []).flatMap((name) => {
    const path = join(folder(home), name)
    const found = name.startsWith(".") ? undefined : orNone(() => parse(readFileSync(path, "utf8")))
    return found === undefined ? [] : [{ ...found, path }]
  })

// ---------------------------------------------------------------------------------------------------- continuing

const isFile = (path: string): boolean => orNone(() => statSync(path).isFile()) === true

export interface Recent<E, R> {
  readonly home: string
  readonly terminal: TerminalId | undefined
  readonly cwd: string
  /** Sessions to choose from where this terminal has left nothing; asked for only then. */
  readonly list: Effect.Effect<ReadonlyArray<SessionSummary.SessionSummary>, E, R>
  /** A folder the person named: what lies outside is not meant. */
  readonly within?: string | undefined
}

/** The session file to continue: where this terminal was in this directory, else the newest of this directory. */
export const continueRecent = Effect.fnUntraced(function* <E, R>(options: Recent<E, R>) {
  const { home, terminal, list, within } = options
  const cwd = resolve(options.cwd)
  const left = terminal === undefined ? undefined : yield* read(home, terminal)
  const isMeant = (file: string) => within === undefined || file.startsWith(resolve(within) + sep)
  if (left !== undefined && resolve(left.cwd) === cwd && isMeant(left.file)) {
    if (isFile(left.file) || isFile(left.file + DRAFT)) return left.file
  }
  const here = (yield* list).filter((session) => session.cwd === cwd && !session.draft)
  return here.toSorted(SessionSummary.byModified)[0]?.path
})
