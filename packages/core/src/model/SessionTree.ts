/**
 * The tree that the entries of one session make, and the rules that keep it one whatever the file holds: an unknown
 * parent makes a root, a cycle is cut at its first entry, marks are walked through but never shown.
 *
 * Inside, an entry is a row: its position in file order. Every walk is a loop over rows, so neither depth nor width
 * grows the stack, and all of them together are linear.
 */
import { Result, Schema } from "effect"
import * as Entry from "./Entry.ts"
import { EntryId } from "./EntryId.ts"
import * as Facts from "./Facts.ts"
import * as Mark from "./Mark.ts"
import { stringOr } from "./open.ts"

/** A new entry that the tree cannot take. */
export class MisplacedEntry extends Schema.TaggedError<MisplacedEntry>()("MisplacedEntry", {
  id: EntryId,
  problem: Schema.Literals(["duplicate id", "unknown parent"])
}) {}

/** What linking the rows found wrong. */
export interface LinkProblem {
  readonly id: EntryId
  readonly kind: "unknown-parent" | "cycle"
  readonly message: string
}

/** Stands for "no row": above a root, or an unknown id. */
export const NONE = -1

export class SessionTree {
  #entries: Array<Entry.Entry> = []
  #rows = new Map<EntryId, number>()
  /** Row of the parent as walked, cuts applied. Valid for the first `#linked` rows. */
  #parents: Array<number> = []
  /** Row of the nearest ancestor that is no mark. */
  #shownParents: Array<number> = []
  #linked = 0
  #problems: Array<LinkProblem> = []
  /** Parents that entries name but nobody is yet. */
  #awaited = new Set<string>()
  /** Children by row, roots under `NONE`; made on first use, then kept in step. */
  #children: Map<number, Array<number>> | undefined
  #facts: Facts.Facts | undefined
  #last: Entry.Entry | null = null

  /** Takes entries as a file has them: of several with one id the last stays, in its place. */
  static from(entries: Iterable<Entry.Entry>, last?: Entry.Entry | null): SessionTree {
    const byId = new Map<EntryId, Entry.Entry>()
    let newest: Entry.Entry | null = null
    for (const entry of entries) {
      byId.delete(entry.id)
      byId.set(entry.id, entry)
      newest = entry
    }
    const tree = new SessionTree()
    for (const entry of byId.values()) tree.#push(entry)
    tree.#last = last === undefined ? newest : last
    return tree
  }

  /** How many entries there are, marks included. */
  get size(): number {
    return this.#entries.length
  }

  /** All entries in file order, marks included. */
  get entries(): ReadonlyArray<Entry.Entry> {
    return this.#entries
  }

  /** Adds a new entry at the end. Its id must be new and its parent known, so nothing appended can make a cycle. */
  append(entry: Entry.Entry): Result.Result<void, MisplacedEntry> {
    const { id, parentId } = entry
    if (this.#rows.has(id)) return Result.fail(new MisplacedEntry({ id, problem: "duplicate id" }))
    if (parentId !== null && !this.#rows.has(parentId)) {
      return Result.fail(new MisplacedEntry({ id, problem: "unknown parent" }))
    }
    this.put(entry)
    return Result.succeed(undefined)
  }

  /** Adds an entry as another program may have written it: leniently, like `from`. */
  put(entry: Entry.Entry): void {
    const before = this.#rows.get(entry.id)
    if (before !== undefined) {
      this.#entries.splice(before, 1)
      this.#rows = new Map(this.#entries.map(({ id }, row) => [id, row]))
      this.#relink()
    }
    this.#push(entry)
    this.#last = entry
    this.#facts = undefined
  }

  #push(entry: Entry.Entry): void {
    this.#rows.set(entry.id, this.#entries.push(entry) - 1)
  }

