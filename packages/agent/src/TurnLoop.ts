/** A turn from its prompt to the last reply: compact if due, ask, run what the model calls, ask again. */
import {
  type CompactionReason,
  Compactor,
  type Message,
  type ModelInfo,
  type NewEntry,
  Paste,
  type StopReason
} from "@grove/core"
import { Clock, Effect } from "effect"
import type { Approvals } from "./Approval.ts"
import * as Generation from "./Generation.ts"
import * as OpenCalls from "./OpenCalls.ts"
import * as ToolRuns from "./ToolRuns.ts"
import { append, type Settings, type Work, written } from "./Work.ts"

export type Services = Approvals | Compactor | Generation.Services

/** How contexts for a model are made shorter. The session's own model summarises, unless another one is named. */
export const compaction = (info: ModelInfo, settings: Settings) => ({
  window: info.window ?? undefined,
  maxOutput: info.maxOutput ?? undefined,
  settings: { model: info.ref, ...settings.compaction }
})

/** Whether the context is shorter now. Where no summary comes, nothing changes and the turn goes on. */
const compact = Effect.fnUntraced(function* (work: Work, reason: Exclude<CompactionReason, "manual">) {
  const compactor = yield* Compactor
  const { session, cursor, info, settings, emit } = work
  yield* emit({ _tag: "Compacting", reason })
  return yield* compactor.compact(session, cursor, { ...compaction(info, settings), reason }).pipe(
    Effect.tap((outcome) =>
      Effect.gen(function* () {
        if (outcome.compacted) yield* written(work, session.tree.get(outcome.id)!)
        else work.hasNoSummary = true
        yield* emit({ _tag: "Compacted", outcome })
      })
    ),
    Effect.map(({ compacted }) => compacted),
    Effect.catchTags({
      SummaryFailed: (error) => failedToCompact(work, error.message),
      LeafMoved: (error) => failedToCompact(work, error.message)
    })
  )
})

const failedToCompact = (work: Work, message: string) => {
  work.hasNoSummary = true
  return Effect.as(work.emit({ _tag: "CompactionFailed", message }), false)
}

const compactIfDue = Effect.fnUntraced(function* (work: Work) {
  const compactor = yield* Compactor
  const { session, cursor, info, settings } = work
  if (work.hasNoSummary) return
  const isDue = yield* compactor.shouldCompact(session, cursor, compaction(info, settings))
  if (isDue) yield* compact(work, "threshold")
})

/** What the session has to know before the prompt: another model, another level of thinking. */
const changesOf = Effect.fnUntraced(function* ({ cursor, info, options: { thinkingLevel } }: Work) {
  const context = yield* cursor.context
  const before = context.models.default
  const changes: Array<NewEntry> = []
  if (before !== undefined && before !== info.ref)
    changes.push({ type: "model_change", model: info.ref, provider: info.provider, modelId: info.model })
  if (thinkingLevel !== undefined && thinkingLevel !== context.thinkingLevel) {
    changes.push({ type: "thinking_level_change", thinkingLevel })
  }
  return changes
})

/** What a placeholder stands for, the session knows: it is said in full. */
const inFull = ({ session }: Work, content: Message.Content): Message.Content => {
  if (typeof content !== "string") return content
  const { pastedTextMap, pastedImageMap } = session.tree.facts.config
  return Paste.expand(content, pastedTextMap, pastedImageMap)
}

const say = Effect.fnUntraced(function* (work: Work, given: Message.Content) {
  const content = inFull(work, given)
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
  const timestamp = yield* Clock.currentTimeMillis
  return yield* append(work, { type: "message", message: { role: "user", content: blocks, timestamp } })
})

/** Everything up to the first request: open calls are answered, the context is short enough, the prompt is written. */
export const prepare = Effect.fnUntraced(function* (work: Work) {
  const { session, cursor, options } = work
  const open = OpenCalls.at(session.tree, yield* cursor.leaf)
  if (options.openCalls === "run") yield* ToolRuns.run(work, open)
  else for (const call of open) yield* ToolRuns.answer(work, call, ToolRuns.INTERRUPTED)
  if (options.prompt === undefined) return
  yield* compactIfDue(work)
  for (const change of yield* changesOf(work)) yield* append(work, change)
  work.prompt = (yield* say(work, options.prompt)).id
})

/** A context that proves too long is made shorter once; if that does not help, the failure stands as a reply. */
const reply = Effect.fnUntraced(function* (work: Work, isFirst: boolean) {
  const group = isFirst ? work.options.group : undefined
  const first = yield* Generation.generate(work, group)
  if (first._tag === "Replied") return first
  if (!(yield* compact(work, "overflow"))) return yield* Generation.refuse(work, first.error, group)
  const second = yield* Generation.generate(work, group)
  return second._tag === "Replied" ? second : yield* Generation.refuse(work, second.error, group)
})

/** Asks until the model calls nothing more and nobody has anything to add. */
export const run = Effect.fnUntraced(function* (work: Work) {
  let isFirst = true
  for (;;) {
    // Before a prompt it was looked at already, and between a prompt and its reply there is no place for it.
    if (!isFirst || work.prompt === null) yield* compactIfDue(work)
    const { entry, message } = yield* reply(work, isFirst)
    isFirst = false
    const calls = OpenCalls.callsIn(entry.id, message)
    if (calls.length > 0) yield* ToolRuns.run(work, calls)
    const added = work.steering.splice(0)
    if (calls.length === 0 && added.length === 0) {
      work.isOver = true
      return message.stopReason as StopReason
    }
    for (const prompt of added) yield* say(work, prompt)
  }
})
