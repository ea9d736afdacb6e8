/** A path in, what the model is shown out. Pure, and equal to what Pi and xcsh answer on the same file. */
import type * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { isObject, type Json, stringOr } from "./open.ts"
import { NONE, SessionTree } from "./SessionTree.ts"
import * as TreeEdit from "./TreeEdit.ts"

export interface ModelChoice {
  readonly provider: string
  readonly modelId: string
}

export interface SessionContext {
  readonly leaf: EntryId | null
  readonly messages: ReadonlyArray<Json>
  /** The entry each message came from, in the same order. */
  readonly sources: ReadonlyArray<EntryId>
  /** Whether, since each message was said, it was reworded, or one before it reworded or left out; in the same order. */
  readonly edited: ReadonlyArray<boolean>
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

const SETTINGS = ["thinking_level_change", "model_change", "mode_change", "ttsr_injection"] as const

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

type Settings = Omit<SessionContext, "leaf" | "messages" | "sources" | "edited">

/** The newest row of `rows` for which `read` answers, and its answer; older rows are not looked at. */
const newest = <A>(
  tree: SessionTree,
  rows: ReadonlyArray<number>,
  read: (entry: Entry.Entry) => A | undefined
): { readonly row: number; readonly value: A } | undefined => {
  for (let i = rows.length - 1; i >= 0; i--) {
    const value = read(tree.entryAt(rows[i]!))
    if (value !== undefined) return { row: i, value }
  }
  return undefined
}

/** Settings hold over the whole path, also over what a compaction has cut off. */
const settingsOf = (tree: SessionTree, path: ReadonlyArray<number>): Settings => {
  const positions = new Map(SETTINGS.map((type): [string, Array<number>] => [type, []]))
  const replies: Array<number> = []
  for (let at = 0; at < path.length; at++) {
    const row = path[at]!
    if (tree.typeAt(row) === "message") {
      if (tree.roleAt(row) === "assistant") replies.push(at)
    } else positions.get(tree.typeAt(row))?.push(at)
  }
  const rowsOf = (type: (typeof SETTINGS)[number]) => positions.get(type)!.map((at) => path[at]!)
  const lastOf = (type: (typeof SETTINGS)[number]) => tree.entriesAt(rowsOf(type).slice(-1))[0]

  const models = new Map<string, string>()
  let chosen: { readonly at: number; readonly value: ModelChoice } | undefined
  for (const [i, entry] of tree.entriesAt(rowsOf("model_change")).entries()) {
    const change = modelOf(entry)
    if (change === undefined) continue
    const role = stringOr(entry.role, DEFAULT_ROLE)
    models.set(role, change.provider === "" ? change.modelId : `${change.provider}/${change.modelId}`)
    if (role === DEFAULT_ROLE) chosen = { at: positions.get("model_change")![i]!, value: change }
  }
  const replied = newest(
    tree,
    replies.map((at) => path[at]!),
    repliedBy
  )
  if (!models.has(DEFAULT_ROLE) && replied !== undefined) {
    models.set(DEFAULT_ROLE, `${replied.value.provider}/${replied.value.modelId}`)
  }
  const isReplyNewer = replied !== undefined && (chosen === undefined || replies[replied.row]! > chosen.at)
  const rules = tree
    .entriesAt(rowsOf("ttsr_injection"))
    .flatMap(({ injectedRules }) => (Array.isArray(injectedRules) ? injectedRules : []))
  const mode = lastOf("mode_change")
  return {
    thinkingLevel: stringOr(lastOf("thinking_level_change")?.thinkingLevel, "off"),
    model: (isReplyNewer ? replied.value : chosen?.value) ?? null,
    models: Object.fromEntries(models),
    mode: stringOr(mode?.mode, "none"),
    modeData: mode?.data ?? null,
    injectedTtsrRules: [...new Set(rules)]
  }
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
export const messageFor = (entry: Entry.Entry): Json | undefined => {
  switch (entry.type) {
    case "message":
      return isObject(entry.message) ? withContent(entry.message) : undefined
    case "custom_message":
      return withContent({
        role: "custom",
        ...present(entry, ["customType", "content", "display", "details", "attribution"]),
        ...withTime(entry)
      })
    case "compaction":
      return compactionSummary(entry)
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

/** A damaged edit edits nothing, rather than taking away what it does not replace. */
const isWhole = ({ replacement }: Entry.Entry): boolean =>
  replacement === null ||
  (isObject(replacement) && (typeof replacement.content === "string" || Array.isArray(replacement.content)))

/** The latest `context_edit` of each target among those that count. */
const editsIn = (tree: SessionTree, edits: ReadonlyArray<number>): ReadonlyMap<unknown, unknown> =>
  new Map(
    tree
      .entriesAt(edits)
      .filter(isWhole)
      .map(({ targetId, replacement }) => [targetId, replacement])
  )

const STATES = new Set<unknown>(["grove.state", "grove.edit"])

/** The row of the last mark that switched entries off or on. */
const lastState = (tree: SessionTree): number =>
  tree.rows().findLast((row) => tree.isMarkAt(row) && STATES.has(tree.entryAt(row).customType)) ?? NONE

/** The last compaction in force cuts: its summary, what it kept of the path before it, what follows it. */
const cut = (tree: SessionTree, path: ReadonlyArray<number>, isOff: (row: number) => boolean) => {
  const at = path.findLastIndex((row) => tree.typeAt(row) === "compaction" && !isOff(row))
  if (at === -1) return { compaction: undefined, selected: path }
  const compaction = tree.entryAt(path[at]!)
  const first = path.lastIndexOf(tree.rowOf(stringOr(compaction.firstKeptEntryId, null)), at - 1)
  const kept = first < 0 || at === 0 ? [] : path.slice(first, at).filter((row) => tree.roleAt(row) !== "system")
  return { compaction, selected: kept.concat(path.slice(at + 1)) }
}

const SPEAKS = new Set(["message", "custom_message", "branch_summary"])

/** What a context holds, before any message is read: the rows that speak, and what holds around them. */
export interface ContextPlan {
  readonly leaf: EntryId | null
  readonly compaction: Entry.Entry | undefined
  readonly rows: ReadonlyArray<number>
  /** How many of the rows come before the first that is disabled; `Infinity` if none is. */
  readonly untilDisabled: number
  /** The row of the last line that reworded something here or left it out. What is said after it is said knowing it. */
  readonly lastEdit: number
  readonly edits: ReadonlyMap<unknown, unknown>
  readonly settings: Settings
}

/** Reads no more bodies than settings and edits need, so that its cost does not depend on how much was said. */
export const plan = (tree: SessionTree, leafId?: string | null): ContextPlan => {
  const asked = leafId === null || (leafId !== undefined && tree.has(leafId)) ? (leafId as EntryId | null) : tree.leaf
  const leaf = tree.idAt(TreeEdit.nearestLive(tree, tree.edits, tree.rowOf(asked)))
  const path = tree.pathRows(tree.rowOf(leaf))
  const off = new Set([...tree.facts.disabled].map((id) => tree.rowOf(id)))
  const { compaction, selected } = cut(tree, path, (row) => off.has(row))
  const speaking = selected.filter((row) => SPEAKS.has(tree.typeAt(row)))
  const disabled = speaking.findIndex((row) => off.has(row))
  const enabled = (rows: ReadonlyArray<number>) => rows.filter((row) => !off.has(row))
  const edits = enabled(selected).filter((row) => tree.typeAt(row) === "context_edit")
  return {
    leaf,
    compaction,
    rows: enabled(speaking),
    untilDisabled: disabled === -1 ? Number.POSITIVE_INFINITY : disabled,
    lastEdit: Math.max(edits.at(-1) ?? NONE, disabled === -1 ? NONE : lastState(tree)),
    edits: editsIn(tree, edits),
    settings: settingsOf(tree, path)
  }
}

export interface Spoken {
  readonly messages: ReadonlyArray<Json>
  /** The entry each message came from, in the same order. */
  readonly sources: ReadonlyArray<EntryId>
  /** Which of the rows each came from, in the same order. */
  readonly positions: ReadonlyArray<number>
}

/** What the entries in those rows say, with edits applied. Compactions among them say their summary. */
export const spoken = (tree: SessionTree, rows: ReadonlyArray<number>, edits = editsIn(tree, rows)): Spoken => {
  const messages: Array<Json> = []
  const sources: Array<EntryId> = []
  const positions: Array<number> = []
  for (const [at, entry] of tree.entriesAt(rows).entries()) {
    const message = messageFor(entry)
    const replacement = edits.get(entry.id)
    if (message === undefined || replacement === null) continue
    messages.push(isObject(replacement) ? replaceContent(message, replacement.content) : message)
    sources.push(entry.id)
    positions.push(at)
  }
  return { messages, sources, positions }
}

/** What the compaction that cuts a context puts before all else. */
export const headOf = (compaction: Entry.Entry): ReadonlyArray<Json> => {
  const system = isObject(compaction.systemMessage) ? [withContent(compaction.systemMessage)] : []
  return [...system, compactionSummary(compaction)]
}

const contextOf = (tree: SessionTree, plan: ContextPlan): SessionContext => {
  const { leaf, compaction, rows, untilDisabled, lastEdit, edits, settings } = plan
  const { messages, sources, positions } = spoken(tree, rows, edits)
  const firstReworded = edits.size === 0 ? -1 : rows.findIndex((row) => edits.has(tree.idAt(row)!))
  const firstEdited = firstReworded === -1 ? untilDisabled : Math.min(firstReworded, untilDisabled)
  const edited = positions.map((at) => at >= firstEdited && rows[at]! < lastEdit)
  if (compaction === undefined) return { leaf, messages, sources, edited, ...settings }
  const head = headOf(compaction)
  return {
    leaf,
    messages: head.concat(messages),
    sources: head.map(() => compaction.id).concat(sources),
    edited: head.map(() => false).concat(edited),
    ...settings
  }
}

/**
 * The context at `leafId`: empty for `null`; where the person stands if it is left out or unknown; for an entry in a
 * fragment that of its nearest ancestor outside of it.
 */
export const build = (tree: SessionTree, leafId?: string | null): SessionContext => {
  for (;;) {
    const { revision } = tree
    const context = contextOf(tree, plan(tree, leafId))
    if (tree.revision === revision) return context
  }
}

/** `build` for callers that hold entries and no tree. */
export const buildSessionContext = (
  entries: ReadonlyArray<Entry.Entry>,
  leafId?: string | null,
  tree: SessionTree = SessionTree.from(entries)
): SessionContext => build(tree, leafId)
