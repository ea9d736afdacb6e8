/** Use case: plan a cut or leave a branch, have it summarised, append the summary. Where no summary comes, nothing changes. */
import { Context, Effect, Layer, Result } from "effect"
import * as BranchSummary from "./model/BranchSummary.ts"
import * as Compaction from "./model/Compaction.ts"
import type * as Entry from "./model/Entry.ts"
import type { EntryId } from "./model/EntryId.ts"
import * as FileLists from "./model/FileLists.ts"
import type { Json } from "./model/open.ts"
import * as SummaryPrompt from "./model/SummaryPrompt.ts"
import * as Tokens from "./model/Tokens.ts"
import * as Transcript from "./model/Transcript.ts"
import * as Usage from "./model/Usage.ts"
import { type AppendError, type Cursor, LeafMoved, type Session, UnknownEntry } from "./Sessions.ts"
import { Summarizer, SummaryFailed } from "./Summarizer.ts"

export type CompactionReason = "threshold" | "overflow" | "manual"

export interface SummaryOptions extends Compaction.Limits {
  readonly settings?: Compaction.Settings
  readonly instructions?: string | undefined
}

export interface CompactOptions extends SummaryOptions {
  /** What a person asked for happens even where compaction by itself is off. */
  readonly reason: CompactionReason
}

export type CompactOutcome =
  | {
      readonly compacted: true
      readonly id: EntryId
      readonly firstKeptEntryId: EntryId
      readonly tokensBefore: number
      readonly summary: string
      readonly reason: CompactionReason
    }
  | {
      readonly compacted: false
      readonly id: null
      readonly firstKeptEntryId: null
      readonly tokensBefore: number
      readonly summary: null
      readonly reason: Compaction.NothingToCompact | "disabled"
    }

/** A summary that nobody has appended yet. */
export interface PathSummary {
  readonly summary: string
  readonly details: FileLists.FileLists
  readonly usage?: Usage.Usage
}

export class Compactor extends Context.Service<
  Compactor,
  {
    /** Whether the context where the cursor stands is to be compacted before the next request. */
    readonly shouldCompact: (
      session: Session,
      cursor: Cursor,
      options: Compaction.Limits & { readonly settings?: Compaction.Settings }
    ) => Effect.Effect<boolean>
    /**
     * Summarises the older part of the path and appends a compaction where the cursor stands. Fails with `LeafMoved` if
     * the cursor left the path while the summary was written.
     */
    readonly compact: (
      session: Session,
      cursor: Cursor,
      options: CompactOptions
    ) => Effect.Effect<CompactOutcome, SummaryFailed | AppendError | LeafMoved>
    /**
     * Goes to another place and appends there a summary of what the path leaves behind; just goes, and answers `null`,
     * where it leaves nothing to tell behind.
     */
    readonly summarizeBranch: (
      session: Session,
      cursor: Cursor,
      to: string | null,
      options?: SummaryOptions
    ) => Effect.Effect<Entry.Entry | null, SummaryFailed | AppendError | UnknownEntry | LeafMoved>
    /** Summarises what those rows of the tree say, and appends nothing; `null` where nothing was said there. */
    readonly summarizeRows: (
      session: Session,
      rows: ReadonlyArray<number>,
      options?: SummaryOptions
    ) => Effect.Effect<PathSummary | null, SummaryFailed>
  }
