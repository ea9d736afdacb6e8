/** A path in, what the model is shown out. Pure, and equal to what Pi and xcsh answer on the same file. */
import * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { isObject, type Json, stringOr } from "./open.ts"
import { NONE, SessionTree } from "./SessionTree.ts"

export interface ModelChoice {
  readonly provider: string
  readonly modelId: string
}

export interface SessionContext {
  readonly leaf: EntryId | null
  readonly messages: ReadonlyArray<Json>
  /** The entry each message came from, in the same order. */
  readonly sources: ReadonlyArray<EntryId>
  readonly thinkingLevel: string
  /** The last of a model change and a reply: what would answer next. */
  readonly model: ModelChoice | null
  /** `provider/id` by role. An explicit change wins over what replies say. */
  readonly models: { readonly [role: string]: string }
  readonly mode: string
  readonly modeData: unknown
  readonly injectedTtsrRules: ReadonlyArray<string>
}

const DEFAULT_ROLE = "default"

const messageOf = (entry: Entry.Entry): Json => (isObject(entry.message) ? entry.message : {})

/** Both shapes of a model change; `undefined` if it names no model. */
const modelOf = (change: Entry.Entry): ModelChoice | undefined => {
  if (typeof change.provider === "string" && typeof change.modelId === "string") {
    return { provider: change.provider, modelId: change.modelId }
  }
  if (typeof change.model !== "string" || change.model === "") return undefined
  const slash = change.model.indexOf("/")
  return { provider: change.model.slice(0, Math.max(slash, 0)), modelId: change.model.slice(slash + 1) }
}

const repliedBy = (entry: Entry.Entry): ModelChoice | undefined => {
  const { provider, model } = messageOf(entry)
  return typeof provider === "string" && typeof model === "string" ? { provider, modelId: model } : undefined
}

type Settings = Omit<SessionContext, "leaf" | "messages" | "sources">

/** Settings hold over the whole path, also over what a compaction has cut off. */
const settingsOf = (path: ReadonlyArray<Entry.Entry>): Settings => {
  const explicit = new Map<string, string>()
  const rules = new Set<string>()
  let thinkingLevel = "off"
  let model: ModelChoice | null = null
  let replied: ModelChoice | undefined
  let mode = "none"
  let modeData: unknown = null
  for (const entry of path) {
    switch (entry.type) {
      case "thinking_level_change":
        thinkingLevel = stringOr(entry.thinkingLevel, "off")
        break
      case "model_change": {
        const change = modelOf(entry)
        if (change === undefined) break
        const role = stringOr(entry.role, DEFAULT_ROLE)
        explicit.set(role, change.provider === "" ? change.modelId : `${change.provider}/${change.modelId}`)
        if (role === DEFAULT_ROLE) model = change
        break
      }
      case "message":
        if (Entry.role(entry) !== "assistant") break
        replied = repliedBy(entry) ?? replied
        model = repliedBy(entry) ?? model
        break
      case "mode_change":
        mode = stringOr(entry.mode, "none")
        modeData = entry.data ?? null
        break
      case "ttsr_injection":
        for (const rule of Array.isArray(entry.injectedRules) ? entry.injectedRules : []) rules.add(rule)
        break
    }
  }
  if (!explicit.has(DEFAULT_ROLE) && replied !== undefined) {
    explicit.set(DEFAULT_ROLE, `${replied.provider}/${replied.modelId}`)
  }
  const models = Object.fromEntries(explicit)
  return { thinkingLevel, model, models, mode, modeData, injectedTtsrRules: [...rules] }
}

const withTime = (entry: Entry.Entry): { readonly timestamp: number | null } => {
  const at = Date.parse(entry.timestamp)
  return { timestamp: Number.isNaN(at) ? null : at }
}

const present = (entry: Entry.Entry, keys: ReadonlyArray<string>): Json =>
  Object.fromEntries(keys.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]]))

/** Roles that always have a content; without one they say nothing, rather than break who reads them. */
const SPEAKING = new Set(["user", "assistant", "toolResult", "custom", "system"])

