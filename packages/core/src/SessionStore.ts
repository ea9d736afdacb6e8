/** Port: an append-only log per session. */
import { Context, Effect, Layer, PubSub, Result, Schema, type Scope, Stream } from "effect"
import { type Entry, role } from "./model/Entry.ts"
import * as Ids from "./model/EntryId.ts"
import * as Header from "./model/Header.ts"
import * as Jsonl from "./model/Jsonl.ts"
import type { Problem } from "./model/Problem.ts"
import * as SessionSummary from "./model/SessionSummary.ts"
import { SessionTree } from "./model/SessionTree.ts"

/** No session answers to that name. */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {}) {}
/** Several sessions answer to that abbreviation; `candidates` are their ids. */
export class SessionAmbiguous extends Schema.TaggedError<SessionAmbiguous>()("SessionAmbiguous", {
  candidates: Schema.Array(Schema.String)
}) {}
/** A session with that id is already there. */
export class SessionExists extends Schema.TaggedError<SessionExists>()("SessionExists", {}) {}
/** There is something, but it is no session; it was not touched. */
export class NotASession extends Schema.TaggedError<NotASession>()("NotASession", { line: Schema.Int }) {}
/** Written by a newer program: it may be read, not written. */
export class SessionReadOnly extends Schema.TaggedError<SessionReadOnly>()("SessionReadOnly", {}) {}
/** The medium refused; trying again may help. */
export class StoreRefused extends Schema.TaggedError<StoreRefused>()("StoreRefused", { cause: Schema.Defect() }) {}

export class SessionStoreError extends Schema.TaggedError<SessionStoreError>()("SessionStoreError", {
  /** The id, path or abbreviation that was asked for. */
  session: Schema.String,
  reason: Schema.Union([SessionNotFound, SessionAmbiguous, SessionExists, NotASession, SessionReadOnly, StoreRefused])
}) {}

/** Which session, and where it is kept. */
export interface SessionRef {
  readonly id: string
  readonly path: string
}

/** A session as it was found. */
export interface Snapshot {
  readonly ref: SessionRef
  /** As written, before any migration; `null` for an empty file. */
  readonly version: number | null
  readonly readOnly: boolean
  readonly header: Header.Header | null
  readonly title: Header.TitleSlot | null
  /** Belongs to whoever opened the session, who keeps it in step with what is appended. */
  readonly tree: SessionTree
  readonly problems: ReadonlyArray<Problem>
}

/** A session opened to be written. */
export interface SessionLog {
  readonly snapshot: Snapshot
  /**
   * Succeeds once all entries are on the medium, not merely buffered. They are written together and in order, with
   * nothing of others in between; if it fails, none of them may be taken as written. Appends that are started one after
   * the other are written in that order. Fails with `SessionReadOnly` where the snapshot is read-only.
   */
  readonly append: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, SessionStoreError>
  /**
   * What others append after the snapshot, in the order of the log, however late one listens; never what this log
   * appended itself.
   */
  readonly changes: Stream.Stream<ReadonlyArray<Entry>, SessionStoreError>
  /** Everything appended before is on the medium; fails with the first failure that no later append has made good. */
  readonly flush: Effect.Effect<void, SessionStoreError>
  /** Removes a draft that never got a reply; does nothing to any other session. For whoever made the draft, on leaving. */
  readonly discardDraft: Effect.Effect<void, SessionStoreError>
}

export interface CreateOptions {
  /** Kept apart until its first reply: lists mark it, and nobody but this terminal continues it. */
  readonly draft?: boolean
  /** Where the session is to be; a place that holds nothing yet. */
  readonly path?: string
}

export interface ListOptions {
  /** Only sessions whose header names this directory. */
  readonly cwd?: string
  /** Also those that sub-agents made, which begin with a `session_init`. */
  readonly subAgents?: boolean
}

export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Makes a session with nothing but its header. An id is never taken twice. */
    readonly create: (header: Header.Header, options?: CreateOptions) => Effect.Effect<SessionRef, SessionStoreError>
    /** Finds by id, by unambiguous prefix or suffix of at least four characters, or by path. A whole id is never ambiguous. */
    readonly find: (name: string) => Effect.Effect<SessionRef, SessionStoreError>
    /** Reads without changing anything. Bodies that were not read yet can be until the scope ends. */
    readonly read: (ref: SessionRef) => Effect.Effect<Snapshot, SessionStoreError, Scope.Scope>
    /** Opens what is there for writing until the scope ends, by which time everything appended is on the medium. */
    readonly open: (ref: SessionRef) => Effect.Effect<SessionLog, SessionStoreError, Scope.Scope>
    /** Newest first. What cannot be read is left out. */
    readonly list: (
      options?: ListOptions
    ) => Effect.Effect<ReadonlyArray<SessionSummary.SessionSummary>, SessionStoreError>
  }
