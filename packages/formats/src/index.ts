/** Sessions of other programs as Grove sessions, and Grove sessions as other programs read them. */
export { DatabaseRefused, Databases } from "./Databases.ts"
export { type Format, formats } from "./Format.ts"
export * as Import from "./Import.ts"
export type { Reader, Sample, Source } from "./read/Reader.ts"
export * as Readers from "./read/Readers.ts"
export * as Translation from "./read/Translation.ts"
export * as Sources from "./Sources.ts"
export * as Stores from "./Stores.ts"
