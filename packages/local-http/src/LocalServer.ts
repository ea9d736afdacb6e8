/** An HTTP server for one machine: bound to loopback unless said otherwise, and answering to its own names only. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Server } from "node:net"
import { networkInterfaces } from "node:os"
import type { Duplex } from "node:stream"
import { Cause, Effect, Exit, FiberSet, Schema, type Scope, Stream } from "effect"
import * as Guard from "./Guard.ts"
import * as SecurityHeaders from "./SecurityHeaders.ts"

export interface Request {
  readonly method: string
  /** As addressed to this server; never another host. */
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  /** What scripts and styles of this answer must carry. */
  readonly nonce: string
  /** For those who take a body. */
  readonly incoming: IncomingMessage
}

export interface Reply {
  readonly status: number
  readonly headers?: { readonly [name: string]: string }
  /** Text is sent as plain text unless the headers say otherwise. A stream ends when the client goes. */
  readonly body?: string | Uint8Array | Stream.Stream<Uint8Array>
}

/** Answers for those who may not go on, `undefined` for those who may. */
export type Access = (request: Omit<Request, "incoming">) => Reply | undefined

export interface Options<R = never> {
  readonly handler: (request: Request) => Effect.Effect<Reply, never, R>
  /** Loopback unless given. Any other needs `access`. */
  readonly host?: string | undefined
  /** A free one unless given. */
  readonly port?: number | undefined
  /** `GET` and `HEAD` unless given. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** Paths that only pages of this server may read. */
  readonly isData?: (path: string) => boolean
  readonly access?: Access | undefined
  /** How those are answered who come to the wrong place or by the wrong name; in plain words unless given. */
  readonly refused?: ((refusal: Guard.Refusal) => Reply) | undefined
  /** Takes over connections that ask to be upgraded; without it they are refused. The guard has let them in already. */
  readonly upgrade?: ((request: Request, socket: Duplex, head: Buffer) => void) | undefined
}

export interface LocalServer {
  readonly host: string
  readonly port: number
  /** Where people find it. */
  readonly address: string
}

/** The server could not be started. */
export class ListenRefused extends Schema.TaggedError<ListenRefused>()("ListenRefused", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.Literals(["needs-access", "port-taken", "refused"]),
  cause: Schema.Defect()
}) {}

const LOOPBACK = "127.0.0.1"
const EVERYWHERE = new Set(["0.0.0.0", "::"])

/** The names that a server bound to `host` is reached by, besides those of loopback. */
const namesOf = (host: string): ReadonlyArray<string> => {
  if (Guard.isLoopback(host)) return []
  if (!EVERYWHERE.has(host)) return [host]
  return Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address))
}

const listen = (server: Server, host: string, port: number): Effect.Effect<number, ListenRefused> =>
  Effect.callback((resume) => {
    const failed = (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "port-taken" : "refused"
      resume(Effect.fail(new ListenRefused({ host, port, reason, cause })))
    }
    server.once("error", failed)
    server.listen({ host, port }, () => {
      server.off("error", failed)
      resume(Effect.succeed((server.address() as AddressInfo).port))
    })
  })

const TEXT = "text/plain; charset=utf-8"

/** Writes one chunk, and waits while the client is slow. */
const write = (response: ServerResponse, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (response.write(chunk) || response.destroyed) return resume(Effect.void)
    const done = () => resume(Effect.void)
    response.once("drain", done)
    return Effect.sync(() => response.off("drain", done))
  })

const send = (response: ServerResponse, request: IncomingMessage, nonce: string, reply: Reply): Effect.Effect<void> => {
  const { status, headers = {}, body = "" } = reply
  const isWhole = typeof body === "string" || body instanceof Uint8Array
  response.writeHead(status, {
    "content-type": TEXT,
    "cache-control": "no-store",
    ...headers,
    ...(isWhole ? { "content-length": Buffer.byteLength(body) } : {}),
    ...SecurityHeaders.of(nonce)
  })
  if (request.method === "HEAD") return Effect.sync(() => response.end())
  if (isWhole) return Effect.sync(() => response.end(body))
  response.flushHeaders()
  return Effect.andThen(
    Stream.runForEach(body, (chunk) => write(response, chunk)),
    Effect.sync(() => response.end())
  )
}

/** The same words for a page that is not there and one that must not be seen. */
const inWords = ({ status, message }: Guard.Refusal): Reply => ({ status, body: `${message}\n` })

const FAILED: Guard.Refusal = {
  status: 500,
  message: "Something went wrong here. Reload the page; if it stays, restart the server."
}

/** Serves until the scope ends; then every connection is closed. */
export const serve = <R = never>(options: Options<R>): Effect.Effect<LocalServer, ListenRefused, R | Scope.Scope> =>
  Effect.gen(function* () {
    const { handler, host = LOOPBACK, port = 0, methods = ["GET", "HEAD"], isData = () => false } = options
    const { access, refused = inWords } = options
    if (access === undefined && !Guard.isLoopback(host)) {
      const cause = new Error("others could read everything")
      return yield* new ListenRefused({ host, port, reason: "needs-access", cause })
    }
    const run = yield* FiberSet.makeRuntime<R>()
    let rules: Guard.Rules = { hosts: new Set(), methods, isData }

    const decide = (
      incoming: IncomingMessage,
      nonce: string
    ): { readonly reply: Reply } | { readonly ask: Request } => {
      const refusal = Guard.refuse(incoming, rules)
      if (refusal !== undefined) {
        const headers: { readonly [name: string]: string } = refusal.status === 405 ? { allow: methods.join(", ") } : {}
        const reply = refused(refusal)
        return { reply: { ...reply, headers: { ...reply.headers, ...headers } } }
      }
      const origin = `http://${incoming.headers.host}`
      if (!URL.canParse(origin + incoming.url)) return { reply: refused({ status: 400, message: "No such address." }) }
      const url = new URL(origin + incoming.url)
      const request = { method: incoming.method!, url, headers: incoming.headers, nonce, incoming }
      const denied = access?.(request)
      return denied === undefined ? { ask: request } : { reply: denied }
    }

    const server = createServer({ requireHostHeader: false }, (incoming, response) => {
      const nonce = SecurityHeaders.nonce()
      const decided = decide(incoming, nonce)
      const answered = (
        "reply" in decided ? Effect.succeed(decided.reply) : Effect.suspend(() => handler(decided.ask))
      ).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(refused(FAILED))
        ),
        Effect.flatMap((reply) => send(response, incoming, nonce, reply))
      )
      const fiber = run(answered)
      response.once("close", () => fiber.interruptUnsafe())
      fiber.addObserver((exit) => {
        if (Exit.isFailure(exit)) response.destroy()
      })
    })
    server.on("upgrade", (incoming, socket, head) => {
      const decided = decide(incoming, SecurityHeaders.nonce())
      if ("ask" in decided && options.upgrade !== undefined) return options.upgrade(decided.ask, socket, head)
      const [status, words] = "reply" in decided ? [decided.reply.status, "Refused"] : [426, "Upgrade Required"]
      socket.end(`HTTP/1.1 ${status} ${words}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
    server.on("clientError", (_, socket) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    })
    const bound = yield* Effect.acquireRelease(listen(server, host, port), () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
    )
    rules = { ...rules, hosts: Guard.hostsFor(namesOf(host), bound) }
    const shown = EVERYWHERE.has(host) ? (namesOf(host).find((name) => !Guard.isLoopback(name)) ?? LOOPBACK) : host
    return { host, port: bound, address: `http://${shown.includes(":") ? `[${shown}]` : shown}:${bound}/` }
  })
