/** Sessions in the order of a list: forks below what they were forked from, or by time, or by name. */
import type { SessionSummary } from "@grove/core"

type Summary = SessionSummary.SessionSummary

export interface Listed {
  readonly session: Summary
  /** How many forks deep. */
  readonly depth: number
}

export const sorts = ["threaded", "newest", "name"] as const
export type Sort = (typeof sorts)[number]

export const timeOf = ({ modified }: Summary): number => Date.parse(modified ?? "") || 0

export const nameOf = ({ name, firstMessage, id }: Summary): string =>
  name ?? (firstMessage || id?.slice(-8) || "(empty)")

/** Threads by their newest session; in a thread, forks below what they came from. */
const threaded = (sessions: ReadonlyArray<Summary>): ReadonlyArray<Listed> => {
  const byName = new Map(sessions.flatMap((each) => [[each.path, each] as const, [each.id, each] as const]))
  const forks = new Map<Summary | undefined, Array<Summary>>()
  for (const each of sessions) {
    const above = each.parentSession === null ? undefined : byName.get(each.parentSession)
    const parent = above === each ? undefined : above
    const siblings = forks.get(parent)
    if (siblings === undefined) forks.set(parent, [each])
    else siblings.push(each)
  }
  const newest = new Map<Summary, number>()
  const order: Array<Summary> = [...(forks.get(undefined) ?? [])]
  for (let i = 0; i < order.length; i++) order.push(...(forks.get(order[i]) ?? []))
  for (const each of order.toReversed()) {
    newest.set(each, Math.max(timeOf(each), ...(forks.get(each) ?? []).map((fork) => newest.get(fork) ?? 0)))
  }
  const sorted = (list: ReadonlyArray<Summary>) => list.toSorted((a, b) => newest.get(a)! - newest.get(b)!)
  const listed: Array<Listed> = []
  const tasks: Array<Listed> = sorted(forks.get(undefined) ?? []).map((session) => ({ session, depth: 0 }))
  while (tasks.length > 0) {
    const next = tasks.pop()!
    listed.push(next)
    for (const fork of sorted(forks.get(next.session) ?? [])) tasks.push({ session: fork, depth: next.depth + 1 })
  }
  // Sessions that name each other as their origin belong to no thread, and are listed all the same.
  const seen = new Set(listed.map(({ session }) => session))
  return [...listed, ...sessions.filter((each) => !seen.has(each)).map((session) => ({ session, depth: 0 }))]
}

export const listed = (sessions: ReadonlyArray<Summary>, sort: Sort): ReadonlyArray<Listed> => {
  if (sort === "threaded") return threaded(sessions)
  const compare = (a: Summary, b: Summary) =>
    sort === "name" ? nameOf(a).localeCompare(nameOf(b)) : timeOf(b) - timeOf(a)
  return sessions.toSorted(compare).map((session) => ({ session, depth: 0 }))
}
