/** What other agents embed: the session model, its ports and its use cases. */

export * as Blobs from "./BlobStore.ts"
export { BlobHash, BlobStore, BlobStoreError } from "./BlobStore.ts"
export * as Chat from "./ChatModel.ts"
export {
  ChatModel,
  ChatModelError,
  type ChatRequest,
  type ModelInfo,
  type ProviderListing,
  type ThinkingLevel,
  type ToolDefinition
} from "./ChatModel.ts"
export {
  type CompactionReason,
  type CompactOptions,
  type CompactOutcome,
  Compactor,
  type PathSummary,
  type SummaryOptions
} from "./Compactor.ts"
export { type ApprovalMode, approvalModes, Consent, Consents, ConsentsError, noConsent } from "./Consents.ts"
export { ContextPolicy, type PolicyStep } from "./ContextPolicy.ts"
export { EntryIds } from "./EntryIds.ts"
export * from "./model/index.ts"
export * as Prompts from "./PromptHistory.ts"
export { PromptHistory, PromptHistoryError } from "./PromptHistory.ts"
export { RunningReplies, type RunningReply, type SessionWork, workOf } from "./RunningReplies.ts"
export * as Store from "./SessionStore.ts"
export {
  type SessionLog,
  type SessionRef,
  SessionStore,
  SessionStoreError,
  type Snapshot
} from "./SessionStore.ts"
export {
  type AppendError,
  type Batch,
  type Cursor,
  type Draft,
  LeafMoved,
  type NewEntry,
  type Session,
  type SessionEvent,
  Sessions,
  UnknownEntry
} from "./Sessions.ts"
export { Summarizer, SummaryFailed, type SummaryReply, type SummaryRequest } from "./Summarizer.ts"
export * as TreeEdits from "./TreeEdits.ts"
export { EditRefused, Generating, NoSummary } from "./TreeEdits.ts"
