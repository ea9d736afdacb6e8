/** What a reply has said so far, kept where a crash does not take it. */
import { type NewEntry, Reply, RunningReplies, type RunningReply } from "@grove/core"
import { Effect } from "effect"

/** How often at most a growing reply is noted. */
export const PACE = "1 second"

/** Notes the reply now, and what has come since once a second until the scope ends. Whoever has written it down forgets it. */
export const keep = Effect.fnUntraced(function* (reply: Omit<RunningReply, "text">, text: () => string) {
  const replies = yield* RunningReplies
  let noted = text()
  yield* replies.note({ ...reply, text: noted })
  const note = Effect.suspend(() => {
    const now = text()
    if (now === noted) return Effect.void
    noted = now
    return replies.note({ ...reply, text: now })
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(PACE), note)))
})

/** What becomes of a reply that nobody generates any more. */
export const interrupted = ({ model, started, text, group }: RunningReply): NewEntry => {
  const slash = model.indexOf("/")
  const message = {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    provider: model.slice(0, Math.max(slash, 0)),
    model: model.slice(slash + 1),
    usage: Reply.noUsage,
    stopReason: "error",
    errorMessage: "interrupted",
    timestamp: Date.parse(started) || 0
  }
  return { type: "message", message, ...(group !== undefined && { group }) }
}