>()("@grove/core/Compactor") {
  static readonly layer = Layer.effect(
    Compactor,
    Effect.gen(function* () {
      const summarizer = yield* Summarizer

      /** In one request, or in several where the text is longer than the window: each brings the summary up to date. */
      const summarize = Effect.fnUntraced(function* (
        subject: SummaryPrompt.Subject,
        messages: ReadonlyArray<Json>,
        previous: string | null,
        options: SummaryOptions
      ) {
        const { reserve } = Compaction.budget(options, options.settings)
        const maxTokens = Math.max(
          1,
          Math.min(Math.floor(reserve * 0.8), options.maxOutput ?? Number.POSITIVE_INFINITY)
        )
        const model = options.settings?.model
        let summary = previous
        const usages: Array<Usage.Usage> = []
        for (const transcript of Transcript.pieces(messages, roomFor(options))) {
          const asked = SummaryPrompt.of({ subject, transcript, previous: summary, instructions: options.instructions })
          const reply = yield* summarizer.summarize({ ...asked, maxTokens, ...(model === undefined ? {} : { model }) })
          summary = reply.text.trim()
          if (summary === "") return yield* new SummaryFailed({ detail: "the model answered with nothing" })
          if (reply.usage !== undefined) usages.push(reply.usage)
        }
        return { summary, usages }
      })

      const shouldCompact: Compactor["Service"]["shouldCompact"] = (session, cursor, { settings, ...limits }) =>
        Effect.map(cursor.context, (context) =>
          Compaction.isDue(Tokens.ofContext(session.tree, context).tokens, limits, settings)
        )

      const compact = Effect.fn("Compactor.compact")(function* (
        { tree }: Session,
        cursor: Cursor,
        options: CompactOptions
      ) {
        const context = yield* cursor.context
        const tokens = Tokens.ofContext(tree, context).tokens
        const none = {
          compacted: false,
          id: null,
          firstKeptEntryId: null,
          tokensBefore: tokens,
          summary: null
        } as const
        const { reason, settings } = options
        if (reason !== "manual" && settings?.enabled === false) return { ...none, reason: "disabled" } as const

        const limits =
          reason === "overflow" ? { ...options, window: Math.min(options.window ?? tokens, tokens) } : options
        const planned = Compaction.plan(tree, context, Compaction.budget(limits, settings).keep)
        if (Result.isFailure(planned)) return { ...none, reason: planned.failure }
        const plan = planned.success
        const history = yield* summarize("history", plan.history, plan.previousSummary, limits)
        const turn = yield* summarize("turn", plan.turnPrefix, null, limits)
        const told = SummaryPrompt.join(history.summary, turn.summary)
        if (told === "") return { ...none, reason: "too-small" } as const
        const { leaf, firstKeptEntryId, tokensBefore, files, systemMessage } = plan
        const summary = FileLists.append(told, files)
        const { id } = yield* cursor.appendBelow(leaf, {
          type: "compaction",
          summary,
          firstKeptEntryId,
          tokensBefore,
          details: files,
          ...usageField([...history.usages, ...turn.usages]),
          ...(systemMessage === undefined ? {} : { systemMessage })
        })
        return { compacted: true, id, firstKeptEntryId, tokensBefore, summary, reason } as const
      })

      const summarizeRows = Effect.fn("Compactor.summarizeRows")(function* (
        { tree }: Session,
        rows: ReadonlyArray<number>,
        options: SummaryOptions = {}
      ) {
        const limits = { ...options, window: options.window ?? BranchSummary.ASSUMED_WINDOW }
        const room = limits.window - Compaction.budget(limits, options.settings).reserve
        const { messages, files } = BranchSummary.gather(tree, rows, room)
        const { summary, usages } = yield* summarize("branch", messages, null, limits)
        if (summary === null) return null
        return { summary: FileLists.append(summary, files), details: files, ...usageField(usages) }
      })

      const summarizeBranch = Effect.fn("Compactor.summarizeBranch")(function* (
        session: Session,
        cursor: Cursor,
        to: string | null,
        options: SummaryOptions = {}
      ) {
        if (to !== null) yield* known(session, to)
        const from = yield* cursor.leaf
        const { rows } = BranchSummary.abandoned(session.tree, from, to)
        const told = yield* summarizeRows(session, rows, options)
        const now = yield* cursor.leaf
        if (now !== from) return yield* new LeafMoved({ session: session.ref.path, from, to: now })
        if (told !== null) {
          return yield* cursor.branchWithSummary(to, { ...told, details: { ...told.details, abandonedLeaf: from } })
        }
        yield* to === null ? cursor.resetLeaf : cursor.branch(to)
        return null
      })

      return Compactor.of({ shouldCompact, compact, summarizeBranch, summarizeRows })
    })
  )
}

const known = ({ ref, tree }: Session, id: string) =>
  Effect.suspend(() => (tree.has(id) ? Effect.void : Effect.fail(new UnknownEntry({ session: ref.path, id }))))

/** Characters of a transcript that one request takes: what the answer and the rest of the prompt leave. */
const roomFor = (options: SummaryOptions): number => {
  if (options.window === undefined) return Number.POSITIVE_INFINITY
  const { reserve } = Compaction.budget(options, options.settings)
  return Math.max(Tokens.charactersIn(options.window - 2 * reserve), 1)
}

const usageField = (usages: ReadonlyArray<Usage.Usage>): { readonly usage?: Usage.Usage } =>
  usages.length === 0 ? {} : { usage: usages.reduce(Usage.join) }
