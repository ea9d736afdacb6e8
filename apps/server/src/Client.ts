/** A typed client, from the same definitions as the server. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api, Bearer } from "./Api.ts"

export * from "./Api.ts"
export * as ChatTree from "./ChatTree.ts"
export { Frame } from "./Frame.ts"

export interface Options {
  /** As `grove serve` prints it. */
  readonly url: string
  readonly token: string
}

/** `client.chat.tree({ params: { sessionId } })`, and so on for each route; needs an `HttpClient`. */
export const make = ({ url, token }: Options) =>
  HttpApiClient.make(Api, {
    transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(url.replace(/\/$/, "")))
  }).pipe(
    Effect.provide(
      HttpApiMiddleware.layerClient(Bearer, ({ next, request }) => next(HttpClientRequest.bearerToken(request, token)))
    )
  )

/** Where the events of a session are told, and the protocols that open it. */
export const events = ({ url, token }: Options, sessionId: string, since?: number) => ({
  url: `${url.replace(/^http/, "ws").replace(/\/$/, "")}/api/chat/${encodeURIComponent(sessionId)}/events${since === undefined ? "" : `?since=${since}`}`,
  protocols: ["grove", `bearer.${token}`]
})
