/** What answers in Grove: providers of chat models, and a model that works offline. */
export * as Sprout from "./models/Sprout.ts"
