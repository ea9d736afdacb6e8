/** What the lists on the screen ask for: sessions and what is in them, prompts of the past; told by events as it is found. */
import {
  PromptHistory,
  RunningReplies,
  type Session,
  SessionStore,
  type SessionSummary,
  Sessions,
  type Usage
} from "@grove/core"
import { Effect } from "effect"
import * as SessionDetails from "./SessionDetails.ts"
import * as SessionForks from "./SessionForks.ts"
import type { SessionDetails as Details, Event, PromptScope, SessionHit } from "./state/View.ts"

export interface Options {
  readonly cwd: string
  readonly price: Usage.Pricer
  /** Looks for sessions by what was said in them. */
  readonly search: (query: string) => Effect.Effect<ReadonlyArray<SessionHit>, { readonly message: string }>
  /** Sessions of other programs, for a list of all. */
  readonly foreign: Effect.Effect<ReadonlyArray<SessionSummary.SessionSummary>, { readonly message: string }>
}

const MOST_PROMPTS = 200
const SEARCH_REST = "300 millis"

export const make = Effect.fnUntraced(function* (
  { cwd, price, search, foreign }: Options,
  current: () => Session | null,
  tell: (event: Event) => void
) {
  const sessions = yield* Sessions
  const store = yield* SessionStore
  const replies = yield* RunningReplies
  const history = yield* PromptHistory
  const known = new Map<string, Details>()
  let detailing = 0
  let searching = 0
  let listing = 0

  const detailsOf = (summary: SessionSummary.SessionSummary): Effect.Effect<Details | undefined> => {
    const before = known.get(summary.path)
    if (before?.modified === summary.modified) return Effect.succeed(before)
    return SessionDetails.read(summary, price).pipe(
      Effect.provideService(SessionStore, store),
      Effect.orElseSucceed(() => undefined)
    )
  }

  return {
    sessions: Effect.fnUntraced(function* (all: boolean) {
      const mine = ++listing
      const found = yield* sessions.list(all ? {} : { cwd })
      const works = yield* replies.works
      tell({ _tag: "Sessions", all, sessions: found, works })
      // Those of other programs may have to be read first; whoever waits has something to look at.
      const others = all ? yield* foreign : []
      if (others.length > 0 && mine === listing) {
        tell({ _tag: "Sessions", all, sessions: [...found, ...others], works })
      }
    }),
    /** What is no longer in sight is not read on. */
    details: Effect.fnUntraced(function* (wanted: ReadonlyArray<SessionSummary.SessionSummary>) {
      const mine = ++detailing
      for (const summary of wanted) {
        const details = yield* detailsOf(summary)
        if (mine !== detailing) return
        if (details === undefined) continue
        known.set(details.path, details)
        tell({ _tag: "SessionDetailed", details })
      }
    }),
    /** Once the person has stopped typing for a moment. */
    sessionsSaying: Effect.fnUntraced(function* (query: string) {
      const mine = ++searching
      yield* Effect.sleep(SEARCH_REST)
      if (mine !== searching) return
      const hits = query.trim() === "" ? [] : yield* search(query.trim())
      if (mine === searching) tell({ _tag: "SessionsFound", query: query.trim(), hits })
    }),
    /** Of the session on the screen. */
    forks: Effect.suspend(() => {
      const session = current()
      if (session === null) return Effect.void
      return Effect.map(Effect.provideService(SessionForks.of(session), SessionStore, store), (entries) =>
        tell({ _tag: "ForksFound", path: session.ref.path, entries })
      )
    }),
    prompts: Effect.fnUntraced(function* (query: string, scope: PromptScope) {
      const session = current()?.ref.id
      if (scope === "session" && session === undefined) {
        return tell({ _tag: "Prompts", query, scope, prompts: [], total: 0 })
      }
      const where = scope === "cwd" ? { cwd } : scope === "session" ? { session: session! } : {}
      const hits = yield* history.search({ text: query, limit: MOST_PROMPTS, ...where })
      const prompts = hits.map(({ id, prompt, uses, lastUsed, cwd, session, entry }) => ({
        id,
        text: prompt,
        uses,
        lastUsed,
        cwd,
        session,
        entry
      }))
      const total = Math.max(prompts.length, yield* history.count({ text: "", ...where }))
      tell({ _tag: "Prompts", query, scope, prompts, total })
    }),
    /** Prompts of this folder, for going through them in the editor. */
    recalled: Effect.ignore(
      Effect.map(history.search({ text: "", cwd, limit: MOST_PROMPTS }), (hits) =>
        tell({
          _tag: "Recalled",
          prompts: hits.toSorted((a, b) => b.lastUsed - a.lastUsed).map(({ prompt }) => prompt)
        })
      )
    )
  }
})
