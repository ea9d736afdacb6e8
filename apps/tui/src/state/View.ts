/** What the screens of the chat share: what they know, what happens to them, what they ask for, and how one plugs in. */
import type { ApprovalAsked, OpenCalls } from "@grove/agent"
import type {
  ApprovalMode,
  Chat,
  EntryId,
  Json,
  SessionRef,
  SessionSummary,
  SessionTree,
  SessionWork,
  Symbols,
  TreeUsage,
  Usage
} from "@grove/core"
import type { Input } from "../keys.ts"
import type { Row } from "./Row.ts"

export type { ApprovalAsked, ApprovalMode }
export type OpenCall = OpenCalls.OpenCall

/** What a person sends: text, and images as stored in messages. */
export interface Prompt {
  readonly text: string
  readonly images: ReadonlyArray<Json>
}

/** A session as the screens see it. A new object whenever anything in it changed; the tree inside is live. */
export interface SessionState {
  readonly ref: SessionRef
  readonly cwd: string
  readonly name: string | null
  readonly tree: SessionTree
  readonly leaf: EntryId | null
  readonly readOnly: boolean
  readonly usage: TreeUsage.TreeUsage
  /** Tokens that the model would be shown; `null` while a long session is still being read. */
  readonly tokens: number | null
  /** Entries that failed, as far as the session has been read. */
  readonly errors: ReadonlySet<EntryId>
  /** Nothing is known of it yet: it is being read. */
  readonly isOpening?: boolean
}

/** A reply being made where the person stands. */
export interface TurnState {
  readonly started: number
  /** The entry that the reply will be, and what it will hang under; `null` before it begins. */
  readonly entry: EntryId | null
  readonly parentId: EntryId | null
  /** Blocks as a message holds them, as far as they have come. */
  readonly content: ReadonlyArray<Json>
  /** Calls that are being run. */
  readonly running: ReadonlySet<string>
  /** What is going on, if it is not answering: a compaction, a rest before another attempt. */
  readonly status: string | null
}

export interface Notice {
  readonly kind: "info" | "error"
  readonly text: string
}

export interface World {
  readonly columns: number
  readonly rows: number
  /** Unix milliseconds. */
  readonly now: number
  readonly symbols: Symbols.Symbols
  readonly home: string
  readonly price: Usage.Pricer
  readonly session: SessionState
  readonly model: Chat.ModelInfo | null
  readonly approval: ApprovalMode
  readonly linear: boolean
  readonly doubleEscape: DoubleEscape
  readonly turn: TurnState | null
  /** Replies being made elsewhere in the tree. */
  readonly background: number
  readonly queue: ReadonlyArray<Prompt>
}

export const doubleEscapes = ["branch", "tree", "fork", "none"] as const
export type DoubleEscape = (typeof doubleEscapes)[number]

// ---------------------------------------------------------------------------------------------------------- events

/** A prompt that was typed before, as the history popup lists it. */
export interface PastPrompt {
  readonly id: number | null
  readonly text: string
  readonly uses: number
  readonly lastUsed: number
  readonly cwd: string | null
  readonly session: string | null
  readonly entry: string | null
}

/** What a list tells of a session beyond its summary. */
export interface SessionDetails {
  readonly path: string
  /** When the session was last written to, as its summary says: details of another time are stale. */
  readonly modified: string | null
  /** Prompts on the path the person stands on. */
  readonly turns: number
  readonly costMicros: number | null
  readonly lastPrompt: string
  /** How many of its turns a fork was made with. */
  readonly forkedAfter: number
}

/** A session in which something was said. */
export interface SessionHit {
  readonly path: string
  readonly count: number
  readonly snippet: string
  /** Where in the snippet: from, to. */
  readonly marks: ReadonlyArray<readonly [number, number]>
}

export type PromptScope = "all" | "cwd" | "session"

