/** All models there are, behind one `ChatModel`: providers with keys, servers on this machine, and sprout. */
import { Chat, ChatModel, ChatModelError } from "@grove/core"
import { Effect, Layer, Stream } from "effect"
import * as Anthropic from "./Anthropic.ts"
import * as Catalogue from "./Catalogue.ts"
import * as Keys from "./Keys.ts"
import * as LocalServer from "./LocalServer.ts"
import * as OpenAi from "./OpenAi.ts"
import * as Sprout from "./Sprout.ts"

/** A server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, a gateway. */
export interface CustomProvider {
  readonly id: string
  readonly name?: string
  /** Up to and without `/chat/completions`. */
  readonly baseUrl: string
  /** The environment variable with its key; absent for a server that needs none. */
  readonly keyVariable?: string
}

export interface Options extends Keys.Options {
  readonly providers?: ReadonlyArray<CustomProvider>
  /** By `provider/model`: what is known better than here, prices, windows and abilities. */
  readonly overrides?: { readonly [ref: string]: Partial<Omit<Chat.ModelInfo, "ref" | "provider" | "model">> }
  readonly anthropicUrl?: string
  readonly openAiUrl?: string
  readonly ollamaUrl?: string
}

type Service = (typeof ChatModel)["Service"]

/** Fewer letters than this are in the name of every other model. */
const SHORTEST_HINT = 3

const providerOf = (ref: string): string => ref.slice(0, Math.max(ref.indexOf("/"), 0))

/** Asks whoever the first part of `provider/model` names. */
export const combine = (services: ReadonlyMap<string, Service>): Service => {
  const serviceOf = (ref: string): Effect.Effect<Service, ChatModelError> =>
    Effect.suspend(() => {
      const service = services.get(providerOf(ref))
      if (service !== undefined) return Effect.succeed(service)
      return Effect.flatMap(list, (listings) => {
        const word = ref.slice(ref.indexOf("/") + 1).toLowerCase()
        const known = listings
          .flatMap(({ models }) => models.map((info) => info.ref))
          .filter((each) => word.length >= SHORTEST_HINT && each.toLowerCase().includes(word))
        return Effect.fail(
          new ChatModelError({ model: ref, reason: new Chat.UnknownModel({ known: known.slice(0, 3) }) })
        )
      })
    })
  const list = Effect.map(
    Effect.forEach([...services.values()], (service) => service.list, { concurrency: "unbounded" }),
    (listings) => listings.flat()
  )
  return ChatModel.of({
    stream: (request) => Stream.unwrap(Effect.map(serviceOf(request.model), (service) => service.stream(request))),
    find: (ref) => Effect.flatMap(serviceOf(ref), (service) => service.find(ref)),
    list
  })
}

/** The model to begin with where nobody has chosen: the first that would answer, sprout when there is no other. */
export const preferred: Effect.Effect<Chat.ModelInfo, never, ChatModel> = ChatModel.use(({ list }) =>
  Effect.map(
    list,
    (listings) =>
      listings.find(({ problem, models }) => problem === null && models.length > 0)?.models[0] ?? Sprout.info
  )
)

const make = Effect.fnUntraced(function* (options: Options) {
  const keys = Keys.make(options)
  const adjusted = (info: Chat.ModelInfo): Chat.ModelInfo => ({ ...info, ...options.overrides?.[info.ref] })
  const inCatalogue = (provider: string) => (model: string) => adjusted(Catalogue.find(provider, model))
  const served = (
    provider: string,
    listing: Effect.Effect<Pick<Chat.ProviderListing, "problem" | "models">>
  ): Pick<OpenAi.Options, "infoOf" | "listing"> => {
    const better = Effect.map(listing, ({ problem, models }) => ({ problem, models: models.map(adjusted) }))
    return {
      listing: better,
      infoOf: (model) =>
        Effect.map(
          better,
          ({ models }) => models.find((info) => info.model === model) ?? adjusted(Catalogue.assumed(provider, model))
        )
    }
  }

  const services = new Map<string, Service>()
  const { anthropicUrl, openAiUrl = "https://api.openai.com/v1", ollamaUrl = "http://127.0.0.1:11434" } = options
  services.set(
    Anthropic.provider,
    Anthropic.make({
      keys,
      infoOf: inCatalogue(Anthropic.provider),
      ...(anthropicUrl !== undefined && { baseUrl: anthropicUrl })
    })
  )
  services.set(
    "openai",
    OpenAi.make({
      provider: "openai",
      name: "OpenAI",
      baseUrl: openAiUrl,
      keys,
      keyVariables: ["OPENAI_API_KEY"],
      infoOf: (model) => Effect.succeed(inCatalogue("openai")(model)),
      listing: Effect.succeed({ problem: null, models: Catalogue.modelsOf("openai").map(adjusted) })
    })
  )
  for (const { id, name = id, baseUrl, keyVariable } of options.providers ?? []) {
    const listing = yield* LocalServer.compatible(id, baseUrl)
    const variables = keyVariable === undefined ? {} : { keyVariables: [keyVariable] }
    services.set(id, OpenAi.make({ provider: id, name, baseUrl, keys, ...variables, ...served(id, listing) }))
  }
  if (!services.has("ollama")) {
    const listing = yield* LocalServer.ollama("ollama", ollamaUrl)
    const own = served("ollama", listing)
    services.set(
      "ollama",
      OpenAi.make({ provider: "ollama", name: "Ollama", baseUrl: `${ollamaUrl}/v1`, keys, ...own })
    )
  }
  services.set(Sprout.info.provider, Sprout.make())
  return combine(services)
})

export const layer = (options: Options) => Layer.effect(ChatModel, make(options))
