/** Service: a prompt in; replies, tool calls and their results appended to the session, and told as they come. */
import type {
  AppendError,
  ChatModelError,
  CompactOutcome,
  Cursor,
  Entry,
  EntryId,
  LeafMoved,
  Message,
  ModelInfo,
  Policy,
  Session,
  StopReason,
  SummaryFailed,
  ThinkingLevel,
  UnknownEntry,
  Usage
} from "@grove/core"
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { OpenCall } from "./OpenCalls.ts"
import type { Tool, ToolRequest } from "./Tool.ts"

/** `default` asks before writes and commands, `autoEdit` before commands, `yolo` never. */
export type ApprovalMode = "default" | "autoEdit" | "yolo"

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
  /** `null` unless `state` is `error`. Its message is one line for people. */
  readonly error: TurnError | null
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

export class Engine extends Context.Service<
  Engine,
  {
    /** The model that would answer there: the one asked for, else the session's, the configured one, the first that would answer. */
    readonly model: (
      session: Session | null,
      options?: { readonly model?: string; readonly at?: string | null }
    ) => Effect.Effect<ModelInfo, ChatModelError>
    /** Begins a turn, which runs until it ends, is cancelled, or the scope is closed. Many may run at once. */
    readonly start: (session: Session, options: TurnOptions) => Effect.Effect<Turn, StartError, Scope.Scope>
    /**
     * Says the prompt once and has it answered so many times at once, in as many siblings; the person stays at the prompt.
     * Without a prompt, what is there is answered.
     */
    readonly samples: (
      session: Session,
      count: number,
      options: Omit<TurnOptions, "group">
    ) => Effect.Effect<ReadonlyArray<Turn>, StartError | AppendError, Scope.Scope>
    /** Turns of a session that have not ended. */
    readonly running: (session: Session) => Effect.Effect<ReadonlyArray<Turn>>
    /**
     * What a crash left: replies that nobody generates any more become messages with the text they had. For whoever has
     * opened a session to write; answers the entries that were made.
     */
    readonly recover: (session: Session) => Effect.Effect<ReadonlyArray<Entry.Entry>, AppendError>
    /** Calls at the end of the path that have no results: something broke off. A turn with `openCalls: "run"` runs them. */
    readonly openCalls: (session: Session, at?: string | null) => Effect.Effect<ReadonlyArray<OpenCall>>
    /** Notes that open calls failed, or goes back to before the reply that made them. */
    readonly settle: (session: Session, how: "fail" | "drop") => Effect.Effect<void, AppendError>
    /** Makes the context where the person stands shorter, as they asked for. */
    readonly compact: (
      session: Session,
      options?: { readonly model?: string; readonly instructions?: string }
    ) => Effect.Effect<CompactOutcome, ChatModelError | SummaryFailed | AppendError | LeafMoved>
  }
>()("@grove/agent/Engine") {}
