/** How anything of the SDK fails: one class, a code to tell by, and what it is about. */
import type {
  LeafMoved,
  NoSummary,
  Prompts,
  SessionStoreError,
  SummaryFailed,
  TreeEdits,
  UnknownEntry
} from "@grove/core"
import type { SqliteDatabase } from "@grove/storage-sqlite"

export type GroveErrorCode =
  /** Sessions: none has that name, several have, one has it already, or the file is none. */
  | "not-found"
  | "ambiguous"
  | "exists"
  | "not-a-session"
  /** Written by a newer program. */
  | "read-only"
  /** The disk said no: full, not allowed, gone. */
  | "storage"
  | "unknown-entry"
  /** The session went to another branch while something was worked out for the one it stood on. */
  | "leaf-moved"
  /** An edit cannot be made; `refusal` says why. */
  | "refused"
  /** No summary came about, so nothing was changed. */
  | "no-summary"
  /** Prompt history or session search. */
  | "search"

export interface Subject {
  readonly session?: string
  readonly entry?: string
  readonly refusal?: TreeEdits.RefusalCode
  readonly candidates?: ReadonlyArray<string>
  readonly cause?: unknown
}

export class GroveError extends Error {
  override readonly name = "GroveError"
  readonly code: GroveErrorCode
  readonly session: string | undefined
  readonly entry: string | undefined
  readonly refusal: TreeEdits.RefusalCode | undefined
  /** Where a name was ambiguous: what it may mean. */
  readonly candidates: ReadonlyArray<string>

  constructor(
    code: GroveErrorCode,
    message: string,
    { session, entry, refusal, candidates = [], cause }: Subject = {}
  ) {
    super(message, { cause })
    this.code = code
    this.session = session
    this.entry = entry
    this.refusal = refusal
    this.candidates = candidates
  }
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const ofStore = ({ session, reason }: SessionStoreError): GroveError => {
  switch (reason._tag) {
    case "SessionNotFound":
      return new GroveError("not-found", `no session ${session}`, { session })
    case "SessionAmbiguous": {
      const { candidates } = reason
      return new GroveError("ambiguous", `${session} may be ${candidates.join(" or ")}`, { session, candidates })
    }
    case "SessionExists":
      return new GroveError("exists", `session ${session} exists already`, { session })
    case "NotASession":
      return new GroveError("not-a-session", `${session} is not a session: no header before line ${reason.line}`, {
        session
      })
    case "SessionReadOnly":
      return new GroveError("read-only", `${session} was written by a newer program and can only be read`, { session })
    case "StoreRefused": {
      const { cause } = reason
      return new GroveError("storage", `cannot use ${session}: ${textOf(cause)}`, { session, cause })
    }
  }
}

export type Known =
  | SessionStoreError
  | UnknownEntry
  | LeafMoved
  | SummaryFailed
  | NoSummary
  | TreeEdits.EditRefused
  | TreeEdits.EditsRefused
  | Prompts.PromptHistoryError
  | SqliteDatabase.DatabaseError

export const of = (error: Known): GroveError => {
  switch (error._tag) {
    case "SessionStoreError":
      return ofStore(error)
    case "UnknownEntry":
      return new GroveError("unknown-entry", `no entry ${error.id}`, { session: error.session, entry: error.id })
    case "LeafMoved":
      return new GroveError("leaf-moved", error.message, { session: error.session })
    case "SummaryFailed":
      return new GroveError("no-summary", error.message, { cause: error.cause })
    case "NoSummary":
      return new GroveError("no-summary", "give the text of the summary, or openGrove a way to summarize")
    case "EditRefused":
      return new GroveError("refused", error.message, { entry: error.id, refusal: error.code })
    case "EditsRefused": {
      const [first] = error.refused
      return new GroveError("refused", first!.message, { entry: first!.id, refusal: first!.code })
    }
    case "PromptHistoryError":
    case "DatabaseError":
      return new GroveError("search", `cannot search: ${textOf(error.cause)}`, { cause: error.cause })
  }
}
