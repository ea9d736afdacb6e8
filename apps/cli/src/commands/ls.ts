/** `grove ls`: every session, newest first. */
import { Ids, Preview, SessionStore, SessionSummary, Width } from "@grove/core"
import { Clock, Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const empty = (place: string, cwd: string | undefined): ReadonlyArray<string> =>
  cwd === undefined
    ? [
        `No sessions in ${Words.safe(place)} yet.`,
        "--session-dir lists those of another folder; grove tree <file> draws any session file."
      ]
    : [`No sessions of ${Words.safe(cwd)} in ${Words.safe(place)}.`, "--all lists those of every folder."]

/** The source of what is in this home. */
const OWN = "grove"

const title = ({ name, firstMessage }: SessionSummary.SessionSummary): string => name ?? firstMessage ?? "(no messages)"

const row = (summary: SessionSummary.SessionSummary, now: number, columns: number, style: Style.Style): string => {
  const id = Width.pad(Preview.line(Ids.short(summary.id ?? ""), 8), 8)
  const age = Words.age(Date.parse(summary.modified ?? ""), now).padStart(4)
  const size = `${summary.messageCount}m ${summary.branches}${style.symbols.branches}`.padStart(11)
  const source = summary.source === OWN ? "" : `${summary.source}: `
  const left = `${id}  ${age}  ${size}  ${source}`
  return `${left}${style.line(title(summary), columns - Width.of(left))}`
}

export const run = Effect.fn("ls")(function* ({ flags }: Input) {
  const store = yield* SessionStore
  const surroundings = yield* Environment
  const subAgents = flags.all === true
  // A folder the person named holds sessions of many directories; without --all only those of this one are meant.
  const here: { readonly cwd?: string } =
    surroundings.sessionDirectory !== undefined && !subAgents ? { cwd: surroundings.cwd } : {}
  const own = yield* store.list({ subAgents, ...here })
  const foreign = subAgents
    ? yield* Effect.flatMap(
        Effect.promise(() => import("../Foreign.ts")),
        ({ list }) => list
      )
    : []
  const sessions = [...own, ...foreign].sort(SessionSummary.byModified)
  if (flags.json === true) return yield* Output.json(sessions)
  const place = surroundings.sessionDirectory ?? surroundings.home
  if (sessions.length === 0) return yield* Output.lines(empty(place, here.cwd))
  const style = Style.make(surroundings)
  const now = yield* Clock.currentTimeMillis
  yield* Output.lines(sessions.map((summary) => row(summary, now, surroundings.columns, style)))
})
