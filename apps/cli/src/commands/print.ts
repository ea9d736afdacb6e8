/** `grove -p`: one prompt, its answer, and nothing else on standard output. */
import {
  Engine,
  type OpenCalls,
  promptOf,
  type Turn,
  type TurnEnd,
  type TurnEvent,
  type TurnOptions
} from "@grove/agent"
import { type EntryId, JsonText, Preview, PromptHistory, type Session } from "@grove/core"
import { Clock, Effect, Exit, Fiber, Layer, Stream } from "effect"
import * as Chat from "../Chat.ts"
import * as ChatSession from "../ChatSession.ts"
import { Failure, UsageError } from "../CliError.ts"
import type { Input } from "../Command.ts"
import { Environment } from "../Environment.ts"
import { note } from "../Output.ts"
import * as SessionArgument from "../SessionArgument.ts"
import * as Signals from "../Signals.ts"
import * as StandardInput from "../StandardInput.ts"
import * as Words from "../Words.ts"

// -------------------------------------------------------------------------------------------------- what is asked

const NOTHING = 'there is nothing to answer: say it as grove -p "…", or on standard input'

/** The words, standard input, or both with a blank line between. */
const promptFrom = Effect.fnUntraced(function* (words: string | undefined) {
  const { isInteractive } = yield* Environment
  const piped = isInteractive.input ? "" : (yield* StandardInput.text).replace(/\s+$/u, "")
  const prompt = [words ?? "", piped].filter((text) => text.trim() !== "").join("\n\n")
  return prompt === "" ? yield* new UsageError({ message: NOTHING }) : prompt
})

const MOST_SAMPLES = 64

const samplesFrom = (flag: string | boolean | undefined): Effect.Effect<number, UsageError> => {
  const count = flag === undefined ? 1 : Number(flag)
  return Number.isInteger(count) && count >= 1 && count <= MOST_SAMPLES
    ? Effect.succeed(count)
    : Effect.fail(new UsageError({ message: `--samples is a number from 1 to ${MOST_SAMPLES}` }))
}

// -------------------------------------------------------------------------------------------------- what is told

const write = (text: string) => Effect.sync(() => void process.stdout.write(text))
const line = (value: unknown) => write(`${JsonText.stringify(value)}\n`)

interface Teller {
  readonly begin: (session: Session, path: string | null) => Effect.Effect<void>
  readonly event: (event: TurnEvent) => Effect.Effect<void>
}

const errorLine = (end: TurnEnd): string | undefined => {
  if (end.error === null) return undefined
  return end.error._tag === "SessionStoreError" ? SessionArgument.explain(end.error) : end.error.message
}

const asJson: Teller = {
  begin: ({ ref: { id } }, path) => line({ type: "session", id, path }),
  event: (event) => {
    switch (event._tag) {
      case "Delta":
        return line({ type: "delta", entry: event.entry, kind: event.kind, text: event.text })
      case "ToolStart":
        return line({ type: "tool", entry: event.entry, callId: event.callId, name: event.name, state: "start" })
      case "ToolEnd": {
        const { entry, callId, name, isError } = event
        return line({ type: "tool", entry, callId, name, state: "end", isError })
      }
      case "Appended":
        return line({ type: "entry", entry: event.entry })
      case "End": {
        const { leaf, stopReason, usage } = event.end
        const message = errorLine(event.end)
        return line(message === undefined ? { type: "end", leaf, stopReason, usage } : { type: "error", message })
      }
      default:
        return Effect.void
    }
  }
}

/** Text as it comes; what was said before a tool ran and what was said after it are apart by a blank line. */
const asText = (isTerminal: boolean): Teller => {
  let entry: EntryId | undefined
  let isAtLineStart = true
  return {
    begin: () => Effect.void,
    event: (event) => {
      switch (event._tag) {
        case "Delta": {
          if (event.kind === "thinking") return Effect.void
          const isNext = entry !== undefined && entry !== event.entry
          const before = isNext ? (isAtLineStart ? "\n" : "\n\n") : ""
          entry = event.entry
          isAtLineStart = event.text.endsWith("\n")
          return write(before + (isTerminal ? Preview.inert(event.text) : event.text))
        }
        case "Retry":
          return note(`${event.because}; again in ${Math.ceil(event.delayMillis / 1000)} s`)
        case "CompactionFailed":
          return note(event.message)
        case "ApprovalRequested": {
          const { request, because } = event.asked
          return note(`not approved: ${request.line} (${because}); --approval says what may run`)
        }
        case "End":
          if (event.end.stopReason === "length") return Effect.andThen(finishLine(), note("the model had no room left"))
          return finishLine()
        default:
          return Effect.void
      }
    }
  }
  function finishLine() {
    if (entry === undefined || isAtLineStart) return Effect.void
    isAtLineStart = true
    return write("\n")
  }
}

