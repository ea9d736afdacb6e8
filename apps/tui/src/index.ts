/** The terminal chat of Grove. */
export * as Chat from "./Chat.ts"
export * as Theme from "./screen/Theme.ts"
export { type DoubleEscape, doubleEscapes, type SessionHit } from "./state/View.ts"
