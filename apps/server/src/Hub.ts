/** One open session and all who take part in it: what they do happens here, in order, and is told to everybody. */
import { Engine, type ReplyOptions, type Turn } from "@grove/agent"
import {
  type AppendError,
  Generating,
  PromptHistory,
  RunningReplies,
  type Session,
  type SessionStoreError,
  TreeEdits
} from "@grove/core"
import { Clock, type Context, Deferred, Effect, FiberSet, Scope, Semaphore, Stream } from "effect"
import {
  BadRequest,
  type Begun,
  Conflict,
  type Edited,
  type Message,
  ModelRefused,
  NotFound,
  type Operation,
  Refused,
  TooMany,
  Unavailable
} from "./Api.ts"
import * as ChatTree from "./ChatTree.ts"
import { EventLog, isStale } from "./EventLog.ts"

export interface Settings {
  /** How replies are made: tools, instructions, where they work. */
  readonly replyOptions: (session: Session) => Effect.Effect<ReplyOptions>
  /** Where the person is, for the history of prompts. */
  readonly cwd: string
  /** Replies that may grow at once, in all sessions. */
  readonly mostReplies: number
}

/** What all sessions of a server share. */
export interface Shared {
  readonly settings: Settings
  /** Turns that are followed, as fibers that end with them. */
  readonly followers: FiberSet.FiberSet<void>
  readonly turns: Set<Turn>
  /** No more replies are to begin. */
  isEnding: boolean
}

/** The words about a session that is not there; the same whoever asks and whatever for. */
export const notFound = () => new NotFound({ message: "there is no such thing here" })

const explain = ({ reason }: SessionStoreError): string => {
  switch (reason._tag) {
    case "SessionReadOnly":
      return "the session was written by a newer program and can only be read"
    case "StoreRefused": {
      const { code } = reason.cause as NodeJS.ErrnoException
      return `the session cannot be used: ${code ?? "the medium refused"}`
    }
    default:
      return "the session cannot be used"
  }
}

/** Where a session is kept is nobody's business, so errors are told without paths. */
export const unavailable = (error: SessionStoreError): NotFound | Unavailable =>
  error.reason._tag === "SessionNotFound" ? notFound() : new Unavailable({ message: explain(error) })

export interface Hub {
  readonly session: Session
  readonly log: EventLog
  /** Edits, all or none; refused where an entry was written since `seq`. */
  readonly edit: (
    operations: ReadonlyArray<Operation>,
    seq: number | undefined
  ) => Effect.Effect<Edited, Conflict | ModelRefused | NotFound | Refused | Unavailable>
  /** Says something and has it answered; answers when the replies have begun to grow. */
  readonly say: (
    message: Message,
    seq: number | undefined
  ) => Effect.Effect<Begun, BadRequest | Conflict | ModelRefused | NotFound | TooMany | Unavailable>
  /** Ends a reply, and succeeds when what it has said is written; `false` if it does not grow. */
  readonly cancel: (id: string) => Effect.Effect<boolean>
}

type Services = Engine | PromptHistory | RunningReplies

/** Replies of other programs count too: they will write here. */
const generating = (replies: RunningReplies["Service"]): Context.Service.Shape<typeof Generating> => ({
  under: ({ ref, header }) =>
    Effect.map(
      replies.list(header?.id ?? ref.id),
      (running) => new Set(running.flatMap(({ parentId }) => (parentId === null ? [] : [parentId])))
    )
})

const idsIn = (operation: Operation): ReadonlyArray<string> => {
  switch (operation.op) {
    case "enable":
    case "disable":
      return operation.ids
    case "graft":
      return [operation.source, operation.target]
    case "leaf":
      return operation.target === null ? [] : [operation.target]
    case "prune":
    case "label":
    case "rate":
      return [operation.id]
    case "merge":
      return [operation.branch, ...(operation.onto === undefined ? [] : [operation.onto]), ...(operation.pick ?? [])]
    case "summarize":
      return [operation.first, operation.last]
    default:
      return []
  }
}

const iso = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

