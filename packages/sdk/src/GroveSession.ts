/** One session that is open: append, go elsewhere, edit, and hear what happens to it. */
import {
  type Compaction,
  type CompactOutcome,
  Compactor,
  ContextPolicy,
  type Cursor,
  type Entry,
  type EntryId,
  type NewEntry,
  type Policy,
  type Session,
  type SessionContext,
  type SessionEvent,
  type SessionTree,
  TreeEdits
} from "@grove/core"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import type { Run } from "./Grove.ts"

/** A position that can append. Another than the session's own never moves the person: for replies in the background. */
export class GroveCursor {
  readonly #cursor: Cursor
  readonly #run: Run

  constructor(cursor: Cursor, run: Run) {
    this.#cursor = cursor
    this.#run = run
  }

  /** Makes one entry under the leaf and moves there. Resolves once it is kept as the durability asks. */
  append(entry: NewEntry): Promise<Entry.Entry> {
    return this.#run(this.#cursor.append(entry))
  }

  /** Appends what a person said. */
  prompt(text: string): Promise<Entry.Entry> {
    const content = [{ type: "text", text }]
    return this.append({ type: "message", message: { role: "user", content, timestamp: Date.now() } })
  }

  /** Moves to an entry, or with `null` to nowhere, where the next entry is another root. No entry changes. */
  branch(id: string | null): Promise<void> {
    return this.#run(id === null ? this.#cursor.resetLeaf : this.#cursor.branch(id))
  }

  leaf(): Promise<EntryId | null> {
    return this.#run(this.#cursor.leaf)
  }

  /** What the model is shown here. */
  context(): Promise<SessionContext> {
    return this.#run(this.#cursor.context)
  }

  /** The same as every provider accepts it: half-done tool calls repaired, failed replies left out. */
  sendable(request: Policy.Request): Promise<Policy.Sendable> {
    return this.#run(
      Effect.flatMap(this.#cursor.context, (context) => ContextPolicy.use((policy) => policy.apply(context, request)))
    )
  }
}

export interface CompactOptions extends Compaction.Limits {
  readonly instructions?: string
  readonly settings?: Compaction.Settings
}

export class GroveSession extends GroveCursor {
  readonly id: string
  readonly path: string
  /** Live, and never ahead of the file. Read it; only the session changes it. */
  readonly tree: SessionTree
  readonly #session: Session
  readonly #run: Run
  readonly #scope: Scope.Closeable

  constructor(session: Session, scope: Scope.Closeable, run: Run) {
    super(session.main, run)
    this.id = session.header?.id ?? session.ref.id
    this.path = session.ref.path
    this.tree = session.tree
    this.#session = session
    this.#scope = scope
    this.#run = run
  }

  /** Another position, at an entry or at none. */
  async cursor(at: string | null): Promise<GroveCursor> {
    return new GroveCursor(await this.#run(this.#session.cursor(at)), this.#run)
  }

  /** Edits made in one write, one after the other: all of them, or none. Each can be undone. */
  edit(...operations: ReadonlyArray<TreeEdits.Operation>): Promise<TreeEdits.EditedTogether> {
    return this.#run(TreeEdits.together(this.#session, operations))
  }

  /** Summarises the older part of the path and appends that; needs `summarize` of `openGrove`. */
  compact(options: CompactOptions = {}): Promise<CompactOutcome> {
    return this.#run(
      Compactor.use(({ compact }) => compact(this.#session, this.#session.main, { ...options, reason: "manual" }))
    )
  }

  /** Calls back for everything that happens from now on, also when another program appends. Answers how to stop it. */
  subscribe(listener: (event: SessionEvent) => void): () => void {
    const listening = Effect.runFork(
      Stream.runForEach(this.#session.events, (event) => Effect.sync(() => listener(event)))
    )
    return () => {
      Effect.runFork(Fiber.interrupt(listening))
    }
  }

  /** The same for `for await`; ends when the session is closed. */
  events(): AsyncIterable<SessionEvent> {
    return Stream.toAsyncIterable(this.#session.events)
  }

  /** Writes down where the person went, and lets go of the file. */
  close(): Promise<void> {
    return this.#run(Scope.close(this.#scope, Exit.void))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
