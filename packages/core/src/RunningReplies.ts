/** Port: replies that are being generated, noted where a crash does not take what they have said so far. */
import { Context, Effect, Layer } from "effect"
import type { EntryId } from "./model/EntryId.ts"

export interface RunningReply {
  /** The id of the session. */
  readonly session: string
  /** The entry that the reply will be. */
  readonly entry: EntryId
  readonly parentId: EntryId | null
  /** `provider/model` */
  readonly model: string
  /** ISO. */
  readonly started: string
  readonly text: string
  /** As on the entry, where the reply is one of several that were asked for together. */
  readonly group?: unknown
}

const key = (session: string, entry: EntryId): string => `${session} ${entry}`

/** `working`: somebody alive generates a reply in a session. `unclean`: only replies that nobody generates any more. */
export type SessionWork = "working" | "unclean"

/** What notes, each with its session, say of the sessions together. */
export const workOf = (
  notes: Iterable<{ readonly session: string; readonly isAlive: boolean }>
): ReadonlyMap<string, SessionWork> => {
  const works = new Map<string, SessionWork>()
  for (const { session, isAlive } of notes) {
    if (isAlive || !works.has(session)) works.set(session, isAlive ? "working" : "unclean")
  }
  return works
}

interface Noted {
  readonly reply: RunningReply
  readonly isAbandoned: boolean
}

const makeMemory = (left: ReadonlyArray<RunningReply>) => {
  const noted = new Map<string, Noted>()
  for (const reply of left) noted.set(key(reply.session, reply.entry), { reply, isAbandoned: true })
  const of = (session: string, isAbandoned: boolean) =>
    [...noted.values()]
      .filter((each) => each.reply.session === session && each.isAbandoned === isAbandoned)
      .map(({ reply }) => reply)
      .sort((a, b) => (a.started < b.started ? -1 : 1))
  return RunningReplies.of({
    note: (reply) =>
      Effect.sync(() => {
        noted.set(key(reply.session, reply.entry), { reply, isAbandoned: false })
      }),
    forget: (session, entry) =>
      Effect.sync(() => {
        noted.delete(key(session, entry))
      }),
    list: (session) => Effect.sync(() => of(session, false)),
    works: Effect.sync(() =>
      workOf([...noted.values()].map(({ reply, isAbandoned }) => ({ session: reply.session, isAlive: !isAbandoned })))
    ),
    takeAbandoned: (session) =>
      Effect.sync(() => {
        const taken = of(session, true)
        for (const reply of taken) noted.set(key(session, reply.entry), { reply, isAbandoned: false })
        return taken
      })
  })
}

export class RunningReplies extends Context.Service<
  RunningReplies,
  {
    /**
     * Notes a reply of this process with what it has said so far; whole or not at all, in place of what was noted before.
     * Where the medium refuses, the reply goes on without a note.
     */
    readonly note: (reply: RunningReply) => Effect.Effect<void>
    /** The reply is in its session. Nothing happens where there is no note. */
    readonly forget: (session: string, entry: EntryId) => Effect.Effect<void>
    /** Those of a session that somebody alive generates, in this process or another; oldest first. */
    readonly list: (session: string) => Effect.Effect<ReadonlyArray<RunningReply>>
    /** Every session with a reply noted, and whether anybody is at work in it. Takes nothing over. */
    readonly works: Effect.Effect<ReadonlyMap<string, SessionWork>>
    /**
     * Those of a session that nobody generates any more; oldest first. Whoever gets one owns it, so that of many who ask
     * only one does; it stays noted until it is forgotten, and is abandoned again if its new owner dies.
     */
    readonly takeAbandoned: (session: string) => Effect.Effect<ReadonlyArray<RunningReply>>
  }
>()("@grove/core/RunningReplies") {
  static readonly layerMemory = Layer.sync(RunningReplies, () => makeMemory([]))
  /** Begins with replies whose owners are gone, as after a crash. */
  static readonly layerLeft = (left: ReadonlyArray<RunningReply>) => Layer.sync(RunningReplies, () => makeMemory(left))
}
