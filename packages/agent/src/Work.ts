/** What one turn works with, and what it has done so far. */
import {
  type AppendError,
  type Compaction,
  type Cursor,
  type Entry,
  type EntryId,
  isObject,
  type Message,
  type ModelInfo,
  type NewEntry,
  type Session,
  Usage
} from "@grove/core"
import { Effect, type Semaphore } from "effect"
import type { TurnEvent, TurnOptions } from "./Turn.ts"

export interface Settings {
  /** `provider/model`, for sessions that name none. */
  readonly model?: string | undefined
  readonly compaction?: Compaction.Settings | undefined
}

export interface Work {
  readonly session: Session
  readonly cursor: Cursor
  readonly options: TurnOptions
  readonly settings: Settings
  readonly info: ModelInfo
  /** One person is asked one thing at a time. */
  readonly asking: Semaphore.Semaphore
  readonly emit: (event: TurnEvent) => Effect.Effect<void>
  /** The entry of the prompt, once it is written. */
  prompt: EntryId | null
  usage: Usage.UsageSum
  /** No summary came the last time it was asked for, so that it is not asked for with every request. */
  hasNoSummary: boolean
  /** What a person added meanwhile, to be said before the next request. */
  readonly steering: Array<Message.Content>
  isOver: boolean
}

const usageOf = (entry: Entry.Entry): Usage.UsageSum =>
  Usage.fromStored(isObject(entry.message) ? entry.message.usage : entry.usage) ?? Usage.zero

/** Tells of an entry that was written, and counts what it cost. */
export const written = (work: Work, entry: Entry.Entry): Effect.Effect<void> => {
  work.usage = Usage.add(work.usage, usageOf(entry))
  return work.emit({ _tag: "Appended", entry })
}

/** Written and told, or neither. */
export const append = (work: Work, entry: NewEntry, id?: EntryId): Effect.Effect<Entry.Entry, AppendError> =>
  (id === undefined ? work.cursor.append(entry) : work.cursor.appendAs(id, entry)).pipe(
    Effect.tap((entry) => written(work, entry)),
    Effect.uninterruptible
  )
