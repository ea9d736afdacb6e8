/** A turn: a prompt and all that answers it, told as it comes. */
import {
  type AppendError,
  type ApprovalMode,
  type ChatModelError,
  type CompactOutcome,
  type Cursor,
  Entry,
  type EntryId,
  type Message,
  type Policy,
  type Session,
  type StopReason,
  type ThinkingLevel,
  type UnknownEntry,
  type Usage
} from "@grove/core"
import { Effect, Option, Result, Stream } from "effect"
import type { Tool, ToolRequest } from "./Tool.ts"

/** A call that waits for a person. */
export interface ApprovalAsked {
  /** The reply with the call. */
  readonly entry: EntryId
  readonly callId: string
  readonly tool: Tool
  readonly arguments: { readonly [name: string]: unknown }
  readonly request: ToolRequest
  /** A few words: why a person is asked. */
  readonly because: string
}

/** Replies that were made together: what they hang under, and how many they are. */
export interface Group {
  readonly id: string
  readonly cause: "samples"
  /** From 0. */
  readonly index: number
  readonly of: number
}

/** How a turn answers; the same for every turn of a chat. */
export interface ReplyOptions {
  /** Where tools work: an absolute path. */
  readonly cwd: string
  /** `provider/model`. Left out: what the session says, else what is configured, else the first that would answer. */
  readonly model?: string
  readonly thinkingLevel?: ThinkingLevel
  readonly system?: string
  readonly knowledge?: ReadonlyArray<Policy.Knowledge>
  readonly tools?: ReadonlyArray<Tool>
  /** The model is shown one line of conversation: the path to the newest entry, nothing switched off or cut off. */
  readonly linear?: boolean
  /** For this turn, whatever the session says. */
  readonly approval?: ApprovalMode
  /** Asks the person, who may take their time; interrupted when the turn is cancelled. Left out, the answer is no. */
  readonly approve?: (asked: ApprovalAsked) => Effect.Effect<boolean>
}

export interface TurnOptions extends ReplyOptions {
  /** What the person says. Left out, the model answers what is there already. */
  readonly prompt?: Message.Content
  /**
   * Where a turn in the background begins; it never moves the person. Left out, the turn begins where the person stands
   * and takes them along, as long as they stay where it is.
   */
  readonly at?: string | null
  /** Calls without results where the turn begins: run them, or note that they failed (the default) and go on. */
  readonly openCalls?: "run" | "fail"
  readonly group?: Group
}

export type TurnEvent =
  /** The context is being made shorter. */
  | { readonly _tag: "Compacting"; readonly reason: "threshold" | "overflow" }
  /** What came of it; where it failed nothing has changed, and the turn goes on. */
  | { readonly _tag: "Compacted"; readonly outcome: CompactOutcome }
  | { readonly _tag: "CompactionFailed"; readonly message: string }
  /** A reply begins. It will be the entry of that id, under that parent. */
  | { readonly _tag: "Started"; readonly entry: EntryId; readonly parentId: EntryId | null; readonly model: string }
  | { readonly _tag: "Delta"; readonly entry: EntryId; readonly kind: "text" | "thinking"; readonly text: string }
  /** Nothing has come yet; the request is made again after a rest. */
  | {
      readonly _tag: "Retry"
      readonly entry: EntryId
      readonly attempt: number
      readonly delayMillis: number
      readonly because: string
    }
  /** The model wants something done; the call is whole, and in the reply of that id. */
  | {
      readonly _tag: "ToolStart"
      readonly entry: EntryId
      readonly callId: string
      readonly name: string
      readonly arguments: { readonly [name: string]: unknown }
    }
  /** A person is asked whether the call may run. */
  | { readonly _tag: "ApprovalRequested"; readonly asked: ApprovalAsked }
  | { readonly _tag: "ApprovalAnswered"; readonly entry: EntryId; readonly callId: string; readonly approved: boolean }
  /** `result` is the entry that holds the outcome. */
  | {
      readonly _tag: "ToolEnd"
      readonly entry: EntryId
      readonly callId: string
      readonly name: string
      readonly isError: boolean
      readonly result: EntryId
    }
  /** Written: prompts, replies, results, compactions, changes of the model. */
  | { readonly _tag: "Appended"; readonly entry: Entry.Entry }
  /** The last event, of every turn. */
  | { readonly _tag: "End"; readonly end: TurnEnd }

/** What a turn can fail with. What had been said by then is in the session. */
export type TurnError = ChatModelError | AppendError

export type TurnState = "generating" | "complete" | "error" | "aborted"

export interface TurnEnd {
  readonly state: Exclude<TurnState, "generating">
  /** The prompt's entry; `null` if there was none, or it could not be written: then the person still has to be given it back. */
  readonly prompt: EntryId | null
  /** Where the turn's cursor stands. */
  readonly leaf: EntryId | null
  /** Of the last reply. */
  readonly stopReason: StopReason
  /** Of all requests of this turn. */
  readonly usage: Usage.UsageSum
  /** `null` unless `state` is `error`. */
  readonly error: TurnError | null
  /** What was steered and never said, because the turn broke off. */
  readonly unsaid: ReadonlyArray<Message.Content>
}

/** A turn that is under way, or over. */
export interface Turn {
  readonly session: Session
  /** Its own position. */
  readonly cursor: Cursor
  readonly state: Effect.Effect<TurnState>
  /** From the beginning, however late one listens, up to the `End`. Many may listen. */
  readonly events: Stream.Stream<TurnEvent>
  /** Ends it, at any stage: what was said is kept, calls that had not finished have results. Succeeds when all is written. */
  readonly cancel: Effect.Effect<void>
  /** Says something more before the next request; `false` if the turn is over, and nothing was said. */
  readonly steer: (prompt: Message.Content) => Effect.Effect<boolean>
  readonly end: Effect.Effect<TurnEnd>
}

/** Why a turn did not begin; nothing was written. */
export type StartError = ChatModelError | UnknownEntry

/** The entry of the prompt, once it is written; `null` if the turn ended before. */
export const promptOf = (turn: Turn): Effect.Effect<string | null> =>
  Effect.map(
    Stream.runHead(
      Stream.filterMap(turn.events, (event) => {
        if (event._tag === "End") return Result.succeed(null)
        const isPrompt = event._tag === "Appended" && Entry.role(event.entry) === "user"
        return isPrompt ? Result.succeed(event.entry.id) : Result.failVoid
      })
    ),
    Option.getOrNull
  )