export type Event =
  | Input
  | { readonly _tag: "Resize"; readonly columns: number; readonly rows: number }
  | { readonly _tag: "Tick"; readonly now: number }
  /** Another session is on the screen. */
  | { readonly _tag: "Opened"; readonly session: SessionState }
  /** The session grew, or the person moved in it. */
  | { readonly _tag: "Changed"; readonly session: SessionState; readonly foreign: boolean }
  | { readonly _tag: "ModelChosen"; readonly model: Chat.ModelInfo }
  | { readonly _tag: "TurnChanged"; readonly turn: TurnState | null }
  | { readonly _tag: "BackgroundChanged"; readonly count: number }
  | { readonly _tag: "QueueChanged"; readonly queue: ReadonlyArray<Prompt> }
  | { readonly _tag: "ApprovalChanged"; readonly approval: ApprovalMode }
  | { readonly _tag: "ApprovalAsked"; readonly asked: ApprovalAsked }
  | { readonly _tag: "ApprovalWithdrawn"; readonly callId: string }
  /** Calls without results where the person stands, who has to say what becomes of them before the prompt goes on. */
  | { readonly _tag: "CallsOpen"; readonly calls: ReadonlyArray<OpenCall>; readonly prompt: Prompt | null }
  /** What was sent could not be taken; the person gets it back. */
  | { readonly _tag: "Returned"; readonly prompt: Prompt }
  /** Into the editor, in place of what is there. */
  | { readonly _tag: "Filled"; readonly prompt: Prompt }
  | { readonly _tag: "Told"; readonly notice: Notice }
  | { readonly _tag: "Models"; readonly listings: ReadonlyArray<Chat.ProviderListing> }
  | { readonly _tag: "Files"; readonly paths: ReadonlyArray<string> }
  | {
      readonly _tag: "Sessions"
      readonly all: boolean
      readonly sessions: ReadonlyArray<SessionSummary.SessionSummary>
      /** By their ids, those in which a reply is being made, or was when its program died. */
      readonly works: ReadonlyMap<string, SessionWork>
    }
  | { readonly _tag: "SessionDetailed"; readonly details: SessionDetails }
  /** The tree of the session on the screen is to be shown. */
  | { readonly _tag: "TreeAsked" }
  /** Entries of a session from which other sessions were forked. */
  | { readonly _tag: "ForksFound"; readonly path: string; readonly entries: ReadonlySet<EntryId> }
  /** Sessions in whose text something was found. */
  | { readonly _tag: "SessionsFound"; readonly query: string; readonly hits: ReadonlyArray<SessionHit> }
  /** The person asked for another order of the sessions. */
  | { readonly _tag: "SessionsSorted" }
  /** Prompts of this folder, newest first, for Up and Down in the editor. */
  | { readonly _tag: "Recalled"; readonly prompts: ReadonlyArray<string> }
  | {
      readonly _tag: "Prompts"
      readonly query: string
      readonly scope: PromptScope
      readonly prompts: ReadonlyArray<PastPrompt>
      readonly total: number
    }
  /** The person asked for another order of the prompts. */
  | { readonly _tag: "PromptsSorted" }
  | { readonly _tag: "LinearChanged"; readonly linear: boolean }
  /** Whoever asked to go on may do so: the screen is painted. */
  | { readonly _tag: "Continued" }

// --------------------------------------------------------------------------------------------------------- intents

/** A change of the tree, as `TreeEdits` makes it; what it did to the context is told afterwards. */
export type Edit =
  | { readonly op: "enable" | "disable" | "prune"; readonly ids: ReadonlyArray<EntryId> }
  | { readonly op: "graft"; readonly sources: ReadonlyArray<EntryId>; readonly target: EntryId }
  /** Chosen entries of one branch, copied to where the person stands. */
  | { readonly op: "merge"; readonly branch: EntryId; readonly picked: ReadonlyArray<EntryId> }
  /** What a branch came to, in a summary where the person stands. */
  | { readonly op: "mergeSummary"; readonly branch: EntryId }
  | { readonly op: "summarize"; readonly first: EntryId; readonly last: EntryId }
  | { readonly op: "label"; readonly ids: ReadonlyArray<EntryId>; readonly label: string | null }
  | { readonly op: "rate"; readonly ids: ReadonlyArray<EntryId>; readonly rating: number | null }
  | { readonly op: "undo"; readonly edit: EntryId | null }
  | { readonly op: "redo" }

