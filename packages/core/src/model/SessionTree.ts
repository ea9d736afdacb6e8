/**
 * The tree that the entries of one session make, and the rules that keep it one whatever the file holds: an unknown
 * parent makes a root, a cycle is cut at its first entry, marks are walked through but never shown.
 *
 * Inside, an entry is a row: its position in file order. Every walk is a loop over rows, so neither depth nor width
 * grows the stack, and all of them together are linear. Bodies are asked of the table only where they are needed.
 */
import { Result, Schema } from "effect"
import * as Entry from "./Entry.ts"
import { EntryId } from "./EntryId.ts"
import * as EntryTable from "./EntryTable.ts"
import * as Facts from "./Facts.ts"
import * as Mark from "./Mark.ts"
import { stringOr } from "./open.ts"
import * as TreeEdit from "./TreeEdit.ts"

export { NONE } from "./EntryTable.ts"

const { NONE } = EntryTable

/** A new entry that the tree cannot take. */
export class MisplacedEntry extends Schema.TaggedError<MisplacedEntry>()("MisplacedEntry", {
  id: EntryId,
  problem: Schema.Literals(["duplicate id", "unknown parent"])
}) {}

const widened = (rows: Int32Array, size: number): Int32Array => {
  if (size <= rows.length) return rows
  const wider = new Int32Array(Math.max(size, rows.length * 2, 64))
  wider.set(rows)
  return wider
}

interface Notable {
  readonly facts: Array<number>
  readonly marks: Array<number>
  readonly copies: Array<number>
}

export class SessionTree {
  readonly #table: EntryTable.EntryTable
  /** Entries that came after the table, and their rows. */
  readonly #added: Array<Entry.Entry> = []
  readonly #addedRows = new Map<string, number>()
  /** Rows whose entry was replaced by a later line or turned out not to be one. */
  readonly #gone = new Set<number>()
  /** Row of the parent as walked, cuts applied. Valid for the first `#linked` rows. */
  #parents: Int32Array
  #linked: number
  #problems: Array<EntryTable.LinkProblem>
  /** Parents that entries name but nobody is yet. */
  #awaited = new Set<string>()
  /** Children by row, roots under `NONE`, and the nearest ancestor of each row that is no mark; made on first use, then kept in step. */
  #children: Map<number, Array<number>> | undefined
  #shownParents: Int32Array = new Int32Array(0)
  /** Rows that facts and edits are made of, so that all the others are passed over once. */
  #notable: Notable | undefined
  #facts: Facts.Facts | undefined
  #edits: TreeEdit.Edits | undefined
  /** The id in the session's header, if it is known: what was copied within the session names it. */
  readonly session: string | null
  #last: Entry.Entry | null
  /** Goes up when a row turns out not to be an entry: what was computed from the tree before must be computed again. */
  revision = 0

  private constructor(table: EntryTable.EntryTable, last: Entry.Entry | null, session: string | null) {
    this.#table = table
    this.#last = last
    this.session = session
    this.#parents = table.links?.parents ?? new Int32Array(table.size)
    this.#linked = table.links === undefined ? 0 : table.size
    this.#problems = [...(table.links?.problems ?? [])]
  }

  /** Takes entries as a file has them: of several with one id the last stays, in its place. */
  static from(entries: Iterable<Entry.Entry>, last?: Entry.Entry | null, session: string | null = null): SessionTree {
    const byId = new Map<EntryId, Entry.Entry>()
    let newest: Entry.Entry | null = null
    for (const entry of entries) {
      byId.delete(entry.id)
      byId.set(entry.id, entry)
      newest = entry
    }
    return new SessionTree(EntryTable.fromArray([...byId.values()]), last === undefined ? newest : last, session)
  }

  /** Takes a table of distinct entries; `last` is the last entry line of the file. */
  static over(table: EntryTable.EntryTable, last: Entry.Entry | null, session: string | null = null): SessionTree {
    return new SessionTree(table, last, session)
  }

  /**
   * The session as one line, for people who want no tree: the path to the newest entry that no edit made, with nothing
   * switched off and nothing cut off. A picture of the tree as it is now.
   */
  linear(): SessionTree {
    const rows = this.pathRows(TreeEdit.lastWritten(this)).filter((row) => !this.isMarkAt(row))
    const entries = this.entriesAt(rows).map((entry, at) => ({ ...entry, parentId: this.idAt(rows[at - 1] ?? NONE) }))
    const line = SessionTree.from(entries, undefined, this.session)
    line.#edits = TreeEdit.none
    line.#facts = { ...this.facts, disabled: TreeEdit.none.disabled }
    return line
  }

