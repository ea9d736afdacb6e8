/** Port: a context in; text, thinking, tool calls and usage out, as they come. */
import { Clock, Context, Effect, Layer, Option, Schema, Stream } from "effect"
import type { AssistantMessage } from "./model/Message.ts"
import type { Json } from "./model/open.ts"
import { partsOf, ReplyDraft, type ReplyPart, type Speaker, type StopReason } from "./model/Reply.ts"
import type { Usage } from "./model/Usage.ts"

/** There is no key for the provider. `remedy` says where one would be looked for. */
export class NoKey extends Schema.TaggedError<NoKey>()("NoKey", { remedy: Schema.String }) {}
/** The provider does not accept the key, or does not let it do this. `remedy` says where another one would be looked for. */
export class WrongKey extends Schema.TaggedError<WrongKey>()("WrongKey", {
  detail: Schema.String,
  remedy: Schema.optionalKey(Schema.String)
}) {}
/** Nobody serves a model of that name. `known` are names that come near. */
export class UnknownModel extends Schema.TaggedError<UnknownModel>()("UnknownModel", {
  known: Schema.Array(Schema.String)
}) {}
/** No connection came about. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  address: Schema.String,
  detail: Schema.String
}) {}
/** Too much was asked for in too short a time, or the credit is used up. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterMillis: Schema.NullOr(Schema.Finite),
  detail: Schema.String
}) {}
/** The provider has trouble of its own. */
export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {
  retryAfterMillis: Schema.NullOr(Schema.Finite),
  detail: Schema.String
}) {}
/** The context does not fit into the window of the model: a compaction helps, a repetition does not. */
export class ContextOverflow extends Schema.TaggedError<ContextOverflow>()("ContextOverflow", {
  detail: Schema.String
}) {}
/** The provider understood the request and will not answer it. */
export class RequestRefused extends Schema.TaggedError<RequestRefused>()("RequestRefused", {
  detail: Schema.String
}) {}
/** What came back is not what the provider's interface promises. */
export class BadReply extends Schema.TaggedError<BadReply>()("BadReply", { detail: Schema.String }) {}
/** The connection broke off before the reply was whole. What had come is in the parts before this error. */
export class CutStream extends Schema.TaggedError<CutStream>()("CutStream", { detail: Schema.String }) {}

export const Reason = Schema.Union([
  NoKey,
  WrongKey,
  UnknownModel,
  Unreachable,
  RateLimited,
  Overloaded,
  ContextOverflow,
  RequestRefused,
  BadReply,
  CutStream
])
export type Reason = typeof Reason.Type

const told = (reason: Reason): string => {
  switch (reason._tag) {
    case "NoKey":
      return `there is no key: ${reason.remedy}`
    case "WrongKey":
      return `the key was not accepted: ${reason.detail}${reason.remedy === undefined ? "" : `; ${reason.remedy}`}`
    case "UnknownModel":
      return reason.known.length === 0
        ? "no such model; `grove models` lists those there are"
        : `no such model; did you mean ${reason.known.join(", ")}?`
    case "Unreachable":
      return `cannot reach ${reason.address}: ${reason.detail}`
    case "RateLimited": {
      const wait = reason.retryAfterMillis === null ? "" : `, again in ${Math.ceil(reason.retryAfterMillis / 1000)} s`
      return `rate limited${wait}: ${reason.detail}`
    }
    case "Overloaded":
      return `the provider is overloaded: ${reason.detail}`
    case "ContextOverflow":
      return `the context is too long for the model: ${reason.detail}`
    case "RequestRefused":
      return `the request was refused: ${reason.detail}`
    case "BadReply":
      return `the reply could not be understood: ${reason.detail}`
    case "CutStream":
      return `the reply was cut off: ${reason.detail}`
  }
}

/** Its message is one line for people. No part of it ever holds a key. */
export class ChatModelError extends Schema.TaggedError<ChatModelError>()("ChatModelError", {
  /** As it was asked for: `provider/model`. */
  model: Schema.String,
  reason: Reason
}) {
  override get message(): string {
    return `${this.model}: ${told(this.reason)}`
  }
  /** Whether the same request may succeed a little later. */
  get isTransient(): boolean {
    return TRANSIENT.has(this.reason._tag)
  }
}
const TRANSIENT = new Set<Reason["_tag"]>(["Unreachable", "RateLimited", "Overloaded", "CutStream"])

/** How hard to think, from not at all to as hard as the model can; a model takes the nearest level that it has. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh"] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** A level as a session names it; names we do not know mean off. */
export const thinkingLevel = (name: string): ThinkingLevel => thinkingLevels.find((level) => level === name) ?? "off"

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Json
}

export interface ChatRequest {
  /** `provider/model` */
  readonly model: string
  readonly system?: string
  /** As sessions hold them: user, assistant and toolResult, in an order that the context policy has made sendable. */
  readonly messages: ReadonlyArray<Json>
  readonly tools?: ReadonlyArray<ToolDefinition>
  readonly thinkingLevel?: ThinkingLevel
  /** At most so many tokens are generated; otherwise as many as the model can. */
  readonly maxTokens?: number
  /** Whether it is worth it for the provider to remember this context for the next request; false for one of a kind. */
  readonly cache?: boolean
}

/** US dollars for a million tokens; equally, millionths of a dollar for one. */
export interface Prices {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
  /** The prices hold for contexts of at most so many tokens; beyond, they are unknown. */
  readonly upTo?: number
}