const withContent = (message: Json): Json => {
  if (message.content !== undefined && message.content !== null) return message
  if (!SPEAKING.has(String(message.role))) return message
  return { ...message, content: message.role === "system" ? "" : [] }
}

const compactionSummary = (entry: Entry.Entry): Json => ({
  role: "compactionSummary",
  ...present(entry, ["summary", "shortSummary", "tokensBefore"]),
  ...withTime(entry)
})

/** The message an entry puts into the context, if any. */
const messageFor = (entry: Entry.Entry): Json | undefined => {
  switch (entry.type) {
    case "message":
      return isObject(entry.message) ? withContent(entry.message) : undefined
    case "custom_message":
      return withContent({
        role: "custom",
        ...present(entry, ["customType", "content", "display", "details", "attribution"]),
        ...withTime(entry)
      })
    case "branch_summary":
      if (stringOr(entry.summary, "") === "") return undefined
      return { role: "branchSummary", ...present(entry, ["summary", "fromId"]), ...withTime(entry) }
    default:
      return undefined
  }
}

/** A reply and a tool result hold blocks only, so a plain replacement text becomes one. */
const replaceContent = (message: Json, content: unknown): Json => {
  const blocksOnly = message.role === "assistant" || message.role === "toolResult"
  return {
    ...message,
    content: blocksOnly && typeof content === "string" ? [{ type: "text", text: content }] : content
  }
}

/** The latest `context_edit` of each target among the entries that count. */
const editsIn = (selected: ReadonlyArray<Entry.Entry>): ReadonlyMap<unknown, unknown> => {
  const edits = new Map<unknown, unknown>()
  for (const entry of selected) if (entry.type === "context_edit") edits.set(entry.targetId, entry.replacement)
  return edits
}

/** The last compaction cuts: its summary, what it kept of the path before it, what follows it. */
const cut = (path: ReadonlyArray<Entry.Entry>) => {
  const at = path.findLastIndex((entry) => entry.type === "compaction")
  const compaction = path[at]
  if (compaction === undefined) return { compaction, kept: path.slice(0, 0), rest: path }
  const first = path.findIndex((entry) => entry.id === compaction.firstKeptEntryId)
  const kept = first >= 0 && first < at ? path.slice(first, at) : []
  const isSystem = (entry: Entry.Entry) => Entry.role(entry) === "system"
  return { compaction, kept: kept.filter((entry) => !isSystem(entry)), rest: path.slice(at + 1) }
}

const empty: SessionContext = { leaf: null, messages: [], sources: [], ...settingsOf([]) }

/** The context at `leafId`: empty for `null`; where the person stands if it is left out or unknown. */
export const build = (tree: SessionTree, leafId?: string | null): SessionContext => {
  const leaf = leafId === null || (leafId !== undefined && tree.has(leafId)) ? (leafId as EntryId | null) : tree.leaf
  const row = tree.rowOf(leaf)
  if (row === NONE) return empty
  const path = tree.pathRows(row).map((at) => tree.entryAt(at))
  const { disabled } = tree.facts
  const { compaction, kept, rest } = cut(path.filter((entry) => !disabled.has(entry.id)))
  const messages: Array<Json> = []
  const sources: Array<EntryId> = []
  const emit = (entry: Entry.Entry, message: Json) => {
    messages.push(message)
    sources.push(entry.id)
  }
  if (compaction !== undefined) {
    if (isObject(compaction.systemMessage)) emit(compaction, withContent(compaction.systemMessage))
    emit(compaction, compactionSummary(compaction))
  }
  const selected = kept.concat(rest)
  const edits = editsIn(selected)
  for (const entry of selected) {
    const message = messageFor(entry)
    if (message === undefined) continue
    const replacement = edits.get(entry.id)
    if (replacement === null) continue
    emit(entry, isObject(replacement) ? replaceContent(message, replacement.content) : message)
  }
  return { leaf, messages, sources, ...settingsOf(path) }
}

/** `build` for callers that hold entries and no tree. */
export const buildSessionContext = (
  entries: ReadonlyArray<Entry.Entry>,
  leafId?: string | null,
  tree: SessionTree = SessionTree.from(entries)
): SessionContext => build(tree, leafId)