  #relink(): void {
    this.#linked = 0
    this.#children = undefined
  }

  // ---------------------------------------------------------------------------------------------------- rows

  /** The row of an id, `NONE` if there is no such entry. */
  rowOf(id: string | null): number {
    return id === null ? NONE : (this.#rows.get(id as EntryId) ?? NONE)
  }

  entryAt(row: number): Entry.Entry {
    return this.#entries[row]!
  }

  idAt(row: number): EntryId | null {
    return this.#entries[row]?.id ?? null
  }

  isMarkAt(row: number): boolean {
    return Mark.isMark(this.#entries[row]!)
  }

  /** The parent's row, marks included. */
  parentRow(row: number): number {
    this.#link()
    return this.#parents[row] ?? NONE
  }

  /** The row of the nearest ancestor that is no mark. */
  shownParentRow(row: number): number {
    this.#link()
    return this.#shownParents[row] ?? NONE
  }

  /** Rows from the root to `row`, marks included. */
  pathRows(row: number): Array<number> {
    this.#link()
    const rows: Array<number> = []
    for (let at = row; at !== NONE; at = this.#parents[at]!) rows.push(at)
    return rows.reverse()
  }

  /** Shown children by time, then file order; of `NONE`, the roots in file order. */
  childRows(row: number): ReadonlyArray<number> {
    return this.#childMap().get(row) ?? []
  }

  #childMap(): Map<number, Array<number>> {
    this.#link()
    if (this.#children !== undefined) return this.#children
    const children = new Map<number, Array<number>>()
    for (let row = 0; row < this.#entries.length; row++) {
      if (this.isMarkAt(row)) continue
      const parent = this.#shownParents[row]!
      const siblings = children.get(parent)
      if (siblings === undefined) children.set(parent, [row])
      else siblings.push(row)
    }
    for (const [parent, siblings] of children) if (parent !== NONE && siblings.length > 1) this.#sortByTime(siblings)
    this.#children = children
    return children
  }

  #sortByTime(siblings: Array<number>): void {
    const times = new Map(siblings.map((row) => [row, Entry.time(this.#entries[row]!.timestamp)]))
    siblings.sort((a, b) => times.get(a)! - times.get(b)! || a - b)
  }

  // --------------------------------------------------------------------------------------------------- links

  /** Brings the links up to date: one step for an entry that follows its parent, all rows anew otherwise. */
  #link(): void {
    while (this.#linked < this.#entries.length) {
      if (this.#linked === 0 || !this.#linkNext()) this.#linkAll()
    }
  }

  /** Links one more row. Answers false where that would have to change rows already linked. */
  #linkNext(): boolean {
    const row = this.#linked
    const { id, parentId } = this.#entries[row]!
    const parent = this.rowOf(parentId)
    const follows = parentId === null || (parent !== NONE && parent < row)
    if (!follows || this.#awaited.has(id)) return false
    this.#parents[row] = parent
    this.#shownParents[row] = this.#shownFrom(parent)
    this.#linked++
    if (this.#children !== undefined && !this.isMarkAt(row)) this.#addChild(row)
    return true
  }

  #addChild(row: number): void {
    const parent = this.#shownParents[row]!
    const siblings = this.#children!.get(parent)
    if (siblings === undefined) this.#children!.set(parent, [row])
    else {
      const newest = this.#entries[siblings.at(-1)!]!
      siblings.push(row)
      if (parent !== NONE && Entry.time(newest.timestamp) > Entry.time(this.#entries[row]!.timestamp)) {
        this.#sortByTime(siblings)
      }
    }
  }

  #shownFrom(row: number): number {
    let at = row
    while (at !== NONE && this.isMarkAt(at)) at = this.#parents[at]!
    return at
  }

  #linkAll(): void {
    const size = this.#entries.length
    const parents: Array<number> = new Array(size)
    this.#problems = []
    this.#awaited.clear()
    this.#children = undefined
    for (let row = 0; row < size; row++) {
      const { id, parentId } = this.#entries[row]!
      parents[row] = this.rowOf(parentId)
      if (parentId !== null && parents[row] === NONE) {
        this.#awaited.add(parentId)
        this.#problems.push({
          id,
          kind: "unknown-parent",
          message: `entry ${id} follows ${parentId}, which is not here`
        })
      }
    }
    this.#cutCycles(parents)
    this.#parents = parents
    this.#shownParents = this.#nearestShown(parents)
    this.#linked = size
  }

  /** Follows each row upwards once; meeting the same walk again is a cycle, cut at its first row. */
  #cutCycles(parents: Array<number>): void {
    const walkOf = new Int32Array(parents.length).fill(NONE)
    for (let start = 0; start < parents.length; start++) {
      let row = start
      while (row !== NONE && walkOf[row] === NONE) {
        walkOf[row] = start
        row = parents[row]!
      }
      if (row === NONE || walkOf[row] !== start) continue
      let first = row
      for (let at = parents[row]!; at !== row; at = parents[at]!) if (at < first) first = at
      parents[first] = NONE
      const { id } = this.#entries[first]!
      this.#problems.push({ id, kind: "cycle", message: `entry ${id} is its own ancestor; the path is cut here` })
    }
  }

  #nearestShown(parents: ReadonlyArray<number>): Array<number> {
    const shown: Array<number> = new Array(parents.length)
    const unknown = -2
    const result = new Int32Array(parents.length).fill(unknown)
    const chain: Array<number> = []
    for (let row = 0; row < parents.length; row++) {
      let at = parents[row]!
      while (at !== NONE && this.isMarkAt(at) && result[at] === unknown) {
        chain.push(at)
        at = parents[at]!
      }
      const nearest = at !== NONE && this.isMarkAt(at) ? result[at]! : at
      for (const mark of chain) result[mark] = nearest
      chain.length = 0
      shown[row] = nearest
    }
    return shown
  }

  // ----------------------------------------------------------------------------------------------------- ids

  has(id: string): boolean {
    return this.#rows.has(id as EntryId)
  }

  get(id: string): Entry.Entry | undefined {
    const row = this.#rows.get(id as EntryId)
    return row === undefined ? undefined : this.#entries[row]
  }

  /** From the root to `id`, marks included; empty for an unknown id. */
  path(id: string): ReadonlyArray<Entry.Entry> {
    return this.pathRows(this.rowOf(id)).map((row) => this.#entries[row]!)
  }

  #ids(rows: ReadonlyArray<number>): ReadonlyArray<EntryId> {
    return rows.map((row) => this.#entries[row]!.id)
  }

  /** Entries without a parent, orphans and cut cycles included, marks left out. */
  roots(): ReadonlyArray<EntryId> {
    return this.#ids(this.childRows(NONE))
  }

  children(id: string): ReadonlyArray<EntryId> {
    const row = this.rowOf(id)
    return row === NONE ? [] : this.#ids(this.childRows(row))
  }

  #shownWhere(keep: (children: number) => boolean): ReadonlyArray<EntryId> {
    const children = this.#childMap()
    const ids: Array<EntryId> = []
    for (let row = 0; row < this.#entries.length; row++) {
      if (!this.isMarkAt(row) && keep(children.get(row)?.length ?? 0)) ids.push(this.#entries[row]!.id)
    }
    return ids
  }

  /** Entries without children, in file order: each is the end of a branch. */
  leaves(): ReadonlyArray<EntryId> {
    return this.#shownWhere((children) => children === 0)
  }

  /** Entries with several children, in file order. */
  forkPoints(): ReadonlyArray<EntryId> {
    return this.#shownWhere((children) => children > 1)
  }

  /** The deepest entry on both paths, `null` if they share none. */
  commonAncestor(a: string, b: string): EntryId | null {
    const onPath = new Set(this.pathRows(this.rowOf(a)))
    let row = this.rowOf(b)
    while (row !== NONE && !onPath.has(row)) row = this.parentRow(row)
    return this.idAt(row)
  }

  /** Unknown parents and cycles, in file order of the entries they concern. */
  problems(): ReadonlyArray<LinkProblem> {
    this.#link()
    return [...this.#problems].sort((a, b) => this.rowOf(a.id) - this.rowOf(b.id))
  }

  /** Labels, name, states, config and annotations, resolved over the whole file in file order. */
  get facts(): Facts.Facts {
    this.#facts ??= Facts.fold(this.#entries, (id) => this.#rows.has(id))
    return this.#facts
  }

  /**
   * Where the person stands, decided by the last entry alone: a mark means its parent, a foreign `leaf` line its
   * target, anything else itself. A leaf is never a mark.
   */
  get leaf(): EntryId | null {
    const last = this.#last
    if (last === null) return null
    if (Mark.isMark(last)) {
      if (last.parentId !== null && !this.has(last.parentId)) return this.#newestShown()
      return this.#shown(last.parentId)
    }
    if (last.type === "leaf" && "targetId" in last) {
      const target = last.targetId === null ? null : stringOr(last.targetId, last.id)
      return target === null ? null : this.has(target) ? this.#shown(target) : last.id
    }
    return last.id
  }

  #shown(id: string | null): EntryId | null {
    const row = this.rowOf(id)
    if (row === NONE) return null
    return this.isMarkAt(row) ? this.idAt(this.shownParentRow(row)) : this.idAt(row)
  }

  #newestShown(): EntryId | null {
    for (let row = this.#entries.length - 1; row >= 0; row--) if (!this.isMarkAt(row)) return this.idAt(row)
    return null
  }
}
