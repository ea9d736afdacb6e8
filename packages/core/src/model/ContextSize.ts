/** How much a model is shown, so that people see what an edit did to it. */
import * as ContextBuilder from "./ContextBuilder.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Tokens from "./Tokens.ts"

export interface ContextSize {
  readonly messages: number
  /** Estimated. */
  readonly tokens: number
}

export const at = (tree: SessionTree, leaf: string | null): ContextSize => {
  const { messages } = ContextBuilder.build(tree, leaf)
  return { messages: messages.length, tokens: messages.reduce((sum, message) => sum + Tokens.estimate(message), 0) }
}
