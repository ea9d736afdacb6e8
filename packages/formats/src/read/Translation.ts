/** What a reader makes of a foreign file: sessions of Grove, and a line for everything that did not carry over as it was. */
import type { Entry, Header } from "@grove/core"

export const formats = [
  "pi",
  "omp",
  "neovate",
  "claude-code",
  "codex",
  "opencode",
  "gemini",
  "chatgpt",
  "librechat",
  "simple"
] as const
export type Format = (typeof formats)[number]

/** What was done about a line of the source, 1-based; of a source without lines, the number of its record. */
export interface Note {
  readonly line: number
  readonly kind: string
}

/** A session as it would be appended: every parent before its children, every id once. */
export interface TranslatedSession {
  readonly header: Header.Header
  readonly entries: ReadonlyArray<Entry.Entry>
}

export interface Translation {
  readonly format: Format
  readonly sessions: ReadonlyArray<TranslatedSession>
  /** What was wrong with the source, and was set right. */
  readonly repaired: ReadonlyArray<Note>
  /** What has no place in a session, and was left out. */
  readonly unmapped: ReadonlyArray<Note>
}