/** What is known of a model. */
export interface ModelInfo {
  /** `provider/model`: how it is asked for. */
  readonly ref: string
  readonly provider: string
  readonly model: string
  readonly name: string
  /** Tokens that context and reply may have together, and a reply alone; `null` where nobody says. */
  readonly window: number | null
  readonly maxOutput: number | null
  readonly tools: boolean
  readonly images: boolean
  readonly thinking: boolean
  /** `null` where unknown, which is not the same as free. */
  readonly prices: Prices | null
}

export interface ProviderListing {
  readonly provider: string
  readonly name: string
  /** One line on why none of its models would answer now, and what to do; `null` when they would. */
  readonly problem: string | null
  readonly models: ReadonlyArray<ModelInfo>
}

export class ChatModel extends Context.Service<
  ChatModel,
  {
    /**
     * The reply, as it comes. Each run asks anew, and many may run at once. The last part is the only `End`; its message is
     * what a `ReplyDraft` makes of the parts before it. A reply is whole or the stream fails, after handing out everything
     * that had come. Interrupting it closes the connection. Whatever is in the messages, there is a reply or a typed error.
     */
    readonly stream: (request: ChatRequest) => Stream.Stream<ReplyPart, ChatModelError>
    /** What is known of a model, without asking whether it would answer. Fails with `UnknownModel` alone. */
    readonly find: (ref: string) => Effect.Effect<ModelInfo, ChatModelError>
    /** All providers, also those that would not answer now, and why. Never fails, and is never slow. */
    readonly list: Effect.Effect<ReadonlyArray<ProviderListing>>
  }
>()("@grove/core/ChatModel") {
  /** Answers by a script, for tests: one answer a request, in turn, and the last one ever after; or by what is asked. */
  static readonly layerScripted = (script: Script) => Layer.sync(ChatModel, () => makeScripted(script))
}

/** The whole reply at once: for summaries and other questions nobody watches being answered. */
export const reply = (request: ChatRequest): Effect.Effect<AssistantMessage, ChatModelError, ChatModel> =>
  ChatModel.use((model) => Stream.runLast(model.stream(request))).pipe(
    Effect.flatMap((last) =>
      Option.isSome(last) && last.value._tag === "End"
        ? Effect.succeed(last.value.message)
        : Effect.die(new Error("a ChatModel ended without its End"))
    )
  )

/**
 * Completes what an adapter reads off the wire, whose last word is a `Stop`, by the `End`. An adapter whose source dries
 * up without a `Stop` has a cut reply.
 */
export const assemble = <E, R>(
  speaker: Speaker,
  parts: Stream.Stream<ReplyPart, E, R>
): Stream.Stream<ReplyPart, E | ChatModelError, R> =>
  Stream.unwrap(
    Effect.map(Clock.currentTimeMillis, (started) => {
      const draft = new ReplyDraft(speaker)
      const end = Effect.gen(function* () {
        if (draft.stopReason === undefined) {
          return yield* new ChatModelError({
            model: `${speaker.provider}/${speaker.model}`,
            reason: new CutStream({ detail: "the stream ended before the model had" })
          })
        }
        const timestamp = yield* Clock.currentTimeMillis
        const message = draft.message({ timestamp, latencyMs: timestamp - started })
        return { _tag: "End", message } as const
      })
      const heard = Stream.map(parts, (part) => {
        draft.add(part)
        return part
      })
      return Stream.concat(heard, Stream.fromEffect(end))
    })
  )

/** One answer of a model that plays a part. */
export interface ScriptedAnswer {
  /** Text, or whole blocks; streamed word by word. */
  readonly content?: string | AssistantMessage["content"]
  readonly usage?: Usage
  readonly stopReason?: StopReason
  /** After the content the stream fails with this. */
  readonly fail?: Reason
  /** After the content the stream says nothing more, until it is interrupted. */
  readonly hang?: boolean
}

export type Script = ReadonlyArray<ScriptedAnswer> | ((request: ChatRequest) => ScriptedAnswer)

export const scripted: ModelInfo = {
  ref: "test/scripted",
  provider: "test",
  model: "scripted",
  name: "Scripted",
  window: 100_000,
  maxOutput: 10_000,
  tools: true,
  images: true,
  thinking: true,
  prices: null
}

const makeScripted = (script: Script) => {
  let turn = 0
  const next = (request: ChatRequest): ScriptedAnswer =>
    typeof script === "function" ? script(request) : (script[Math.min(turn++, script.length - 1)] ?? {})
  const find = (ref: string) =>
    ref === scripted.ref
      ? Effect.succeed(scripted)
      : Effect.fail(new ChatModelError({ model: ref, reason: new UnknownModel({ known: [scripted.ref] }) }))
  const answer = (request: ChatRequest): Stream.Stream<ReplyPart, ChatModelError> => {
    const { content = "", usage, stopReason, fail, hang } = next(request)
    const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
    const said = Stream.fromIterable(partsOf(blocks))
    if (fail !== undefined) {
      return Stream.concat(said, Stream.fail(new ChatModelError({ model: scripted.ref, reason: fail })))
    }
    if (hang === true) return Stream.concat(said, Stream.never)
    const reason = stopReason ?? (blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop")
    const used: ReadonlyArray<ReplyPart> = usage === undefined ? [] : [{ _tag: "Usage", usage }]
    return Stream.concat(said, Stream.fromIterable<ReplyPart>([...used, { _tag: "Stop", reason }]))
  }
  return ChatModel.of({
    stream: (request) =>
      Stream.unwrap(
        Effect.map(find(request.model), ({ provider, model }) => assemble({ provider, model }, answer(request)))
      ),
    find,
    list: Effect.succeed([{ provider: scripted.provider, name: "Test", problem: null, models: [scripted] }])
  })
}
