/** `grove ls`: every session, newest first. */
import { Preview, SessionStore, type SessionSummary, Width } from "@grove/core"
import { Clock, Effect } from "effect"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Words from "../Words.ts"

const empty = (place: string) => [
  `No sessions in ${place} yet.`,
  "Start one by talking to grove, or point --session-dir at a folder that has some."
]

const title = ({ name, firstMessage }: SessionSummary.SessionSummary): string => name ?? firstMessage ?? "(no messages)"

const row = (summary: SessionSummary.SessionSummary, now: number, columns: number, style: Style.Style): string => {
  const id = (summary.id ?? "").slice(-8).padEnd(8)
  const age = Words.age(Date.parse(summary.modified ?? ""), now).padStart(4)
  const size = `${summary.messageCount}m ${style.symbols.branches}${summary.branches}`.padStart(11)
  const left = `${Preview.line(id, 8)}  ${age}  ${size}  `
  return `${left}${Preview.line(title(summary), Math.max(columns - Width.of(left), 20))}`
}

export const run = Effect.fn("ls")(function* ({ flags }: Input) {
  const store = yield* SessionStore
  const surroundings = yield* Environment
  const subAgents = flags.all === true
  // A folder the person named holds sessions of many directories; without --all only those of this one are meant.
  const here = surroundings.sessionDirectory !== undefined && !subAgents ? { cwd: surroundings.cwd } : {}
  const sessions = yield* store.list({ subAgents, ...here })
  if (flags.json === true) return yield* Output.json(sessions)
  const place = surroundings.sessionDirectory ?? surroundings.home
  if (sessions.length === 0) return yield* Output.lines(empty(place))
  const style = Style.make(surroundings)
  const now = yield* Clock.currentTimeMillis
  yield* Output.lines(sessions.map((summary) => row(summary, now, surroundings.columns, style)))
})
