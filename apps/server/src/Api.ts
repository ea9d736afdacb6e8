/** The interface as data: routes, what they take and what they answer. Server, client and OpenAPI document come from it. */
import { isObject, type Json, type TreeEdits } from "@grove/core"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import * as ChatTree from "./ChatTree.ts"
import * as Frame from "./Frame.ts"

// ---------------------------------------------------------------------------------------------------------- errors

/** What was asked for is not there. The same words for whatever is missing, so that nothing can be found out by asking. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(
  { code: Schema.tag("not-found"), message: Schema.String },
  { httpApiStatus: 404 }
) {}
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(
  { code: Schema.tag("bad-request"), message: Schema.String },
  { httpApiStatus: 400 }
) {}
/** The session has changed since the number that was given. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(
  { code: Schema.tag("conflict"), message: Schema.String, seq: Schema.Finite },
  { httpApiStatus: 409 }
) {}
const Refusal = Schema.Struct({
  index: Schema.Int,
  code: Schema.Literals(["unknown", "cycle", "pruned", "busy", "splits-unit", "not-an-edit"]),
  id: Schema.String,
  message: Schema.String
})
/** Some of the operations cannot be done, so none was. */
export class Refused extends Schema.Error<Refused>("Refused")(
  {
    code: Schema.tag("refused"),
    message: Schema.String,
    seq: Schema.Finite,
    refused: Schema.Array(Refusal)
  },
  { httpApiStatus: 409 }
) {}
/** An operation id was used before, for something else. */
export class OperationReused extends Schema.Error<OperationReused>("OperationReused")(
  { code: Schema.tag("operation-reused"), message: Schema.String },
  { httpApiStatus: 422 }
) {}
/** There is no such model, or it cannot be asked; or nobody could write a summary. */
export class ModelRefused extends Schema.Error<ModelRefused>("ModelRefused")(
  { code: Schema.tag("model-refused"), message: Schema.String },
  { httpApiStatus: 422 }
) {}
export class TooMany extends Schema.Error<TooMany>("TooMany")(
  { code: Schema.tag("too-many"), message: Schema.String },
  { httpApiStatus: 429 }
) {}
/** The medium refused, or the server is about to end. */
export class Unavailable extends Schema.Error<Unavailable>("Unavailable")(
  { code: Schema.tag("unavailable"), message: Schema.String },
  { httpApiStatus: 503 }
) {}

// ------------------------------------------------------------------------------------------------------ operations

const Id = Schema.NonEmptyString.check(Schema.isMaxLength(1024))
const Ids = Schema.NonEmptyArray(Id).check(Schema.isMaxLength(10_000))
const Text = Schema.String.check(Schema.isMaxLength(500_000))
const SpokenText = Text.check(Schema.isPattern(/\S/u))

/** One edit of a tree. */
export const Operation = Schema.Union([
  Schema.Struct({ op: Schema.Literals(["enable", "disable"]), ids: Ids }),
  Schema.Struct({ op: Schema.Literal("prune"), id: Id, force: Schema.optionalKey(Schema.Boolean) }),
  Schema.Struct({ op: Schema.Literal("graft"), source: Id, target: Id }),
  Schema.Struct({
    op: Schema.Literal("merge"),
    branch: Id,
    onto: Schema.optionalKey(Id),
    pick: Schema.optionalKey(Ids),
    text: Schema.optionalKey(SpokenText)
  }),
  Schema.Struct({ op: Schema.Literal("summarize"), first: Id, last: Id, text: Schema.optionalKey(SpokenText) }),
  Schema.Struct({ op: Schema.Literal("leaf"), target: Schema.NullOr(Id) }),
  Schema.Struct({ op: Schema.Literal("label"), id: Id, label: Schema.NullOr(Text) }),
  Schema.Struct({ op: Schema.Literal("name"), name: Text }),
  Schema.Struct({
    op: Schema.Literal("rate"),
    id: Id,
    rating: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))),
    note: Schema.optionalKey(Text)
  }),
  Schema.Struct({ op: Schema.Literal("undo"), edit: Schema.optionalKey(Id) }),
  Schema.Struct({ op: Schema.Literal("redo") })
]).annotate({ identifier: "Operation" })
export type Operation = typeof Operation.Type

