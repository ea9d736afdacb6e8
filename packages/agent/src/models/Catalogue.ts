/** What is known of the providers' models. Sizes and list prices change: `asOf` says when these were looked up. */
import type { Chat } from "@grove/core"

export const asOf = "2026-11-18"

const K = 1_000
const M = 1_000_000

interface Row {
  readonly provider: string
  readonly model: string
  readonly name: string
  readonly window: number
  readonly maxOutput: number
  /** Input, output, cache read, cache write for five minutes and for an hour; dollars for a million tokens. */
  readonly prices: readonly [number, number, number, number, number] | null
  readonly upTo?: number
}

const rows: ReadonlyArray<Row> = [
  {
    provider: "anthropic",
    model: "claude-opus-5-5",
    name: "Claude Opus 5.5",
    window: M,
    maxOutput: 128 * K,
    prices: [4, 20, 0.2, 5, 8]
  },
  {
    provider: "anthropic",
    model: "claude-sonnet-5",
    name: "Claude Sonnet 5",
    window: M,
    maxOutput: 128 * K,
    prices: [2, 10, 0.2, 2.5, 4]
  },
  {
    provider: "anthropic",
    model: "claude-haiku-4-5",
    name: "Claude Haiku 4.5",
    window: 200 * K,
    maxOutput: 64 * K,
    prices: [1, 5, 0.1, 1.25, 2]
  },
  {
    provider: "anthropic",
    model: "claude-fable-5-1",
    name: "Claude Fable 5.1",
    window: M,
    maxOutput: 128 * K,
    prices: null
  },
  {
    provider: "anthropic",
    model: "claude-opus-4-6",
    name: "Claude Opus 4.6",
    window: M,
    maxOutput: 128 * K,
    prices: [5, 25, 0.5, 6.25, 10]
  },
  {
    provider: "anthropic",
    model: "claude-sonnet-4-6",
    name: "Claude Sonnet 4.6",
    window: M,
    maxOutput: 64 * K,
    prices: [3, 15, 0.3, 3.75, 6]
  },
  {
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    name: "Claude Sonnet 4.5",
    window: 200 * K,
    maxOutput: 64 * K,
    prices: [3, 15, 0.3, 3.75, 6]
  },
  {
    provider: "openai",
    model: "gpt-5.5",
    name: "GPT-5.5",
    window: 1_050 * K,
    maxOutput: 128 * K,
    prices: [5, 30, 0.5, 5, 5],
    upTo: 272 * K
  },
  { provider: "openai", model: "gpt-5.6", name: "GPT-5.6", window: M, maxOutput: 128 * K, prices: null },
  {
    provider: "openai",
    model: "gpt-5.4",
    name: "GPT-5.4",
    window: 1_050 * K,
    maxOutput: 128 * K,
    prices: [2.5, 15, 0.25, 2.5, 2.5],
    upTo: 272 * K
  },
  {
    provider: "openai",
    model: "gpt-5.4-mini",
    name: "GPT-5.4 mini",
    window: 400 * K,
    maxOutput: 128 * K,
    prices: [0.75, 4.5, 0.075, 0.75, 0.75],
    upTo: 272 * K
  }
]

const infoOf = ({ provider, model, name, window, maxOutput, prices, upTo }: Row): Chat.ModelInfo => ({
  ref: `${provider}/${model}`,
  provider,
  model,
  name,
  window,
  maxOutput,
  tools: true,
  images: true,
  thinking: true,
  prices: prices && {
    input: prices[0],
    output: prices[1],
    cacheRead: prices[2],
    cacheWrite: prices[3],
    cacheWrite1h: prices[4],
    ...(upTo !== undefined && { upTo })
  }
})

const known: ReadonlyArray<Chat.ModelInfo> = rows.map(infoOf)

/** The best known first. */
export const modelsOf = (provider: string): ReadonlyArray<Chat.ModelInfo> =>
  known.filter((info) => info.provider === provider)

/** What can be assumed of a model that is not in the table: that it can do what most can, and nothing in numbers. */
export const assumed = (provider: string, model: string): Chat.ModelInfo => ({
  ref: `${provider}/${model}`,
  provider,
  model,
  name: model,
  window: null,
  maxOutput: null,
  tools: true,
  images: true,
  thinking: true,
  prices: null
})

/** By its name, or by the name without the date of a snapshot: `claude-haiku-4-5-20251001`, `gpt-5.4-2026-03-05`. */
export const find = (provider: string, model: string): Chat.ModelInfo => {
  const plain = model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "")
  const info = known.find((each) => each.provider === provider && (each.model === model || each.model === plain))
  return info === undefined ? assumed(provider, model) : { ...info, ref: `${provider}/${model}`, model }
}
