/** What a reader makes of a foreign file: sessions of Grove, and a note on all that did not carry over as it was. */
import { type Entry, type EntryId, type Header, Jsonl, JsonText, Mark } from "@grove/core"
import type { Format } from "../Format.ts"
import { digest } from "./Digest.ts"

/** What was done about a line of the source, counted from 1; where the source has no lines, about its n-th record. */
export interface Note {
  readonly line: number
  readonly kind: string
}

/** A session ready to be appended: every id once, every parent before its children. */
export interface TranslatedSession {
  readonly header: Header.Header
  readonly entries: ReadonlyArray<Entry.Entry>
  /** Where the other program would go on. */
  readonly leaf: EntryId | null
}

export interface Translation {
  readonly format: Format
  readonly sessions: ReadonlyArray<TranslatedSession>
  /** What was wrong with the source, and was set right. */
  readonly repaired: ReadonlyArray<Note>
  /** What has no place in a session, and was left out. */
  readonly unmapped: ReadonlyArray<Note>
}

/** Where a file stands whose last line is `last`. */
const leafBy = (last: Entry.Entry | undefined): EntryId | null => {
  if (last === undefined) return null
  return Mark.isMark(last) ? last.parentId : last.id
}

/** The mark that puts a session at `leaf`; none where its last entry does so by itself. */
export const leafMark = (
  { id: session, origin }: Header.Header,
  last: Entry.Entry | undefined,
  leaf: EntryId | null
): ReadonlyArray<Entry.Entry> => {
  if (last === undefined || leafBy(last) === leaf) return []
  const id = digest(session, "leaf", leaf ?? "", last.id) as EntryId
  const { timestamp } = last
  const mark = {
    type: "custom",
    id,
    parentId: leaf,
    timestamp,
    customType: "grove.leaf",
    data: { targetId: leaf },
    origin
  }
  return [mark as Entry.Entry]
}

/** The session as the text of a file. */
export const encode = ({ header, entries, leaf }: TranslatedSession): string =>
  Jsonl.encode(header) +
  [...entries, ...leafMark(header, entries.at(-1), leaf)].map((entry) => `${JsonText.stringify(entry)}\n`).join("")
