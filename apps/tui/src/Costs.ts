/** What the replies of a session cost, kept as it grows: read once, a slice at a time, and never again. */
import { type Entry, type EntryId, type SessionTree, TreeUsage, Usage } from "@grove/core"

const SLICE = 1024

export class Costs {
  readonly #tree: SessionTree
  readonly #price: Usage.Pricer
  readonly #known = new Map<EntryId, Usage.UsageSum>()
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

  #isSilent(row: number): boolean {
    const type = this.#tree.typeAt(row)
    if (type === "message") return this.#tree.roleAt(row) === "user"
    return type === "custom" || type === "label" || type === "session_info"
  }

  #add(entry: Entry.Entry): void {
    const usage = TreeUsage.ofEntry(entry, this.#price)
    if (usage === undefined || this.#known.has(entry.id)) return
    this.#known.set(entry.id, usage)
    this.#sum = Usage.add(this.#sum, usage)
  }

  /** Reads a slice more of what is not known yet. */
  read(): void {
    const end = Math.min(this.#tree.rowCount, this.#next + SLICE)
    const rows: Array<number> = []
    for (let row = this.#next; row < end; row++) if (this.#tree.isThere(row) && !this.#isSilent(row)) rows.push(row)
    for (const entry of this.#tree.entriesAt(rows)) this.#add(entry)
    this.#next = end
  }

  /** By what is known so far. */
  at(leaf: EntryId | null): TreeUsage.TreeUsage {
    let path = Usage.zero
    for (const row of this.#tree.pathRows(this.#tree.rowOf(leaf))) {
      const usage = this.#known.get(this.#tree.idAt(row)!)
      if (usage !== undefined) path = Usage.add(path, usage)
    }
    return { path, tree: this.#sum, abandoned: Usage.subtract(this.#sum, path) }
  }
}
