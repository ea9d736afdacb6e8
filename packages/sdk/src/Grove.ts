/** A home of sessions, for agents that do not use Effect. */
import { homedir } from "node:os"
import { join } from "node:path"
import {
  Compactor,
  type Compactor as Compacts,
  ContextPolicy,
  EntryIds,
  PromptHistory,
  type Prompts,
  type SessionRef,
  type SessionSummary,
  Sessions,
  type Store,
  Summarizer,
  SummaryFailed,
  type SummaryReply,
  type SummaryRequest
} from "@grove/core"
import { Catalogue, FileBlobStore, JsonlSessionStore, SessionPaths } from "@grove/storage-files"
import { SqlitePromptHistory, SqliteSessionIndex } from "@grove/storage-sqlite"
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import * as Errors from "./GroveError.ts"
import { GroveSession } from "./GroveSession.ts"

export interface GroveOptions {
  /** Where everything is kept; `~/.grove` of this user if left out. */
  readonly home?: string
  /** A flat folder of sessions instead of the home's. */
  readonly sessionDirectory?: string
  /** `always`: acknowledged once durable. `never`: once written. */
  readonly durability?: "always" | "never"
  /** How summaries are written, for `compact` and for edits without a text: usually a request to a model. */
  readonly summarize?: (request: SummaryRequest) => Promise<SummaryReply>
}

type Services = Sessions | Compacts | ContextPolicy

/** Runs what a method asks for; what fails is a `GroveError`. */
export type Run = <A>(effect: Effect.Effect<A, Errors.Known, Services>) => Promise<A>

const summarizer = (summarize: GroveOptions["summarize"]) =>
  Layer.succeed(Summarizer, {
    summarize: (request) =>
      summarize === undefined
        ? Effect.fail(new SummaryFailed({ detail: "openGrove was given no way to summarize" }))
        : Effect.tryPromise({
            try: () => summarize(request),
            catch: (cause) =>
              new SummaryFailed({ detail: cause instanceof Error ? cause.message : String(cause), cause })
          })
  })

export class Grove {
  readonly #paths: SessionPaths.SessionPaths
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services, never>
  readonly #open = new Set<GroveSession>()

  constructor({ home = join(homedir(), ".grove"), sessionDirectory, durability, summarize }: GroveOptions = {}) {
    const paths = SessionPaths.make({ home, sessionDirectory })
    const store = JsonlSessionStore.layer({ paths, ...(durability !== undefined && { durability }) }).pipe(
      Layer.provide(FileBlobStore.layer({ directory: paths.blobs }))
    )
    this.#paths = paths
    this.#runtime = ManagedRuntime.make(
      Layer.mergeAll(
        Sessions.layer.pipe(Layer.provide([store, EntryIds.layer])),
        Compactor.layer.pipe(Layer.provide(summarizer(summarize))),
        ContextPolicy.layer
      )
    )
  }

  readonly #run: Run = (effect) => this.#runtime.runPromise(Effect.mapError(effect, Errors.of))

  /** Newest first. */
  list(options?: Store.ListOptions): Promise<ReadonlyArray<SessionSummary.SessionSummary>> {
    return this.#run(Sessions.use((sessions) => sessions.list(options)))
  }

  /** A new session, open. */
  async create(options: { readonly cwd: string; readonly parentSession?: string }): Promise<GroveSession> {
    const { path } = await this.#run(Sessions.use((sessions) => sessions.create(options)))
    return this.open(path)
  }

  /** By path, id, or an unambiguous beginning or end of an id. */
  async open(name: string): Promise<GroveSession> {
    const scope = Scope.makeUnsafe()
    const opening = Effect.provideService(
      Sessions.use((sessions) => sessions.open(name)),
      Scope.Scope,
      scope
    )
    const session = await this.#run(Effect.onError(opening, () => Scope.close(scope, Exit.void)))
    const opened = new GroveSession(session, scope, this.#run)
    this.#open.add(opened)
    return opened
  }

  /** A new session file that holds a path of another, or with `all` every branch. */
  fork(
    source: string,
    options?: { readonly at?: string; readonly all?: boolean; readonly cwd?: string }
  ): Promise<SessionRef> {
    return this.#run(Sessions.use((sessions) => sessions.fork(source, options)))
  }

  /** What was said in any session, best first. */
  search(text: string, { limit = 100 }: { readonly limit?: number } = {}) {
    return this.#run(
      Effect.gen({ self: this }, function* () {
        const index = yield* SqliteSessionIndex.open({ path: join(this.#paths.home, "index.db") })
        yield* index.update(Catalogue.discover(this.#paths, true).map(({ path }) => path))
        return yield* index.search({ text, limit })
      }).pipe(Effect.scoped)
    )
  }

  /** Prompts that were typed, best first. */
  prompts(text: string, { limit = 100 }: { readonly limit?: number } = {}): Promise<ReadonlyArray<Prompts.PromptHit>> {
    return this.#history((history) => history.search({ text, limit }))
  }

  /** Notes a prompt in the history. */
  async remember(
    prompt: string,
    place: { readonly cwd: string; readonly session?: string; readonly entry?: string }
  ): Promise<void> {
    const { cwd, session = null, entry = null } = place
    await this.#history((history) => history.add({ prompt, at: Date.now(), cwd, session, entry, author: "user" }))
  }

  #history<A>(use: (history: PromptHistory["Service"]) => Effect.Effect<A, Prompts.PromptHistoryError>): Promise<A> {
    const layer = SqlitePromptHistory.layer({ path: join(this.#paths.home, "history.db") })
    return this.#run(Effect.provide(PromptHistory.use(use), layer))
  }

  /** Closes every session that is open; then nothing of Grove keeps the process alive. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.close()))
    this.#open.clear()
    await this.#runtime.dispose()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Nothing is touched before the first call. */
export const openGrove = (options?: GroveOptions): Grove => new Grove(options)
