/** Sessions of other programs as Grove sessions, and Grove sessions as other programs read them. */
export * from "./read/Translation.ts"
