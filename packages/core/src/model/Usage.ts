/** What requests to models cost, summed so that no entry is ever charged twice. */
import { Schema } from "effect"
import { isObject, type Json, open } from "./open.ts"

/** `total` is `null` where the price is unknown, which is not the price zero. */
export const Cost = open({ total: Schema.NullOr(Schema.Finite) })

/** As stored with a reply; `cost` is in dollars. Buckets are disjoint, save that `reasoning` is part of `output`. */
export const Usage = open({
  input: Schema.Finite,
  output: Schema.Finite,
  cacheRead: Schema.Finite,
  cacheWrite: Schema.Finite,
  reasoning: Schema.optionalKey(Schema.Finite),
  cost: Schema.optionalKey(Cost)
})
export type Usage = typeof Usage.Type

/** A sum over many requests. `costMicros` is in millionths of a dollar, `null` where a price is unknown. */
export interface UsageSum {
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly costMicros: number | null
}

export const zero: UsageSum = {
  requests: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  costMicros: 0
}

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0)

/** What one request used. Disjoint, save that `cacheWrite1h` is part of `cacheWrite`. */
export interface Used {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number
}

/**
 * What a request costs by today's prices, in millionths of a dollar: `null` where it cannot be said, `undefined` for a
 * model that is not in the table, so that what was stored with the reply counts.
 */
export type Pricer = (
  model: { readonly provider: string; readonly model: string },
  used: Used
) => number | null | undefined

/** One stored usage as a sum of one request; `undefined` for what is no usage at all. `by` names the model that answered. */
export const fromStored = (stored: unknown, price?: Pricer, by: Json = {}): UsageSum | undefined => {
  if (!isObject(stored)) return undefined
  const used = {
    input: count(stored.input),
    output: count(stored.output),
    cacheRead: count(stored.cacheRead),
    cacheWrite: count(stored.cacheWrite)
  }
  const total = isObject(stored.cost) ? stored.cost.total : undefined
  const kept = typeof total === "number" && Number.isFinite(total) ? Math.round(total * 1e6) : null
  const isFree = used.input + used.output + used.cacheRead + used.cacheWrite === 0
  const { provider, model } = by
  const today =
    typeof provider === "string" && typeof model === "string"
      ? price?.({ provider, model }, { ...used, cacheWrite1h: count(stored.cacheWrite1h) })
      : undefined
  return {
    requests: 1,
    ...used,
    reasoning: count(stored.reasoning),
    costMicros: isFree ? (kept ?? 0) : today === undefined ? kept : today
  }
}

const combine =
  (sign: 1 | -1) =>
  (a: UsageSum, b: UsageSum): UsageSum => ({
    requests: a.requests + sign * b.requests,
    input: a.input + sign * b.input,
    output: a.output + sign * b.output,
    cacheRead: a.cacheRead + sign * b.cacheRead,
    cacheWrite: a.cacheWrite + sign * b.cacheWrite,
    reasoning: a.reasoning + sign * b.reasoning,
    costMicros: a.costMicros === null || b.costMicros === null ? null : a.costMicros + sign * b.costMicros
  })

export const add = combine(1)
export const subtract = combine(-1)

const addNumbers = (a: Json, b: Json): Json => {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  const isNumber = (key: string) => typeof (a[key] ?? b[key]) === "number"
  return Object.fromEntries([...keys].filter(isNumber).map((key) => [key, count(a[key]) + count(b[key])]))
}

/** Two stored usages as one, for what took several requests. Without a price for both there is none. */
export const join = (a: Usage, b: Usage): Usage => {
  const priced = a.cost !== undefined && b.cost !== undefined
  return { ...addNumbers(a, b), ...(priced ? { cost: addNumbers(a.cost, b.cost) } : {}) } as Usage
}
