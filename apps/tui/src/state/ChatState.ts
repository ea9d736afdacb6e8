/** What the chat knows of itself: what is being written, where one reads, what is unfolded, found and told. */
import type * as Completion from "./Completion.ts"
import * as Editor from "./Editor.ts"
import type * as Transcript from "./Transcript.ts"
import type { Next, Notice } from "./View.ts"

export interface ChatState {
  readonly editor: Editor.Editor
  readonly position: Transcript.Position
  /** Folds that were opened, or with `openAll` those that were closed. */
  readonly toggled: ReadonlySet<string>
  readonly openAll: boolean
  /** The key of the selected block. */
  readonly selected: string | null
  /** Going through earlier prompts: which, and what was being written. */
  readonly recall: { readonly index: number; readonly draft: Editor.Editor } | null
  readonly folderPrompts: ReadonlyArray<string>
  readonly completion: Completion.Completion | null
  /** For completing their names; `null` before they are there. */
  readonly files: ReadonlyArray<string> | null
  readonly hasAskedForFiles: boolean
  readonly find: { readonly query: Editor.Editor; readonly hit: string | null } | null
  readonly notice: Notice | null
  readonly escapedAt: number
  readonly interruptedAt: number
}

export const initial: ChatState = {
  editor: Editor.empty,
  position: null,
  toggled: new Set(),
  openAll: false,
  selected: null,
  recall: null,
  folderPrompts: [],
  completion: null,
  files: null,
  hasAskedForFiles: false,
  find: null,
  notice: null,
  escapedAt: 0,
  interruptedAt: 0
}

export interface Step extends Omit<Next, "view"> {
  readonly chat: ChatState
}