/** Waits for the end and tells all there is to tell. An interruption cancels the turn, which then still has its end. */
const follow = (turn: Turn, teller: Teller) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const told = yield* Effect.forkChild(Stream.runForEach(turn.events, teller.event))
      const exit = yield* Effect.exit(restore(turn.end))
      if (Exit.isFailure(exit)) yield* turn.cancel
      yield* Fiber.await(told)
      return yield* exit
    })
  )

// ------------------------------------------------------------------------------------------------------ the run

const remember = Effect.fnUntraced(function* (prompt: string, session: Session | null, entry: string | null) {
  const history = yield* PromptHistory
  const { cwd } = yield* Environment
  const at = yield* Clock.currentTimeMillis
  const use = { prompt, at, cwd, session: session?.ref.id ?? null, entry, author: "user" }
  yield* Effect.catch(history.add(use), () => note("the prompt could not be added to the history"))
})

const goTo = Effect.fnUntraced(function* ({ main, tree }: Session, at: string | boolean | undefined) {
  if (typeof at !== "string") return
  const leaf = yield* SessionArgument.leaf(tree, at)
  const moved = leaf === null ? main.resetLeaf : main.branch(leaf)
  yield* Effect.catchTag(moved, "UnknownEntry", ({ id }) => new Failure({ message: `entry ${id} is pruned` }))
})

const brokenOff = (calls: ReadonlyArray<OpenCalls.OpenCall>): string => {
  const names = [...new Set(calls.map(({ name }) => name))].join(", ")
  return `${Words.count(calls.length, "tool call")} (${names}) broke off without a result: marked as failed, not run again`
}

const begin = (session: Session, options: TurnOptions, count: number) =>
  Engine.use((engine) =>
    count === 1
      ? Effect.map(engine.start(session, options), (turn): ReadonlyArray<Turn> => [turn])
      : engine.samples(session, count, options)
  )

const answer = Effect.fnUntraced(function* (
  wanted: ChatSession.Wanted,
  prompt: string,
  count: number,
  flags: Input["flags"]
) {
  const { isInteractive } = yield* Environment
  const engine = yield* Engine
  const asked = typeof flags.model === "string" ? { model: flags.model } : {}
  // A model that nobody has is told before anything is made; the prompt is in the history all the same.
  if (wanted._tag === "New" || wanted._tag === "Unrecorded") {
    yield* Effect.tapError(engine.model(null, asked), () => remember(prompt, null, null))
  }
  const session = yield* ChatSession.open(wanted)
  yield* engine.recover(session)
  yield* goTo(session, flags.linear === true ? (session.tree.linear().leaf ?? undefined) : flags.at)
  const teller = flags.json === true ? asJson : asText(isInteractive.output)
  yield* teller.begin(session, wanted._tag === "Unrecorded" ? null : session.ref.path)
  const options = { ...(yield* Chat.replyOptions(session, flags)), prompt }
  const unsaid = remember(prompt, session, null)
  const open = yield* engine.openCalls(session)
  const turns = yield* Effect.tapError(begin(session, options, count), () => unsaid)
  if (open.length > 0) yield* note(brokenOff(open))
  const entry = yield* Effect.onInterrupt(promptOf(turns[0]!), () => unsaid)
  yield* remember(prompt, session, entry)
  const ends = yield* Effect.forEach(turns, (turn) => follow(turn, teller), {
    concurrency: flags.json === true ? "unbounded" : 1
  })
  const failed = ends.map(errorLine).find((message) => message !== undefined)
  if (failed !== undefined) return yield* new Failure({ message: failed })
})

export const run = Effect.fn("print")(function* ({ arguments: [words], flags }: Input) {
  const count = yield* samplesFrom(flags.samples)
  const work = Effect.gen(function* () {
    const wanted = yield* ChatSession.wanted(flags)
    const prompt = yield* promptFrom(words)
    const beside = wanted._tag === "Existing" ? wanted.ref.path : undefined
    const records = wanted._tag !== "Unrecorded"
    const chat = Layer.mergeAll(Chat.history({ records }), Chat.layer({ records, beside }))
    yield* Effect.provide(Effect.scoped(answer(wanted, prompt, count, flags)), chat)
  })
  yield* Effect.catchTags(Signals.until(work), {
    ChatModelError: ({ message }) => new Failure({ message }),
    UnknownEntry: ({ id, session }) => new Failure({ message: `no entry ${id} in ${session}` })
  })
})
