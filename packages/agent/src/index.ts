/** What answers in Grove: providers of chat models, and a model that works offline. */
export * as Anthropic from "./models/Anthropic.ts"
export * as Catalogue from "./models/Catalogue.ts"
export * as Keys from "./models/Keys.ts"
export * as Models from "./models/Models.ts"
export * as OpenAi from "./models/OpenAi.ts"
export * as Pricing from "./models/Pricing.ts"
export * as Sprout from "./models/Sprout.ts"
