/** What a server on this machine says it serves: asked shortly, and not again for a while. */
import { type Chat, isObject } from "@grove/core"
import { Duration, Effect } from "effect"
import * as Catalogue from "./Catalogue.ts"

type Served = Pick<Chat.ProviderListing, "problem" | "models">

const PATIENCE = Duration.millis(500)
const REMEMBERED = Duration.seconds(30)

/** JSON from the server, `undefined` for whatever else happens. */
const ask = (url: string, body?: object): Effect.Effect<unknown> =>
  Effect.tryPromise((signal) =>
    fetch(url, {
      signal,
      redirect: "error",
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) })
    }).then((response) => (response.ok ? response.json() : undefined))
  ).pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.undefined }),
    Effect.catch(() => Effect.undefined)
  )

const namesIn = (list: unknown, field: string): ReadonlyArray<string> =>
  Array.isArray(list)
    ? list.flatMap((each) => (isObject(each) && typeof each[field] === "string" ? [each[field]] : []))
    : []

const free: Chat.Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }

/** What Ollama tells of a model: what it can do, and how much it was trained to take. */
const described = (provider: string, model: string, told: unknown): Chat.ModelInfo => {
  const assumed = { ...Catalogue.assumed(provider, model), prices: free }
  if (!isObject(told) || !Array.isArray(told.capabilities)) return assumed
  const can = new Set(told.capabilities)
  const facts = Object.entries(isObject(told.model_info) ? told.model_info : {})
  const window = facts.find(([name]) => name.endsWith(".context_length"))?.[1]
  return {
    ...assumed,
    window: typeof window === "number" ? window : null,
    tools: can.has("tools"),
    images: can.has("vision"),
    thinking: can.has("thinking")
  }
}

/** Ollama lists its models and describes each. Found by itself: nobody has to configure it. */
export const ollama = (provider: string, address: string): Effect.Effect<Effect.Effect<Served>> =>
  Effect.cachedWithTTL(
    Effect.gen(function* () {
      const tags = yield* ask(`${address}/api/tags`)
      if (!isObject(tags))
        return { problem: `no Ollama answers at ${address}; start it with \`ollama serve\``, models: [] }
      const names = namesIn(tags.models, "name")
      if (names.length === 0) return { problem: "Ollama has no models; get one with `ollama pull`", models: [] }
      const models = yield* Effect.forEach(
        names,
        (model) => Effect.map(ask(`${address}/api/show`, { model }), (told) => described(provider, model, told)),
        { concurrency: 8 }
      )
      return { problem: null, models }
    }),
    REMEMBERED
  )

/** Any other server that speaks OpenAI's interface lists at least the names. */
export const compatible = (provider: string, baseUrl: string): Effect.Effect<Effect.Effect<Served>> =>
  Effect.cachedWithTTL(
    Effect.map(ask(`${baseUrl}/models`), (told): Served => {
      if (!isObject(told)) return { problem: `no model server answers at ${baseUrl}`, models: [] }
      return { problem: null, models: namesIn(told.data, "id").map((model) => Catalogue.assumed(provider, model)) }
    }),
    REMEMBERED
  )