  /** Another tree of the same entries, to try something out on: what is put into it stays in it. */
  copy(): SessionTree {
    const copy = new SessionTree(this.#table, this.#last, this.session)
    copy.#linked = 0
    for (const entry of this.#added) copy.#added.push(entry)
    for (const [id, row] of this.#addedRows) copy.#addedRows.set(id, row)
    for (const row of this.#gone) copy.#gone.add(row)
    return copy
  }

  /** How many entries there are, marks included. */
  get size(): number {
    return this.rowCount - this.#gone.size
  }

  /** How many entries views count: neither marks nor what edits have cut off. */
  get liveSize(): number {
    return this.size - this.notable.marks.length - this.edits.pruned.size
  }

  /** One more than the highest row; rows of entries that are gone stay empty. */
  get rowCount(): number {
    return this.#table.size + this.#added.length
  }

  /** All entries in file order, marks included: reads every body. */
  get entries(): ReadonlyArray<Entry.Entry> {
    return this.entriesAt(this.rows())
  }

  /** Rows of all entries in file order, marks included. */
  rows(): ReadonlyArray<number> {
    const rows: Array<number> = []
    for (let row = 0; row < this.rowCount; row++) if (!this.#gone.has(row)) rows.push(row)
    return rows
  }

  *ids(): Generator<EntryId> {
    for (const row of this.rows()) yield this.#idAt(row)
  }

  /** Adds a new entry at the end. Its id must be new and its parent known, so nothing appended can make a cycle. */
  append(entry: Entry.Entry): Result.Result<void, MisplacedEntry> {
    const { id, parentId } = entry
    if (this.has(id)) return Result.fail(new MisplacedEntry({ id, problem: "duplicate id" }))
    if (parentId !== null && !this.has(parentId)) {
      return Result.fail(new MisplacedEntry({ id, problem: "unknown parent" }))
    }
    this.put(entry)
    return Result.succeed(undefined)
  }

  /** Adds an entry as another program may have written it: leniently, like `from`. */
  put(entry: Entry.Entry): void {
    const before = this.rowOf(entry.id)
    if (before !== NONE) this.#forget(before)
    this.#addedRows.set(entry.id, this.#table.size + this.#added.push(entry) - 1)
    this.#last = entry
    const isMark = Mark.isMark(entry)
    if (this.#notable !== undefined) this.#note(this.rowCount - 1, this.#notable)
    if (Facts.concerns(entry.type, isMark)) this.#facts = undefined
    if (this.#edits !== undefined && (isMark || this.#touchesEdits(entry))) this.#forgetEdits()
  }

  /** Whether an entry that is no mark changes what edits come to: it is inside a fragment, or completes a unit. */
  #touchesEdits(entry: Entry.Entry): boolean {
    const { pruned, disabled } = this.#edits!
    return (
      (pruned.size > 0 && pruned.has(this.#nearestShown(this.rowOf(entry.parentId)))) ||
      (disabled.size > 0 && Entry.role(entry) === "toolResult")
    )
  }

  #note(row: number, { facts, marks, copies }: Notable): void {
    const isMark = this.isMarkAt(row)
    if (Facts.concerns(this.typeAt(row), isMark)) facts.push(row)
    if (isMark) marks.push(row)
    else if (this.isCopyAt(row)) copies.push(row)
  }

  /** Rows of marks, of copies, and of all that facts are made of, each in file order. */
  get notable(): { readonly [Kind in keyof Notable]: ReadonlyArray<number> } {
    if (this.#notable === undefined) {
      this.#notable = { facts: [], marks: [], copies: [] }
      for (let row = 0; row < this.rowCount; row++) if (!this.#gone.has(row)) this.#note(row, this.#notable)
    }
    return this.#notable
  }

  #forgetEdits(): void {
    this.#edits = undefined
    this.#facts = undefined
  }

  #forget(row: number): void {
    this.#gone.add(row)
    this.#linked = 0
    this.#children = undefined
    this.#notable = undefined
    this.#forgetEdits()
  }

  // ---------------------------------------------------------------------------------------------------- rows

  /** The row of an id, `NONE` if there is no such entry. */
  rowOf(id: string | null): number {
    if (id === null) return NONE
    const row = this.#addedRows.get(id) ?? this.#table.rowOf(id)
    return this.#gone.has(row) ? NONE : row
  }

  #addedAt(row: number): Entry.Entry | undefined {
    return row < this.#table.size ? undefined : this.#added[row - this.#table.size]
  }

  /** The whole entry. A line that turns out not to be one is taken out of the tree and answered by an empty stand-in. */
  entryAt(row: number): Entry.Entry {
    return this.#addedAt(row) ?? this.#table.entry(row) ?? this.#standIn(row)
  }

  /** Many at once, in the order asked for. */
  entriesAt(rows: ReadonlyArray<number>): ReadonlyArray<Entry.Entry> {
    const known = rows.findIndex((row) => row >= this.#table.size)
    const fromTable = known === -1 ? rows : rows.slice(0, known)
    const read = this.#table.entries(fromTable).map((entry, i) => entry ?? this.#standIn(fromTable[i]!))
    return known === -1 ? read : read.concat(rows.slice(known).map((row) => this.entryAt(row)))
  }

  /**
   * The lines of some rows as they are written, `undefined` where one of them is not kept as a line. Their bodies are not
   * checked. Good until the next time something is asked of the tree.
   */
  linesAt(rows: ReadonlyArray<number>): ReadonlyArray<Uint8Array> | undefined {
    return rows.every((row) => row < this.#table.size) ? this.#table.lines?.(rows) : undefined
  }

  #standIn(row: number): Entry.Entry {
    const id = this.#table.id(row)
    if (!this.#gone.has(row)) {
      this.#forget(row)
      this.revision++
    }
    return { type: "", id, parentId: null, timestamp: "" }
  }

  #idAt(row: number): EntryId {
    return this.#addedAt(row)?.id ?? this.#table.id(row)
  }

  idAt(row: number): EntryId | null {
    return row === NONE ? null : this.#idAt(row)
  }

  typeAt(row: number): string {
    return this.#addedAt(row)?.type ?? this.#table.type(row)
  }

  /** The role of a message, `null` for everything else. */
  roleAt(row: number): string | null {
    const added = this.#addedAt(row)
    return added === undefined ? this.#table.role(row) : Entry.role(added)
  }

  timeAt(row: number): number {
    const added = this.#addedAt(row)
    return added === undefined ? this.#table.time(row) : Entry.time(added.timestamp)
  }

  /** When a message was made: by its own word, else by its entry's. */
  spokenAt(row: number): number {
    const noted = this.#addedAt(row) === undefined ? this.#table.spoken(row) : Number.NaN
    return Number.isNaN(noted) ? Entry.spoken(this.entryAt(row)) : noted
  }

  isMarkAt(row: number): boolean {
    const added = this.#addedAt(row)
    return added === undefined ? this.#table.isMark(row) : Mark.isMark(added)
  }

  /** Whether an entry says that it was copied from another. */
  isCopyAt(row: number): boolean {
    const added = this.#addedAt(row)
    return added === undefined ? this.#table.isCopy(row) : Entry.isCopy(added)
  }

  /** Whether a row holds an entry still. */
  isThere(row: number): boolean {
    return row >= 0 && row < this.rowCount && !this.#gone.has(row)
  }

  #parentIdAt(row: number): EntryId | null {
    const added = this.#addedAt(row)
    return added === undefined ? this.#table.parentId(row) : added.parentId
  }

  /** The parent's row, marks included. */
  parentRow(row: number): number {
    this.#link()
    return this.#parents[row] ?? NONE
  }

  /** The row of the nearest ancestor that is no mark. */
  shownParentRow(row: number): number {
    this.#childMap()
    return this.#shownParents[row] ?? NONE
  }

  /** Rows from the root to `row`, marks included. */
  pathRows(row: number): Array<number> {
    this.#link()
    const rows: Array<number> = []
    for (let at = row; at !== NONE; at = this.#parents[at]!) rows.push(at)
    return rows.reverse()
  }

  /** Shown children as the file has them, by time, then file order; of `NONE`, the roots in file order. */
  writtenChildRows(row: number): ReadonlyArray<number> {
    return this.#childMap().get(row) ?? []
  }

  /** Rows of all entries but marks so that parents come before their children, whatever their order in the file. */
  topDownRows(): ReadonlyArray<number> {
    const written = this.rows().filter((row) => !this.isMarkAt(row))
    // As a rule what follows an entry was written after it.
    if (written.every((row) => this.shownParentRow(row) < row)) return written
    const order = [...this.writtenChildRows(NONE)]
    for (let at = 0; at < order.length; at++) for (const child of this.writtenChildRows(order[at]!)) order.push(child)
    return order
  }

  /** The children without what edits have cut off. */
  childRows(row: number): ReadonlyArray<number> {
    const children = this.writtenChildRows(row)
    const { cuts } = this.edits
    return cuts.size === 0 ? children : children.filter((child) => !cuts.has(child))
  }

  /** The only child of a row without what edits have cut off, `NONE` if there is none or there are several. */
  onlyChildRow(row: number): number {
    const children = this.childRows(row)
    return children.length === 1 ? children[0]! : NONE
  }

  /** Whether an entry is in a fragment. */
  isPrunedAt(row: number): boolean {
    return this.edits.pruned.has(row)
  }

  #childMap(): Map<number, Array<number>> {
    this.#link()
    if (this.#children !== undefined) return this.#children
    const children = new Map<number, Array<number>>()
    const shown = this.#findShownParents()
    for (const row of this.rows()) {
      if (this.isMarkAt(row)) continue
      const siblings = children.get(shown[row]!)
      if (siblings === undefined) children.set(shown[row]!, [row])
      else siblings.push(row)
    }
    for (const [parent, siblings] of children) if (parent !== NONE && siblings.length > 1) this.#sortByTime(siblings)
    this.#shownParents = shown
    this.#children = children
    return children
  }

  #sortByTime(siblings: Array<number>): void {
    const times = new Map(siblings.map((row) => [row, this.timeAt(row)]))
    siblings.sort((a, b) => times.get(a)! - times.get(b)! || a - b)
  }

  /** The nearest ancestor of each row that is no mark; a chain of marks is walked once, however many hang on it. */
  #findShownParents(): Int32Array {
    const unknown = -2
    const shown = new Int32Array(this.rowCount).fill(unknown)
    const chain: Array<number> = []
    for (const row of this.rows()) {
      let at = row
      let nearest = unknown
      while (nearest === unknown) {
        chain.push(at)
        const parent = this.#parents[at]!
        if (parent === NONE || !this.isMarkAt(parent)) nearest = parent
        else nearest = shown[parent]!
        at = parent
      }
      for (const passed of chain) shown[passed] = nearest
      chain.length = 0
    }
    return shown
  }

  // --------------------------------------------------------------------------------------------------- links

  /** Brings the links up to date: one step for an entry that follows its parent, all rows anew otherwise. */
  #link(): void {
    while (this.#linked < this.rowCount) {
      if (this.#linked === 0 || !this.#linkNext()) this.#linkAll()
    }
  }

  /** Links one more row. Answers false where that would have to change rows already linked. */
  #linkNext(): boolean {
    const row = this.#linked
    const parentId = this.#parentIdAt(row)
    const parent = this.rowOf(parentId)
    if (parent >= row || this.#awaited.has(this.#idAt(row))) return false
    if (parentId !== null && parent === NONE) {
      this.#awaited.add(parentId)
      this.#problems.push(EntryTable.unknownParent(this.#idAt(row), parentId))
    }
    this.#parents = widened(this.#parents, row + 1)
    this.#parents[row] = parent
    this.#linked++
    if (this.#children !== undefined) this.#addChild(row, parent)
    return true
  }

  #addChild(row: number, above: number): void {
    const parent = above !== NONE && this.isMarkAt(above) ? this.#shownParents[above]! : above
    this.#shownParents = widened(this.#shownParents, row + 1)
    this.#shownParents[row] = parent
    if (this.isMarkAt(row)) return
    const siblings = this.#children!.get(parent)
    if (siblings === undefined) this.#children!.set(parent, [row])
    else {
      const isNewest = this.timeAt(siblings.at(-1)!) <= this.timeAt(row)
      siblings.push(row)
      if (parent !== NONE && !isNewest) this.#sortByTime(siblings)
    }
  }

  #linkAll(): void {
    this.#awaited.clear()
    this.#children = undefined
    const unknown: Array<EntryTable.LinkProblem> = []
    const parentOf = (row: number): number => {
      const parentId = this.#gone.has(row) ? null : this.#parentIdAt(row)
      const parent = this.rowOf(parentId)
      if (parentId !== null && parent === NONE) {
        this.#awaited.add(parentId)
        unknown.push(EntryTable.unknownParent(this.#idAt(row), parentId))
      }
      return parent
    }
    const { parents, problems } = EntryTable.link(this.rowCount, parentOf, (row) => this.#idAt(row))
    this.#parents = parents
    this.#problems = [...unknown, ...problems]
    this.#linked = this.rowCount
  }

  // ----------------------------------------------------------------------------------------------------- ids

  has(id: string): boolean {
    return this.rowOf(id) !== NONE
  }

  get(id: string): Entry.Entry | undefined {
    const row = this.rowOf(id)
    return row === NONE ? undefined : this.entryAt(row)
  }

  /** From the root to `id`, marks included; empty for an unknown id. */
  path(id: string): ReadonlyArray<Entry.Entry> {
    return this.entriesAt(this.pathRows(this.rowOf(id)))
  }

  #idsAt(rows: ReadonlyArray<number>): ReadonlyArray<EntryId> {
    return rows.map((row) => this.#idAt(row))
  }

  /** Entries without a parent, orphans and cut cycles included, marks left out. */
  roots(): ReadonlyArray<EntryId> {
    return this.#idsAt(this.childRows(NONE))
  }

  children(id: string): ReadonlyArray<EntryId> {
    const row = this.rowOf(id)
    return row === NONE ? [] : this.#idsAt(this.childRows(row))
  }

  #shownWhere(keep: (children: number) => boolean): ReadonlyArray<EntryId> {
    const rows = this.rows().filter(
      (row) => !this.isMarkAt(row) && !this.isPrunedAt(row) && keep(this.childRows(row).length)
    )
    return this.#idsAt(rows)
  }

  /** Entries without children, in file order: each is the end of a branch. Fragments are no branches. */
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
  problems(): ReadonlyArray<EntryTable.LinkProblem> {
    this.#link()
    return [...this.#problems].sort((a, b) => this.rowOf(a.id) - this.rowOf(b.id))
  }

  /** Labels, name, states, config and annotations, resolved over the whole file in file order. */
  get facts(): Facts.Facts {
    if (this.#facts === undefined) {
      this.#facts = Facts.fold(this.entriesAt(this.notable.facts), (id) => this.has(id), this.edits)
    }
    return this.#facts
  }

  /** What the edits of the session come to. */
  get edits(): TreeEdit.Edits {
    this.#edits ??= TreeEdit.fold(this)
    return this.#edits
  }

  /**
   * Where the person stands, decided by the last entry alone: a mark means its parent, a foreign `leaf` line its
   * target, anything else itself. A leaf is never a mark, and one in a fragment is its nearest ancestor outside of it.
   */
  get leaf(): EntryId | null {
    const written = this.#last === null ? null : this.#leafBy(this.#last)
    const { pruned } = this.edits
    return pruned.size === 0 ? written : this.idAt(TreeEdit.nearestLive(this, this.edits, this.rowOf(written)))
  }

  /** Where the person stood when a row had been written, whatever was cut off since. */
  leafAsOf(row: number): EntryId | null {
    let at = row
    while (at >= 0 && this.#gone.has(at)) at--
    return at < 0 ? null : this.#leafBy(this.entryAt(at))
  }

  #leafBy(last: Entry.Entry): EntryId | null {
    if (Mark.isMark(last)) {
      if (last.parentId !== null && !this.has(last.parentId)) return this.#newestShown()
      return this.#shown(last.parentId)
    }
    if (last.type === "leaf" && "targetId" in last) {
      const target = last.targetId === null ? null : stringOr(last.targetId, last.id)
      return target === null ? null : this.has(target) ? this.#shown(target) : last.id
    }
    return this.has(last.id) ? last.id : this.#newestShown()
  }

  #shown(id: string | null): EntryId | null {
    return this.idAt(this.#nearestShown(this.rowOf(id)))
  }

  #nearestShown(row: number): number {
    return row !== NONE && this.isMarkAt(row) ? this.shownParentRow(row) : row
  }

  #newestShown(): EntryId | null {
    for (let row = this.rowCount - 1; row >= 0; row--) {
      if (!this.#gone.has(row) && !this.isMarkAt(row)) return this.idAt(row)
    }
    return null
  }
}
