/** Port: a text in, its summary out. An agent makes it from a chat model. */
import { Context, Effect, Layer, Schema } from "effect"
import type { Usage } from "./model/Usage.ts"

/** No summary came about: the model failed, was cut off, called a tool, or had nothing to say. */
export class SummaryFailed extends Schema.TaggedError<SummaryFailed>()("SummaryFailed", {
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `no summary, so nothing was changed: ${this.detail}`
  }
}

export interface SummaryRequest {
  readonly system: string
  readonly prompt: string
  /** The longest answer that is of use. */
  readonly maxTokens: number
  /** `provider/id`; the session's own model where it is left out. */
  readonly model?: string
}

export interface SummaryReply {
  readonly text: string
  readonly usage?: Usage
}

export class Summarizer extends Context.Service<
  Summarizer,
  {
    /** Whole or not at all: an answer that was cut off is a failure. Asks for no tools and remembers nothing. */
    readonly summarize: (request: SummaryRequest) => Effect.Effect<SummaryReply, SummaryFailed>
  }
>()("@grove/core/Summarizer") {
  /** Tells how much it was given, so that tests can name what they expect. */
  static readonly layerCounting = Layer.succeed(Summarizer, {
    summarize: ({ prompt }) => Effect.succeed({ text: `a summary of ${prompt.length} characters` })
  })
}
