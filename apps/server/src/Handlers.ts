/** What each route does: thin, for what happens is the hub's and the core's affair. */
import {
  Capabilities,
  Comparison,
  ContextBuilder,
  ContextPolicy,
  type EntryId,
  PromptHistory,
  SessionStore,
  type SessionSummary,
  Sessions,
  Tokens
} from "@grove/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import {
  Api,
  BadRequest,
  Bearer,
  type Operation,
  Refused,
  type SessionSummary as Row,
  Unavailable,
  Validation
} from "./Api.ts"
import * as ChatTree from "./ChatTree.ts"
import { isSeq } from "./Frame.ts"
import * as Hub from "./Hub.ts"
import { Hubs } from "./Hubs.ts"
import { SessionSearch } from "./SessionSearch.ts"

const DEFAULT_LIMIT = 50

/** Where new sessions belong. */
export class Place extends Context.Service<Place, { readonly cwd: string }>()("@grove/server/Place") {}

/** What no schema says: `If-Match` holds a number, with quotation marks or without. */
const seqFrom = (header: string | undefined) => {
  if (header === undefined || header.trim() === "*") return Effect.succeed(undefined)
  const digits = /^\s*"?(\d+)"?\s*$/.exec(header)?.[1]
  const seq = Number(digits)
  return digits !== undefined && isSeq(seq)
    ? Effect.succeed(seq)
    : Effect.fail(new BadRequest({ message: "If-Match is a seq, as the tree and every answer have it" }))
}

interface Writing {
  readonly "if-match"?: string
  readonly "idempotency-key"?: string
}

/** Consecutive nodes that are switched the same way are one edit. */
const grouped = (
  states: ReadonlyArray<{ readonly id: string; readonly isEnabled: boolean }>
): ReadonlyArray<Operation> => {
  const groups: Array<{ readonly op: "enable" | "disable"; readonly ids: [string, ...Array<string>] }> = []
  for (const { id, isEnabled } of states) {
    const op = isEnabled ? "enable" : "disable"
    const last = groups.at(-1)
    if (last?.op === op) last.ids.push(id)
    else groups.push({ op, ids: [id] })
  }
  return groups
}

const apart = (states: ReadonlyArray<{ readonly id: string; readonly isEnabled: boolean }>): ReadonlyArray<Operation> =>
  states.map(({ id, isEnabled }) => ({ op: isEnabled ? "enable" : "disable", ids: [id] }))

const rowOf = ({
  id,
  name,
  firstMessage,
  cwd,
  created,
  modified,
  messageCount,
  branches
}: SessionSummary.SessionSummary): Row => ({
  sessionId: id!,
  title: name ?? firstMessage ?? "",
  cwd,
  createdAt: created,
  updatedAt: modified,
  messageCount,
  branches
})

const edit = Effect.fnUntraced(function* (
  sessionId: string,
  headers: Writing,
  ...attempts: ReadonlyArray<ReadonlyArray<Operation>>
) {
  const hubs = yield* Hubs
  const hub = yield* hubs.open(sessionId)
  const seq = yield* seqFrom(headers["if-match"])
  // Where the first way is refused, the next says more exactly why.
  const [first, ...others] = attempts.map((operations) => hub.edit(operations, seq))
  const tried = others.reduce(
    (before, next) => Effect.catch(before, (error) => (error instanceof Refused ? next : Effect.fail(error))),
    first!
  )
  const what = JSON.stringify([sessionId, attempts[0], headers["if-match"]])
  return yield* hubs.once(headers["idempotency-key"], what, tried)
}, Effect.scoped)

const SessionsHandlers = HttpApiBuilder.group(
  Api,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const store = yield* SessionStore
    const hubs = yield* Hubs
    const { cwd } = yield* Place
    return handlers.handleAll({
      list: () =>
        store.list().pipe(
          Effect.map((found) => found.filter(({ id }) => id !== null).map(rowOf)),
          Effect.mapError(() => new Unavailable({ message: "the sessions cannot be listed" }))
        ),
      create: ({ payload: { title } }) =>
        Effect.gen(function* () {
          const { id } = yield* sessions.create({ cwd })
          if (title !== undefined && title.trim() !== "") {
            const hub = yield* hubs.open(id)
            yield* hub.edit([{ op: "name", name: title }], undefined)
          }
          return { sessionId: id }
        }).pipe(
          Effect.scoped,
          Effect.mapError(() => new Unavailable({ message: "the session cannot be made" }))
        ),
      fork: ({ params: { sessionId }, payload: { at, all } }) =>
        Effect.gen(function* () {
          const path = yield* hubs.locate(sessionId)
          const { id } = yield* sessions.fork(path, {
            cwd,
            ...(at !== undefined && { at }),
            ...(all !== undefined && { all })
          })
          return { sessionId: id }
        }).pipe(
          Effect.catchTags({
            UnknownEntry: () => Effect.fail(Hub.notFound()),
            SessionStoreError: (error) => Effect.fail(Hub.unavailable(error))
          })
        ),
      rename: ({ params: { sessionId }, headers, payload: { title } }) =>
        Effect.provideService(edit(sessionId, headers, [{ op: "name", name: title }]), Hubs, hubs)
    })
  })
)

