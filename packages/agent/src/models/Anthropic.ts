/** The messages interface of Anthropic as a `ChatModel`. */
import {
  Chat,
  ChatModel,
  ChatModelError,
  type ChatRequest,
  isObject,
  type Json,
  Reply,
  type ReplyPart
} from "@grove/core"
import { Effect, Redacted, Stream } from "effect"
import * as Catalogue from "./Catalogue.ts"
import * as Content from "./Content.ts"
import type { Keys } from "./Keys.ts"
import * as Pricing from "./Pricing.ts"
import * as Retry from "./Retry.ts"
import * as Wire from "./Wire.ts"

export interface Options {
  readonly keys: Keys
  readonly baseUrl?: string
  readonly retry?: Retry.Policy
  /** What is known of a model, where it is more or other than the catalogue says. */
  readonly infoOf?: (model: string) => Chat.ModelInfo
}

export const provider = "anthropic"
const VARIABLES = ["ANTHROPIC_API_KEY"]
const CACHED = { cache_control: { type: "ephemeral" } }

// ------------------------------------------------------------------------------------------------ what is sent

/** Ids come from any provider; here they may hold only these characters. */
const idOf = (id: unknown): string => Content.wordOf(id).replace(/[^A-Za-z0-9_-]/g, "_") || "_"

const imageOf = ({ data, mimeType }: Json): Json =>
  typeof data === "string" && typeof mimeType === "string" && !data.startsWith("blob:")
    ? { type: "image", source: { type: "base64", media_type: mimeType, data } }
    : { type: "text", text: "[an image that is not available]" }

const shown = (content: unknown): ReadonlyArray<Json> =>
  Content.blocksOf(content).flatMap((block): ReadonlyArray<Json> => {
    if (block.type === "image") return [imageOf(block)]
    const text = Content.textOfBlock(block)
    return text.trim() === "" ? [] : [{ type: "text", text }]
  })

/** Thinking is only worth something to its maker with the signature that it was given. */
const said = (content: unknown): ReadonlyArray<Json> =>
  Content.blocksOf(content).flatMap((block): ReadonlyArray<Json> => {
    const { thinkingSignature: signature, data } = block
    switch (block.type) {
      case "thinking":
        if (typeof signature !== "string" || signature === "") return []
        if (block.redacted === true) return [{ type: "redacted_thinking", data: signature }]
        return [{ type: "thinking", thinking: Content.wordOf(block.thinking), signature }]
      case "redactedThinking":
        return typeof data === "string" ? [{ type: "redacted_thinking", data }] : []
      case "toolCall": {
        const input = isObject(block.arguments) ? block.arguments : {}
        return [{ type: "tool_use", id: idOf(block.id), name: Content.wordOf(block.name), input }]
      }
      default:
        return shown([block])
    }
  })

const resultOf = (message: Json): Json => ({
  type: "tool_result",
  tool_use_id: idOf(message.toolCallId),
  content: shown(message.content),
  ...(message.isError === true && { is_error: true })
})

/** Results and what a person says next make one message: roles take turns. */
const messagesOf = (messages: ReadonlyArray<Json>): ReadonlyArray<{ role: string; content: Array<Json> }> => {
  const turns: Array<{ role: string; content: Array<Json> }> = []
  for (const message of messages) {
    const isReply = message.role === "assistant"
    const role = isReply ? "assistant" : "user"
    const blocks = isReply
      ? said(message.content)
      : message.role === "toolResult"
        ? [resultOf(message)]
        : message.role === "system"
          ? []
          : shown(message.content)
    if (blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) for (const block of blocks) last.content.push(block)
    else turns.push({ role, content: [...blocks] })
  }
  return turns
}

/** The next request begins as this one does: what is remembered ends with the newest block that can be marked. */
const withCache = (turns: ReturnType<typeof messagesOf>): void => {
  const content = turns.at(-1)?.content
  const last = content?.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking") ?? -1
  if (content !== undefined && last >= 0) content[last] = { ...content[last], ...CACHED }
}