/** The operations are those of the core, no more and no less. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
export const isComplete: Same<Operation["op"], TreeEdits.Operation["op"]> = true

const Applied = Schema.Struct({
  index: Schema.Int,
  op: Schema.String,
  /** The mark that was written, by which it is undone; `null` where there was nothing to do. */
  edit: Schema.NullOr(Schema.String),
  /** What it came to: whole units, where a part of one was named. */
  nodes: Schema.Array(Schema.String),
  created: Schema.Array(Schema.String)
})

const Size = Schema.Struct({ messages: Schema.Int, tokens: Schema.Int })

export const Edited = Schema.Struct({
  seq: Schema.Finite,
  applied: Schema.Array(Applied),
  activeLeafId: Schema.NullOr(Schema.String),
  /** What the model is shown at the active leaf; tokens are estimated. */
  context: Schema.Struct({ before: Size, after: Size })
}).annotate({ identifier: "Edited" })
export type Edited = typeof Edited.Type

// ---------------------------------------------------------------------------------------------------------- bodies

export const Message = Schema.Struct({
  /** The node it is said under; `null` begins a new root. */
  parentId: Schema.NullOr(Id),
  /** What the person says. Left out, what is there is answered, again if it was before. */
  content: Schema.optionalKey(SpokenText),
  /** So many replies side by side. */
  samples: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 16 }))),
  /** `provider/model` */
  model: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200))),
  /** Takes the active leaf along. Otherwise it stays where it is. */
  follow: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "Message" })
export type Message = typeof Message.Type

export const Begun = Schema.Struct({
  seq: Schema.Finite,
  /** The prompt; `null` where none was given. */
  prompt: Schema.NullOr(ChatTree.ChatMessageNode),
  /** The replies, which grow from now on. */
  nodes: Schema.Array(ChatTree.ChatMessageNode)
}).annotate({ identifier: "Begun", httpApiStatus: 202 })

export type Begun = typeof Begun.Type

export const SessionSummary = Schema.Struct({
  sessionId: Schema.String,
  title: Schema.String,
  cwd: Schema.NullOr(Schema.String),
  createdAt: Schema.NullOr(Schema.String),
  updatedAt: Schema.NullOr(Schema.String),
  messageCount: Schema.Int,
  branches: Schema.Int
}).annotate({ identifier: "SessionSummary" })
export type SessionSummary = typeof SessionSummary.Type

const Made = Schema.Struct({ sessionId: Schema.String }).annotate({ httpApiStatus: 201 })

const Side = Schema.Struct({
  leaf: Schema.String,
  entries: Schema.Array(Schema.String),
  tokens: Schema.Finite,
  costMicros: Schema.NullOr(Schema.Finite),
  files: Schema.Array(Schema.String)
})
const Comparison = Schema.Struct({
  common: Schema.Array(Schema.String),
  a: Side,
  b: Side,
  turns: Schema.Array(
    Schema.Struct({
      a: Schema.NullOr(Schema.String),
      b: Schema.NullOr(Schema.String),
      diff: Schema.Array(Schema.Struct({ kind: Schema.Literals(["same", "removed", "added"]), text: Schema.String }))
    })
  )
})

/** What the model would be shown. */
const ContextPreview = Schema.Struct({
  leaf: Schema.NullOr(Schema.String),
  messages: Schema.Array(Schema.Unknown),
  /** The entry each message came from; only before the policy has made it sendable. */
  sources: Schema.optionalKey(Schema.Array(Schema.String)),
  tokens: Schema.Int,
  thinkingLevel: Schema.String,
  model: Schema.NullOr(Schema.Struct({ provider: Schema.String, modelId: Schema.String })),
  systemPrompt: Schema.optionalKey(Schema.String)
})

const PromptHit = Schema.Struct({
  id: Schema.Int,
  prompt: Schema.String,
  uses: Schema.Int,
  firstUsed: Schema.String,
  lastUsed: Schema.String,
  cwd: Schema.NullOr(Schema.String),
  session: Schema.NullOr(Schema.String),
  entry: Schema.NullOr(Schema.String)
})

