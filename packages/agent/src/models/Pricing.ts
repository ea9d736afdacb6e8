/** What a request costs, in whole millionths of a dollar, and how it is stored. */
import type { Chat, Usage } from "@grove/core"
import * as Catalogue from "./Catalogue.ts"

/** Disjoint, save that `cacheWrite1h` is part of `cacheWrite` and `reasoning` part of `output`. */
export interface Buckets {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h?: number
  readonly reasoning?: number
}

/** `null` where a price is unknown. A price per million tokens in dollars is one per token in millionths. */
export const micros = (prices: Chat.Prices | null, used: Buckets): number | null => {
  if (prices === null) return null
  const { input, output, cacheRead, cacheWrite, cacheWrite1h = 0 } = used
  if (prices.upTo !== undefined && input + cacheRead + cacheWrite > prices.upTo) return null
  return Math.round(
    input * prices.input +
      output * prices.output +
      cacheRead * prices.cacheRead +
      (cacheWrite - cacheWrite1h) * prices.cacheWrite +
      cacheWrite1h * prices.cacheWrite1h
  )
}

/** The usage as a reply stores it. */
export const stored = (prices: Chat.Prices | null, used: Buckets): Usage.Usage => {
  const total = micros(prices, used)
  return {
    ...used,
    totalTokens: used.input + used.output + used.cacheRead + used.cacheWrite,
    cost: { total: total === null ? null : total / 1e6 }
  }
}

/** A count as a provider gives it; whatever is no count counts nothing. */
export const count = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0

/** Prices of models by `provider/model`, where they are known better than in the table. */
export type Overrides = { readonly [ref: string]: { readonly prices?: Chat.Prices | null } }

/** Prices a request by the overrides, else by the table as of its date. */
export const today =
  (overrides: Overrides = {}): Usage.Pricer =>
  ({ provider, model }, used) => {
    const ref = `${provider}/${model}`
    const own = Object.hasOwn(overrides, ref) ? overrides[ref]?.prices : undefined
    const prices = own === undefined ? Catalogue.find(provider, model).prices : own
    return prices === null ? undefined : micros(prices, used)
  }
