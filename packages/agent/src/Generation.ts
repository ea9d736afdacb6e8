/** One request to a model, and the reply it becomes: whole, or as far as it came. */
import {
  Chat,
  ChatModel,
  type ChatModelError,
  type ChatRequest,
  ContextBuilder,
  ContextPolicy,
  type Entry,
  type EntryId,
  type Message,
  ReplyDraft,
  type ReplyPart,
  RunningReplies
} from "@grove/core"
import { Cause, Clock, Effect, Exit, Option, Stream } from "effect"
import * as ModelChoice from "./ModelChoice.ts"
import * as Running from "./Running.ts"
import type { Group, TurnEvent } from "./Turn.ts"
import { append, type Work } from "./Work.ts"

/** The context where the turn stands, as the model accepts it. */
const requestFor = Effect.fnUntraced(function* ({ session, cursor, info, options }: Work) {
  const policy = yield* ContextPolicy
  const context = options.linear === true ? ContextBuilder.build(session.tree.linear()) : yield* cursor.context
  const { system, knowledge, tools = [], thinkingLevel } = options
  const { systemPrompt, messages } = yield* policy.apply(context, {
    model: ModelChoice.capabilities(info, tools.length > 0),
    ...(system !== undefined && { systemPrompt: system }),
    ...(knowledge !== undefined && { knowledge })
  })
  return {
    model: info.ref,
    messages,
    thinkingLevel: thinkingLevel ?? Chat.thinkingLevel(context.thinkingLevel),
    ...(systemPrompt !== "" && { system: systemPrompt }),
    ...(info.tools && tools.length > 0 && { tools: tools.map(({ definition }) => definition) })
  } satisfies ChatRequest
})

const eventOf = (entry: EntryId, part: ReplyPart): TurnEvent | undefined => {
  switch (part._tag) {
    case "Text":
    case "Thinking":
      if (part.delta === "") return undefined
      return { _tag: "Delta", entry, kind: part._tag === "Text" ? "text" : "thinking", text: part.delta }
    case "Retry": {
      const { attempt, delayMillis, because } = part
      return { _tag: "Retry", entry, attempt, delayMillis, because }
    }
    default:
      return undefined
  }
}

const speakerOf = ({ info: { provider, model } }: Work) => ({ provider, model })

const CONTENT = new Set<ReplyPart["_tag"]>(["Text", "Thinking", "ToolCallStart"])

/** What was heard of a reply. */
class Heard {
  readonly draft: ReplyDraft
  whole: Message.AssistantMessage | undefined
  text = ""
  isEmpty = true

  constructor(speaker: { readonly provider: string; readonly model: string }) {
    this.draft = new ReplyDraft(speaker)
  }

  add(part: ReplyPart): void {
    this.draft.add(part)
    if (part._tag === "Text") this.text += part.delta
    if (part._tag === "End") this.whole = part.message
    if (CONTENT.has(part._tag)) this.isEmpty = false
  }
}

/** Nothing was said and nothing written: the context has to be made shorter first. */
export interface Overflow {
  readonly _tag: "Overflow"
  readonly error: ChatModelError
}
export interface Replied {
  readonly _tag: "Replied"
  readonly entry: Entry.Entry
  readonly message: Message.AssistantMessage
}

const endingOf = (cause: Cause.Cause<ChatModelError>) => {
  if (Cause.hasInterruptsOnly(cause)) return { stopReason: "aborted" } as const
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return { stopReason: "error", errorMessage: error?.message ?? "unexpected failure" } as const
}

/**
 * Asks, listens, and appends the reply. One that fails or is interrupted is appended too, with what it had said, before
 * this fails or is interrupted.
 */
export const generate = Effect.fnUntraced(function* (work: Work, group?: Group) {
  const { session, cursor, info, emit } = work
  const chat = yield* ChatModel
  const replies = yield* RunningReplies
  const request = yield* requestFor(work)
  const id = yield* session.newId
  const parentId = yield* cursor.leaf
  const started = yield* Clock.currentTimeMillis
  const labelled = group === undefined ? {} : { group }
  const noted = {
    session: session.ref.id,
    entry: id,
    parentId,
    model: info.ref,
    started: new Date(started).toISOString(),
    ...labelled
  }
  const heard = new Heard(speakerOf(work))
  const listen = Stream.runForEach(chat.stream(request), (part) => {
    heard.add(part)
    const event = eventOf(id, part)
    return event === undefined ? Effect.void : emit(event)
  })
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* emit({ _tag: "Started", entry: id, parentId, model: info.ref })
      const kept = Effect.andThen(
        Running.keep(noted, () => heard.text),
        listen
      )
      const exit = yield* Effect.exit(restore(Effect.scoped(kept)))
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
      if (error?.reason._tag === "ContextOverflow" && heard.isEmpty) {
        yield* replies.forget(session.ref.id, id)
        return { _tag: "Overflow", error } satisfies Overflow
      }
      const timestamp = yield* Clock.currentTimeMillis
      const ending = Exit.isFailure(exit) ? endingOf(exit.cause) : {}
      const message = heard.whole ?? heard.draft.message({ timestamp, latencyMs: timestamp - started, ...ending })
      const entry = yield* append(work, { type: "message", message, ...labelled }, id)
      // Where it could not be written the note stays, and with it the text.
      yield* replies.forget(session.ref.id, id)
      if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)
      return { _tag: "Replied", entry, message } satisfies Replied
    })
  )
})

/** What was not answered, because the context is too long, as the reply that it has to be. */
export const refuse = Effect.fnUntraced(function* (work: Work, error: ChatModelError, group?: Group) {
  const timestamp = yield* Clock.currentTimeMillis
  const ending = { timestamp, stopReason: "error", errorMessage: error.message } as const
  const message = new ReplyDraft(speakerOf(work)).message(ending)
  yield* append(work, { type: "message", message, ...(group !== undefined && { group }) })
  return yield* error
})

export type Services = ChatModel | ContextPolicy | RunningReplies
