/** An HTTP server for one machine. */
export type { Refusal } from "./Guard.ts"
export * as LocalServer from "./LocalServer.ts"
export * as OneTimeLink from "./OneTimeLink.ts"
export * as SecurityHeaders from "./SecurityHeaders.ts"
