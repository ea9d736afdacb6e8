/** `grove search`: what was said, in any session. */
import { basename } from "node:path"
import { type EntryId, Ids, NONE, SessionStore, type SessionTree, Width } from "@grove/core"
import { SqliteSessionIndex } from "@grove/storage-sqlite"
import { Clock, Effect } from "effect"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as History from "../History.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionIndex from "../SessionIndex.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const LIMIT = 20

const usage = (message: string) => new UsageError({ message: `${message}; see grove search --help` })

const text = (flag: string | boolean | undefined): string | undefined => (typeof flag === "string" ? flag : undefined)

/** A time as the query words have it. */
const timeFrom = (name: "after" | "before", flag: string | boolean | undefined, now: number) => {
  if (typeof flag !== "string") return Effect.succeed(undefined)
  const at = SqliteSessionIndex.parse(`${name}:${flag}`, now).filters[name]
  return at === undefined ? usage(`--${name} is a date such as 2026-01-31, or an age such as 7d`) : Effect.succeed(at)
}

const limitFrom = (flag: string | boolean | undefined) => {
  if (flag === undefined) return Effect.succeed(LIMIT)
  const limit = Number(flag)
  return Number.isInteger(limit) && limit >= 0 ? Effect.succeed(limit) : usage("--limit is a whole number")
}

/** Where one has to stand to see an entry: where the session stands if that leads past it, else the newest way on. */
export const leafThrough = (tree: SessionTree, id: string): EntryId | null => {
  const row = tree.rowOf(id)
  if (row === NONE) return null
  for (let at = tree.rowOf(tree.leaf); at !== NONE; at = tree.parentRow(at)) if (at === row) return tree.leaf
  let last = row
  for (let children = tree.childRows(last); children.length > 0; children = tree.childRows(last))
    last = children.at(-1)!
  return tree.idAt(last)
}

/** The leaf of each hit; every session is opened once, one after the other. */
const withLeaves = Effect.fnUntraced(function* (hits: ReadonlyArray<SqliteSessionIndex.SessionHit>) {
  const store = yield* SessionStore
  const leaves = new Map<SqliteSessionIndex.SessionHit, EntryId | null>()
  for (const path of new Set(hits.map((hit) => hit.path))) {
    const own = hits.filter((hit) => hit.path === path)
    const final = path.replace(/\.draft$/, "")
    yield* Effect.scoped(
      Effect.map(store.read({ id: own[0]!.session ?? "", path: final }), ({ tree }) => {
        for (const hit of own) leaves.set(hit, leafThrough(tree, hit.entry))
      })
    ).pipe(Effect.catchTag("SessionStoreError", () => Effect.void))
  }
  return hits.map((hit) => ({ ...hit, path: hit.path.replace(/\.draft$/, ""), leaf: leaves.get(hit) ?? null }))
})

/** Bold where the terminal has it, brackets of quotation elsewhere. */
const marked = (
  snippet: string,
  marks: ReadonlyArray<readonly [number, number]>,
  style: Style.Style,
  isPlain: boolean
) => {
  const [open, close] = isPlain ? ["«", "»"] : ["", ""]
  let out = ""
  let last = 0
  for (const [start, end] of marks) {
    const hit = Words.safe(snippet.slice(start, end))
    out += Words.safe(snippet.slice(last, start)) + (isPlain ? `${open}${hit}${close}` : style.bold(hit))
    last = end
  }
  return out + Words.safe(snippet.slice(last))
}

export const run = Effect.fn("search")(function* ({ arguments: words, flags }: Input) {
  const paths = yield* Paths
  const surroundings = yield* Environment
  const now = yield* Clock.currentTimeMillis
  const limit = yield* limitFrom(flags.limit)
  const asked = {
    text: words.join(" "),
    role: text(flags.role),
    tool: text(flags.tool),
    label: text(flags.label),
    project: text(flags.project),
    after: yield* timeFrom("after", flags.after, now),
    before: yield* timeFrom("before", flags.before, now),
    limit
  }
  const index = yield* SessionIndex.open(paths)
  const found = yield* Effect.mapError(index.search(asked), (error) => new Failure({ message: History.explain(error) }))
  const hits = yield* withLeaves(found)
  if (flags.json === true) {
    const shape = hits.map(({ session, path, entry, leaf, role, snippet, marks }) => ({
      ...{ session, path, entry, leaf, role, snippet, marks }
    }))
    return yield* Output.json(shape)
  }
  if (hits.length === 0) {
    process.stderr.write("grove: no match in any session\n")
    return
  }
  const style = Style.make(surroundings)
  yield* Output.lines(
    hits.flatMap(({ session, path, entry, role, at, snippet, marks }) => [
      `${Ids.short(Words.safe(session ?? basename(path)))}  ${Words.safe(Ids.short(entry)).padEnd(8)}  ${role.padEnd(9)} ${Words.age(at, now).padStart(4)}`,
      `  ${Width.cut(marked(snippet, marks, style, !surroundings.colors), 4 * surroundings.columns)}`
    ])
  )
})