>()("@grove/core/SessionStore") {
  static readonly layerMemory = Layer.sync(SessionStore, () => makeMemory())
}

/** What a file says, as a snapshot; the one place where bytes become a session. */
export const snapshotOf = (ref: SessionRef, bytes: Uint8Array): Result.Result<Snapshot, Jsonl.NotASession> =>
  Result.map(Jsonl.read(bytes), (file) => ({
    ref: { id: file.header?.id ?? ref.id, path: ref.path },
    version: file.version,
    readOnly: (file.version ?? 0) > Header.CURRENT_VERSION,
    header: file.header,
    title: file.title,
    tree: SessionTree.from(
      file.rows.map(({ entry }) => entry),
      file.last,
      file.header?.id ?? null
    ),
    problems: file.problems
  }))

interface Written {
  readonly by: object
  readonly entries: ReadonlyArray<Entry>
}
interface Kept {
  readonly ref: SessionRef
  text: string
  readonly isDraft: boolean
  readonly written: PubSub.PubSub<Written>
}

const encoder = new TextEncoder()

/** Keeps the promises on the same lines a file would hold, so that tests over memory meet the real format. */
const makeMemory = () => {
  const sessions = new Map<string, Kept>()
  const fail = (session: string, reason: SessionStoreError["reason"]) =>
    Effect.fail(new SessionStoreError({ session, reason }))
  const kept = (ref: SessionRef) =>
    Effect.suspend(() => {
      const found = sessions.get(ref.id)
      return found === undefined ? fail(ref.id, new SessionNotFound()) : Effect.succeed(found)
    })
  const snapshot = ({ ref, text }: Kept): Snapshot => Result.getOrThrow(snapshotOf(ref, encoder.encode(text)))

  return SessionStore.of({
    create: (header, { draft = false, path } = {}) =>
      Effect.gen(function* () {
        const written = yield* PubSub.unbounded<Written>()
        if (sessions.has(header.id)) return yield* fail(header.id, new SessionExists())
        const ref = { id: header.id, path: path ?? `memory:${header.id}` }
        sessions.set(header.id, { ref, text: Jsonl.encode(header), isDraft: draft, written })
        return ref
      }),
    find: (name) =>
      Effect.suspend(() => {
        const found = Ids.candidates(name.replace(/^memory:/, ""), sessions.keys())
        if (found.length === 1) return Effect.succeed(sessions.get(found[0]!)!.ref)
        return fail(name, found.length === 0 ? new SessionNotFound() : new SessionAmbiguous({ candidates: found }))
      }),
    read: (ref) => Effect.map(kept(ref), snapshot),
    open: (ref) =>
      Effect.gen(function* () {
        const session = yield* kept(ref)
        const me = {}
        const subscription = yield* PubSub.subscribe(session.written)
        const opened = snapshot(session)
        return {
          snapshot: opened,
          append: (entries) =>
            Effect.suspend(() => {
              if (opened.readOnly) return fail(ref.id, new SessionReadOnly())
              if (entries.length === 0) return Effect.void
              session.text += entries.map(Jsonl.encode).join("")
              return Effect.asVoid(PubSub.publish(session.written, { by: me, entries }))
            }),
          changes: Stream.fromSubscription(subscription).pipe(
            Stream.filter(({ by }) => by !== me),
            Stream.map(({ entries }) => entries)
          ),
          flush: Effect.void,
          discardDraft: Effect.suspend(() => {
            const hasReply = snapshot(session).tree.entries.some((entry) => role(entry) === "assistant")
            if (session.isDraft && !hasReply) sessions.delete(session.ref.id)
            return Effect.void
          })
        }
      }),
    list: ({ cwd, subAgents = false } = {}) =>
      Effect.sync(() =>
        [...sessions.values()]
          .map(snapshot)
          .filter(({ header }) => cwd === undefined || header?.cwd === cwd)
          .filter(({ tree }) => subAgents || tree.entries[0]?.type !== "session_init")
          .map(({ ref: { path }, header, title, tree }) =>
            SessionSummary.of(header, title, tree, { path, source: "memory", draft: false })
          )
          .sort(SessionSummary.byModified)
      )
  })
}
