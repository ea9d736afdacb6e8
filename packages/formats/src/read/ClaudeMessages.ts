/** What the lines of Claude Code say, as bodies of entries. */
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import type { Piece } from "./Compose.ts"
import type { Note } from "./Translation.ts"
import { stringIn } from "./Values.ts"

/** A line that is part of the conversation. */
export interface Link {
  readonly line: number
  readonly uuid: string
  readonly parent: string | null
  readonly value: Json
}

export const messageOf = ({ value }: Link): Json => (isObject(value.message) ? value.message : {})

export const blocksOf = (link: Link): ReadonlyArray<Json> => {
  const { content } = messageOf(link)
  if (typeof content === "string") return content === "" ? [] : [Blocks.text(content)]
  return Array.isArray(content) ? content.filter(isObject) : []
}

export const isResult = ({ type, tool_use_id }: Json): boolean =>
  type === "tool_result" && typeof tool_use_id === "string"

export const isCall = ({ type, id }: Json): boolean =>
  (type === "tool_use" || type === "server_tool_use") && typeof id === "string"

// --------------------------------------------------------------------------------------------------------- blocks

const imageFrom = (source: unknown): Json | undefined => {
  if (!isObject(source)) return undefined
  const { type, data, media_type, url } = source
  return type === "base64" && typeof data === "string" && typeof media_type === "string"
    ? { type: "image", data, mimeType: media_type }
    : Blocks.imageFromUrl(url)
}

/** Blocks that a prompt or a result may hold; what is neither text nor an image is named in its place. */
const shown = (blocks: ReadonlyArray<Json>, line: number, unmapped: Array<Note>): ReadonlyArray<Json> =>
  blocks.map((block) => {
    if (block.type === "text" && typeof block.text === "string") return Blocks.text(block.text)
    const image = block.type === "image" ? imageFrom(block.source) : undefined
    if (image !== undefined) return image
    unmapped.push({ line, kind: `block ${stringIn(block.type) ?? "unknown"}` })
    return Blocks.text(`[${stringIn(block.title) ?? stringIn(block.type) ?? "unknown"}]`)
  })

const said = (block: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  switch (block.type) {
    case "thinking": {
      const signature = stringIn(block.signature)
      const thinking = { type: "thinking", thinking: stringIn(block.thinking) ?? "" }
      return [signature === undefined ? thinking : { ...thinking, thinkingSignature: signature }]
    }
    case "redacted_thinking":
      return typeof block.data === "string" ? [{ type: "redactedThinking", data: block.data }] : []
    case "tool_use":
    case "server_tool_use":
      return typeof block.id === "string"
        ? [
            {
              ...{ type: "toolCall", id: block.id, name: stringIn(block.name) ?? "unknown" },
              arguments: Blocks.argumentsFrom(block.input)
            }
          ]
        : []
    default:
      return shown([block], line, unmapped)
  }
}

// --------------------------------------------------------------------------------------------------------- replies

const stopReasons: { readonly [reason: string]: string } = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "toolUse",
  max_tokens: "length"
}

const usageOf = (used: unknown): Json => {
  if (!isObject(used)) return Blocks.usage({ input: 0, output: 0 })
  const longer = isObject(used.cache_creation) ? used.cache_creation.ephemeral_1h_input_tokens : 0
  return Blocks.usage({
    input: used.input_tokens,
    output: used.output_tokens,
    cacheRead: used.cache_read_input_tokens,
    cacheWrite: used.cache_creation_input_tokens,
    cacheWrite1h: longer
  })
}

