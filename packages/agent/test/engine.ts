/** What the tests of the engine share: an engine over memory, with a model that plays a part. */
import {
  Chat,
  ChatModel,
  Compactor,
  Consents,
  ContextPolicy,
  type Entry,
  EntryIds,
  isObject,
  type Json,
  RunningReplies,
  type RunningReply,
  type Session,
  SessionStore,
  Sessions
} from "@grove/core"
import { Effect, Layer, Stream } from "effect"
import { Approvals } from "../src/Approval.ts"
import * as ChatSummarizer from "../src/ChatSummarizer.ts"
import { Engine } from "../src/Engine.ts"
import { succeeded, type Tool } from "../src/Tool.ts"
import type { Turn, TurnEvent, TurnOptions } from "../src/Turn.ts"
import type { Settings } from "../src/Work.ts"

export interface Stage {
  readonly script?: Chat.Script
  readonly model?: Layer.Layer<ChatModel>
  readonly settings?: Settings
  /** Replies whose owners are gone. */
  readonly left?: ReadonlyArray<RunningReply>
}

export const layer = ({ script = [{ content: "yes" }], model, settings, left = [] }: Stage = {}) =>
  Engine.layer({ model: Chat.scripted.ref, ...settings }).pipe(
    Layer.provideMerge(Layer.mergeAll(Sessions.layer, Compactor.layer, Approvals.layer())),
    Layer.provideMerge(
      Layer.mergeAll(
        SessionStore.layerMemory,
        EntryIds.layerSequential,
        ContextPolicy.layer,
        Consents.layerMemory,
        RunningReplies.layerLeft(left),
        ChatSummarizer.layer()
      )
    ),
    Layer.provideMerge(model ?? ChatModel.layerScripted(script))
  )

export const openNew = Sessions.use((sessions) =>
  Effect.flatMap(sessions.create({ cwd: "/work" }), ({ path }) => sessions.open(path))
)

export const start = (session: Session, options: Omit<TurnOptions, "cwd"> = {}) =>
  Engine.use((engine) => engine.start(session, { cwd: "/work", ...options }))

/** A whole turn, from the prompt to the end. */
export const say = (session: Session, prompt: string, options: Omit<TurnOptions, "cwd"> = {}) =>
  Effect.flatMap(start(session, { prompt, ...options }), ({ end }) => end)

/** Waits until a turn has told something of that kind. */
export const heard = (turn: Turn, tag: TurnEvent["_tag"]) =>
  Stream.runHead(Stream.filter(turn.events, ({ _tag }) => _tag === tag))

export const eventsOf = (turn: Turn) => Stream.runCollect(turn.events)

export const textOf = (message: Json): string =>
  typeof message.content === "string"
    ? message.content
    : (Array.isArray(message.content) ? message.content : [])
        .map((block: unknown) => (isObject(block) && typeof block.text === "string" ? block.text : ""))
        .join("")

/** `role: text` of an entry; its type where it holds no message. */
export const lineOf = (entry: Entry.Entry): string =>
  isObject(entry.message) ? `${entry.message.role}: ${textOf(entry.message)}` : entry.type

export const linesAt = ({ tree }: Session, leaf: string | null) => tree.path(leaf ?? "").map(lineOf)

export const messageAt = ({ tree }: Session, id: string | null): Json => tree.get(id ?? "")!.message as Json

export const call = (name: string, given: Json = {}, id = name) =>
  ({ type: "toolCall", id, name, arguments: given }) as const

export const toolOf = (
  name: string,
  run: Tool["run"] = () => Effect.succeed(succeeded(`${name} done`)),
  kind: Tool["kind"] = "read"
): Tool => ({
  definition: { name, description: name, parameters: { type: "object" } },
  kind,
  describe: () => Effect.succeed({ line: name, paths: [] }),
  run
})
