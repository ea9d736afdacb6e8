/** The viewer's server, for whoever starts it. */
export { Library, type Listed, type Root } from "./Library.ts"
export { Texts } from "./Texts.ts"
export * as Viewer from "./Viewer.ts"
