/** The server: the guard, the routes, the sockets and the page, on one port. */
import type { IncomingMessage } from "node:http"
import type { ContextPolicy, PromptHistory, SessionStore, Sessions } from "@grove/core"
import { LocalServer } from "@grove/local-http"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Access from "./Access.ts"
import * as Handlers from "./Handlers.ts"
import { Hubs } from "./Hubs.ts"
import type { SessionSearch } from "./SessionSearch.ts"
import * as Sockets from "./Sockets.ts"

export interface Options {
  readonly token: string
  /** Where new sessions belong. */
  readonly cwd: string
  /** The page at `/`; `__NONCE__` in it is what its scripts and styles must carry. */
  readonly page: string
  readonly host?: string | undefined
  readonly port?: number | undefined
  /** Gets a line for every request that may have written something. */
  readonly audit: (line: string) => void
  /** How long replies may go on when the server is to end. */
  readonly patience?: number
  readonly limits?: Partial<Access.Limits & Sockets.Limits & { readonly body: number }>
}

const MOST_BODY = 1 << 20
/** So much more is read and thrown away, so that a client can finish its sentence and hear the answer. */
const MOST_READ = 16 << 20
const PATIENCE = 5_000

const METHODS = ["GET", "HEAD", "POST", "PUT"]
const WRITES = new Set(["POST", "PUT"])

const isPublic = (path: string): boolean => path === "/"

/** The body, as far as it is allowed; `undefined` where it is too long. */
const bodyOf = (incoming: IncomingMessage, most: number): Effect.Effect<Buffer | undefined> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= most) chunks.push(chunk)
      else chunks.length = 0
      if (size > MOST_READ)
        resume(
          Effect.as(
            Effect.sync(() => incoming.pause()),
            undefined
          )
        )
    })
    incoming.on("end", () => resume(Effect.succeed(size > most ? undefined : Buffer.concat(chunks))))
    incoming.on("error", () => resume(Effect.interrupt))
  })

const isJson = (type: string | undefined): boolean => /^application\/json\s*(?:;|$)/i.test(type ?? "")

/** What the router says without words is said in ours. */
const inOurWords = async (response: Response): Promise<LocalServer.Reply> => {
  const { status } = response
  if (status >= 400 && !isJson(response.headers.get("content-type") ?? "")) {
    return Access.refuse(status, status === 404 ? "there is no such thing here" : "the server could not do that")
  }
  const type = response.headers.get("content-type")
  return {
    status,
    headers: type === null ? {} : { "content-type": type },
    body: new Uint8Array(await response.arrayBuffer())
  }
}

export type Services = ContextPolicy | Hubs | PromptHistory | SessionSearch | SessionStore | Sessions

/** Serves until the scope ends: then no reply begins any more, those that grow are finished or cut short, and all leave. */
export const serve = Effect.fnUntraced(function* (options: Options) {
  const services = yield* Effect.context<Services>()
  const hubs = yield* Hubs
  const { body: mostBody = MOST_BODY, ...bounds } = { ...Access.limits, ...Sockets.limits, ...options.limits }
  const routes = Handlers.layer.pipe(
    Layer.provide(Layer.succeed(Handlers.Place, { cwd: options.cwd })),
    Layer.provide(Layer.succeedContext(services)),
    Layer.provide(HttpServer.layerServices)
  )
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(routes, { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  )
  const sockets = yield* Sockets.make(bounds)

  const page = (nonce: string): LocalServer.Reply => ({
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: options.page.replaceAll("__NONCE__", nonce)
  })

  const ask = Effect.fnUntraced(function* ({ method, url, headers, incoming }: LocalServer.Request) {
    const isWrite = WRITES.has(method)
    const hasBody =
      isWrite &&
      headers["content-length"] !== "0" &&
      (headers["content-length"] ?? headers["transfer-encoding"]) !== undefined
    if (hasBody && !isJson(headers["content-type"])) return Access.refuse(415, "the body must be application/json")
    const body = isWrite ? yield* bodyOf(incoming, mostBody) : Buffer.alloc(0)
    if (body === undefined) {
      return Access.refuse(413, `a body may have ${mostBody} bytes`, { connection: "close" })
    }
    const own = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : []
    )
    const request = new Request(url, { method, headers: own, ...(isWrite && { body }) })
    return yield* Effect.promise(async () => inOurWords(await handler(request)))
  })

  const answered = Effect.fnUntraced(function* (request: LocalServer.Request) {
    if (request.url.pathname === "/" && !WRITES.has(request.method)) return page(request.nonce)
    const reply = yield* ask(request)
    if (WRITES.has(request.method)) {
      const time = new Date(yield* Clock.currentTimeMillis).toISOString()
      options.audit(`${time} ${request.method} ${request.url.pathname} ${reply.status}`)
    }
    return reply
  })

  const server = yield* LocalServer.serve({
    handler: answered,
    host: options.host,
    port: options.port,
    methods: METHODS,
    isData: (path) => !isPublic(path),
    access: Access.make({ token: options.token, limits: bounds, isPublic }),
    refused: ({ status, message }) => Access.refuse(status, message),
    upgrade: sockets.upgrade
  })
  yield* Effect.addFinalizer(() => Effect.andThen(hubs.finish(options.patience ?? PATIENCE), sockets.close))
  return server
})
