/** One immutable line of a session. Rewording a prompt appends a sibling; forgetting appends a compaction. */
import { Schema } from "effect"
import { EntryId } from "./EntryId.ts"
import { Content, Message } from "./Message.ts"
import { isObject, type Json, open, stringOr } from "./open.ts"
import { Usage } from "./Usage.ts"

/** Where a copied or imported entry came from. */
export const Origin = open({
  session: Schema.optionalKey(Schema.String),
  entry: Schema.optionalKey(Schema.String),
  file: Schema.optionalKey(Schema.String),
  line: Schema.optionalKey(Schema.Finite),
  format: Schema.optionalKey(Schema.String)
})

const link = {
  id: EntryId,
  /** The entry this one follows; `null` only for a root. */
  parentId: Schema.NullOr(EntryId),
  timestamp: Schema.String,
  origin: Schema.optionalKey(Origin)
}
const summary = {
  summary: Schema.String,
  details: Schema.optionalKey(Schema.Unknown),
  fromExtension: Schema.optionalKey(Schema.Boolean),
  fromHook: Schema.optionalKey(Schema.Boolean),
  usage: Schema.optionalKey(Usage)
}

export const MessageEntry = open({ type: Schema.tag("message"), ...link, message: Message })
export const ThinkingLevelChange = open({
  type: Schema.tag("thinking_level_change"),
  ...link,
  /** Absent or null means off. */
  thinkingLevel: Schema.optionalKey(Schema.NullOr(Schema.String))
})
/** Two shapes are in use: `model: "provider/id"` with an optional role, or `provider` and `modelId`. */
export const ModelChange = Schema.Union([
  open({
    type: Schema.tag("model_change"),
    ...link,
    model: Schema.String,
    role: Schema.optionalKey(Schema.String)
  }),
  open({ type: Schema.tag("model_change"), ...link, provider: Schema.String, modelId: Schema.String })
])
export const Compaction = open({
  type: Schema.tag("compaction"),
  ...link,
  ...summary,
  shortSummary: Schema.optionalKey(Schema.String),
  /** What is kept begins here; an id that is not on the path before the compaction keeps nothing. */
  firstKeptEntryId: Schema.optionalKey(Schema.String),
  tokensBefore: Schema.Finite,
  preserveData: Schema.optionalKey(Schema.Unknown),
  systemMessage: Schema.optionalKey(Schema.Unknown)
})
export const BranchSummary = open({
  type: Schema.tag("branch_summary"),
  ...link,
  ...summary,
  /** The entry that was branched from, or `"root"`. */
  fromId: Schema.String
})
export const Custom = open({
  type: Schema.tag("custom"),
  ...link,
  customType: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})
