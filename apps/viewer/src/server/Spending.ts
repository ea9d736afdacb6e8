/** What all sessions cost. Each file is read once for as long as it does not change; the figures are those of `grove usage`. */
import { type SessionTree, TreeUsage, Usage, UsageReport } from "@grove/core/model"
import type { LocalServer } from "@grove/local-http"
import { Effect } from "effect"
import type * as Wire from "../wire/Wire.ts"
import { json } from "./Api.ts"
import * as FileState from "./FileState.ts"
import type { LibraryError, Listed, Reads } from "./Library.ts"

interface Charge {
  readonly request: UsageReport.Request
  readonly usage: Usage.UsageSum
  /** On the path where its session stands. */
  readonly isOnPath: boolean
}

const chargesOf = (tree: SessionTree, price: Usage.Pricer | undefined): ReadonlyArray<Charge> => {
  const path = new Set(tree.pathRows(tree.rowOf(tree.leaf)))
  return Array.from(TreeUsage.requests(tree, price), ([entry, usage, row]) => {
    const { id, timestamp, origin, message } = entry
    const { provider, model } = (message ?? {}) as { readonly provider?: unknown; readonly model?: unknown }
    return { request: { id, timestamp, origin, message: { provider, model } }, usage, isOnPath: path.has(row) }
  })
}

/** So many requests are remembered; what is beyond that is read again. */
const MOST_KEPT = 500_000

export interface Spends {
  readonly of: (listed: Listed) => Effect.Effect<ReadonlyArray<Charge>, LibraryError>
}

export const make = (library: Reads): Spends => {
  const kept = new Map<string, { readonly state: string; readonly charges: ReadonlyArray<Charge> }>()
  let size = 0
  return {
    of: Effect.fnUntraced(function* (listed: Listed) {
      const state = FileState.of(listed.file)
      const known = kept.get(listed.file)
      if (known?.state === state) return known.charges
      const { opened } = yield* library.open(listed)
      const charges = chargesOf(opened.snapshot.tree, library.price)
      size += charges.length - (known?.charges.length ?? 0)
      if (size > MOST_KEPT) {
        kept.clear()
        size = charges.length
      }
      kept.set(listed.file, { state, charges })
      return charges
    })
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Days of UTC, both included. */
const rangeIn = (url: URL): ((request: UsageReport.Request) => boolean) => {
  const [from, to] = ["from", "to"]
    .map((name) => url.searchParams.get(name) ?? "")
    .map((day) => (DAY.test(day) ? day : ""))
  return ({ timestamp }) => {
    const day = timestamp.slice(0, 10)
    return (from === "" || day >= from!) && (to === "" || day <= to!)
  }
}

/** What is priced counts; what is not is told beside it. */
const priced = (usage: Usage.UsageSum): Usage.UsageSum => ({ ...usage, costMicros: usage.costMicros ?? 0 })

/** One grouping three times: as it is, what of it has a price, and what of it is on a path. */
class Grouped {
  readonly #all: UsageReport.UsageReport
  readonly #priced: UsageReport.UsageReport
  readonly #live: UsageReport.UsageReport

  constructor(by: UsageReport.Grouping, sessions: ReadonlyArray<UsageReport.Reported>) {
    this.#all = new UsageReport.UsageReport(by, sessions)
    this.#priced = new UsageReport.UsageReport(by, sessions)
    this.#live = new UsageReport.UsageReport(by, sessions)
  }

  charge(session: UsageReport.Reported, { request, usage, isOnPath }: Charge): void {
    this.#all.charge(session, request, usage)
    this.#priced.charge(session, request, priced(usage))
    if (isOnPath) this.#live.charge(session, request, priced(usage))
  }

  /** Most expensive first, by what is known; days in their order. */
  rows(): ReadonlyArray<Wire.UsageRow> {
    const byKey = (report: UsageReport.UsageReport) => new Map(report.report().rows.map((row) => [row.key, row]))
    const [known, live] = [byKey(this.#priced), byKey(this.#live)]
    const { by, rows } = this.#all.report()
    const told = rows.map((row) => ({
      ...row,
      knownMicros: known.get(row.key)?.costMicros ?? 0,
      liveMicros: live.get(row.key)?.costMicros ?? 0
    }))
    return by === "day" ? told : told.toSorted((a, b) => b.knownMicros - a.knownMicros)
  }

  get unpriced(): ReadonlyArray<string> {
    return this.#all.report().unpriced
  }
}

const MOST_ROWS = 200

const sum = (rows: ReadonlyArray<Wire.UsageRow>): Wire.UsageTotal =>
  rows.reduce<Wire.UsageTotal>(
    (all, row) => ({
      ...Usage.add(all, row),
      knownMicros: all.knownMicros + row.knownMicros,
      liveMicros: all.liveMicros + row.liveMicros
    }),
    { ...Usage.zero, knownMicros: 0, liveMicros: 0 }
  )

/** Parents before their forks: what both hold belongs to the older one. */
const oldestFirst = (a: Listed, b: Listed): number => (a.summary.created ?? "").localeCompare(b.summary.created ?? "")

const reportedAs = ({ file, summary }: Listed): UsageReport.Reported => ({
  id: summary.id ?? file,
  path: summary.path,
  cwd: summary.cwd,
  parentSession: summary.parentSession
})

/** `from`, `to`: days of UTC. */
export const usage = Effect.fnUntraced(function* (
  library: Reads,
  spends: Spends,
  url: URL
): Effect.fn.Return<LocalServer.Reply, LibraryError> {
  const all = (yield* library.list).toSorted(oldestFirst)
  const sessions = all.map(reportedAs)
  const isWanted = rangeIn(url)
  const [day, model, project, session] = UsageReport.groupings.map((by) => new Grouped(by, sessions))
  let unread = 0
  let requests = 0
  for (const [at, listed] of all.entries()) {
    const charges = yield* Effect.orElseSucceed(spends.of(listed), () => {
      unread++
      return []
    })
    requests += charges.length
    for (const charge of charges) {
      if (!isWanted(charge.request)) continue
      for (const each of [day!, model!, project!, session!]) each.charge(sessions[at]!, charge)
    }
    yield* Effect.yieldNow
  }
  const byId = new Map(all.toReversed().map((listed) => [reportedAs(listed).id, listed]))
  const days = day!.rows()
  return json({
    total: sum(days),
    day: days,
    model: model!.rows().slice(0, MOST_ROWS),
    project: project!.rows().slice(0, MOST_ROWS),
    session: session!
      .rows()
      .slice(0, MOST_ROWS)
      .map((row) => {
        const listed = byId.get(row.key)
        const { name = null, firstMessage = null } = listed?.summary ?? {}
        return { ...row, key: listed?.key ?? row.key, name, firstMessage: firstMessage?.slice(0, 200) ?? null }
      }),
    unpriced: day!.unpriced,
    unread,
    isNothing: requests === 0
  } satisfies Wire.Spending)
})
