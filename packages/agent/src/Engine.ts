/** Service: a prompt in; replies, tool calls and their results appended to the session, and told as they come. */
import {
  type AppendError,
  type ChatModelError,
  type CompactOutcome,
  Compactor,
  type Entry,
  type EntryId,
  type LeafMoved,
  type ModelInfo,
  RunningReplies,
  type Session,
  type StopReason,
  type SummaryFailed,
  Usage
} from "@grove/core"
import {
  Cause,
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Latch,
  Layer,
  Option,
  PubSub,
  type Scope,
  Semaphore,
  Stream,
  type Take
} from "effect"
import * as ModelChoice from "./ModelChoice.ts"
import * as OpenCalls from "./OpenCalls.ts"
import * as Running from "./Running.ts"
import * as ToolRuns from "./ToolRuns.ts"
import type { Group, StartError, Turn, TurnEnd, TurnError, TurnEvent, TurnOptions, TurnState } from "./Turn.ts"
import * as TurnLoop from "./TurnLoop.ts"
import type { Settings, Work } from "./Work.ts"

export class Engine extends Context.Service<
  Engine,
  {
    /** The model that would answer there: the one asked for, else the session's, the configured one, the first that would answer. */
    readonly model: (
      session: Session | null,
      options?: { readonly model?: string; readonly at?: string | null }
    ) => Effect.Effect<ModelInfo, ChatModelError>
    /** Begins a turn, which runs until it ends, is cancelled, or the scope is closed. Many may run at once. */
    readonly start: (session: Session, options: TurnOptions) => Effect.Effect<Turn, StartError, Scope.Scope>
    /**
     * Says the prompt once and has it answered so many times at once, in as many siblings; the person stays at the prompt.
     * Without a prompt, what is there is answered. What is written before the replies is told by the first turn.
     */
    readonly samples: (
      session: Session,
      count: number,
      options: Omit<TurnOptions, "group">
    ) => Effect.Effect<ReadonlyArray<Turn>, StartError | AppendError, Scope.Scope>
    /** Turns of a session that have not ended. */
    readonly running: (session: Session) => Effect.Effect<ReadonlyArray<Turn>>
    /**
     * What a crash left: replies that nobody generates any more become messages with the text they had. For whoever has
     * opened a session to write; answers the entries that were made.
     */
    readonly recover: (session: Session) => Effect.Effect<ReadonlyArray<Entry.Entry>, AppendError>
    /** Calls at the end of the path that have no results: something broke off. A turn with `openCalls: "run"` runs them. */
    readonly openCalls: (session: Session, at?: string | null) => Effect.Effect<ReadonlyArray<OpenCalls.OpenCall>>
    /** Notes that open calls failed, or goes back to before the reply that made them. */
    readonly settle: (session: Session, how: "fail" | "drop") => Effect.Effect<void, AppendError>
    /** Makes the context where the person stands shorter, as they asked for. */
    readonly compact: (
      session: Session,
      options?: { readonly model?: string; readonly instructions?: string }
    ) => Effect.Effect<CompactOutcome, ChatModelError | SummaryFailed | AppendError | LeafMoved>
  }
>()("@grove/agent/Engine") {
  static readonly layer = (settings: Settings = {}) => Layer.effect(Engine, make(settings))
}

type Services = TurnLoop.Services

