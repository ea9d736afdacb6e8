/** Which sessions a person wants to see, as the address says it, and in what order. */
import { Entry } from "@grove/core/model"
import type { Details, ListedRow } from "../wire/Wire.ts"

export interface Wanted {
  readonly query: string
  readonly project: string | null
  readonly source: string | null
  readonly since: "day" | "week" | "month" | null
  readonly status: (typeof statuses)[number] | null
  readonly model: string | null
  readonly label: string | null
  readonly isBranched: boolean
  readonly sort: "newest" | "oldest" | "longest" | "name"
  readonly isThreaded: boolean
}

export const sorts = ["newest", "oldest", "longest", "name"] as const
export const statuses = ["working", "unclean", "draft"] as const
const DAYS = { day: 1, week: 7, month: 30 } as const

export const fromAddress = (params: URLSearchParams): Wanted => {
  const since = params.get("since")
  const sort = sorts.find((each) => each === params.get("sort"))
  const status = statuses.find((each) => each === params.get("status"))
  return {
    query: params.get("q") ?? "",
    project: params.get("project"),
    source: params.get("source"),
    since: since === "day" || since === "week" || since === "month" ? since : null,
    status: status ?? null,
    model: params.get("model"),
    label: params.get("label"),
    isBranched: params.get("branched") === "1",
    sort: sort ?? "newest",
    isThreaded: params.get("threaded") === "1"
  }
}

/** Whether only what is in the sessions themselves says which are wanted. */
export const needsDetails = ({ model, label }: Wanted): boolean => model !== null || label !== null

const has: { readonly [Status in (typeof statuses)[number]]: (row: ListedRow) => boolean } = {
  working: ({ active, work }) => active || work === "working",
  unclean: ({ work }) => work === "unclean",
  draft: ({ draft }) => draft
}

/** The first that holds. */
export const statusOf = (row: ListedRow): Wanted["status"] => statuses.find((each) => has[each](row)) ?? null

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

const time = (row: ListedRow): number => Entry.time(row.modified ?? row.created ?? "")

const orders: { readonly [Sort in Wanted["sort"]]: (a: ListedRow, b: ListedRow) => number } = {
  newest: (a, b) => time(b) - time(a),
  oldest: (a, b) => time(a) - time(b),
  longest: (a, b) => b.messageCount - a.messageCount,
  name: (a, b) => (a.name ?? a.firstMessage ?? "").localeCompare(b.name ?? b.firstMessage ?? "")
}

export interface Shown {
  readonly row: ListedRow
  /** 1 for a fork drawn below the session it was made from. */
  readonly depth: number
}

/** Forks below what they were made from, at the place of the thread's first. A loop, however long the line of forks. */
const threaded = (rows: ReadonlyArray<ListedRow>): ReadonlyArray<Shown> => {
  const here = new Set(rows.map(({ key }) => key))
  const parents = new Map(rows.map(({ key, parent }) => [key, parent !== null && here.has(parent) ? parent : null]))
  const topOf = (key: string): string => {
    const seen = new Set<string>()
    let at = key
    for (let up = parents.get(at) ?? null; up !== null && !seen.has(up); up = parents.get(at) ?? null) {
      seen.add(at)
      at = up
    }
    return at
  }
  const threads = new Map<string, Array<ListedRow>>()
  for (const row of rows) {
    const top = topOf(row.key)
    threads.set(top, [...(threads.get(top) ?? []), row])
  }
  return [...threads].flatMap(([top, members]) =>
    [...members.filter(({ key }) => key === top), ...members.filter(({ key }) => key !== top)].map((row) => ({
      row,
      depth: row.key === top ? 0 : 1
    }))
  )
}

/** `inText` holds the sessions whose words the query was found in; of a session without details nothing more is known. */
export const apply = (
  rows: ReadonlyArray<ListedRow>,
  wanted: Wanted,
  inText: ReadonlyMap<string, unknown>,
  details: ReadonlyMap<string, Details | null>,
  now: number
): ReadonlyArray<Shown> => {
  const needles = fold(wanted.query).split(/\s+/u).filter(Boolean)
  const least = wanted.since === null ? 0 : now - DAYS[wanted.since] * 86_400_000
  const shown = rows
    .filter((row) => wanted.project === null || (row.cwd ?? "") === wanted.project)
    .filter((row) => wanted.source === null || row.source === wanted.source)
    .filter((row) => !wanted.isBranched || row.branches > 1)
    .filter((row) => wanted.status === null || has[wanted.status](row))
    .filter(({ key }) => wanted.model === null || details.get(key)?.models.includes(wanted.model))
    .filter(({ key }) => wanted.label === null || details.get(key)?.labels.includes(wanted.label))
    .filter((row) => time(row) >= least)
    .filter((row) => {
      if (needles.length === 0 || inText.has(row.key)) return true
      const text = fold(`${row.name ?? ""} ${row.firstMessage ?? ""} ${row.cwd ?? ""} ${row.key}`)
      return needles.every((needle) => text.includes(needle))
    })
    .toSorted(orders[wanted.sort])
  return wanted.isThreaded ? threaded(shown) : shown.map((row) => ({ row, depth: 0 }))
}

export interface Project {
  readonly cwd: string
  readonly count: number
}

/** Every folder that sessions were held in, the one with most first. */
export const projects = (rows: ReadonlyArray<ListedRow>): ReadonlyArray<Project> => {
  const counts = new Map<string, number>()
  for (const { cwd } of rows) counts.set(cwd ?? "", (counts.get(cwd ?? "") ?? 0) + 1)
  return [...counts]
    .map(([cwd, count]) => ({ cwd, count }))
    .toSorted((a, b) => b.count - a.count || a.cwd.localeCompare(b.cwd))
}
