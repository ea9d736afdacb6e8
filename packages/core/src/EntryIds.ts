/** Service: new names for sessions and entries. */
import { Clock, Context, Effect, Layer } from "effect"
import type { EntryId, SessionId } from "./model/EntryId.ts"

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes))

/** UUIDv7: the time first, so that names sort by age. */
const uuidV7 = (now: number): string => {
  const bytes = random(16)
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) & 0xff
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

export class EntryIds extends Context.Service<
  EntryIds,
  {
    /** 12 hex digits. Clashes are as good as impossible, but whoever appends still asks for another on one. */
    readonly entry: Effect.Effect<EntryId>
    readonly session: Effect.Effect<SessionId>
  }
>()("@grove/core/EntryIds") {
  static readonly layer = Layer.succeed(EntryIds, {
    // The last twelve digits of such a UUID are as random as any, and made many at a time.
    entry: Effect.sync(() => crypto.randomUUID().slice(-12) as EntryId),
    session: Effect.map(Clock.currentTimeMillis, (now) => uuidV7(now) as SessionId)
  })

  /** Counts from 1, for tests that name what they expect. */
  static readonly layerSequential = Layer.sync(EntryIds, () => {
    let entries = 0
    let sessions = 0
    return {
      entry: Effect.sync(() => (++entries).toString(16).padStart(12, "0") as EntryId),
      session: Effect.sync(() => `session-${++sessions}` as SessionId)
    }
  })
}
