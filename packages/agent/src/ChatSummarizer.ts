/** Summaries by a chat model. */
import { Chat, ChatModel, type ChatModelError, Summarizer, SummaryFailed } from "@grove/core"
import { Effect, Layer } from "effect"
import * as Content from "./models/Content.ts"
import * as Models from "./models/Models.ts"

const failed = (error: ChatModelError) => new SummaryFailed({ detail: error.message, cause: error })

/** Asks the model that a request names; `model`, or else the first that would answer, where it names none. */
export const layer = (options: { readonly model?: string | undefined } = {}) =>
  Layer.effect(
    Summarizer,
    Effect.map(ChatModel, (chat) => ({
      summarize: Effect.fn("ChatSummarizer.summarize")(function* ({
        system,
        prompt,
        maxTokens,
        model = options.model
      }) {
        const asked = model ?? (yield* Effect.provideService(Models.preferred, ChatModel, chat)).ref
        const messages = [{ role: "user", content: [{ type: "text", text: prompt }] }]
        const request = { model: asked, system, messages, maxTokens, cache: false }
        const reply = yield* Effect.mapError(Effect.provideService(Chat.reply(request), ChatModel, chat), failed)
        if (reply.stopReason !== "stop") {
          const detail = reply.errorMessage ?? `${asked} ended with ${reply.stopReason}`
          return yield* new SummaryFailed({ detail })
        }
        return { text: Content.textOf(reply.content), ...(reply.usage !== undefined && { usage: reply.usage }) }
      })
    }))
  )
