/** What the server tells the pages, as JSON. Times are ISO, absent values null, and no answer holds a path but what a person chose. */
import type { Entry, Problem, SessionSummary, Usage } from "@grove/core/model"
import type { Skeleton } from "./Skeleton.ts"

export const exportFormats = ["html", "md", "jsonl"] as const
export type ExportFormat = (typeof exportFormats)[number]

/** A session in the list. `key` is what its address holds: its id, or more where files share an id. */
export type SessionRow = Omit<SessionSummary.SessionSummary, "path" | "parentSession"> & {
  readonly key: string
  /** The key of the session it was forked from, if that is here. */
  readonly parent: string | null
  /** Written to in the last minute. */
  readonly active: boolean
}

export interface Sessions {
  readonly sessions: ReadonlyArray<SessionRow>
  /** Where they were looked for, in words for people. */
  readonly places: ReadonlyArray<string>
}

export interface Session {
  readonly row: SessionRow
  readonly name: string | null
  readonly version: number | null
  /** Written by a newer program: shown as far as it is understood. */
  readonly isNewer: boolean
  readonly skeleton: Skeleton
  readonly problems: ReadonlyArray<Problem>
  /** All of them, also those not listed. */
  readonly problemCount: number
  readonly exports: ReadonlyArray<ExportFormat>
  /** Where in the file the next line will begin. */
  readonly end: number
  /** Changes when the file is another one than before. */
  readonly generation: string
}

/** A line of the tree. */
export interface Preview {
  readonly id: string
  readonly text: string
}

/** An entry as pages are given it. Long texts are cut, images are fetched by their place. */
export interface Body {
  readonly entry: Entry.Entry
  /** Lengths of the texts that were cut, by JSON pointer. */
  readonly cut: { readonly [pointer: string]: number }
  /** What the request cost, in millionths of a dollar; `null` if unknown, absent if there was none. */
  readonly usage?: Usage.UsageSum
  /** It goes deeper than is sent. */
  readonly isTooDeep?: true
}

export interface Costs {
  readonly path: Usage.UsageSum
  readonly tree: Usage.UsageSum
  readonly abandoned: Usage.UsageSum
}

/** What happened to a file somebody looks at. */
export type Event =
  | { readonly type: "entries"; readonly entries: ReadonlyArray<Entry.Entry>; readonly malformed: number }
  /** It is another file now: what was read before does not hold. */
  | { readonly type: "replaced" }
  | { readonly type: "gone" }

export interface Found {
  /** Entries that hold the words, in file order. */
  readonly ids: ReadonlyArray<string>
}

export interface Failure {
  readonly error: "unknown-session" | "unreadable" | "not-a-session" | "unknown-entry" | "bad-request"
  readonly message: string
}

/** Sessions whose words hold what was asked for. */
export interface TextHits {
  readonly query: string
  /** False where content cannot be searched now: then only titles are. */
  readonly hasIndex: boolean
  readonly sessions: ReadonlyArray<{ readonly key: string; readonly hits: number }>
}
