/** What a page is told of its session before it looks at any entry; the rest is in blocks of lines. */

/** Rows are positions in `ids`. */
export interface PageIndex {
  readonly name: string | null
  readonly session: string | null
  readonly cwd: string | null
  readonly begun: string | null
  /** The row where the session stands, `-1` for none. */
  readonly leaf: number
  readonly ids: ReadonlyArray<string>
  readonly parents: ReadonlyArray<number>
  /** Names of types and roles, and for each row one number: type + KIND × (role + 1), with a role of -1 for none. */
  readonly names: ReadonlyArray<string>
  readonly kinds: ReadonlyArray<number>
  readonly times: ReadonlyArray<number>
  readonly labels: ReadonlyArray<readonly [row: number, label: string]>
  readonly ratings: ReadonlyArray<readonly [row: number, rating: number]>
  readonly muted: ReadonlyArray<number>
  /** Rows at which a fragment was cut off. */
  readonly cuts: ReadonlyArray<number>
  /** How many rows each block of lines holds. */
  readonly blocks: ReadonlyArray<number>
  readonly isRedacted: boolean
}

/** A type and a role in one number. */
export const KIND = 65_536
