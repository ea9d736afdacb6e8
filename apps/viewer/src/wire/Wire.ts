/** What the server tells the pages, as JSON. Times are ISO, absent values null, and no answer holds a path but what a person chose. */
import type { Comparison, Entry, Problem, SessionSummary, Usage } from "@grove/core/model"
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

/** `working`: somebody generates a reply in it. `unclean`: a reply broke off, and nobody has taken it up. */
export type Work = "working" | "unclean"

export type ListedRow = SessionRow & {
  /** `null` where neither is known. */
  readonly work: Work | null
}

/** What the list tells of a session once it has been read. */
export interface Details {
  readonly key: string
  /** On the path where it stands. */
  readonly turns: number
  /** Of the whole tree; `null` if anything in it has no price. */
  readonly costMicros: number | null
  /** `provider/model` */
  readonly models: ReadonlyArray<string>
  readonly labels: ReadonlyArray<string>
}

export interface Sessions {
  readonly sessions: ReadonlyArray<ListedRow>
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

/** An entry in which words were found. */
export interface SearchHit {
  readonly entry: string
  /** Who says it: `user`, `assistant`, `tool`, `summary` or `custom`. */
  readonly role: string
  readonly tools: ReadonlyArray<string>
  readonly at: number
  readonly snippet: string
  /** From where to where in the snippet the words stand. */
  readonly marks: ReadonlyArray<readonly [start: number, end: number]>
}

/** A session in which words were found, with the best of its hits. */
export interface SearchGroup extends Pick<SessionRow, "key" | "name" | "firstMessage" | "cwd" | "modified"> {
  readonly count: number
  readonly hits: ReadonlyArray<SearchHit>
}

export interface SearchResult {
  readonly groups: ReadonlyArray<SearchGroup>
  readonly hits: number
  readonly sessions: number
  /** Hits outside of the folder that was asked for. */
  readonly elsewhere: number
  /** Every folder that sessions were held in. */
  readonly projects: ReadonlyArray<string>
  /** There is no index: sessions were read through. */
  readonly isLinear: boolean
  /** There may be more. */
  readonly isPartial: boolean
}

export interface Prompt {
  readonly id: number
  readonly prompt: string
  readonly isCut: boolean
  readonly uses: number
  readonly firstUsed: number
  readonly lastUsed: number
  readonly cwd: string | null
  /** The session of its last use, if it is here. */
  readonly key: string | null
  readonly entry: string | null
  /** `near` where nothing fits as it was typed. */
  readonly fit: "phrase" | "words" | "inside" | "near"
}

export interface Prompts {
  readonly prompts: ReadonlyArray<Prompt>
  readonly found: number
  /** Where nothing was found in a folder or a session: how many there are everywhere. */
  readonly elsewhere: number
  /** How many prompts there are at all. */
  readonly all: number
  readonly folders: ReadonlyArray<{ readonly cwd: string; readonly uses: number }>
}

/** `costMicros` is `null` if anything in it has no price; `knownMicros` is what the rest of it cost. */
export interface UsageTotal extends Usage.UsageSum {
  readonly knownMicros: number
  /** Of that, what is on a path where a session stands; the rest went into branches that were left. */
  readonly liveMicros: number
}

export interface UsageRow extends UsageTotal {
  readonly key: string
}

export interface Spending {
  readonly total: UsageTotal
  /** Days of UTC, oldest first. */
  readonly day: ReadonlyArray<UsageRow>
  /** What cost most first. */
  readonly model: ReadonlyArray<UsageRow>
  readonly project: ReadonlyArray<UsageRow>
  readonly session: ReadonlyArray<UsageRow & { readonly name: string | null; readonly firstMessage: string | null }>
  /** Models of which something was used whose price nobody knows. */
  readonly unpriced: ReadonlyArray<string>
  /** Sessions that could not be read. */
  readonly unread: number
  /** No session ever recorded a request. */
  readonly isNothing: boolean
}

/** How a branch ends: with an answer, a failure, a stop, or something nobody answered. */
export type Outcome = "answered" | "failed" | "aborted" | "open"

/** What one branch has that the other has not. */
export interface ComparedSide {
  readonly leaf: string
  readonly entries: number
  readonly turns: number
  readonly tools: number
  readonly files: ReadonlyArray<string>
  /** Estimated. */
  readonly tokens: number
  readonly costMicros: number | null
  /** From the root on. */
  readonly pathMicros: number | null
  readonly millis: number
  readonly outcome: Outcome
}

export interface Compared {
  readonly sharedTurns: number
  readonly sharedEntries: number
  /** The last entry that both have. */
  readonly fork: string | null
  readonly a: ComparedSide
  readonly b: ComparedSide
  /** Turns that stand for each other, by the entries they begin with. */
  readonly turns: ReadonlyArray<{
    readonly a: string | null
    readonly b: string | null
    readonly isSame: boolean
    /** `null` where it is too long to be sent. */
    readonly diff: ReadonlyArray<Comparison.Part> | null
  }>
}
