/** Sockets that tell what happens in a session. Nobody has a queue: each has a number, and reads on from there. */
import type { Duplex } from "node:stream"
import type { LocalServer } from "@grove/local-http"
import { Effect, FiberSet } from "effect"
import { type WebSocket, WebSocketServer } from "ws"
import { refuse } from "./Access.ts"
import type { EventLog } from "./EventLog.ts"
import { isSeq } from "./Frame.ts"
import { Hubs } from "./Hubs.ts"

export interface Limits {
  readonly sockets: number
  /** Bytes that may wait for one client. */
  readonly waiting: number
  /** Milliseconds a client may take to read them, and to answer a ping. */
  readonly patience: number
}

export const limits: Limits = { sockets: 1000, waiting: 1 << 20, patience: 15_000 }

/** The reasons a socket is closed for, beyond those of the protocol. */
export const TOO_SLOW = 4408
export const GONE = 4410
const GOING_AWAY = 1001

/** Clients have nothing to say here. */
const MOST_SAID = 4096
const LAST_WORDS = 2000

const PROTOCOL = "grove"
const EVENTS = /^\/api\/chat\/([^/]+)\/events$/

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ""
  }
}

const REASONS: { readonly [status: number]: string } = {
  400: "Bad Request",
  404: "Not Found",
  503: "Service Unavailable"
}

const answer = (socket: Duplex, { status, body = "" }: LocalServer.Reply): void => {
  const text = String(body)
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Refused"}`,
    "connection: close",
    "content-type: application/json"
  ]
  socket.end([...head, `content-length: ${Buffer.byteLength(text)}`, "", text].join("\r\n"))
}

/** Says goodbye, and does not wait for an answer for ever. */
const close = (socket: WebSocket, code: number, reason: string): void => {
  if (socket.readyState !== socket.OPEN) return
  socket.close(code, reason)
  setTimeout(() => socket.terminate(), LAST_WORDS).unref()
}

interface Telling {
  /** Closes the socket of a client that does not keep up. */
  readonly check: () => void
  /** Sends what there is, now. */
  readonly flush: () => void
}

/** Sends what there is, as much at once as has come together, and goes on as it is read. */
const tell = (
  socket: WebSocket,
  line: Duplex,
  log: EventLog,
  since: number,
  { waiting, patience }: Limits
): Telling => {
  let at = since
  let stuckSince: number | undefined
  let isAlive = true
  let isDue = false

  const isFull = () => socket.bufferedAmount >= waiting

  const send = (): void => {
    isDue = false
    line.cork()
    while (socket.readyState === socket.OPEN && !isFull()) {
      const frames = log.after(at)
      if (frames === undefined) close(socket, GONE, "what came since is gone; fetch the tree")
      if (frames === undefined || frames.length === 0) break
      for (const { seq, text } of frames) {
        if (isFull()) break
        socket.send(text)
        at = seq
      }
    }
    line.uncork()
    stuckSince = isFull() ? (stuckSince ?? Date.now()) : undefined
  }
  const soon = (): void => {
    if (isDue) return
    isDue = true
    setImmediate(send)
  }
  const stop = log.listen(soon)
  line.on("drain", soon)
  socket.on("close", stop)
  socket.on("pong", () => {
    isAlive = true
  })
  soon()

  return {
    check: () => {
      const isStuck = stuckSince !== undefined && Date.now() - stuckSince > patience
      if (isStuck || !isAlive) return close(socket, TOO_SLOW, "too slow")
      isAlive = false
      socket.ping()
    },
    flush: send
  }
}

const parsed = (since: string | null, log: EventLog): number | undefined => {
  if (since === null) return log.seq
  const seq = /^\d+$/.test(since) ? Number(since) : Number.NaN
  return isSeq(seq) ? seq : undefined
}

export interface Sockets {
  /** Takes over a connection. */
  readonly upgrade: (request: LocalServer.Request, socket: Duplex, head: Buffer) => void
  /** Says goodbye to all, and succeeds when they are gone. */
  readonly close: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (bounds: Limits) {
  const hubs = yield* Hubs
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_SAID,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false)
  })
  const open = new Map<WebSocket, Telling>()
  const run = yield* FiberSet.makeRuntime()

  const serve = Effect.fnUntraced(function* (request: LocalServer.Request, socket: Duplex, head: Buffer) {
    const name = EVENTS.exec(request.url.pathname)?.[1]
    if (name === undefined) return answer(socket, refuse(404, "there is no such thing here"))
    if (open.size >= bounds.sockets) return answer(socket, refuse(503, "too many sockets are open"))
    const { log } = yield* hubs.open(decoded(name))
    const since = parsed(request.url.searchParams.get("since"), log)
    if (since === undefined) return answer(socket, refuse(400, "since is a seq, as the tree and every frame have it"))
    yield* Effect.callback<void>((resume) => {
      socket.once("close", () => resume(Effect.void))
      server.handleUpgrade(request.incoming, socket, head, (client) => {
        client.on("error", () => client.terminate())
        client.on("close", () => open.delete(client))
        open.set(client, tell(client, socket, log, since, bounds))
      })
    })
  }, Effect.scoped)

  const check = setInterval(() => {
    for (const { check } of open.values()) check()
  }, bounds.patience)
  check.unref()

  const closeAll = Effect.gen(function* () {
    const clients = [...open.keys()]
    for (const [client, { flush }] of open) {
      flush()
      close(client, GOING_AWAY, "the server ends")
    }
    const closed = Effect.callback<void>((resume) => {
      let left = clients.length
      if (left === 0) resume(Effect.void)
      for (const client of clients) client.once("close", () => --left === 0 && resume(Effect.void))
    })
    yield* Effect.timeoutOption(closed, LAST_WORDS)
    for (const client of clients) client.terminate()
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(check)))

  return {
    upgrade: (request, socket, head) => {
      socket.on("error", () => socket.destroy())
      run(
        Effect.catch(serve(request, socket, head), ({ message, code }) =>
          Effect.sync(() => answer(socket, refuse(code === "not-found" ? 404 : 503, message)))
        )
      )
    },
    close: closeAll
  } satisfies Sockets
})