export const CustomMessageEntry = open({
  type: Schema.tag("custom_message"),
  ...link,
  customType: Schema.String,
  content: Content,
  display: Schema.Boolean,
  details: Schema.optionalKey(Schema.Unknown)
})
export const Label = open({
  type: Schema.tag("label"),
  ...link,
  targetId: EntryId,
  /** Absent or empty clears the label. */
  label: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export const SessionInfo = open({
  type: Schema.tag("session_info"),
  ...link,
  /** Absent or empty clears the name. */
  name: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export const TtsrInjection = open({
  type: Schema.tag("ttsr_injection"),
  ...link,
  injectedRules: Schema.Array(Schema.String)
})
export const SessionInit = open({
  type: Schema.tag("session_init"),
  ...link,
  systemPrompt: Schema.String,
  task: Schema.String,
  tools: Schema.Array(Schema.Unknown),
  outputSchema: Schema.optionalKey(Schema.Unknown)
})
export const ModeChange = open({
  type: Schema.tag("mode_change"),
  ...link,
  mode: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})
export const UsageEntry = open({
  type: Schema.tag("usage"),
  ...link,
  kind: Schema.String,
  provider: Schema.String,
  model: Schema.String,
  usage: Usage
})
export const ContextEdit = open({
  type: Schema.tag("context_edit"),
  ...link,
  targetId: EntryId,
  /** `null` leaves the target out; otherwise its content is replaced. */
  replacement: Schema.NullOr(open({ content: Content }))
})

/** Every entry whose body Grove understands, by its `type`. */
export const known = {
  message: MessageEntry,
  thinking_level_change: ThinkingLevelChange,
  model_change: ModelChange,
  compaction: Compaction,
  branch_summary: BranchSummary,
  custom: Custom,
  custom_message: CustomMessageEntry,
  label: Label,
  session_info: SessionInfo,
  ttsr_injection: TtsrInjection,
  session_init: SessionInit,
  mode_change: ModeChange,
  usage: UsageEntry,
  context_edit: ContextEdit
} as const
export type KnownType = keyof typeof known

export const KnownEntry = Schema.Union(Object.values(known))
export type KnownEntry = (typeof known)[KnownType]["Type"]

/** What decides that a line is an entry. The body is anything, and is checked where it is used. */
export interface Envelope {
  readonly type: string
  readonly id: EntryId
  readonly parentId: EntryId | null
  readonly timestamp: string
}

/** A parsed line, whole: unknown types and unknown fields included. */
export type Entry = Envelope & Json

/** A line of versions 1: what becomes an entry once a migration has given it an id. */
export const isTyped = (value: unknown): value is Json & { readonly type: string } =>
  isObject(value) && typeof value.type === "string"

/**
 * The entry that `value` is, or `undefined`. Only `type` and `id` decide; an absent, empty or malformed `parentId`
 * makes a root. The object itself is returned when its envelope is already in order.
 */
export const fromJson = (value: unknown): Entry | undefined => {
  if (!isTyped(value) || typeof value.id !== "string" || value.id === "") return undefined
  const parentId = typeof value.parentId === "string" && value.parentId !== "" ? value.parentId : null
  const timestamp = stringOr(value.timestamp, "")
  const inOrder = value.parentId === parentId && value.timestamp === timestamp
  return (inOrder ? value : { ...value, parentId, timestamp }) as Entry
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** Whether a timestamp is what the format promises. */
export const isTimestamp = (value: unknown): boolean =>
  typeof value === "string" && ISO.test(value) && !Number.isNaN(Date.parse(value))

/** What is wrong with the envelope of an entry that counts as one all the same. */
export const envelopeProblem = ({ parentId, timestamp }: Json): string | undefined => {
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") {
    return "has a parentId that is no text; it counts as a root"
  }
  return isTimestamp(timestamp) ? undefined : "has no timestamp that can be read"
}

const validators = new Map<string, (entry: unknown) => boolean>()

/** Whether the body is what its type promises. Types we do not know promise nothing. */
export const hasValidBody = (entry: Entry): boolean => {
  if (!Object.hasOwn(known, entry.type)) return true
  let validate = validators.get(entry.type)
  if (validate === undefined) {
    validate = Schema.is(known[entry.type as KnownType] as Schema.Schema<unknown>)
    validators.set(entry.type, validate)
  }
  return validate(entry)
}

/** The role of a message entry, `null` for every other type and for a message without one. */
export const role = (entry: Json): string | null =>
  entry.type === "message" && isObject(entry.message) ? stringOr(entry.message.role, null) : null

/** Whether an entry says that it was copied from another entry, rather than read from a foreign file. */
export const isCopy = ({ origin }: Json): boolean =>
  isObject(origin) &&
  typeof origin.entry === "string" &&
  typeof origin.session === "string" &&
  typeof origin.format !== "string"

/** The time in milliseconds, 0 where the timestamp cannot be read. */
export const time = (timestamp: string): number => {
  const parsed = Date.parse(timestamp)
  return Number.isNaN(parsed) ? 0 : parsed
}

/** When a message was made: by its own word, else by the time of its entry. */
export const spoken = (entry: Entry): number => {
  const own = isObject(entry.message) ? entry.message.timestamp : undefined
  return typeof own === "number" && Number.isFinite(own) ? own : time(entry.timestamp)
}
