/** The calls of a reply, run as far as they are allowed to, and their results. */
import type { AppendError, Entry, NewEntry } from "@grove/core"
import { Cause, Clock, Effect, Exit } from "effect"
import { Approvals } from "./Approval.ts"
import type { OpenCall } from "./OpenCalls.ts"
import { failed, notApproved, type Tool, type ToolOutcome } from "./Tool.ts"
import type { ApprovalAsked } from "./Turn.ts"
import { append, type Work } from "./Work.ts"

const CANCELLED = failed("cancelled")
/** For calls that something other than a person broke off: a crash, mostly. */
export const INTERRUPTED = failed("interrupted before it finished; it was not run again")

/** The result of a call, as it is stored. */
export const resultOf = (call: OpenCall, outcome: ToolOutcome, timestamp: number): NewEntry => {
  const { content, isError, details } = outcome
  const answered = { role: "toolResult", toolCallId: call.callId, toolName: call.name, content, isError }
  return { type: "message", message: { ...answered, ...(details !== undefined && { details }), timestamp } }
}

export const answer = Effect.fnUntraced(function* (
  work: Work,
  call: OpenCall,
  outcome: ToolOutcome
): Effect.fn.Return<Entry.Entry, AppendError> {
  return yield* append(work, resultOf(call, outcome, yield* Clock.currentTimeMillis))
})

const ask = Effect.fnUntraced(
  function* ({ options, emit }: Work, asked: ApprovalAsked) {
    const { entry, callId } = asked
    yield* emit({ _tag: "ApprovalRequested", asked })
    const approved = options.approve === undefined ? false : yield* options.approve(asked)
    yield* emit({ _tag: "ApprovalAnswered", entry, callId, approved })
    return approved
  },
  (effect, { asking }) => asking.withPermit(effect)
)

/** What the person allows here: as the session has it, unless this turn is to be run otherwise. */
const allowedIn = Effect.fnUntraced(function* ({ session, options }: Work) {
  const approvals = yield* Approvals
  const { allowed } = yield* approvals.settings(session.ref, session.tree.facts.config)
  return options.approval === undefined ? allowed : { ...allowed, mode: options.approval }
})

const perform = Effect.fnUntraced(function* (work: Work, call: OpenCall, tool: Tool | undefined) {
  const { options } = work
  if (tool === undefined) {
    const names = (options.tools ?? []).map(({ definition }) => definition.name).join(", ")
    return failed(`there is no tool ${call.name}; there ${names === "" ? "are none" : `are ${names}`}`)
  }
  const { entry, callId, arguments: given, invalidArguments } = call
  if (invalidArguments !== undefined) return failed("the arguments are no JSON object, so nothing was done")
  const approvals = yield* Approvals
  const at = { cwd: options.cwd }
  const request = yield* tool.describe(given, at)
  const verdict = yield* approvals.review(tool, request, at, yield* allowedIn(work))
  if (verdict._tag === "Ask") {
    const asked = { entry, callId, tool, arguments: given, request, because: verdict.because }
    if (!(yield* ask(work, asked))) return notApproved
  }
  return yield* tool.run(given, at)
})

/** A tool that breaks is the tool's trouble: the model is told. */
const broke = (cause: Cause.Cause<never>): ToolOutcome => {
  const error = Cause.squash(cause)
  return failed(`the tool broke: ${error instanceof Error ? error.message : String(error)}`)
}

/** What changes nothing here, or works in a session of its own, may run beside others of its kind. */
const runsBeside = (tool: Tool | undefined): boolean =>
  tool === undefined || tool.kind === "read" || tool.kind === "agent"

/** In the order of the calls; neighbours that may run side by side are together. */
const batches = (calls: ReadonlyArray<OpenCall>, toolOf: (call: OpenCall) => Tool | undefined) => {
  const found: Array<Array<OpenCall>> = []
  let isOpen = false
  for (const call of calls) {
    const beside = runsBeside(toolOf(call))
    if (beside && isOpen) found.at(-1)!.push(call)
    else found.push([call])
    isOpen = beside
  }
  return found
}

/** Every call gets a result, also when this is interrupted: those that had not finished are told to be cancelled. */
export const run = Effect.fnUntraced(function* (work: Work, calls: ReadonlyArray<OpenCall>) {
  const tools = new Map((work.options.tools ?? []).map((tool) => [tool.definition.name, tool]))
  const toolOf = (call: OpenCall) => tools.get(call.name)
  const open = new Set(calls)

  const finish = Effect.fnUntraced(function* (call: OpenCall, outcome: ToolOutcome) {
    const { entry, callId, name } = call
    const { id: result } = yield* answer(work, call, outcome)
    open.delete(call)
    yield* work.emit({ _tag: "ToolEnd", entry, callId, name, isError: outcome.isError, result })
  }, Effect.uninterruptible)

  const runOne = (call: OpenCall): Effect.Effect<void, AppendError, Approvals> =>
    Effect.gen(function* () {
      const { entry, callId, name, arguments: given } = call
      yield* work.emit({ _tag: "ToolStart", entry, callId, name, arguments: given })
      const exit = yield* Effect.exit(perform(work, call, toolOf(call)))
      if (Exit.isSuccess(exit)) return yield* finish(call, exit.value)
      if (Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause)
      yield* finish(call, broke(exit.cause))
    })

  const cancelOpen = Effect.suspend(() =>
    Effect.forEach([...open], (call) => finish(call, CANCELLED), { discard: true })
  )

  yield* Effect.forEach(
    batches(calls, toolOf),
    (batch) => Effect.forEach(batch, runOne, { concurrency: "unbounded", discard: true }),
    { discard: true }
  ).pipe(Effect.onInterrupt(() => Effect.ignore(cancelOpen)))
})
