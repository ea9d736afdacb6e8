/** `grove serve`: sessions over HTTP and WebSocket, for other front ends. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Session } from "@grove/core"
import { Access, Hubs, SearchFailed, Server, SessionSearch } from "@grove/server"
import { Effect, Layer } from "effect"
import * as Chat from "../Chat.ts"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import * as Foreign from "../Foreign.ts"
import * as Output from "../Output.ts"
import { Paths } from "../Paths.ts"
import * as SessionIndex from "../SessionIndex.ts"
import * as Signals from "../Signals.ts"
import * as Words from "../Words.ts"

const MOST_REPLIES = 100
const HIGHEST_PORT = 65_535

const portFrom = (flag: string | boolean | undefined): Effect.Effect<number, UsageError> => {
  const port = flag === undefined ? 0 : typeof flag === "string" && /^\d+$/.test(flag) ? Number(flag) : Number.NaN
  return port >= 0 && port <= HIGHEST_PORT
    ? Effect.succeed(port)
    : Effect.fail(new UsageError({ message: `--port is a number from 0 to ${HIGHEST_PORT}; 0 takes a free one` }))
}

/** The index is opened when somebody searches, and closed again: sessions change all the time. */
const search = Layer.effect(
  SessionSearch,
  Effect.gen(function* () {
    const paths = yield* Paths
    const services = yield* Effect.context<Environment | Paths>()
    return SessionSearch.of({
      search: (text, limit) =>
        SessionIndex.open(paths).pipe(
          Effect.flatMap((index) => index.search({ text, limit })),
          Effect.map((hits) =>
            hits
              .filter(({ path }) => !Foreign.isCopy(paths, path))
              .map(({ session, entry, role, at, snippet, marks }) => ({
                ...{ session, entry, role, snippet, marks },
                timestamp: new Date(at).toISOString()
              }))
          ),
          Effect.scoped,
          Effect.provideContext(services),
          Effect.mapError(({ message }) => new SearchFailed({ message }))
        )
    })
  })
)

const hubs = (flags: Input["flags"]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { cwd } = yield* Environment
      const services = yield* Effect.context<Effect.Services<ReturnType<typeof Chat.replyOptions>>>()
      const replyOptions = (session: Session) => Effect.provideContext(Chat.replyOptions(session, flags), services)
      return Hubs.layer({ cwd, mostReplies: MOST_REPLIES, replyOptions })
    })
  )

const chat = Layer.mergeAll(Chat.history({ records: true }), Chat.layer({ records: true }))

const REASONS = {
  "needs-access": "others could read everything",
  "port-taken": "the port is taken; choose another one, or --port 0 for any that is free",
  refused: "the address cannot be used on this machine"
} as const

const page = (): string => readFileSync(new URL("../static/index.html", import.meta.url), "utf8")

export const run = Effect.fn("serve")(function* ({ flags }: Input) {
  const { cwd, home } = yield* Environment
  const port = yield* portFrom(flags.port)
  const host = typeof flags.host === "string" ? flags.host : undefined
  const file = join(home, "server.token")
  const token = yield* Effect.try({
    try: () => Access.tokenAt(file),
    catch: (cause) => new Failure({ message: `${file} could not be written: ${(cause as Error).message}` })
  })
  const audit = (line: string) => void process.stderr.write(`${Words.safe(line)}\n`)
  yield* Signals.until(
    Effect.gen(function* () {
      const server = yield* Server.serve({ token, cwd, page: page(), host, port, audit })
      yield* Output.lines([server.address, `token ${token}`])
      return yield* Effect.never
    }).pipe(
      Effect.scoped,
      Effect.provide(hubs(flags).pipe(Layer.provideMerge(search), Layer.provideMerge(chat))),
      Effect.catchTag("ListenRefused", ({ host, port, reason }) =>
        Effect.fail(new Failure({ message: `cannot serve on ${host} port ${port}: ${REASONS[reason]}` }))
      )
    )
  )
})