/** What a screen asks for; whoever runs the screens does it and tells what came of it by events. */
export type Intent =
  | { readonly _tag: "Send"; readonly prompt: Prompt }
  | { readonly _tag: "Cancel" }
  | { readonly _tag: "Unqueue" }
  /** To another entry, or to none; with `summary` what is left behind is summarised there. */
  | { readonly _tag: "Move"; readonly to: EntryId | null; readonly summary?: { readonly instructions?: string } }
  /** A new session of the path up to `at`, opened; what was chosen goes to its editor. */
  | { readonly _tag: "Fork"; readonly at: EntryId | null; readonly prompt: Prompt | null; readonly name?: string }
  | { readonly _tag: "Compact"; readonly instructions: string }
  | { readonly _tag: "Name"; readonly name: string }
  | { readonly _tag: "Label"; readonly target: EntryId; readonly label: string | null }
  | { readonly _tag: "ListModels" }
  | { readonly _tag: "ChooseModel"; readonly ref: string }
  | { readonly _tag: "ChooseApproval"; readonly mode: ApprovalMode }
  | { readonly _tag: "Approve"; readonly callId: string; readonly answer: "once" | "always" | "no" }
  /** What becomes of open calls; then the prompt is sent, if there is one. */
  | { readonly _tag: "Settle"; readonly how: "run" | "fail" | "drop"; readonly prompt: Prompt | null }
  | { readonly _tag: "Sample"; readonly count: number; readonly prompt: Prompt | null }
  | { readonly _tag: "Export"; readonly words: string }
  | { readonly _tag: "Copy"; readonly text: string }
  | { readonly _tag: "EditOutside"; readonly text: string }
  /** On an entry of the session on the screen, or on another session. */
  | { readonly _tag: "OpenViewer"; readonly entry: EntryId | null; readonly path?: string }
  | { readonly _tag: "ListFiles" }
  | { readonly _tag: "ListSessions"; readonly all: boolean }
  /** Reads more of these sessions and of no others; answered one by one. */
  | { readonly _tag: "DetailSessions"; readonly sessions: ReadonlyArray<SessionSummary.SessionSummary> }
  /** Looks for sessions by what was said in them. */
  | { readonly _tag: "SearchSessions"; readonly query: string }
  /** With `at`, at that entry; with `tree`, its tree is shown then. */
  | { readonly _tag: "OpenSession"; readonly path: string; readonly at?: string; readonly tree?: boolean }
  /** Looks for sessions that were forked from the one on the screen. */
  | { readonly _tag: "FindForks" }
  | { readonly _tag: "NewSession" }
  | { readonly _tag: "RenameSession"; readonly path: string; readonly name: string }
  | { readonly _tag: "DeleteSession"; readonly path: string }
  | { readonly _tag: "SearchPrompts"; readonly query: string; readonly scope: PromptScope }
  | { readonly _tag: "DeletePrompt"; readonly id: number }
  | { readonly _tag: "ToggleLinear" }
  | { readonly _tag: "Edit"; readonly edit: Edit }
  /** There is more to do once the screen is painted; answered by `Continued`. */
  | { readonly _tag: "Continue" }
  | { readonly _tag: "Redraw" }
  | { readonly _tag: "Suspend" }
  | { readonly _tag: "Quit" }

// ----------------------------------------------------------------------------------------------------------- views

/** A whole screen: as many rows as it has lines, and where the caret of the terminal stands. */
export interface Frame {
  readonly rows: ReadonlyArray<Row>
  readonly caret: { readonly line: number; readonly column: number } | null
}

/** What a view makes of an event. */
export interface Next {
  /** The view from now on; `null` closes it. */
  readonly view: View | null
  readonly intents?: ReadonlyArray<Intent>
  /** Told to the chat below, in order, once the view is as it says. */
  readonly events?: ReadonlyArray<Event>
  /** Opened on top. */
  readonly open?: View
}

/**
 * A screen on top of the chat: a value with its own state. It gets every event but those for views above it; keys only
 * while it is the topmost. It never changes: `on` answers the next one.
 */
export interface View {
  readonly name: string
  /** Comes up by itself: whoever is typing goes on typing into the chat, and answers nothing by accident. */
  readonly interrupts?: boolean
  readonly on: (event: Event, world: World) => Next
  /** `below` is what the screen would show without it, in so many lines. */
  readonly draw: (world: World, below: (rows: number) => Frame) => Frame
}

export const isInput = (event: Event): event is Input =>
  event._tag === "Key" || event._tag === "Paste" || event._tag === "Wheel"
