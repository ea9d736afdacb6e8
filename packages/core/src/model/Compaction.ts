/** When a context has to be made shorter, where a path is cut, and what of it is summarised. */
import { Result, Schema } from "effect"
import type { SessionContext } from "./ContextBuilder.ts"
import type { EntryId } from "./EntryId.ts"
import * as FileLists from "./FileLists.ts"
import { type Json, stringOr } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as SystemPrompt from "./SystemPrompt.ts"
import * as Tokens from "./Tokens.ts"

const Amount = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** As a person configures it; what is left out has the value in `defaults`. */
export const Settings = Schema.Struct({
  /** Off means never by itself, not even when a context has proved too long. */
  enabled: Schema.optionalKey(Schema.Boolean),
  trigger: Schema.optionalKey(Schema.Literals(["pi", "neovate"])),
  /** Room for the answer. */
  reserveTokens: Schema.optionalKey(Amount),
  /** How much of the end of a path is kept word for word. */
  keepRecentTokens: Schema.optionalKey(Amount),
  /** `provider/id` of the model that summarises, where it is not the session's own. */
  model: Schema.optionalKey(Schema.String)
})
export type Settings = typeof Settings.Type

export const defaults = { enabled: true, trigger: "pi", reserveTokens: 16_384, keepRecentTokens: 20_000 } as const

/** What a model can take; left out where nobody knows. */
export interface Limits {
  readonly window?: number | undefined
  readonly maxOutput?: number | undefined
}

export interface Budget {
  readonly reserve: number
  readonly keep: number
}

/** Neither is ever more than a quarter of the window, so that small models have room to speak too. */
export const budget = ({ window = Number.POSITIVE_INFINITY }: Limits, settings: Settings = {}): Budget => ({
  reserve: Math.min(settings.reserveTokens ?? defaults.reserveTokens, Math.floor(window / 4)),
  keep: Math.min(settings.keepRecentTokens ?? defaults.keepRecentTokens, Math.floor(window / 4))
})

/** Room that Neovate leaves in windows of exactly these sizes. */
const NEOVATE_ROOM: { readonly [window: number]: number } = {
  32768: 10_000,
  65536: 27_000,
  131072: 30_000,
  200000: 40_000
}

/** Neovate's threshold: reached, not exceeded. Below 32,000 its fixed floor would never be reached, so it shrinks with the window. */
const neovateThreshold = (window: number, maxOutput: number): number => {
  const floor = Math.min(32_000, window) * 0.8
  const room = NEOVATE_ROOM[window]
  const most = room === undefined ? Math.max(window - 40_000, window * 0.8) : window - room
  return Math.max((window - Math.min(maxOutput, 32_000)) * 0.9, most, floor)
}

/** Whether a context of so many tokens is to be compacted. Where the window is unknown only an overflow can tell. */
export const isDue = (tokens: number, limits: Limits, settings: Settings = {}): boolean => {
  const { window, maxOutput = 0 } = limits
  if (settings.enabled === false || window === undefined || !(window > 0)) return false
  if (settings.trigger === "neovate") return tokens >= neovateThreshold(window, maxOutput)
  return tokens > window - budget(limits, settings).reserve
}

export interface CompactionPlan {
  /** Where the path ended when this was planned. */
  readonly leaf: EntryId
  readonly firstKeptEntryId: EntryId
  readonly tokensBefore: number
  /** What the compaction in force says, without its lists of files. */
  readonly previousSummary: string | null
  /** Whole turns that give way to the summary. */
  readonly history: ReadonlyArray<Json>
  /** Where the cut goes through a turn, its beginning. */
  readonly turnPrefix: ReadonlyArray<Json>
  /** What is kept word for word. */
  readonly kept: ReadonlyArray<Json>
  readonly files: FileLists.FileLists
  /** What the system messages of the path say together, none of which is kept in its place. */
  readonly systemMessage: Json | undefined
}

/** Nothing has been said since the last compaction, or all that was said may be kept. */
export type NothingToCompact = "already-compacted" | "too-small"

interface Item {
  readonly message: Json
  readonly source: EntryId
}