const make = Effect.fnUntraced(function* (settings: Settings) {
  const services = yield* Effect.context<Services>()
  const replies = yield* RunningReplies
  const compactor = yield* Compactor
  const asking = yield* Semaphore.make(1)
  const turns = new Set<Turn>()

  const model: Engine["Service"]["model"] = (session, { model, at } = {}) =>
    Effect.gen(function* () {
      const place = session === null ? null : at === undefined ? yield* session.main.leaf : at
      const own = session === null ? null : ModelChoice.ofSession(session, place)
      return yield* ModelChoice.resolve(model, own, settings.model)
    }).pipe(Effect.provideContext(services))

  const cursorFor = (session: Session, at: string | null | undefined) =>
    at === undefined ? session.lead : session.cursor(at)

  const workFor = Effect.fnUntraced(function* (
    session: Session,
    options: TurnOptions,
    emit: Work["emit"]
  ): Effect.fn.Return<Work, StartError> {
    const cursor = yield* cursorFor(session, options.at)
    const info = yield* model(session, options)
    return {
      session,
      cursor,
      options,
      settings,
      info,
      asking,
      emit,
      prompt: null,
      usage: Usage.zero,
      hasNoSummary: false,
      steering: [],
      isOver: false
    }
  })

  const endOf = Effect.fnUntraced(function* (work: Work, exit: Exit.Exit<StopReason, TurnError>) {
    const state = Exit.isSuccess(exit) ? "complete" : Cause.hasInterruptsOnly(exit.cause) ? "aborted" : "error"
    return {
      state,
      prompt: work.prompt,
      leaf: yield* work.cursor.leaf,
      stopReason: Exit.isSuccess(exit) ? exit.value : state === "aborted" ? "aborted" : "error",
      usage: work.usage,
      error: Exit.isSuccess(exit) ? null : Option.getOrNull(Cause.findErrorOption(exit.cause)),
      unsaid: work.steering.splice(0)
    } satisfies TurnEnd
  })

  /** What happened `before` is told first. */
  const begin = Effect.fnUntraced(function* (
    session: Session,
    options: TurnOptions,
    before: ReadonlyArray<TurnEvent>
  ): Effect.fn.Return<Turn, StartError, Scope.Scope> {
    const events = yield* PubSub.unbounded<Take.Take<TurnEvent>>({ replay: Number.POSITIVE_INFINITY })
    const ended = yield* Deferred.make<TurnEnd>()
    const emit = (event: TurnEvent) => Effect.asVoid(PubSub.publish(events, [event]))
    const work = yield* workFor(session, options, emit)
    yield* Effect.forEach(before, emit, { discard: true })
    let state: TurnState = "generating"

    const finish = Effect.fnUntraced(function* (exit: Exit.Exit<StopReason, TurnError>) {
      work.isOver = true
      turns.delete(turn)
      if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) {
        const bug = Exit.failCause(exit.cause as Cause.Cause<never>)
        state = "error"
        yield* PubSub.end(events, bug)
        return yield* Deferred.done(ended, bug)
      }
      const end = yield* endOf(work, exit)
      state = end.state
      yield* emit({ _tag: "End", end })
      yield* PubSub.end(events, Exit.void)
      return yield* Deferred.succeed(ended, end)
    })

    const scope = yield* Effect.scope
    const whole = Effect.andThen(TurnLoop.prepare(work), TurnLoop.run(work)).pipe(Effect.provideContext(services))
    const isKnown = yield* Latch.make()
    const fiber = yield* Effect.forkIn(
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.exit(restore(Effect.andThen(isKnown.await, whole))), finish)
      ),
      scope,
      { startImmediately: true }
    )
    const turn: Turn = {
      session,
      cursor: work.cursor,
      state: Effect.sync(() => state),
      events: Stream.fromPubSubTake(events),
      cancel: Effect.asVoid(Fiber.interrupt(fiber)),
      steer: (prompt) => Effect.sync(() => !work.isOver && work.steering.push(prompt) > 0),
      end: Deferred.await(ended)
    }
    turns.add(turn)
    yield* isKnown.open
    return turn
  })

  const start: Engine["Service"]["start"] = Effect.fn("Engine.start")((session, options) => begin(session, options, []))

  const samples: Engine["Service"]["samples"] = Effect.fn("Engine.samples")(function* (session, count, options) {
    const { prompt, ...rest } = options
    const before: Array<TurnEvent> = []
    const work = yield* workFor(session, options, (event) => Effect.sync(() => void before.push(event)))
    yield* Effect.provideContext(TurnLoop.prepare(work), services)
    const at = yield* work.cursor.leaf
    const id = at ?? "root"
    const group = (index: number): Group => ({ id, cause: "samples", index, of: count })
    return yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => group(index)),
      (group) => begin(session, { ...rest, model: work.info.ref, at, group }, group.index === 0 ? before : [])
    )
  })

  const recover: Engine["Service"]["recover"] = Effect.fn("Engine.recover")(function* (session) {
    const { tree, ref } = session
    const made: Array<Entry.Entry> = []
    for (const reply of yield* replies.takeAbandoned(ref.id)) {
      if (!tree.has(reply.entry)) {
        const isWaitedFor = reply.group === undefined && (yield* session.main.leaf) === reply.parentId
        const cursor = isWaitedFor
          ? yield* session.lead
          : yield* Effect.catchTag(session.cursor(reply.parentId), "UnknownEntry", () =>
              Effect.orDie(session.cursor(null))
            )
        made.push(yield* cursor.appendAs(reply.entry, Running.interrupted(reply)))
      }
      yield* replies.forget(ref.id, reply.entry)
    }
    return made
  })

  const openCalls: Engine["Service"]["openCalls"] = (session, at) =>
    Effect.map(at === undefined ? session.main.leaf : Effect.succeed(at), (leaf) =>
      OpenCalls.at(session.tree, leaf as EntryId | null)
    )

  const settle: Engine["Service"]["settle"] = Effect.fn("Engine.settle")(function* (session, how) {
    const open = yield* openCalls(session)
    if (open.length === 0) return
    if (how === "drop") {
      const before = session.tree.get(open[0]!.entry)!.parentId
      return yield* before === null ? session.main.resetLeaf : Effect.orDie(session.main.branch(before))
    }
    const timestamp = yield* Clock.currentTimeMillis
    for (const call of open) yield* session.main.append(ToolRuns.resultOf(call, ToolRuns.INTERRUPTED, timestamp))
  })

  const compact: Engine["Service"]["compact"] = Effect.fn("Engine.compact")(function* (session, options = {}) {
    const info = yield* model(session, options)
    const { compaction } = settings
    const own = options.model === undefined ? compaction : { ...compaction, model: info.ref }
    const { instructions } = options
    const how = { ...TurnLoop.compaction(info, { compaction: own }), instructions, reason: "manual" } as const
    return yield* compactor.compact(session, session.main, how)
  })

  return Engine.of({
    model,
    start,
    samples,
    running: (session) => Effect.sync(() => [...turns].filter((turn) => turn.session === session)),
    recover,
    openCalls,
    settle,
    compact
  })
})
