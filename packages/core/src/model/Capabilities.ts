/** What a model takes, as data: all that the context policy needs to know about it. */
import type { ModelChoice } from "./ContextBuilder.ts"

export interface Capabilities extends ModelChoice {
  /** Takes calls and results as such; otherwise they are told as text. */
  readonly tools: boolean
  readonly images: boolean
  /** Wants a prompt first, and never two prompts or two replies in a row. */
  readonly takesTurns: boolean
  /** Takes a prompt right after a tool result; otherwise a short reply is put between. */
  readonly promptAfterResult: boolean
  /** `long`: up to 40 letters, digits, `_` and `-`, as most take them. `short`: exactly 9 letters and digits. */
  readonly toolIds: "long" | "short"
}

/** What every model we know takes. Images are the one thing that this keeps from a model that could take them. */
const CAREFUL = {
  tools: true,
  images: false,
  takesTurns: true,
  promptAfterResult: true,
  toolIds: "long"
} as const satisfies Partial<Capabilities>

const PROVIDERS: { readonly [provider: string]: Partial<Capabilities> } = {
  anthropic: { images: true },
  "amazon-bedrock": { images: true },
  google: { images: true },
  "google-vertex": { images: true },
  mistral: { promptAfterResult: false, toolIds: "short" },
  openai: { images: true, takesTurns: false },
  "openai-codex": { images: true, takesTurns: false },
  "azure-openai": { images: true, takesTurns: false },
  "azure-openai-responses": { images: true, takesTurns: false }
}

/** What the provider is known for; whoever knows the model itself says more: `{ ...Capabilities.of(model), tools: false }`. */
export const of = (model: ModelChoice | null): Capabilities => {
  const { provider, modelId } = model ?? { provider: "", modelId: "" }
  const known = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined
  return { provider, modelId, ...CAREFUL, ...known }
}