/** Cuts that are none: before a result, and anywhere between a call and its result. */
const forbiddenCuts = (items: ReadonlyArray<Item>): ReadonlyArray<boolean> => {
  const callAt = new Map<unknown, number>()
  const opened = new Array<number>(items.length + 1).fill(0)
  for (const [at, { message }] of items.entries()) {
    if (message.role === "assistant") for (const { id } of toolCallsOf(message.content)) callAt.set(id, at)
    if (message.role !== "toolResult") continue
    opened[(callAt.get(message.toolCallId) ?? at - 1) + 1]!++
    opened[at + 1]!--
  }
  let depth = 0
  return items.map((_, at) => {
    depth += opened[at]!
    return depth > 0
  })
}

/**
 * Where the kept part begins: where the budget is used up, or the first place after it where a cut may be, or the last
 * before it if the end of the path is one long run of results. `-1` where everything fits.
 */
const cutAt = (items: ReadonlyArray<Item>, keep: number): number => {
  let reached = items.length
  let tokens = -1
  while (reached > 0 && tokens < keep) tokens = Math.max(tokens, 0) + Tokens.estimate(items[--reached]!.message)
  if (tokens < keep) return -1
  const forbidden = forbiddenCuts(items)
  const after = forbidden.indexOf(false, reached)
  return after === -1 ? forbidden.lastIndexOf(false, reached) : after
}

/** Everything that does not answer begins a turn: prompts, commands, notes, summaries of branches. */
const beginsTurn = ({ message }: Item): boolean => message.role !== "assistant" && message.role !== "toolResult"

const SPEAKS = new Set(["message", "custom_message", "branch_summary"])

/** Entries that say nothing stay with what follows them, older compactions included. */
const firstKept = (tree: SessionTree, cut: EntryId): EntryId => {
  let row = tree.rowOf(cut)
  for (;;) {
    const above = tree.parentRow(row)
    if (above < 0 || tree.isMarkAt(above) || SPEAKS.has(tree.typeAt(above))) return tree.idAt(row)!
    row = above
  }
}

/** What would be cut from a context so that about `keep` tokens of its end stay as they are. */
export const plan = (
  tree: SessionTree,
  context: SessionContext,
  keep: number
): Result.Result<CompactionPlan, NothingToCompact> => {
  const { leaf, messages, sources } = context
  const said = messages.map((message, i): Item => ({ message, source: sources[i]! }))
  const head = sources[0] === undefined ? undefined : tree.get(sources[0])
  const previous = head?.type === "compaction" ? head : undefined
  const items = said.filter(({ message, source }) => source !== previous?.id && message.role !== "system")
  if (leaf === null || items.length === 0) return Result.fail("too-small")
  if (previous !== undefined && isBefore(tree, items.at(-1)!.source, previous.id))
    return Result.fail("already-compacted")

  const cut = cutAt(items, keep)
  if (cut <= 0) return Result.fail("too-small")
  const turn = beginsTurn(items[cut]!) ? -1 : items.slice(0, cut).findLastIndex(beginsTurn)
  const history = items.slice(0, turn === -1 ? cut : turn)
  const turnPrefix = turn === -1 ? [] : items.slice(turn, cut)
  const gone = items.slice(0, cut)
  const earlier = gone.filter(({ message }) => message.role === "branchSummary").map(({ source }) => source)
  const noted = [previous, ...earlier.map((id) => tree.get(id))].filter((entry) => entry !== undefined)
  return Result.succeed({
    leaf,
    firstKeptEntryId: firstKept(tree, items[cut]!.source),
    tokensBefore: Tokens.ofContext(tree, context).tokens,
    previousSummary: previous === undefined ? null : FileLists.strip(stringOr(previous.summary, ""), previous.details),
    history: history.map(({ message }) => message),
    turnPrefix: turnPrefix.map(({ message }) => message),
    kept: items.slice(cut).map(({ message }) => message),
    files: FileLists.gather(
      gone.map(({ message }) => message),
      noted.map(FileLists.detailsOf)
    ),
    systemMessage: SystemPrompt.fold(messages.filter(({ role }) => role === "system"))
  })
}

/** Whether one entry of a path comes before another. */
const isBefore = (tree: SessionTree, id: EntryId, other: EntryId): boolean => {
  const first = tree.rowOf(id)
  let row = tree.rowOf(other)
  while (row >= 0 && row !== first) row = tree.parentRow(row)
  return row >= 0
}
