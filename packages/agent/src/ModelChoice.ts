/** Which model answers, where several have a say. */
import { Capabilities, ChatModel, ContextBuilder, type ModelInfo, type Session } from "@grove/core"
import { Effect } from "effect"
import * as Models from "./models/Models.ts"

/** What a session says, by an explicit change or else by its last reply; `null` where it says nothing. */
export const ofSession = (session: Session, at: string | null): string | null =>
  ContextBuilder.build(session.tree, at).models.default ?? null

/** The first that is named; where none is, the first that would answer. */
export const resolve = Effect.fnUntraced(function* (...named: ReadonlyArray<string | null | undefined>) {
  const ref = named.find((each) => each !== undefined && each !== null && each !== "")
  const chat = yield* ChatModel
  return ref ? yield* chat.find(ref) : yield* Models.preferred
})

/** What the context policy has to know. Calls and results are told as text to a model that is given no tools. */
export const capabilities = (info: ModelInfo, hasTools: boolean): Capabilities.Capabilities => ({
  ...Capabilities.of({ provider: info.provider, modelId: info.model }),
  tools: info.tools && hasTools,
  images: info.images
})