export const SearchHit = Schema.Struct({
  session: Schema.NullOr(Schema.String),
  entry: Schema.String,
  role: Schema.String,
  timestamp: Schema.String,
  snippet: Schema.String,
  /** Where the words stand in the snippet. */
  marks: Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type SearchHit = typeof SearchHit.Type

// ---------------------------------------------------------------------------------------------------------- routes

/** Every request bears the token that the server printed. */
export class Bearer extends HttpApiMiddleware.Service<Bearer>()("@grove/server/Bearer", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer }
}) {}

/** What does not fit its schema is told in words. */
export class Validation extends HttpApiMiddleware.Service<Validation>()("@grove/server/Validation", {
  error: BadRequest
}) {}

const session = { sessionId: Schema.String }
const node = { sessionId: Schema.String, nodeId: Schema.String }

/** For what changes a session. */
const writing = {
  /** A number: refused with 409 if an entry was written since. */
  "if-match": Schema.optionalKey(Schema.String),
  /** Chosen by the client, a new one for each thing it wants done: with the same one it is done once, and answered again. */
  "idempotency-key": Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200)))
}

const Limit = Schema.optionalKey(
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 1000 }))
)
const Query = Schema.optionalKey(Schema.String.check(Schema.isMaxLength(2000)))

const editErrors = [NotFound, Conflict, Refused, OperationReused, ModelRefused, Unavailable] as const

const about = (summary: string, description?: string) =>
  OpenApi.annotations({ summary, ...(description !== undefined && { description }) })

const SessionsGroup = HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("list", "/api/sessions", {
      success: Schema.Array(SessionSummary),
      error: Unavailable
    }).annotateMerge(about("All sessions, newest first")),
    HttpApiEndpoint.post("create", "/api/sessions", {
      payload: Schema.Struct({ title: Schema.optionalKey(Text) }),
      success: Made,
      error: Unavailable
    }).annotateMerge(about("A new session")),
    HttpApiEndpoint.post("fork", "/api/sessions/:sessionId/fork", {
      params: session,
      payload: Schema.Struct({ at: Schema.optionalKey(Id), all: Schema.optionalKey(Schema.Boolean) }),
      success: Made,
      error: [NotFound, Unavailable]
    }).annotateMerge(about("A new session with the path up to a node, or with every branch")),
    HttpApiEndpoint.put("rename", "/api/sessions/:sessionId/title", {
      params: session,
      headers: writing,
      payload: Schema.Struct({ title: Text }),
      success: Edited,
      error: editErrors
    }).annotateMerge(about("Names a session; an empty title takes the name away"))
  )
  .middleware(Validation)
  .middleware(Bearer)

