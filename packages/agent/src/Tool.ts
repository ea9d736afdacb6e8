/** What a model can have done on this machine: the contract between tools and whoever runs them. */
import type { Json, Message, ToolDefinition } from "@grove/core"
import type { Effect } from "effect"

/** Where a tool works. */
export interface ToolPlace {
  /** An absolute path: where the person is. Never what a session's file says, which anyone may have written. */
  readonly cwd: string
}

/** What a call would do, for a person to look at. The texts are as the model wrote them: whoever shows them escapes them. */
export interface ToolRequest {
  /** One line: `edit src/a.ts`, `bash npm test`. */
  readonly line: string
  /** The whole of it, where a line is not enough. */
  readonly preview?: { readonly kind: "diff" | "command" | "text"; readonly text: string }
  /** Absolute paths of the files it would read or write, as far as that can be said beforehand. */
  readonly paths: ReadonlyArray<string>
}

export type TextBlock = typeof Message.TextBlock.Type
export type ImageBlock = typeof Message.ImageBlock.Type

/** What a tool result holds. */
export interface ToolOutcome {
  readonly content: ReadonlyArray<TextBlock | ImageBlock>
  /** The model is told what went wrong, and may do better. */
  readonly isError: boolean
  /** For people and programs, never sent to the model: JSON, such as a diff. */
  readonly details?: unknown
}

export interface Tool {
  readonly definition: ToolDefinition
  /** What it does to the world, which decides whether a person is asked. */
  readonly kind: "read" | "write" | "command" | "agent"
  /** What a call would do. Changes nothing, and never fails: whatever the arguments are, there is something to show. */
  readonly describe: (args: Json, at: ToolPlace) => Effect.Effect<ToolRequest>
  /** Does it. Expected trouble, bad arguments included, is an outcome with `isError`; an interruption ends whatever runs. */
  readonly run: (args: Json, at: ToolPlace) => Effect.Effect<ToolOutcome>
}

export const succeeded = (text: string, details?: unknown): ToolOutcome => outcome(text, false, details)
export const failed = (text: string, details?: unknown): ToolOutcome => outcome(text, true, details)

const outcome = (text: string, isError: boolean, details: unknown): ToolOutcome => ({
  content: [{ type: "text", text }],
  isError,
  ...(details !== undefined && { details })
})

/** What the model is told where a person, or nobody, allowed the call. */
export const notApproved: ToolOutcome = failed("not approved")
