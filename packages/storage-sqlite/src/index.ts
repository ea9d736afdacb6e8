/** Grove's prompt history and full-text index of sessions, on SQLite. */
export * as PromptSources from "./PromptSources.ts"
export * as SessionText from "./SessionText.ts"
export * as SqliteDatabase from "./SqliteDatabase.ts"
export * as SqliteDriver from "./SqliteDriver.ts"
export * as SqlitePromptHistory from "./SqlitePromptHistory.ts"
export * as SqliteSessionIndex from "./SqliteSessionIndex.ts"
export * as SqliteTables from "./SqliteTables.ts"
export * as Terms from "./Terms.ts"
