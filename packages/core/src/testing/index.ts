/** One contract suite a port, for the tests of every adapter. Needs `@effect/vitest`. */
export * as BlobStoreContract from "./BlobStoreContract.ts"
export * as ChatModelContract from "./ChatModelContract.ts"
export * as ConsentsContract from "./ConsentsContract.ts"
export * as EntryArbitrary from "./EntryArbitrary.ts"
export * as PromptHistoryContract from "./PromptHistoryContract.ts"
export * as RunningRepliesContract from "./RunningRepliesContract.ts"
export * as Sendability from "./Sendability.ts"
export * as SessionStoreContract from "./SessionStoreContract.ts"
