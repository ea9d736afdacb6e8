/** What a reader found wrong with a file. Every problem names its line; none of them stops the reading. */

export type ProblemKind =
  | "not-json"
  | "not-object"
  | "bad-entry"
  | "bad-body"
  | "duplicate-id"
  | "unknown-parent"
  | "cycle"
  | "torn-tail"
  | "no-header"
  | "second-header"
  | "newer-version"
  | "missing-blob"
  | "void-edit"

export interface Problem {
  /** 1 for the first line of the file. */
  readonly line: number
  readonly kind: ProblemKind
  readonly message: string
}