/** Until the scope ends; `keep` puts that off for as long as a turn goes on. */
export const make = Effect.fnUntraced(function* (
  session: Session,
  shared: Shared,
  keep: Effect.Effect<void, never, Scope.Scope>
) {
  const { settings, followers } = shared
  const services = yield* Effect.context<Services>()
  const engine = yield* Engine
  const history = yield* PromptHistory
  const running = yield* RunningReplies
  const scope = yield* Effect.scope
  const now = yield* Clock.currentTimeMillis
  const { ref, header, tree } = session
  const sessionId = header?.id ?? ref.id
  const log = new EventLog({ sessionId, header, tree, now })
  const oneAtATime = yield* Semaphore.make(1)
  /** By the id of the reply. */
  const turns = new Map<string, Turn>()

  yield* Stream.runForEach(session.events, () => Effect.sync(() => log.take())).pipe(Effect.forkScoped)

  const unchangedSince = (seq: number | undefined) =>
    Effect.suspend(() =>
      seq === undefined || !isStale(log, seq)
        ? Effect.void
        : Effect.fail(new Conflict({ message: "the session has changed since; fetch the tree again", seq: log.seq }))
    )

  // ------------------------------------------------------------------------------------------------------- edits

  const refuse = (refused: Refused["refused"]) => {
    const message = refused.map(({ message }) => message).join("; ")
    return new Refused({ message, seq: log.seq, refused })
  }

  /** A reply that grows is no entry yet, but no stranger either. */
  const growing = (operations: ReadonlyArray<Operation>): Refused["refused"] =>
    operations.flatMap((operation, index) =>
      idsIn(operation)
        .filter((id) => log.isGrowing(id))
        .slice(0, 1)
        .map((id) => ({ index, code: "busy" as const, id, message: `${id} is still being generated; wait for it` }))
    )

  const editNow = Effect.fnUntraced(function* (operations: ReadonlyArray<Operation>) {
    const busy = growing(operations)
    if (busy.length > 0) return yield* refuse(busy)
    const { edits, context } = yield* TreeEdits.together(session, operations)
    return {
      seq: log.seq,
      applied: edits.map(({ op, edit, applied, created }, index) => ({ index, op, edit, nodes: applied, created })),
      activeLeafId: ChatTree.nodeId(tree, tree.leaf),
      context
    } satisfies Edited
  })

  const edit: Hub["edit"] = (operations, seq) =>
    Effect.andThen(unchangedSince(seq), editNow(operations)).pipe(
      Effect.catchTags({
        EditsRefused: ({ refused }) => Effect.fail(refuse(refused)),
        NoSummary: () => Effect.fail(new ModelRefused({ message: "no model is set up to summarise; give a text" })),
        SummaryFailed: ({ message }) => Effect.fail(new ModelRefused({ message })),
        SessionStoreError: (error) => Effect.fail(unavailable(error))
      }),
      oneAtATime.withPermit,
      Effect.provideService(Generating, generating(running)),
      Effect.provideContext(services)
    )

  // ----------------------------------------------------------------------------------------------------- replies

  /** Tells of all that a turn says. `begun` gets the node of its first reply, `null` if there is none. */
  const follow = Effect.fnUntraced(function* (
    turn: Turn,
    sample: object | undefined,
    begun: Deferred.Deferred<ChatTree.ChatMessageNode | null>
  ) {
    let current: string | undefined
    const over = (because: string) => {
      if (current === undefined) return
      turns.delete(current)
      log.drop(current, because)
    }
    yield* Stream.runForEach(turn.events, (event) =>
      Effect.gen(function* () {
        switch (event._tag) {
          case "Started": {
            over("the context had to be made shorter first")
            const { entry: id, parentId, model } = event
            const isFirst = current === undefined
            const group = isFirst && sample !== undefined ? { group: { id: parentId ?? "root", ...sample } } : {}
            current = id
            turns.set(id, turn)
            log.begin({ id, parentId, model, started: yield* iso, ...group })
            if (isFirst) yield* Deferred.succeed(begun, log.node(id) ?? null)
            break
          }
          case "Delta":
            log.grow(event.entry, event.kind, event.text)
            break
          case "End":
            over(event.end.error?.message ?? "it could not be kept")
        }
      })
    )
  })

  /** Runs on when whoever asked is gone, and keeps the session open until it is over. */
  const followed = Effect.fnUntraced(function* (turn: Turn, sample: object | undefined) {
    const begun = yield* Deferred.make<ChatTree.ChatMessageNode | null>()
    shared.turns.add(turn)
    const whole = Effect.andThen(keep, follow(turn, sample, begun)).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          shared.turns.delete(turn)
          return Deferred.succeed(begun, null)
        })
      ),
      Effect.scoped
    )
    yield* FiberSet.run(followers, whole)
    return begun
  })

  /** Where the session stands, if that is just below the node that was named; else the node itself. */
  const placeOf = (parentId: string | null): string | null =>
    parentId !== null && ChatTree.nodeId(tree, tree.leaf) === parentId ? tree.leaf : parentId

  const remember = Effect.fnUntraced(function* (prompt: string, entry: string | null) {
    const at = yield* Clock.currentTimeMillis
    const use = { prompt, at, cwd: settings.cwd, session: sessionId, entry, author: "user" }
    yield* Effect.ignore(history.add(use))
  })

  const begin = Effect.fnUntraced(function* ({ parentId, content, samples = 1, model, follow }: Message) {
    const at = placeOf(parentId)
    if (at === null && content === undefined) return yield* new BadRequest({ message: "there is nothing to answer" })
    if (at !== null && (log.isGrowing(at) || !tree.has(at) || tree.isPrunedAt(tree.rowOf(at)))) {
      return yield* log.isGrowing(at)
        ? new BadRequest({ message: `${at} is still being generated; wait for it` })
        : notFound()
    }
    if (follow === true) yield* TreeEdits.leaf(session, at)
    const options = {
      ...(yield* settings.replyOptions(session)),
      ...(model !== undefined && { model }),
      ...(content !== undefined && { prompt: content }),
      ...(follow !== true && { at })
    }
    const started =
      samples === 1
        ? Effect.map(engine.start(session, options), (turn) => [turn])
        : engine.samples(session, samples, options)
    const turns = yield* Effect.provideService(started, Scope.Scope, scope)
    const begun = yield* Effect.forEach(turns, (turn, index) =>
      followed(turn, samples === 1 ? undefined : { cause: "samples", index, of: samples })
    )
    return { turns, begun }
  })

  const start = Effect.fnUntraced(function* (message: Message, seq: number | undefined) {
    if (shared.isEnding) return yield* new Unavailable({ message: "the server is about to end" })
    if ((yield* FiberSet.size(followers)) + (message.samples ?? 1) > settings.mostReplies) {
      return yield* new TooMany({ message: "too many replies are growing; wait for some of them" })
    }
    yield* unchangedSince(seq)
    return yield* begin(message)
  }, oneAtATime.withPermit)

  const say: Hub["say"] = (message, seq) =>
    Effect.gen(function* () {
      const { content } = message
      const { turns, begun } = yield* start(message, seq)
      const nodes = (yield* Effect.forEach(begun, Deferred.await)).filter((node) => node !== null)
      if (nodes.length === 0) {
        const { error } = yield* turns[0]!.end
        return yield* error?._tag === "SessionStoreError"
          ? unavailable(error)
          : new ModelRefused({ message: error?.message ?? "nothing was answered" })
      }
      const prompt = content === undefined ? null : (log.node(nodes[0]!.parentId ?? "") ?? null)
      if (content !== undefined) yield* Effect.forkIn(remember(content, prompt?.id ?? null), scope)
      return { seq: log.seq, prompt, nodes } satisfies Begun
    }).pipe(
      Effect.catchTags({
        ChatModelError: ({ message }) => Effect.fail(new ModelRefused({ message })),
        EditRefused: () => Effect.fail(notFound()),
        UnknownEntry: () => Effect.fail(notFound()),
        SessionStoreError: (error: AppendError) => Effect.fail(unavailable(error))
      }),
      Effect.provideContext(services),
      Effect.uninterruptible
    )

  const cancel: Hub["cancel"] = (id) =>
    Effect.gen(function* () {
      const turn = turns.get(id)
      if (turn === undefined) return false
      yield* turn.cancel
      log.take()
      return true
    })

  return { session, log, edit, say, cancel } satisfies Hub
})
