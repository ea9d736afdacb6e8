/** What many sessions cost together. A fork holds its parent's entries again: each request is charged once in a lineage. */
import type * as Entry from "./Entry.ts"
import { isObject, stringOr } from "./open.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as TreeUsage from "./TreeUsage.ts"
import * as Usage from "./Usage.ts"

export const groupings = ["day", "model", "project", "session"] as const
export type Grouping = (typeof groupings)[number]

/** A session as a report needs it. `parentSession` names another by its id or its path, or one that is gone. */
export interface Reported {
  readonly id: string
  readonly path: string
  readonly cwd: string | null
  readonly parentSession: string | null
}

/** So much of an entry as says whether, when and for which model it is charged. */
export type Request = Pick<Entry.Entry, "id" | "timestamp"> & { readonly origin?: unknown; readonly message?: unknown }

export type Row = { readonly key: string } & Usage.UsageSum

export interface Report {
  readonly by: Grouping
  readonly rows: ReadonlyArray<Row>
  /** Models of which something was used whose price nobody knows. */
  readonly unpriced: ReadonlyArray<string>
}

const UNKNOWN = "(unknown)"

/** Which names mean sessions of one lineage. */
class Lineages {
  readonly #parents = new Map<string, string>()

  of(name: string): string {
    let root = name
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next
    // Whoever asks again finds it in one step.
    for (let at = name; at !== root; ) {
      const next = this.#parents.get(at)!
      this.#parents.set(at, root)
      at = next
    }
    return root
  }

  join(a: string, b: string): void {
    const [from, to] = [this.of(a), this.of(b)]
    if (from !== to) this.#parents.set(from, to)
  }
}

/** By the clock of the entry, never of the file: a fork is not the day's work. Days are those of UTC. */
const dayOf = (entry: Request): string => /^\d{4}-\d{2}-\d{2}/.exec(entry.timestamp)?.[0] ?? UNKNOWN

const modelOf = (entry: Request): string => {
  const { provider, model } = isObject(entry.message) ? entry.message : {}
  return typeof provider === "string" && typeof model === "string" ? `${provider}/${model}` : UNKNOWN
}

const isNothing = (sum: Usage.UsageSum): boolean => sum.input + sum.output + sum.cacheRead + sum.cacheWrite === 0

/** By day from the first on; else what cost most first, the unknown before that, and equal ones by name. */
const inOrder = (by: Grouping, rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const cost = ({ costMicros }: Row) => costMicros ?? Number.POSITIVE_INFINITY
  const byName = (a: Row, b: Row) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  const byCost = (a: Row, b: Row) => (cost(a) === cost(b) ? byName(a, b) : cost(b) - cost(a))
  return rows.toSorted(by === "day" ? byName : byCost)
}

/** Makes a report of sessions that are added one by one: parents before their forks, to which their entries then belong. */
export class UsageReport {
  readonly #by: Grouping
  readonly #price: Usage.Pricer | undefined
  readonly #lineages = new Lineages()
  readonly #seen = new Set<string>()
  readonly #sums = new Map<string, Usage.UsageSum>()
  readonly #unpriced = new Set<string>()

  /** All sessions must be known beforehand: who is related to whom decides what counts again. */
  constructor(by: Grouping, sessions: ReadonlyArray<Reported>, price?: Usage.Pricer) {
    this.#by = by
    this.#price = price
    for (const { id, path, parentSession } of sessions) {
      this.#lineages.join(path, id)
      if (parentSession !== null) this.#lineages.join(path, parentSession)
    }
  }

  add(session: Reported, tree: SessionTree): void {
    for (const [entry, usage] of TreeUsage.requests(tree, this.#price)) this.charge(session, entry, usage)
  }

  /** Adds one request, for whoever wants only some of them. */
  charge(session: Reported, entry: Request, usage: Usage.UsageSum): void {
    // Copies carry no usage; what was imported does.
    if (entry.origin !== undefined && isNothing(usage)) return
    const key = JSON.stringify([this.#lineages.of(session.path), entry.id, entry.timestamp])
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    const model = modelOf(entry)
    if (usage.costMicros === null) this.#unpriced.add(model)
    const row = this.#rowOf(session, entry, model)
    this.#sums.set(row, Usage.add(this.#sums.get(row) ?? Usage.zero, usage))
  }

  #rowOf(session: Reported, entry: Request, model: string): string {
    switch (this.#by) {
      case "day":
        return dayOf(entry)
      case "model":
        return model
      case "project":
        return stringOr(session.cwd, UNKNOWN)
      case "session":
        return session.id
    }
  }

  report(): Report {
    const rows = [...this.#sums].map(([key, sum]) => ({ key, ...sum }))
    return { by: this.#by, rows: inOrder(this.#by, rows), unpriced: [...this.#unpriced].toSorted() }
  }
}
