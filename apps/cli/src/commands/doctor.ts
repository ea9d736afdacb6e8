/** `grove doctor`: whether everything Grove stands on is in order, with a fix for what is not. */
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs"
import { join } from "node:path"
import { Catalogue, Gc } from "@grove/storage-files"
import { Clock, Effect } from "effect"
import { Negative } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment, type Surroundings } from "../Environment.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly message: string
  readonly fix: string | null
}

const good = (check: string, message: string): Finding => ({ check, ok: true, message, fix: null })
const bad = (check: string, message: string, fix: string): Finding => ({ check, ok: false, message, fix })

const OLDEST_NODE = [20, 19]

const node = (): Finding => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const isOld = major < OLDEST_NODE[0]! || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]!)
  const version = `Node ${process.versions.node}`
  return isOld ? bad("node", `${version} is too old`, "install Node 20.19 or newer") : good("node", version)
}

const home = (path: string): Finding => {
  if (!existsSync(path)) return good("home", `${path} is not there yet; it is made when it is first needed`)
  if (!statSync(path).isDirectory()) {
    return bad("home", `${path} is not a directory`, "move it away, or set GROVE_HOME to a folder")
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    rmSync(mkdtempSync(join(path, ".doctor-")), { recursive: true })
    return good("home", `${path} can be read and written`)
  } catch (cause) {
    const { message } = cause as Error
    return bad("home", `${path} cannot be written: ${message}`, "free space, or make the folder yours and writable")
  }
}

/** Others on the machine must not read what was said. */
const privacy = (path: string): Finding => {
  if (!existsSync(path)) return good("permissions", "nothing to protect yet")
  const mode = statSync(path).mode & 0o777
  const shown = mode.toString(8).padStart(3, "0")
  return (mode & 0o077) === 0
    ? good("permissions", `${path} is yours alone (${shown})`)
    : bad("permissions", `others can look into ${path} (${shown})`, `chmod -R go= ${path}`)
}

/** File systems over a network, by the number the kernel gives them. */
const NETWORK = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"]
])

const fileSystem = (path: string): Finding => {
  if (!existsSync(path)) return good("file-system", "nothing to look at yet")
  const { type, bavail, bsize } = statfsSync(path)
  const free = bavail * bsize
  const network = NETWORK.get(type)
  if (network !== undefined) {
    return bad(
      "file-system",
      `${path} is on ${network}, where only one program may write a session`,
      "keep GROVE_HOME on a local disk"
    )
  }
  const shown = `${(free / 2 ** 30).toFixed(1)} GiB free`
  return free < 64 * 2 ** 20 ? bad("file-system", `only ${shown}`, "free some space") : good("file-system", shown)
}

const sessions = (files: ReadonlyArray<Catalogue.Listed>): Finding => {
  const broken = files.filter(({ summary }) => summary === null)
  if (broken.length === 0) return good("sessions", `${Words.count(files.length, "session")}, all readable`)
  const [first] = broken
  return bad(
    "sessions",
    `${Words.count(broken.length, "file")} that are no sessions, the first ${first!.path}`,
    `grove check ${first!.path}`
  )
}

const drafts = (files: ReadonlyArray<Catalogue.Listed>): Finding => {
  const waiting = files.filter(({ summary }) => summary?.draft === true)
  if (waiting.length === 0) return good("drafts", "no prompt waits for a reply")
  return good("drafts", `${Words.count(waiting.length, "prompt")} without a reply, the first in ${waiting[0]!.path}`)
}

/** Temporary files old enough that nobody is still writing them. */
const strays = (path: string, now: number): Finding => {
  if (!existsSync(path)) return good("strays", "no stray files")
  const isStray = (name: string) => name.endsWith(".tmp") && now - statSync(join(path, name)).mtimeMs > Gc.GRACE
  const found = readdirSync(path, { recursive: true, encoding: "utf8" }).filter(isStray)
  if (found.length === 0) return good("strays", "no stray files")
  const what = `${Words.count(found.length, "temporary file")} left by a crash, the first ${join(path, found[0]!)}`
  return bad("strays", what, "grove gc")
}

/** Prompt history and search stand on SQLite with its full-text index. */
const database = (path: string) =>
  Effect.promise(() => import("@grove/storage-sqlite")).pipe(
    Effect.flatMap(({ SqliteDatabase }) => SqliteDatabase.probe(path)),
    Effect.map(({ driver, version }) => good("sqlite", `SQLite ${version} with FTS5, by ${driver}`)),
    Effect.catchTag("DatabaseError", ({ problem, cause }) => {
      if (problem === "no-driver") {
        return Effect.succeed(bad("sqlite", "no SQLite driver loads, so prompts cannot be searched", "reinstall Grove"))
      }
      const message = cause instanceof Error ? cause.message : String(cause)
      return Effect.succeed(
        problem === "damaged"
          ? bad("sqlite", `${path} is damaged`, "grove history stats: sets it aside and reads the sessions again")
          : bad("sqlite", `${path} cannot be used: ${message}`, "close other programs that use it, or update Grove")
      )
    })
  )

const terminal = ({ unicode, columns }: Surroundings): Finding =>
  unicode
    ? good("terminal", `UTF-8, ${columns} columns`)
    : bad(
        "terminal",
        "the locale is not UTF-8, so trees are drawn in ASCII",
        "set LANG to a UTF-8 locale, such as C.UTF-8"
      )

export const run = Effect.fn("doctor")(function* ({ flags }: Input) {
  const surroundings = yield* Environment
  const paths = yield* Paths
  const files = yield* Effect.try({ try: () => Catalogue.list(paths, true), catch: () => [] }).pipe(
    Effect.catch((none: ReadonlyArray<Catalogue.Listed>) => Effect.succeed(none))
  )
  const findings = [
    node(),
    home(paths.home),
    privacy(paths.home),
    fileSystem(paths.home),
    sessions(files),
    drafts(files),
    strays(paths.home, yield* Clock.currentTimeMillis),
    yield* database(join(paths.home, "history.db")),
    terminal(surroundings)
  ]
  if (flags.json === true) yield* Output.json(findings)
  else {
    const { symbols } = Style.make(surroundings)
    yield* Output.lines(
      findings.flatMap(({ check, ok, message, fix }) => [
        `${ok ? symbols.here : symbols.error} ${check.padEnd(12)} ${Words.safe(message)}`,
        ...(fix === null ? [] : [`  ${"".padEnd(12)} fix: ${Words.safe(fix)}`])
      ])
    )
  }
  if (findings.some(({ ok }) => !ok)) return yield* new Negative()
})
