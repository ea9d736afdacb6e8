/** Grove for agents that do not use Effect. */
export type { Entry, NewEntry, SessionContext, SessionEvent, SessionTree, TreeEdits } from "@grove/core"
export { Grove, type GroveOptions, openGrove } from "./Grove.ts"
export { GroveError, type GroveErrorCode } from "./GroveError.ts"
export { type CompactOptions, GroveCursor, GroveSession } from "./GroveSession.ts"
