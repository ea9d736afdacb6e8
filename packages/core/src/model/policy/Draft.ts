/** A context on its way to a model: what the steps of the policy hand on to each other. */
import type { Capabilities } from "../Capabilities.ts"
import type { EntryId } from "../EntryId.ts"
import type { Json } from "../open.ts"

export interface Text extends Json {
  readonly type: "text"
  readonly text: string
}
export interface Image extends Json {
  readonly type: "image"
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}
export interface Thinking extends Json {
  readonly type: "thinking"
  readonly thinking: string
}
export interface RedactedThinking extends Json {
  readonly type: "redactedThinking"
  readonly data: string
}
export interface ToolCall extends Json {
  readonly type: "toolCall"
  readonly id: string
  readonly name: string
  readonly arguments: Json
}

export type Shown = Text | Image
export type Replied = Shown | Thinking | RedactedThinking | ToolCall

export interface User extends Json {
  readonly role: "user"
  readonly content: ReadonlyArray<Shown>
}
export interface Assistant extends Json {
  readonly role: "assistant"
  readonly content: ReadonlyArray<Replied>
}
export interface ToolResult extends Json {
  readonly role: "toolResult"
  readonly toolCallId: string
  readonly toolName: string
  readonly content: ReadonlyArray<Shown>
  readonly isError: boolean
}
/** The three roles every provider knows. Fields beyond those named (`usage`, `timestamp`) are carried along. */
export type Message = User | Assistant | ToolResult

/** A message, and where it is from. */
export interface Said<M extends Message = Message> {
  readonly message: M
  /** `null` for what a step has added. */
  readonly entry: EntryId | null
  /** Since it was said it was reworded, or something before it was reworded or left out. */
  readonly edited: boolean
}

/** Until the step `roles` has run, messages are as the session has them: of any role and shape. */
export interface Draft {
  readonly systemPrompt: string
  readonly said: ReadonlyArray<Said>
}

export interface Knowledge {
  readonly name: string
  readonly text: string
}

/** Whom the context is for, and what is said beside it. */
export interface Request {
  readonly model: Capabilities
  readonly systemPrompt?: string
  /** What the model should know besides: notes, documents that were found. Told at the end of the system prompt. */
  readonly knowledge?: ReadonlyArray<Knowledge>
}

export type ChangeKind = "added" | "joined" | "left-out" | "moved" | "renamed" | "replaced"

/** What a step did to one message, for people: `message` is the same for all that is alike, so that it can be counted. */
export interface Change {
  readonly step: string
  readonly kind: ChangeKind
  readonly entry?: EntryId
  readonly message: string
}
export type Note = Omit<Change, "step">

export interface Outcome extends Draft {
  readonly changes?: ReadonlyArray<Note>
}

/** Total, and the identity on what it has already put in order. */
export interface Step {
  readonly name: string
  readonly apply: (draft: Draft, request: Request) => Outcome
}

export const note = (kind: ChangeKind, said: Pick<Said, "entry">, message: string): Note =>
  said.entry === null ? { kind, message } : { kind, entry: said.entry, message }

export const text = (text: string): Text => ({ type: "text", text })

/** A message that a step adds. */
export const added = <M extends Message>(message: M, edited = false): Said<M> => ({ message, entry: null, edited })

export const isBlank = (text: string): boolean => !/\S/u.test(text)

export const isReply = (said: Said): said is Said<Assistant> => said.message.role === "assistant"
export const isResult = (said: Said): said is Said<ToolResult> => said.message.role === "toolResult"
export const isPrompt = (said: Said): said is Said<User> => said.message.role === "user"

/** The same message with other content. */
export const withContent = <M extends Message>(said: Said<M>, content: M["content"]): Said<M> => ({
  ...said,
  message: { ...said.message, content }
})
