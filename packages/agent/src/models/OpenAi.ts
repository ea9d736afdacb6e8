/** The chat completions of OpenAI, and of every server that speaks them, as a `ChatModel`. */
import {
  Chat,
  ChatModel,
  ChatModelError,
  type ChatRequest,
  isObject,
  type Json,
  JsonText,
  Reply,
  type ReplyPart
} from "@grove/core"
import { Effect, Redacted, Stream } from "effect"
import * as Content from "./Content.ts"
import type { Keys } from "./Keys.ts"
import * as Pricing from "./Pricing.ts"
import * as Retry from "./Retry.ts"
import * as Wire from "./Wire.ts"

export interface Options {
  readonly provider: string
  readonly name: string
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string
  readonly keys: Keys
  /** Where the key is looked for; `undefined` for servers that need none. */
  readonly keyVariables?: ReadonlyArray<string>
  readonly infoOf: (model: string) => Effect.Effect<Chat.ModelInfo>
  /** The models there are, and what is wrong if none would answer. */
  readonly listing: Effect.Effect<Pick<Chat.ProviderListing, "problem" | "models">>
  readonly retry?: Retry.Policy
}

const OPENAI = "openai"

// ------------------------------------------------------------------------------------------------ what is sent

const imageOf = ({ data, mimeType }: Json): Json =>
  typeof data === "string" && typeof mimeType === "string" && !data.startsWith("blob:")
    ? { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }
    : { type: "text", text: "[an image that is not available]" }

/** A plain text where that is all there is: some servers know nothing else. */
const shown = (content: unknown): string | ReadonlyArray<Json> => {
  const blocks = Content.blocksOf(content)
  if (!blocks.some(({ type }) => type === "image")) return Content.textOf(content)
  return blocks.flatMap((block): ReadonlyArray<Json> => {
    if (block.type === "image") return [imageOf(block)]
    const text = Content.textOfBlock(block)
    return text === "" ? [] : [{ type: "text", text }]
  })
}

const callsIn = (content: unknown): ReadonlyArray<Json> =>
  Content.blocksOf(content)
    .filter(({ type }) => type === "toolCall")
    .map(({ id, name, arguments: given }) => ({
      id: Content.wordOf(id),
      type: "function",
      function: { name: Content.wordOf(name), arguments: JsonText.stringify(isObject(given) ? given : {}) }
    }))

const messagesOf = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const sent: Array<Json> = []
  /** Results are texts only; their images follow, once all results of the reply are there. */
  let images: Array<Json> = []
  const flush = () => {
    if (images.length > 0) sent.push({ role: "user", content: images })
    images = []
  }
  for (const { role, content, toolCallId } of messages) {
    if (role === "toolResult") {
      const found = Content.blocksOf(content).filter(({ type }) => type === "image")
      images.push(...found.map(imageOf))
      const text = Content.textOf(content) || (found.length > 0 ? "(an image, which follows)" : "(no output)")
      sent.push({ role: "tool", tool_call_id: Content.wordOf(toolCallId), content: text })
      continue
    }
    flush()
    if (role === "assistant") {
      const calls = callsIn(content)
      const text = Content.textOf(content)
      if (text === "" && calls.length === 0) continue
      sent.push({ role, content: text === "" ? null : text, ...(calls.length > 0 && { tool_calls: calls }) })
      continue
    }
    const said = shown(content)
    if (said.length > 0) sent.push({ role: role === "system" ? "system" : "user", content: said })
  }
  flush()
  return sent
}

export const bodyOf = (request: ChatRequest, info: Chat.ModelInfo): Json => {
  const { messages, system = "", tools = [], thinkingLevel = "off", maxTokens } = request
  const isOpenAi = info.provider === OPENAI
  return {
    model: info.model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...messagesOf(messages)],
    ...(maxTokens !== undefined && { [isOpenAi ? "max_completion_tokens" : "max_tokens"]: maxTokens }),
    ...(tools.length > 0 &&
      info.tools && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: "function",
          function: { name, description, parameters }
        }))
      }),
    ...(info.thinking &&
      thinkingLevel !== "off" && { reasoning_effort: thinkingLevel === "minimal" ? "low" : thinkingLevel })
  }
}

// ------------------------------------------------------------------------------------------------ what comes back

const STOPS: { readonly [reason: string]: Reply.StopReason } = {
  stop: "stop",
  length: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
  content_filter: "error"
}

interface Open {
  readonly index: number
  readonly id: string
  readonly name: string
  json: string
}

