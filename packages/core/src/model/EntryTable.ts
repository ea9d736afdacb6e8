/**
 * The entries of a session without their bodies: all a tree needs to be one. A row is a position in file order. Small
 * files hold their entries; large ones know where each line is and read it when somebody asks.
 */
import * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import * as Mark from "./Mark.ts"

export interface EntryTable {
  readonly size: number
  readonly id: (row: number) => EntryId
  /** `NONE` if no entry has that id. */
  readonly rowOf: (id: string) => number
  readonly parentId: (row: number) => EntryId | null
  readonly type: (row: number) => string
  /** The role of a message, `null` for everything else. */
  readonly role: (row: number) => string | null
  readonly isMark: (row: number) => boolean
  /** Whether the entry says that it was copied from another. */
  readonly isCopy: (row: number) => boolean
  /** Milliseconds, 0 where the timestamp cannot be read. */
  readonly time: (row: number) => number
  /** When a message was made by its own word, in milliseconds; `NaN` where only its body tells. */
  readonly spoken: (row: number) => number
  /** The whole entry; `undefined` if its line turns out not to be one after all. */
  readonly entry: (row: number) => Entry.Entry | undefined
  /** Many at once, for tables that read them from a medium. */
  readonly entries: (rows: ReadonlyArray<number>) => ReadonlyArray<Entry.Entry | undefined>
  /**
   * The lines of some rows as they are written, for tables that read them from a medium and whoever passes them on unread.
   * They are good until the next time something is asked of the table.
   */
  readonly lines?: (rows: ReadonlyArray<number>) => ReadonlyArray<Uint8Array>
  /** The row of each row's parent with cycles cut, for tables that know it already. */
  readonly links?: Links
}

export interface Links {
  readonly parents: Int32Array
  readonly problems: ReadonlyArray<LinkProblem>
}

/** What linking the rows found wrong. */
export interface LinkProblem {
  readonly id: EntryId
  readonly kind: "unknown-parent" | "cycle"
  readonly message: string
}

/** Stands for "no row": above a root, or an unknown id. */
export const NONE = -1

export const unknownParent = (id: EntryId, parentId: string): LinkProblem => ({
  id,
  kind: "unknown-parent",
  message: `entry ${id} follows ${parentId}, which is not here`
})

/** A table of entries that are at hand. Distinct ids are the caller's care. */
export const fromArray = (entries: ReadonlyArray<Entry.Entry>): EntryTable => {
  const rows = new Map<string, number>(entries.map(({ id }, row) => [id, row]))
  const times = new Float64Array(entries.length)
  return {
    size: entries.length,
    id: (row) => entries[row]!.id,
    rowOf: (id) => rows.get(id) ?? NONE,
    parentId: (row) => entries[row]!.parentId,
    type: (row) => entries[row]!.type,
    role: (row) => Entry.role(entries[row]!),
    isMark: (row) => Mark.isMark(entries[row]!),
    isCopy: (row) => Entry.isCopy(entries[row]!),
    time: (row) => (times[row] ||= Entry.time(entries[row]!.timestamp)),
    spoken: () => Number.NaN,
    entry: (row) => entries[row],
    entries: (wanted) => wanted.map((row) => entries[row])
  }
}

export const empty: EntryTable = /* @__PURE__ */ fromArray([])

/** Resolves parents to rows and cuts cycles at their first row. Linear, whatever the ids say. */
export const link = (size: number, parentRow: (row: number) => number, id: (row: number) => EntryId): Links => {
  const parents = new Int32Array(size)
  for (let row = 0; row < size; row++) parents[row] = parentRow(row)
  const problems: Array<LinkProblem> = []
  const walkOf = new Int32Array(size).fill(NONE)
  for (let start = 0; start < size; start++) {
    let row = start
    while (row !== NONE && walkOf[row] === NONE) {
      walkOf[row] = start
      row = parents[row]!
    }
    if (row === NONE || walkOf[row] !== start) continue
    let first = row
    for (let at = parents[row]!; at !== row; at = parents[at]!) if (at < first) first = at
    parents[first] = NONE
    const cut = id(first)
    problems.push({ id: cut, kind: "cycle", message: `entry ${cut} is its own ancestor; the path is cut here` })
  }
  return { parents, problems }
}
