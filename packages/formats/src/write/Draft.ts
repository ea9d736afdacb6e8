/** What every writer is given: the entries as they go out, and what a session is called. */
import type { Entry, EntryId, Header, SessionTree } from "@grove/core/model"
import type { Effect } from "effect/Effect"
import type { Stream } from "effect/Stream"
import type { Redactor } from "../redact/Redactor.ts"

/** A session as it was read. */
export interface Session {
  readonly header: Header.Header | null
  readonly title: Header.TitleSlot | null
  readonly tree: SessionTree
  /** Entries with their images inline and their texts whole; where a blob is missing, the reference stays. */
  readonly restore: (entries: ReadonlyArray<Entry.Entry>) => Effect<ReadonlyArray<Entry.Entry>>
}

export interface Draft {
  /** Redacted already; `null` for an empty file. */
  readonly header: Header.Header | null
  readonly title: Header.TitleSlot | null
  /** The session as it is: for its shape and its facts. Texts from here must be redacted. */
  readonly tree: SessionTree
  readonly leaf: EntryId | null
  /** In the order they are written, whole and redacted, a few at a time. */
  readonly entries: Stream<ReadonlyArray<Entry.Entry>>
  readonly redact: (text: string) => string
  readonly redactor: Redactor | undefined
}
