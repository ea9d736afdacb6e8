/** Every session that somebody looks at or works in: opened when it is asked for, closed when nobody is there any more. */
import { Engine } from "@grove/agent"
import {
  Ids,
  type PromptHistory,
  type RunningReplies,
  SessionStore,
  type SessionStoreError,
  Sessions
} from "@grove/core"
import { Context, Deferred, type Duration, Effect, Exit, FiberSet, Layer, RcMap, type Scope } from "effect"
import { type NotFound, OperationReused, type Unavailable } from "./Api.ts"
import * as Hub from "./Hub.ts"

export interface Settings extends Hub.Settings {
  /** How long a session stays open after the last one has left. */
  readonly idle?: Duration.Input
}

/** So many operations are remembered; the oldest are forgotten first. */
const MOST_OPERATIONS = 10_000

interface Operation {
  readonly what: string
  readonly answer: Deferred.Deferred<unknown, unknown>
}

export class Hubs extends Context.Service<
  Hubs,
  {
    /** Open until the scope ends, and longer while others hold it. Any unambiguous abbreviation of an id will do. */
    readonly open: (sessionId: string) => Effect.Effect<Hub.Hub, NotFound | Unavailable, Scope.Scope>
    /** The path of a session, for those who do not need it open. */
    readonly locate: (sessionId: string) => Effect.Effect<string, NotFound | Unavailable>
    /**
     * With an operation id, done once however often it is asked for, and answered again; what failed may be tried again.
     * Remembered as long as the server runs.
     */
    readonly once: <A, E, R>(
      operationId: string | undefined,
      what: string,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | OperationReused, R>
    /** Begins no more replies, and waits for those that grow; what is not done by then is cut short and kept as far as it came. */
    readonly finish: (patience: number) => Effect.Effect<void>
  }
>()("@grove/server/Hubs") {
  static readonly layer = (settings: Settings) => Layer.effect(Hubs, make(settings))
}

const make = Effect.fnUntraced(function* (settings: Settings) {
  const store = yield* SessionStore
  const sessions = yield* Sessions
  const engine = yield* Engine
  const services = yield* Effect.context<Engine | PromptHistory | RunningReplies>()
  const shared: Hub.Shared = { settings, followers: yield* FiberSet.make<void>(), turns: new Set(), isEnding: false }

  // ------------------------------------------------------------------------------------------------------- places

  /** Ids are looked up among those that are there, and never become part of a path. */
  const paths = new Map<string, string>()
  const look = Effect.gen(function* () {
    paths.clear()
    for (const { id, path } of yield* store.list({ subAgents: true }))
      if (id !== null && !paths.has(id)) paths.set(id, path)
  })

  const idOf = Effect.fnUntraced(
    function* (name: string) {
      if (!paths.has(name)) yield* look
      const [id, ...others] = Ids.candidates(name, paths.keys())
      return id === undefined || others.length > 0 ? yield* Hub.notFound() : id
    },
    Effect.catchTag("SessionStoreError", (error: SessionStoreError) => Effect.fail(Hub.unavailable(error)))
  )

  // --------------------------------------------------------------------------------------------------------- hubs

  const hubs: RcMap.RcMap<string, Hub.Hub, NotFound | Unavailable> = yield* RcMap.make({
    lookup: (id: string) =>
      Effect.gen(function* () {
        const session = yield* sessions.open(paths.get(id)!)
        yield* engine.recover(session)
        const keep = Effect.asVoid(Effect.orDie(RcMap.get(hubs, id)))
        return yield* Hub.make(session, shared, keep)
      }).pipe(Effect.provideContext(services), Effect.mapError(Hub.unavailable)),
    idleTimeToLive: settings.idle ?? "30 seconds"
  })

  const open = Effect.fnUntraced(function* (name: string) {
    return yield* RcMap.get(hubs, yield* idOf(name))
  })

  // --------------------------------------------------------------------------------------------------- operations

  const operations = new Map<string, Operation>()

  const once: Hubs["Service"]["once"] = (operationId, what, effect) => {
    if (operationId === undefined) return effect
    const known = operations.get(operationId)
    if (known !== undefined) {
      if (known.what === what) return Deferred.await(known.answer) as never
      return Effect.fail(new OperationReused({ message: "this operation id was used for something else" }))
    }
    const answer = Deferred.makeUnsafe<unknown, unknown>()
    operations.set(operationId, { what, answer })
    if (operations.size > MOST_OPERATIONS) operations.delete(operations.keys().next().value!)
    return Effect.onExit(effect, (exit) => {
      if (Exit.isFailure(exit)) operations.delete(operationId)
      return Deferred.done(answer, exit)
    })
  }

  // ------------------------------------------------------------------------------------------------------- ending

  const finish = Effect.fnUntraced(function* (patience: number) {
    shared.isEnding = true
    yield* Effect.timeoutOption(FiberSet.awaitEmpty(shared.followers), patience)
    yield* Effect.forEach([...shared.turns], ({ cancel }) => cancel, { concurrency: "unbounded", discard: true })
    yield* FiberSet.awaitEmpty(shared.followers)
  })

  return Hubs.of({
    open,
    locate: (name) => Effect.map(idOf(name), (id) => paths.get(id)!),
    once: (...asked) => Effect.suspend(() => once(...asked)),
    finish
  })
})
