/** The session of the page: its shape from the index, its entries from blocks of lines that are parsed when they are shown. */
import { type Entry, isObject, type SessionTree, TreeLayout, TreeView } from "@grove/core/model"
import { KIND, type PageIndex } from "../src/write/PageIndex.ts"

const NONE = -1
const MOST_BLOCKS = 24
const MOST_ENTRIES = 1024

/** Keeps what was used last. */
const remembering = <A>(make: (key: number) => A, most: number): ((key: number) => A) => {
  const kept = new Map<number, A>()
  return (key) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key)
    kept.set(key, made)
    if (kept.size > most) kept.delete(kept.keys().next().value!)
    return made
  }
}

export const damaged = "damaged line"

/** An element with lines in it. */
interface Block {
  readonly textContent: string | null
}

export class Session {
  readonly index: PageIndex
  readonly size: number
  readonly muted: ReadonlySet<number>
  readonly labels: ReadonlyMap<number, string>
  readonly ratings: ReadonlyMap<number, number>
  readonly #blocks: ReadonlyArray<Block>
  readonly #starts: ReadonlyArray<number>
  readonly #rows: Map<string, number>
  readonly #children = new Map<number, Array<number>>()
  readonly #cuts: ReadonlySet<number>
  readonly #linesOf = remembering((block) => this.#blocks[block]!.textContent!.split("\n"), MOST_BLOCKS)
  readonly #parsed = remembering((row) => this.#parse(row), MOST_ENTRIES)
  /** 1 where a row failed, once somebody asked for all that did. */
  failed: Uint8Array | undefined
  #whole: TreeLayout.Plan | undefined

  constructor(index: PageIndex, blocks: ReadonlyArray<Block>) {
    this.index = index
    this.size = index.ids.length
    this.#blocks = blocks
    const starts = [0]
    for (const size of index.blocks) starts.push(starts.at(-1)! + size)
    this.#starts = starts
    this.#rows = new Map(index.ids.map((id, row) => [id, row]))
    this.muted = new Set(index.muted)
    this.labels = new Map(index.labels)
    this.ratings = new Map(index.ratings)
    this.#cuts = new Set(index.cuts)
    for (let row = 0; row < this.size; row++) {
      const parent = index.parents[row]!
      const siblings = this.#children.get(parent)
      if (siblings === undefined) this.#children.set(parent, [row])
      else siblings.push(row)
    }
    const { times } = index
    for (const [parent, rows] of this.#children) {
      if (parent !== NONE && rows.length > 1) rows.sort((a, b) => times[a]! - times[b]! || a - b)
    }
  }

  #parse(row: number): Entry.Entry {
    const { ids } = this.index
    let block = Math.floor(row / Math.max(1, this.index.blocks[0] ?? 1))
    while (this.#starts[block]! > row) block--
    while (this.#starts[block + 1]! <= row) block++
    const envelope = { type: this.type(row), id: ids[row]!, parentId: null, timestamp: "" }
    try {
      const entry: unknown = JSON.parse(this.#linesOf(block)[row - this.#starts[block]!]!)
      if (isObject(entry)) return entry as Entry.Entry
    } catch {
      // A line that only looked like an entry.
    }
    return { ...envelope, type: damaged } as unknown as Entry.Entry
  }

  entry(row: number): Entry.Entry {
    return this.#parsed(row)
  }

  rowOf(id: string): number {
    return this.#rows.get(id) ?? NONE
  }
  type(row: number): string {
    return this.index.names[this.index.kinds[row]! % KIND]!
  }
  role(row: number): string | null {
    return this.index.names[Math.floor(this.index.kinds[row]! / KIND) - 1] ?? null
  }
  parent(row: number): number {
    return this.index.parents[row]!
  }
  children(row: number): ReadonlyArray<number> {
    return this.#children.get(row) ?? []
  }

  /** The entries at the same fork, this one among them. Fragments are no branches of what they were cut from. */
  siblings(row: number): ReadonlyArray<number> {
    const all = this.children(this.parent(row))
    return this.#cuts.has(row) ? [row] : all.filter((other) => !this.#cuts.has(other))
  }

  path(leaf: number): ReadonlyArray<number> {
    const rows: Array<number> = []
    for (let row = leaf; row !== NONE; row = this.parent(row)) rows.push(row)
    return rows.reverse()
  }

  /** Where one gets by going on from a row: the trunk of what is below it. */
  endOf(row: number): number {
    this.#whole ??= TreeLayout.plan(this.view("all"), this.leafId)
    let at = row
    for (;;) {
      const next = this.children(at).find((child) => !this.#whole!.isSide(child))
      if (next === undefined) return at
      at = next
    }
  }

  get leafId() {
    return (this.index.ids[this.index.leaf] ?? null) as never
  }

  #topDown(): ReadonlyArray<number> {
    const rows = Array.from({ length: this.size }, (_, row) => row)
    if (rows.every((row) => this.parent(row) < row)) return rows
    const order = [...this.children(NONE)]
    for (let at = 0; at < order.length; at++) for (const child of this.children(order[at]!)) order.push(child)
    return order
  }

  /** What of a body decides on a row: only whether it failed, where that is known of all. */
  #forView(row: number): Entry.Entry {
    if (this.failed === undefined || this.type(row) !== "message") return this.entry(row)
    const role = this.role(row)
    const isError = this.failed[row] === 1
    const message = { role, stopReason: isError ? "error" : "stop", isError, exitCode: isError ? 1 : 0 }
    return { type: "message", id: "", parentId: null, timestamp: "", message } as unknown as Entry.Entry
  }

  /** The rows that `grove tree` and the chat show, by the same code. */
  view(filter: TreeView.Filter): TreeView.TreeView {
    const { ids, times } = this.index
    const tree = {
      rowCount: this.size,
      topDownRows: () => this.#topDown(),
      shownParentRow: (row: number) => this.parent(row),
      edits: { cuts: this.#cuts },
      facts: { labels: new Map([...this.labels].map(([row, label]) => [ids[row], label])) },
      typeAt: (row: number) => this.type(row),
      roleAt: (row: number) => this.role(row),
      timeAt: (row: number) => times[row]!,
      isMarkAt: () => false,
      rowOf: (id: string | null) => (id === null ? NONE : this.rowOf(id)),
      idAt: (row: number) => ids[row] ?? null,
      entryAt: (row: number) => this.entry(row),
      entriesAt: (rows: ReadonlyArray<number>) => rows.map((row) => this.#forView(row))
    } as unknown as SessionTree
    return TreeView.make(tree, filter, { forks: filter !== "turns", skim: true })
  }
}