/** Models before the family 4.6 are told how many tokens to think, later ones how hard. */
const TAKES_BUDGET = /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/
const BUDGETS = { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, xhigh: 32_768 } as const
const EFFORTS = { minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" } as const

const thinkingOf = (model: string, level: Chat.ThinkingLevel, maxTokens: number): Json => {
  if (level === "off") return {}
  if (!TAKES_BUDGET.test(model)) {
    return { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: EFFORTS[level] } }
  }
  // At least 1024, and room for an answer after it.
  const budget = Math.min(BUDGETS[level], maxTokens - 1_024)
  return budget < 1_024 ? {} : { thinking: { type: "enabled", budget_tokens: budget } }
}

export const bodyOf = (request: ChatRequest, info: Chat.ModelInfo): Json => {
  const { messages, tools = [], thinkingLevel = "off", cache = true } = request
  const maxTokens = Math.min(request.maxTokens ?? 32_000, info.maxOutput ?? 32_000)
  const system = [
    request.system ?? "",
    ...messages.filter(({ role }) => role === "system").map(({ content }) => Content.textOf(content))
  ]
    .filter((text) => text.trim() !== "")
    .join("\n\n")
  const turns = messagesOf(messages)
  if (cache) withCache(turns)
  return {
    model: info.model,
    max_tokens: maxTokens,
    stream: true,
    ...(system !== "" && { system: [{ type: "text", text: system, ...(cache && CACHED) }] }),
    messages: turns,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }))
    }),
    ...(info.thinking ? thinkingOf(info.model, thinkingLevel, maxTokens) : {})
  }
}

// ------------------------------------------------------------------------------------------------ what comes back

const STOPS: { readonly [reason: string]: Reply.StopReason } = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "error"
}

/** Errors among the events come without the status they would have had. */
const STATUSES: { readonly [type: string]: number } = {
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  invalid_request_error: 400
}

interface Open {
  readonly type: string
  readonly index: number
  readonly id: string
  readonly name: string
  json: string
}

