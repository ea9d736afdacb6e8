/** Servers on this machine that speak the providers' wire formats. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { ChatRequest, Json } from "@grove/core"
import type { ChatModelContract } from "@grove/core/testing"
import { Effect } from "effect"

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Json
}

export type Handler = (request: Received, response: ServerResponse) => void

/** A server until the scope ends; `received` is everything it was asked. */
export const serve = (handler: Handler) =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const asked = { path: request.url ?? "", headers: request.headers, body: text === "" ? {} : JSON.parse(text) }
        received.push(asked)
        handler(asked, response)
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              server.closeAllConnections()
              server.close(() => resolve())
            })
        )
    )
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
  })

/** Few bytes at a time, so that characters, lines and events are torn apart. */
export const drip = (response: ServerResponse, text: string, size = 5): void => {
  const bytes = Buffer.from(text)
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
  for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
}

export const refuse =
  (status: number, body: unknown, headers: { readonly [name: string]: string } = {}): Handler =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  }

/** What a prompt of the contract asks for. */
export type Wish =
  | { readonly say: string }
  | { readonly call: ReadonlyArray<ChatModelContract.Call> }
  | { readonly cut: string }
  | { readonly hang: string }
  | { readonly overflow: true }

export const wishes: Omit<ChatModelContract.Subject, "layer" | "model"> = {
  say: (text) => JSON.stringify({ say: text }),
  call: (calls) => JSON.stringify({ call: calls }),
  cut: (text) => JSON.stringify({ cut: text }),
  hang: (text) => JSON.stringify({ hang: text }),
  overflow: JSON.stringify({ overflow: true })
}

/** The last prompt, however it was wrapped; what is no wish is answered with a plain text. */
export const wishIn = (body: Json): Wish => {
  try {
    const messages = body.messages as ReadonlyArray<Json>
    const { content } = messages.findLast(({ role }) => role === "user")!
    return JSON.parse(typeof content === "string" ? content : String((content as ReadonlyArray<Json>).at(-1)!.text))
  } catch {
    return { say: "what?" }
  }
}

export const ask = (model: string, prompt = "hi", fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model,
  messages: [{ role: "user", content: prompt }],
  ...fields
})