/** One reply, of all the lines it was written in. */
export const reply = (links: ReadonlyArray<Link>, unmapped: Array<Note>): Piece["body"] => {
  const last = links.at(-1)!
  const message = messageOf(last)
  const content = links.flatMap((link) => blocksOf(link).flatMap((block) => said(block, link.line, unmapped)))
  const isError = links.some(({ value }) => value.isApiErrorMessage === true)
  const reason = stringIn(message.stop_reason)
  const hasCalls = content.some(({ type }) => type === "toolCall")
  const stopReason = isError ? "error" : (stopReasons[reason ?? ""] ?? (hasCalls ? "toolUse" : "stop"))
  return {
    type: "message",
    message: {
      ...{ role: "assistant", content, provider: "anthropic", model: stringIn(message.model) ?? "unknown" },
      ...{ usage: usageOf(message.usage), stopReason },
      ...(isError ? { errorMessage: Blocks.textOf(content) } : {}),
      ...spoken(links[0]!)
    }
  }
}

const spoken = ({ value }: Link): { readonly timestamp?: number } => {
  const at = Date.parse(String(value.timestamp))
  return Number.isNaN(at) ? {} : { timestamp: at }
}

export const result = (block: Json, link: Link, toolName: string, unmapped: Array<Note>): Piece["body"] => {
  const { content } = block
  const blocks =
    typeof content === "string" ? [Blocks.text(content)] : Array.isArray(content) ? content.filter(isObject) : []
  const { toolUseResult } = link.value
  const agent = isObject(toolUseResult) ? stringIn(toolUseResult.agentId) : undefined
  return {
    type: "message",
    message: {
      ...{ role: "toolResult", toolCallId: block.tool_use_id, toolName },
      ...{ content: shown(blocks, link.line, unmapped), isError: block.is_error === true },
      ...(agent === undefined ? {} : { details: { agentId: agent } }),
      ...spoken(link)
    }
  }
}

// ---------------------------------------------------------------------------------------------------- compactions

const SUMMARY = /^This session is being continued from a previous conversation/

export const isSummary = (link: Link): boolean =>
  link.value.type === "user" && (link.value.isCompactSummary === true || SUMMARY.test(Blocks.textOf(blocksOf(link))))

export const isBoundary = ({ value }: Link): boolean => value.type === "system" && value.subtype === "compact_boundary"

const metadataOf = ({ value }: Link): Json => (isObject(value.compactMetadata) ? value.compactMetadata : {})

/** What a compaction kept word for word, oldest first. */
export const keptBy = (link: Link): ReadonlyArray<string> => {
  const { preservedMessages: messages, preservedSegment: segment } = metadataOf(link)
  const uuids = isObject(messages) && Array.isArray(messages.uuids) ? messages.uuids : []
  const ends = isObject(segment) ? [segment.headUuid, segment.tailUuid] : []
  return (uuids.length > 0 ? uuids : ends).filter((uuid) => typeof uuid === "string")
}

/** `firstKeptEntryId` is the line that was kept first. */
export const compaction = (boundary: Link, summary: Link): Piece["body"] => {
  const { preTokens, trigger } = metadataOf(boundary)
  const [kept] = keptBy(boundary)
  return {
    ...{ type: "compaction", summary: Blocks.textOf(blocksOf(summary)) },
    ...(kept === undefined ? {} : { firstKeptEntryId: kept }),
    tokensBefore: typeof preTokens === "number" && Number.isFinite(preTokens) ? preTokens : 0,
    ...(stringIn(trigger) === undefined ? {} : { details: { trigger } })
  }
}

// --------------------------------------------------------------------------------------------------------- prompts

/** What a person typed; what the program put in their mouth is shown to the model alone. */
export const prompt = (link: Link, blocks: ReadonlyArray<Json>, unmapped: Array<Note>): Piece["body"] => {
  const content = Blocks.content(shown(blocks, link.line, unmapped))
  return link.value.isMeta === true
    ? { type: "custom_message", customType: "claude-code.meta", content, display: false }
    : { type: "message", message: { role: "user", content, ...spoken(link) } }
}

/** Everything else that stands in the conversation: kept, and shown to nobody. */
export const other = ({ value }: Link): Piece["body"] => {
  const { type, uuid: _u, parentUuid: _p, timestamp: _t, sessionId: _s, cwd: _c, version: _v, ...data } = value
  return { type: "custom", customType: `claude-code.${stringIn(type) ?? "unknown"}`, data }
}
