/** A reply as it arrives: its parts, and the message that they add up to. */
import type { AssistantMessage, ToolCallBlock } from "./Message.ts"
import { isObject, type Json } from "./open.ts"
import type { Usage } from "./Usage.ts"

/** Why a reply ended. `toolUse`: it waits for the results of its calls; `length`: the model had no room left. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted"

/**
 * What a model says, in the order in which it says it. `index` is the position of the block in the content of the
 * message; blocks begin in that order, but the deltas of several may take turns.
 */
export type ReplyPart =
  | { readonly _tag: "Text"; readonly index: number; readonly delta: string }
  | {
      readonly _tag: "Thinking"
      readonly index: number
      readonly delta: string
      /** By which the provider knows its own thinking again; comes once, with the last delta of the block. */
      readonly signature?: string
      /** The provider keeps the thinking to itself; the signature stands for it. */
      readonly redacted?: boolean
    }
  | { readonly _tag: "ToolCallStart"; readonly index: number; readonly id: string; readonly name: string }
  /** A piece of the JSON of the arguments. */
  | { readonly _tag: "ToolCallDelta"; readonly index: number; readonly delta: string }
  /**
   * The call is whole. Its arguments are what the deltas spell, `{}` where they spell nothing. Where a model has written
   * what is no JSON object they are `{}` too, and `invalidArguments` has the text: such a call can only be refused.
   */
  | { readonly _tag: "ToolCallEnd"; readonly index: number; readonly call: ToolCallBlock }
  /** Everything used so far: the last one counts, nothing is to be added up. */
  | { readonly _tag: "Usage"; readonly usage: Usage }
  /** Nothing has come yet, and the request is made again after a rest. */
  | { readonly _tag: "Retry"; readonly attempt: number; readonly delayMillis: number; readonly because: string }
  | { readonly _tag: "Stop"; readonly reason: StopReason; readonly errorMessage?: string }
  /** The last part: the whole message, ready to be stored. */
  | { readonly _tag: "End"; readonly message: AssistantMessage }

/** Who answers: the fields of a message that are known before it begins. */
export interface Speaker {
  readonly provider: string
  readonly model: string
  readonly api?: string
}

export interface Ending {
  /** Unix milliseconds. */
  readonly timestamp: number
  readonly latencyMs?: number
  /** Overrule what the parts say: for a reply that was cut off or aborted. */
  readonly stopReason?: StopReason
  readonly errorMessage?: string
}

/** A reply that used nothing; programs that read sessions expect a usage in every reply. */
export const noUsage: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
}

type Block = AssistantMessage["content"][number]

/**
 * A reply in the making. At any moment it is a message of what has come so far, so that nothing is lost with a
 * connection: whole blocks as they are, text and thinking as far as they came, and no call that was not finished.
 */
export class ReplyDraft {
  readonly #speaker: Speaker
  readonly #blocks: Array<Block | undefined> = []
  #usage: Usage = noUsage
  #stop: { readonly reason: StopReason; readonly errorMessage?: string } | undefined

  constructor(speaker: Speaker) {
    this.#speaker = speaker
  }

  /** Why the model says it ended; `undefined` while it has not. */
  get stopReason(): StopReason | undefined {
    return this.#stop?.reason
  }

  add(part: ReplyPart): void {
    switch (part._tag) {
      case "Text": {
        const block = this.#blocks[part.index]
        const before = block?.type === "text" ? block.text : ""
        this.#blocks[part.index] = { type: "text", text: before + part.delta }
        return
      }
      case "Thinking": {
        const block = this.#blocks[part.index]
        const before: Json = block?.type === "thinking" ? block : { thinking: "" }
        this.#blocks[part.index] = {
          ...before,
          type: "thinking",
          thinking: `${before.thinking}${part.delta}`,
          ...(part.signature !== undefined && { thinkingSignature: part.signature }),
          ...(part.redacted !== undefined && { redacted: part.redacted })
        }
        return
      }
      case "ToolCallEnd":
        this.#blocks[part.index] = part.call
        return
      case "Usage":
        this.#usage = part.usage
        return
      case "Stop":
        this.#stop = part
        return
    }
  }

  message({ timestamp, latencyMs, stopReason, errorMessage }: Ending): AssistantMessage {
    const because = errorMessage ?? this.#stop?.errorMessage
    return {
      role: "assistant",
      content: this.#blocks.filter((block) => block !== undefined && !(block.type === "text" && block.text === "")),
      ...this.#speaker,
      usage: this.#usage,
      stopReason: stopReason ?? this.#stop?.reason ?? "error",
      ...(because !== undefined && { errorMessage: because }),
      ...(latencyMs !== undefined && { latencyMs }),
      timestamp
    } as AssistantMessage
  }
}

/**
 * The arguments that the JSON of a call spells: `{}` for an empty text, `undefined` for what is no object. Models write
 * them, so anything is possible.
 */
export const argumentsOf = (json: string): Json | undefined => {
  if (json.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The call that a name and the JSON of its arguments make. What is no object is kept aside, so that it can be answered for. */
export const callOf = (id: string, name: string, json: string): ToolCallBlock => {
  const given = argumentsOf(json)
  return { type: "toolCall", id, name, arguments: given ?? {}, ...(given === undefined && { invalidArguments: json }) }
}

/** Texts are cut before the space between words, so that a reply made in one piece arrives in many. */
const pieces = (text: string): ReadonlyArray<string> => text.match(/\s*\S+|\s+/gu) ?? []

/** The parts of which a content would have been made: for models that have their answer all at once. */
export const partsOf = (content: ReadonlyArray<Block>): ReadonlyArray<ReplyPart> =>
  content.flatMap((block, index): ReadonlyArray<ReplyPart> => {
    switch (block.type) {
      case "text":
        return pieces(block.text).map((delta) => ({ _tag: "Text", index, delta }))
      case "thinking": {
        const { thinking, thinkingSignature } = block
        const said = pieces(thinking).map((delta): ReplyPart => ({ _tag: "Thinking", index, delta }))
        if (typeof thinkingSignature !== "string") return said
        return [...said, { _tag: "Thinking", index, delta: "", signature: thinkingSignature }]
      }
      case "toolCall": {
        const { id, name, arguments: given } = block
        return [
          { _tag: "ToolCallStart", index, id, name },
          { _tag: "ToolCallDelta", index, delta: JSON.stringify(given) },
          { _tag: "ToolCallEnd", index, call: block }
        ]
      }
      default:
        return []
    }
  })
