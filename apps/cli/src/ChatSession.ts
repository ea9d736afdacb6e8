/** Which session a chat is about: a new one, the last one, one that was named, or a copy of it. */
import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { type Session, type SessionRef, SessionStore, type SessionStoreError, Sessions } from "@grove/core"
import { Breadcrumbs } from "@grove/storage-files"
import { Effect } from "effect"
import { Failure, UsageError } from "./CliError.ts"
import type { Input } from "./Command.ts"
import { Environment } from "./Environment.ts"
import type { Paths } from "./Paths.ts"
import * as SessionArgument from "./SessionArgument.ts"

/** What the flags ask for, before anything is opened or made. */
export type Wanted =
  | { readonly _tag: "New" }
  | { readonly _tag: "Unrecorded" }
  | { readonly _tag: "Existing"; readonly ref: SessionRef }
  | { readonly _tag: "NewAt"; readonly path: string }
  | { readonly _tag: "Fork"; readonly source: SessionRef }

const isNewFile = (name: string): boolean =>
  name.endsWith(".jsonl") &&
  !existsSync(`${name}.draft`) &&
  (!existsSync(name) || (statSync(name).isFile() && statSync(name).size === 0))

const CHOICES = ["continue", "resume", "session", "fork", "no-session"] as const

/** What `-c` continues; nothing where there is nothing yet. */
const recent = Effect.gen(function* () {
  const { home, terminal, cwd, sessionDirectory } = yield* Environment
  const store = yield* SessionStore
  const within = sessionDirectory
  return yield* Breadcrumbs.continueRecent({ home, terminal, cwd, within, list: store.list({ cwd }) })
})

export const wanted = Effect.fnUntraced(function* (
  flags: Input["flags"]
): Effect.fn.Return<Wanted, Failure | SessionStoreError | UsageError, Environment | Paths | SessionStore> {
  const [first, second] = CHOICES.filter((name) => flags[name] !== undefined)
  if (second !== undefined) return yield* new UsageError({ message: `--${first} and --${second} exclude each other` })
  const named = first === undefined ? undefined : flags[first]
  switch (first) {
    case "no-session":
      return { _tag: "Unrecorded" }
    case "continue": {
      const path = yield* recent
      return path === undefined ? { _tag: "New" } : { _tag: "Existing", ref: { id: "", path } }
    }
    case "resume":
      if (typeof named !== "string") {
        return yield* new UsageError({
          message: "--resume needs a session here; grove ls lists them, -c takes the last"
        })
      }
      return { _tag: "Existing", ref: yield* SessionArgument.locate(named) }
    case "session":
      if (isNewFile(String(named))) return { _tag: "NewAt", path: resolve(String(named)) }
      return { _tag: "Existing", ref: yield* SessionArgument.locate(String(named)) }
    case "fork":
      return { _tag: "Fork", source: yield* SessionArgument.locate(String(named)) }
    default:
      return { _tag: "New" }
  }
})

const refOf = Effect.fnUntraced(function* (wanted: Wanted) {
  const { cwd } = yield* Environment
  const sessions = yield* Sessions
  switch (wanted._tag) {
    case "Existing":
      return wanted.ref
    case "New":
    case "Unrecorded":
      return yield* sessions.create({ cwd, draft: true })
    case "NewAt":
      return yield* sessions.create({ cwd, path: wanted.path })
    case "Fork":
      return yield* Effect.catchTag(sessions.fork(wanted.source.path, { cwd }), "UnknownEntry", ({ id }) =>
        Effect.fail(new Failure({ message: `no entry ${id} in ${wanted.source.path}` }))
      )
  }
})

/**
 * Opened to be written, until the scope ends. A session made here that never got a reply is removed then; this terminal
 * remembers the others.
 */
export const open = Effect.fnUntraced(function* (wanted: Wanted) {
  const { home, terminal, cwd } = yield* Environment
  const sessions = yield* Sessions
  const ref = yield* refOf(wanted)
  const session: Session = yield* sessions.open(ref.path)
  if (wanted._tag === "New") yield* Effect.addFinalizer(() => Effect.ignore(session.discardDraft))
  if (wanted._tag !== "Unrecorded" && terminal !== undefined) {
    yield* Effect.ignore(Breadcrumbs.write(home, terminal, { cwd, file: ref.path }))
  }
  return session
})
