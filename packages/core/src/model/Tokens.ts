/** How much of a model's window a context takes: what a provider counted where that still holds, a guess elsewhere. */
import type { SessionContext } from "./ContextBuilder.ts"
import type { EntryId } from "./EntryId.ts"
import * as JsonText from "./JsonText.ts"
import * as Mark from "./Mark.ts"
import { isObject, type Json } from "./open.ts"
import type { SessionTree } from "./SessionTree.ts"

const CHARACTERS_PER_TOKEN = 4
/** What an image counts, whatever its bytes: providers scale it down before they count. */
const IMAGE_CHARACTERS = 4800

/** How much text takes so many tokens, by the same guess. */
export const charactersIn = (tokens: number): number => tokens * CHARACTERS_PER_TOKEN

const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0)

const ofBlock = (block: unknown): number => {
  if (!isObject(block)) return 0
  switch (block.type) {
    case "text":
      return lengthOf(block.text)
    case "image":
      return IMAGE_CHARACTERS
    case "thinking":
      return lengthOf(block.thinking)
    case "redactedThinking":
      return lengthOf(block.data)
    case "toolCall":
      return lengthOf(block.name) + JsonText.stringify(block.arguments ?? {}).length
    default:
      return 0
  }
}

const ofContent = (content: unknown): number =>
  Array.isArray(content) ? content.reduce((sum, block) => sum + ofBlock(block), 0) : lengthOf(content)

const ofFiles = (files: unknown): number =>
  Array.isArray(files)
    ? files.reduce((sum, file) => sum + (isObject(file) ? lengthOf(file.path) + lengthOf(file.content) : 0), 0)
    : 0

const ofSystem = ({ content, sections, toolsAdded }: Json): number => {
  const texts = isObject(sections) ? Object.values(sections) : []
  const tools = Array.isArray(toolsAdded) ? JsonText.stringify(toolsAdded).length : 0
  return texts.reduce((sum: number, text) => sum + lengthOf(text), ofContent(content) + tools)
}

const characters = (message: Json): number => {
  switch (message.role) {
    case "bashExecution":
      return lengthOf(message.command) + lengthOf(message.output)
    case "pythonExecution":
      return lengthOf(message.code) + lengthOf(message.output)
    case "fileMention":
      return ofFiles(message.files)
    case "system":
      return ofSystem(message)
    case "branchSummary":
    case "compactionSummary":
      return lengthOf(message.summary)
    default:
      return ofContent(message.content)
  }
}

/** A guess that errs on the large side for prose: four characters a token. What the model is never sent counts nothing. */
export const estimate = (message: Json): number =>
  message.excludeFromContext === true ? 0 : Math.ceil(characters(message) / CHARACTERS_PER_TOKEN)

export const estimateAll = (messages: ReadonlyArray<Json>): number =>
  messages.reduce((sum, message) => sum + estimate(message), 0)

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0)

/** What the request behind a stored usage took of the window, its answer included; 0 for what is no usage. */
export const ofUsage = (usage: unknown): number => {
  if (!isObject(usage)) return 0
  return (
    count(usage.totalTokens) ||
    [usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(count).reduce((a, b) => a + b)
  )
}

/** Replies that broke off were charged for something else than what they hold. */
const countedBy = (message: Json): number =>
  message.role !== "assistant" || message.stopReason === "error" || message.stopReason === "aborted"
    ? 0
    : ofUsage(message.usage)

export interface ContextTokens {
  readonly tokens: number
  /** The reply whose usage was taken; `null` where everything is a guess. */
  readonly reply: EntryId | null
  /** What a provider counted, up to that reply and with it. */
  readonly counted: number
  /** The guess for what follows it. */
  readonly estimated: number
}

/** For each place on the path, the first place that an edit further down changed. */
const touchedBelow = (tree: SessionTree, path: ReadonlyArray<number>, places: ReadonlyMap<number, number>) => {
  const touched = new Array<number>(path.length)
  let first = Number.POSITIVE_INFINITY
  for (let at = path.length - 1; at >= 0; at--) {
    touched[at] = first
    if (tree.typeAt(path[at]!) !== "context_edit") continue
    const { targetId } = tree.entryAt(path[at]!)
    const target = typeof targetId === "string" ? places.get(tree.rowOf(targetId)) : undefined
    if (target !== undefined && target < first) first = target
  }
  return touched
}

/** Whether a mark written after `row` switched something on the path on or off. Taking back an edit may have done so. */
const isSwitchedSince = (tree: SessionTree, row: number, places: ReadonlyMap<number, number>): boolean => {
  for (let at = tree.rowCount - 1; at > row; at--) {
    if (!tree.isMarkAt(at)) continue
    const mark = tree.entryAt(at)
    if (Mark.edit(mark)?.op === "undo") return true
    if (Mark.state(mark)?.targetIds.some((id) => places.has(tree.rowOf(id)))) return true
  }
  return false
}

/**
 * What the context takes. The usage of a reply counts only while what it was charged for is still what the context
 * holds: it was made here and not copied, no compaction came after it, and nothing before it was edited or switched
 * since.
 */
export const ofContext = (tree: SessionTree, context: SessionContext): ContextTokens => {
  const { leaf, messages, sources } = context
  const path = tree.pathRows(tree.rowOf(leaf))
  const places = new Map(path.map((row, at) => [row, at]))
  const placeOf = (id: EntryId | undefined): number => places.get(tree.rowOf(id ?? null)) ?? -1
  const head = placeOf(sources[0])
  const compacted = head >= 0 && tree.typeAt(path[head]!) === "compaction" ? head : -1
  const touched = touchedBelow(tree, path, places)
  let estimated = 0
  let mayCount = true
  for (let i = messages.length - 1; i >= 0; i--) {
    const counted: number = mayCount ? countedBy(messages[i]!) : 0
    const at: number = counted > 0 ? placeOf(sources[i]) : -1
    if (at > compacted && touched[at]! > at && tree.entryAt(path[at]!).origin === undefined) {
      mayCount = !isSwitchedSince(tree, path[at]!, places)
      if (mayCount) return { tokens: counted + estimated, reply: sources[i]!, counted, estimated }
    }
    estimated += estimate(messages[i]!)
  }
  return { tokens: estimated, reply: null, counted: 0, estimated }
}
