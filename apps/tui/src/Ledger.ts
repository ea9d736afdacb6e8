/** What the entries of a session come to: costs, sizes and failures. Read once, a slice at a time, and never again. */
import { ContextSize, type Entry, type EntryId, type SessionTree, TreeUsage, TreeView, Usage } from "@grove/core"

/** So few that no key waits for them. */
const SLICE = 512

/** Lines about the session or other lines: they cost nothing, say nothing, and cannot fail. */
const SILENT = new Set(["custom", "label", "session_info"])

export class Ledger {
  readonly #tree: SessionTree
  readonly #price: Usage.Pricer
  readonly #costs = new Map<number, Usage.UsageSum>()
  readonly #errors = new Set<EntryId>()
  #sum = Usage.zero
  #next = 0

  constructor(tree: SessionTree, price: Usage.Pricer) {
    this.#tree = tree
    this.#price = price
  }

  /** Whether all that was there has been read. */
  get isWhole(): boolean {
    return this.#next >= this.#tree.rowCount
  }

  /** Entries that failed, among those that were read. */
  get errors(): ReadonlySet<EntryId> {
    return this.#errors
  }

  #add(row: number, entry: Entry.Entry): void {
    ContextSize.note(this.#tree, row, entry)
    if (TreeView.isError(entry)) this.#errors.add(entry.id)
    const usage = TreeUsage.ofEntry(entry, this.#price)
    if (usage === undefined) return
    this.#costs.set(row, usage)
    this.#sum = Usage.add(this.#sum, usage)
  }

  /** Reads a slice more of what is not known yet. */
  read(): void {
    const end = Math.min(this.#tree.rowCount, this.#next + SLICE)
    const rows: Array<number> = []
    for (let row = this.#next; row < end; row++) {
      if (this.#tree.isThere(row) && !SILENT.has(this.#tree.typeAt(row))) rows.push(row)
    }
    for (const [i, entry] of this.#tree.entriesAt(rows).entries()) this.#add(rows[i]!, entry)
    this.#next = end
  }

  /** By what is known so far. */
  costsAt(leaf: EntryId | null): TreeUsage.TreeUsage {
    let path = Usage.zero
    for (const row of this.#tree.pathRows(this.#tree.rowOf(leaf))) {
      const usage = this.#costs.get(row)
      if (usage !== undefined) path = Usage.add(path, usage)
    }
    return { path, tree: this.#sum, abandoned: Usage.subtract(this.#sum, path) }
  }
}
