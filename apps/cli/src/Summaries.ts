/** Summaries by whichever model would answer here. Loaded only where one is needed: models are many. */
import { ChatSummarizer } from "@grove/agent"
import { Compactor } from "@grove/core"
import { Effect, Layer } from "effect"
import * as Chat from "./Chat.ts"
import * as Settings from "./Settings.ts"

export const layer = Layer.unwrap(
  Effect.map(Settings.read, ({ compaction }) =>
    Layer.provide(Compactor.layer, ChatSummarizer.layer({ model: compaction?.model }))
  )
).pipe(Layer.provide(Chat.models))