const ChatHandlers = HttpApiBuilder.group(
  Api,
  "chat",
  Effect.fnUntraced(function* (handlers) {
    const hubs = yield* Hubs
    const policy = yield* ContextPolicy
    const editing = (...asked: Parameters<typeof edit>) => Effect.provideService(edit(...asked), Hubs, hubs)

    /** A node that a person may look from: any that is there, also in a fragment. */
    const known = (hub: Hub.Hub, id: string) => {
      const { tree } = hub.session
      return tree.has(id) && !tree.isMarkAt(tree.rowOf(id))
        ? Effect.succeed(id as EntryId)
        : Effect.fail(Hub.notFound())
    }

    return handlers.handleAll({
      // Encoded as it is: ids may be any text, and there may be a hundred thousand of them.
      tree: ({ params: { sessionId } }) =>
        Effect.map(hubs.open(sessionId), ({ log }) => HttpServerResponse.jsonUnsafe(log.tree())).pipe(Effect.scoped),
      message: ({ params: { sessionId }, headers, payload }) =>
        Effect.gen(function* () {
          const hub = yield* hubs.open(sessionId)
          const seq = yield* seqFrom(headers["if-match"])
          const what = JSON.stringify([sessionId, payload, headers["if-match"]])
          return yield* hubs.once(headers["idempotency-key"], what, hub.say(payload, seq))
        }).pipe(Effect.scoped),
      edit: ({ params: { sessionId }, headers, payload: { ops } }) => editing(sessionId, headers, ops),
      nodeState: ({ params: { sessionId, nodeId }, headers, payload: { isEnabled } }) =>
        editing(sessionId, headers, grouped([{ id: nodeId, isEnabled }])),
      nodesState: ({ params: { sessionId }, headers, payload: { states } }) =>
        editing(sessionId, headers, grouped(states), apart(states)),
      activeLeaf: ({ params: { sessionId }, headers, payload: { leafId } }) =>
        editing(sessionId, headers, [{ op: "leaf", target: leafId }]),
      cancel: ({ params: { sessionId, nodeId } }) =>
        Effect.gen(function* () {
          const { log, cancel } = yield* hubs.open(sessionId)
          const isCancelled = yield* cancel(nodeId)
          const node = log.node(nodeId)
          if (node === undefined) return yield* Hub.notFound()
          if (isCancelled) return { seq: log.seq, node }
          const message = `${nodeId} is not being generated`
          return yield* new Refused({
            message,
            seq: log.seq,
            refused: [{ index: 0, code: "unknown", id: nodeId, message }]
          })
        }).pipe(Effect.scoped),
      context: ({ params: { sessionId }, query }) =>
        Effect.gen(function* () {
          const hub = yield* hubs.open(sessionId)
          const { tree } = hub.session
          const leaf =
            query.leaf === undefined
              ? tree.leaf
              : query.leaf === "none" && !tree.has("none")
                ? null
                : yield* known(hub, query.leaf)
          const built = ContextBuilder.build(tree, leaf)
          const { thinkingLevel, model } = built
          const common = { leaf: ChatTree.nodeId(tree, built.leaf), thinkingLevel, model }
          if (query.sendable !== "true") {
            return {
              ...common,
              messages: built.messages,
              sources: built.sources,
              tokens: Tokens.estimateAll(built.messages)
            }
          }
          const { messages, systemPrompt } = yield* policy.apply(built, { model: Capabilities.of(model) })
          return { ...common, messages, systemPrompt, tokens: Tokens.estimateAll(messages) }
        }).pipe(Effect.scoped),
      compare: ({ params: { sessionId }, query }) =>
        Effect.gen(function* () {
          const hub = yield* hubs.open(sessionId)
          const [a, b] = [yield* known(hub, query.a), yield* known(hub, query.b)]
          return Comparison.compare(hub.session.tree, a, b)
        }).pipe(Effect.scoped)
    })
  })
)

const iso = (time: number): string => new Date(time).toISOString()

const SearchHandlers = HttpApiBuilder.group(
  Api,
  "search",
  Effect.fnUntraced(function* (handlers) {
    const history = yield* PromptHistory
    const index = yield* SessionSearch
    return handlers.handleAll({
      history: ({ query: { q = "", session, limit = DEFAULT_LIMIT } }) =>
        history.search({ text: q, limit, ...(session !== undefined && { session }) }).pipe(
          Effect.map((hits) =>
            hits.map(({ id, prompt, uses, firstUsed, lastUsed, cwd, session, entry }) => ({
              ...{ id, prompt, uses, cwd, session, entry },
              firstUsed: iso(firstUsed),
              lastUsed: iso(lastUsed)
            }))
          ),
          Effect.mapError(() => new Unavailable({ message: "the history cannot be searched" }))
        ),
      sessions: ({ query: { q = "", limit = DEFAULT_LIMIT } }) =>
        Effect.mapError(index.search(q, limit), () => new Unavailable({ message: "the sessions cannot be searched" }))
    })
  })
)

/** The guard has seen the token before anything was routed; here it is only part of the interface. */
const BearerSeen = Layer.succeed(Bearer, Bearer.of({ bearer: (effect) => effect }))

/** Which part of the request is wrong, and how; nothing of the server. */
const Validated = HttpApiMiddleware.layerSchemaErrorTransform(Validation, (error) =>
  error.kind === "Body" || error.kind === "ResponseHeaders"
    ? Effect.fail(error)
    : Effect.fail(
        new BadRequest({ message: `${error.kind.toLowerCase()}: ${String(error.cause.message).slice(0, 1000)}` })
      )
)

/** All routes, and the document that describes them. */
export const layer = HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([SessionsHandlers, ChatHandlers, SearchHandlers]),
  Layer.provide([BearerSeen, Validated])
)