const ChatGroup = HttpApiGroup.make("chat")
  .add(
    HttpApiEndpoint.get("tree", "/api/chat/:sessionId/tree", {
      params: session,
      success: ChatTree.ChatHistoryTree,
      error: [NotFound, Unavailable]
    }).annotateMerge(
      about("The whole tree", "Growing replies are in it. Events after its seq are had from the socket with since.")
    ),
    HttpApiEndpoint.post("message", "/api/chat/:sessionId/message", {
      params: session,
      headers: writing,
      payload: Message,
      success: Begun,
      error: [NotFound, BadRequest, Conflict, OperationReused, ModelRefused, TooMany, Unavailable]
    }).annotateMerge(
      about(
        "Says something and has it answered",
        "Answers at once, with the nodes of the replies that have begun to grow."
      )
    ),
    HttpApiEndpoint.put("edit", "/api/chat/:sessionId/tree/edit", {
      params: session,
      headers: writing,
      payload: Schema.Struct({ ops: Schema.NonEmptyArray(Operation).check(Schema.isMaxLength(1000)) }),
      success: Edited,
      error: editErrors
    }).annotateMerge(about("Edits, all of them or none")),
    HttpApiEndpoint.put("nodeState", "/api/chat/:sessionId/node/:nodeId/state", {
      params: node,
      headers: writing,
      payload: Schema.Struct({ isEnabled: Schema.Boolean }),
      success: Edited,
      error: editErrors
    }).annotateMerge(about("Takes a node out of every context, or puts it back")),
    HttpApiEndpoint.put("nodesState", "/api/chat/:sessionId/nodes/state", {
      params: session,
      headers: writing,
      payload: Schema.Struct({
        states: Schema.NonEmptyArray(Schema.Struct({ id: Id, isEnabled: Schema.Boolean })).check(
          Schema.isMaxLength(10_000)
        )
      }),
      success: Edited,
      error: editErrors
    }).annotateMerge(about("The same for many nodes, all of them or none")),
    HttpApiEndpoint.put("activeLeaf", "/api/chat/:sessionId/active_leaf", {
      params: session,
      headers: writing,
      payload: Schema.Struct({ leafId: Schema.NullOr(Id) }),
      success: Edited,
      error: editErrors
    }).annotateMerge(about("Makes the path to a node the trunk")),
    HttpApiEndpoint.post("cancel", "/api/chat/:sessionId/node/:nodeId/cancel", {
      params: node,
      success: Schema.Struct({ seq: Schema.Finite, node: ChatTree.ChatMessageNode }),
      error: [NotFound, Refused, Unavailable]
    }).annotateMerge(about("Ends a growing reply; what it has said is kept")),
    HttpApiEndpoint.get("context", "/api/chat/:sessionId/context", {
      params: session,
      query: {
        /** A node, or `none`; the active leaf if left out. */
        leaf: Schema.optionalKey(Id),
        /** As it would be sent. */
        sendable: Schema.optionalKey(Schema.Literals(["true", "false"]))
      },
      success: ContextPreview,
      error: [NotFound, Unavailable]
    }).annotateMerge(about("What the model is shown")),
    HttpApiEndpoint.get("compare", "/api/chat/:sessionId/compare", {
      params: session,
      query: { a: Id, b: Id },
      success: Comparison,
      error: [NotFound, Unavailable]
    }).annotateMerge(about("Two branches side by side"))
  )
  .middleware(Validation)
  .middleware(Bearer)

const SearchGroup = HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("history", "/api/history", {
      query: { q: Query, session: Schema.optionalKey(Id), limit: Limit },
      success: Schema.Array(PromptHit),
      error: Unavailable
    }).annotateMerge(about("Prompts that were ever typed")),
    HttpApiEndpoint.get("sessions", "/api/search", {
      query: { q: Query, limit: Limit },
      success: Schema.Array(SearchHit),
      error: Unavailable
    }).annotateMerge(about("What was said in any session"))
  )
  .middleware(Validation)
  .middleware(Bearer)

const EVENTS = {
  get: {
    tags: ["chat"],
    operationId: "chat.events",
    summary: "A WebSocket that tells what happens",
    description:
      "Protocols: `grove`, `bearer.<token>`. Each message is a frame. Closed with 4410 where `since` is too old, 4408 where the client is too slow, 1001 where the server ends.",
    parameters: [
      { name: "sessionId", in: "path", required: true, schema: { type: "string" } },
      { name: "since", in: "query", required: false, schema: { type: "integer" } }
    ],
    responses: { 101: { description: "Frames, as in #/components/schemas/Frame" } },
    security: [{ bearer: [] }]
  }
}

/** OpenAPI has no word for sockets, so the path and its frames are written down by hand and by schema. */
const withEvents = (document: Json): Json => {
  const { schema, definitions } = frames()
  const components = isObject(document.components) ? document.components : {}
  return {
    ...document,
    paths: { ...(document.paths as Json), "/api/chat/{sessionId}/events": EVENTS },
    components: { ...components, schemas: { ...definitions, ...(components.schemas as Json), Frame: schema } }
  }
}

const frames = (): { readonly schema: unknown; readonly definitions: Json } => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Frame.Frame)
  const moved = JSON.parse(JSON.stringify({ schema, definitions }).replaceAll("#/$defs/", "#/components/schemas/"))
  return { schema: moved.definitions.Frame ?? moved.schema, definitions: moved.definitions }
}

export const Api = HttpApi.make("grove")
  .add(SessionsGroup)
  .add(ChatGroup)
  .add(SearchGroup)
  .annotateMerge(
    OpenApi.annotations({
      title: "Grove",
      version: "1",
      description: "Conversations with language models as trees: read, edited and grown from any front end.",
      transform: withEvents
    })
  )