export const makeReader = (prices: Chat.Prices | null) => (): Wire.Reader => {
  const open = new Map<unknown, Open>()
  let blocks = 0
  let used: Pricing.Buckets = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  let stop: ReplyPart = { _tag: "Stop", reason: "stop" }

  const usage = (given: unknown): ReadonlyArray<ReplyPart> => {
    if (!isObject(given)) return []
    const known = (field: string, before: number) => (given[field] === undefined ? before : Pricing.count(given[field]))
    const hour = isObject(given.cache_creation) ? Pricing.count(given.cache_creation.ephemeral_1h_input_tokens) : 0
    used = {
      ...used,
      input: known("input_tokens", used.input),
      output: known("output_tokens", used.output),
      cacheRead: known("cache_read_input_tokens", used.cacheRead),
      cacheWrite: known("cache_creation_input_tokens", used.cacheWrite),
      ...(hour > 0 && { cacheWrite1h: hour })
    }
    return [{ _tag: "Usage", usage: Pricing.stored(prices, used) }]
  }

  const start = ({ index: at, content_block: block }: Json): ReadonlyArray<ReplyPart> => {
    if (!isObject(block)) return []
    const { type, id, name, data } = block
    if (type !== "text" && type !== "thinking" && type !== "redacted_thinking" && type !== "tool_use") return []
    const index = blocks++
    const call = { id: Content.wordOf(id) || `call_${index}`, name: Content.wordOf(name) }
    open.set(at, { type, index, ...call, json: "" })
    switch (type) {
      case "text":
        return Content.textOfBlock(block) === "" ? [] : [{ _tag: "Text", index, delta: Content.textOfBlock(block) }]
      case "redacted_thinking":
        return [{ _tag: "Thinking", index, delta: "", signature: Content.wordOf(data), redacted: true }]
      case "tool_use":
        return [{ _tag: "ToolCallStart", index, ...call }]
      default:
        return []
    }
  }

  const add = ({ index: at, delta }: Json): ReadonlyArray<ReplyPart> => {
    const block = open.get(at)
    if (block === undefined || !isObject(delta)) return []
    const { index } = block
    const text = (field: string) => (typeof delta[field] === "string" ? (delta[field] as string) : "")
    switch (delta.type) {
      case "text_delta":
        return [{ _tag: "Text", index, delta: text("text") }]
      case "thinking_delta":
        return [{ _tag: "Thinking", index, delta: text("thinking") }]
      case "signature_delta":
        return [{ _tag: "Thinking", index, delta: "", signature: text("signature") }]
      case "input_json_delta":
        block.json += text("partial_json")
        return [{ _tag: "ToolCallDelta", index, delta: text("partial_json") }]
      default:
        return []
    }
  }

  const finish = ({ index: at }: Json): ReadonlyArray<ReplyPart> => {
    const block = open.get(at)
    open.delete(at)
    if (block?.type !== "tool_use") return []
    return [{ _tag: "ToolCallEnd", index: block.index, call: Reply.callOf(block.id, block.name, block.json) }]
  }

  const read = (data: string): ReadonlyArray<ReplyPart | Chat.Reason> => {
    const event = Wire.jsonOf(data)
    if (event instanceof Error) return [event]
    switch (event.type) {
      case "message_start":
        return isObject(event.message) ? usage(event.message.usage) : []
      case "content_block_start":
        return start(event)
      case "content_block_delta":
        return add(event)
      case "content_block_stop":
        return finish(event)
      case "message_delta": {
        const given = isObject(event.delta) ? event.delta.stop_reason : undefined
        if (typeof given === "string") {
          const reason = STOPS[given] ?? "stop"
          stop = { _tag: "Stop", reason, ...(reason === "error" && { errorMessage: "the model declined to answer" }) }
        }
        return usage(event.usage)
      }
      case "message_stop":
        return [stop]
      case "error": {
        const { code = "", message = "" } = Wire.errorIn(event) ?? {}
        return [Wire.reasonOf(STATUSES[code] ?? 529, code, message || "an error without a description")]
      }
      default:
        return []
    }
  }
  return { read, end: () => [] }
}

// ------------------------------------------------------------------------------------------------ the model

export const make = ({ keys, baseUrl = "https://api.anthropic.com", retry, infoOf }: Options) => {
  const known = infoOf ?? ((model: string) => Catalogue.find(provider, model))
  const find = (ref: string) =>
    ref.startsWith(`${provider}/`) && ref.length > provider.length + 1
      ? Effect.succeed(known(ref.slice(provider.length + 1)))
      : Effect.fail(new ChatModelError({ model: ref, reason: new Chat.UnknownModel({ known: [] }) }))
  const stream = (request: ChatRequest) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const info = yield* find(request.model)
        const key = yield* Effect.mapError(
          keys.find(provider, VARIABLES),
          (reason) => new ChatModelError({ model: info.ref, reason })
        )
        const exchange: Wire.Exchange = {
          model: info.ref,
          url: `${baseUrl.replace(/\/+$/, "")}/v1/messages`,
          headers: { "x-api-key": Redacted.value(key), "anthropic-version": "2023-06-01" },
          body: bodyOf(request, info),
          key
        }
        const parts = Retry.retrying(Wire.parts(exchange, makeReader(info.prices)), retry)
        return Chat.assemble({ provider, model: info.model, api: "anthropic-messages" }, parts)
      })
    )
  const list = Effect.gen(function* () {
    const problem = yield* Effect.match(keys.find(provider, VARIABLES), {
      onFailure: (reason) => (reason._tag === "NoKey" ? `no key: ${reason.remedy}` : reason.detail),
      onSuccess: () => null
    })
    const models = Catalogue.modelsOf(provider).map(({ model }) => known(model))
    return [{ provider, name: "Anthropic", problem, models }]
  })
  return ChatModel.of({ stream, find, list })
}