export const makeReader = (prices: Chat.Prices | null) => (): Wire.Reader => {
  let blocks = 0
  /** The block that text or thinking is being added to. */
  let current: { readonly _tag: "Text" | "Thinking"; readonly index: number } | undefined
  const calls = new Map<unknown, Open>()
  let finished: string | undefined
  let hasEnded = false

  const say = (_tag: "Text" | "Thinking", delta: unknown): ReadonlyArray<ReplyPart> => {
    if (typeof delta !== "string" || delta === "") return []
    if (current?._tag !== _tag) current = { _tag, index: blocks++ }
    return [{ _tag, index: current.index, delta }]
  }

  const call = (given: unknown, position: number): ReadonlyArray<ReplyPart> => {
    if (!isObject(given)) return []
    const { id, index: at } = given
    const { name, arguments: args } = isObject(given.function) ? given.function : {}
    const parts: Array<ReplyPart> = []
    // Servers that send calls whole may leave out the index; then a new id is a new call.
    const slot = typeof at === "number" ? at : typeof id === "string" ? id : position
    let block = calls.get(slot)
    if (block === undefined) {
      current = undefined
      const index = blocks++
      block = {
        index,
        id: typeof id === "string" && id !== "" ? id : `call_${index}`,
        name: Content.wordOf(name),
        json: ""
      }
      calls.set(slot, block)
      parts.push({ _tag: "ToolCallStart", index, id: block.id, name: block.name })
    }
    const delta = isObject(args) ? JSON.stringify(args) : typeof args === "string" ? args : ""
    if (delta !== "") {
      block.json += delta
      parts.push({ _tag: "ToolCallDelta", index: block.index, delta })
    }
    return parts
  }

  const usage = (given: unknown): ReadonlyArray<ReplyPart> => {
    if (!isObject(given)) return []
    const details = isObject(given.prompt_tokens_details) ? given.prompt_tokens_details : {}
    const outputs = isObject(given.completion_tokens_details) ? given.completion_tokens_details : {}
    const prompt = Pricing.count(given.prompt_tokens)
    // The prompt contains what was cached: taken out here, so that nothing is counted twice.
    const cacheRead = Math.min(Pricing.count(details.cached_tokens ?? given.prompt_cache_hit_tokens), prompt)
    const reasoning = Pricing.count(outputs.reasoning_tokens)
    const used = { input: prompt - cacheRead, output: Pricing.count(given.completion_tokens), cacheRead, cacheWrite: 0 }
    return [{ _tag: "Usage", usage: Pricing.stored(prices, { ...used, ...(reasoning > 0 && { reasoning }) }) }]
  }

  const end = (): ReadonlyArray<ReplyPart> => {
    if (hasEnded || finished === undefined) return []
    hasEnded = true
    const given = [...calls.values()]
    const ends = given.map(
      ({ index, id, name, json }): ReplyPart => ({ _tag: "ToolCallEnd", index, call: Reply.callOf(id, name, json) })
    )
    // Some servers say `stop` although they call.
    const reason = given.length > 0 && finished === "stop" ? "toolUse" : (STOPS[finished] ?? "stop")
    const why = reason === "error" && { errorMessage: "the provider withheld the reply" }
    return [...ends, { _tag: "Stop", reason, ...why }]
  }

  const read = (data: string): ReadonlyArray<ReplyPart | Chat.Reason> => {
    if (data.trim() === "[DONE]") return end()
    const event = Wire.jsonOf(data)
    if (event instanceof Error) return [event]
    const error = Wire.errorIn(event)
    if (error !== undefined) {
      const status = isObject(event.error) && typeof event.error.code === "number" ? event.error.code : 500
      return [Wire.reasonOf(status, error.code, error.message)]
    }
    const choice = Array.isArray(event.choices) ? event.choices[0] : undefined
    const delta = isObject(choice) && isObject(choice.delta) ? choice.delta : {}
    if (isObject(choice) && typeof choice.finish_reason === "string") finished = choice.finish_reason
    return [
      ...say("Thinking", delta.reasoning_content ?? delta.reasoning),
      ...say("Text", delta.content),
      ...(Array.isArray(delta.tool_calls) ? delta.tool_calls.flatMap(call) : []),
      ...usage(event.usage)
    ]
  }
  return { read, end }
}

// ------------------------------------------------------------------------------------------------ the model

export const make = (options: Options) => {
  const { provider, name, keys, keyVariables, infoOf, retry } = options
  const url = `${options.baseUrl.replace(/\/+$/, "")}/chat/completions`
  const find = (ref: string) =>
    ref.startsWith(`${provider}/`) && ref.length > provider.length + 1
      ? infoOf(ref.slice(provider.length + 1))
      : Effect.fail(new ChatModelError({ model: ref, reason: new Chat.UnknownModel({ known: [] }) }))
  const keyFound = keyVariables === undefined ? Effect.undefined : keys.find(provider, keyVariables)
  const stream = (request: ChatRequest) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const info = yield* find(request.model)
        const key = yield* Effect.mapError(keyFound, (reason) => new ChatModelError({ model: info.ref, reason }))
        const exchange: Wire.Exchange = {
          model: info.ref,
          url,
          headers: key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` },
          body: bodyOf(request, info),
          ...(key !== undefined && { key })
        }
        const parts = Retry.retrying(Wire.parts(exchange, makeReader(info.prices)), retry)
        return Chat.assemble({ provider, model: info.model, api: "openai-completions" }, parts)
      })
    )
  const list = Effect.gen(function* () {
    const missing = yield* Effect.match(keyFound, {
      onFailure: (reason) => (reason._tag === "NoKey" ? `no key: ${reason.remedy}` : reason.detail),
      onSuccess: () => null
    })
    const { problem, models } = yield* options.listing
    return [{ provider, name, problem: missing ?? problem, models }]
  })
  return ChatModel.of({ stream, find, list })
}
