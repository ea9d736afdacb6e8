/** Port: what the person allows in a session, noted on this machine. A session's file records it and can never grant it. */
import { Context, Effect, Layer, Schema } from "effect"
import type { SessionRef } from "./SessionStore.ts"

/** From the strictest on. `default` asks for writes and commands, `autoEdit` for commands, `yolo` for nothing. */
export const approvalModes = ["default", "autoEdit", "yolo"] as const
export type ApprovalMode = (typeof approvalModes)[number]

export const Consent = Schema.Struct({
  mode: Schema.Literals(approvalModes),
  /** Names of tools that need not ask again. */
  tools: Schema.Array(Schema.String)
})
export type Consent = typeof Consent.Type

/** What holds where the person has said nothing. */
export const noConsent: Consent = { mode: "default", tools: [] }

/** The medium refused; what was noted before still holds. */
export class ConsentsError extends Schema.TaggedError<ConsentsError>()("ConsentsError", {
  session: Schema.String,
  cause: Schema.Defect()
}) {}

/** A session is one by its id and its place: another file that bears the id is another session. */
const keyOf = ({ id, path }: SessionRef): string => JSON.stringify([id, path])

const makeMemory = () => {
  const noted = new Map<string, Consent>()
  return Consents.of({
    find: (session) => Effect.sync(() => noted.get(keyOf(session)) ?? noConsent),
    note: (session, { mode, tools }) => Effect.sync(() => void noted.set(keyOf(session), { mode, tools: [...tools] }))
  })
}

export class Consents extends Context.Service<
  Consents,
  {
    /** What was noted last for the session of that id at that path. What is missing or cannot be read is `noConsent`. */
    readonly find: (session: SessionRef) => Effect.Effect<Consent>
    /** Takes the place of what was noted before, whole or not at all. Succeeds once it would be found again. */
    readonly note: (session: SessionRef, consent: Consent) => Effect.Effect<void, ConsentsError>
  }
>()("@grove/core/Consents") {
  static readonly layerMemory = Layer.sync(Consents, makeMemory)
}
