/** The sessions there are, forks below what they were forked from; to open, rename or put in the trash (`/resume`). */
import { Preview, type SessionSummary } from "@grove/core"
import * as Ask from "./Ask.ts"
import type { Outcome } from "./Commands.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import type { SessionHit, World } from "./View.ts"
import * as Words from "./Words.ts"

type Summary = SessionSummary.SessionSummary

interface Listed {
  readonly session: Summary
  /** How many forks deep. */
  readonly depth: number
}

const SORTS = ["threaded", "newest", "name"] as const
type Sort = (typeof SORTS)[number]

/** What was found in the text of sessions, by their paths. */
interface Found {
  readonly query: string
  readonly hits: ReadonlyMap<string, SessionHit>
}

const nothingFound: Found = { query: "", hits: new Map() }

interface Options {
  readonly all: boolean
  readonly sort: Sort
  readonly found: Found
}

const time = ({ modified }: Summary): number => Date.parse(modified ?? "") || 0

/** Threads by their newest session; in a thread, forks below what they came from. */
const threaded = (sessions: ReadonlyArray<Summary>): ReadonlyArray<Listed> => {
  const byName = new Map(sessions.flatMap((each) => [[each.path, each] as const, [each.id, each] as const]))
  const forks = new Map<Summary | undefined, Array<Summary>>()
  for (const each of sessions) {
    const above = each.parentSession === null ? undefined : byName.get(each.parentSession)
    const parent = above === each ? undefined : above
    forks.set(parent, [...(forks.get(parent) ?? []), each])
  }
  const newest = new Map<Summary, number>()
  const order: Array<Summary> = [...(forks.get(undefined) ?? [])]
  for (let i = 0; i < order.length; i++) order.push(...(forks.get(order[i]) ?? []))
  for (const each of order.toReversed()) {
    newest.set(each, Math.max(time(each), ...(forks.get(each) ?? []).map((fork) => newest.get(fork) ?? 0)))
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

const nameOf = ({ name, firstMessage, id }: Summary): string => name ?? (firstMessage || id?.slice(-8) || "(empty)")

const listed = (sessions: ReadonlyArray<Summary>, sort: Sort): ReadonlyArray<Listed> => {
  if (sort === "threaded") return threaded(sessions)
  const compare = (a: Summary, b: Summary) => (sort === "name" ? nameOf(a).localeCompare(nameOf(b)) : time(b) - time(a))
  return sessions.toSorted(compare).map((session) => ({ session, depth: 0 }))
}

/** A piece of text with what was found standing out. */
const snippetRow = ({ snippet, marks }: SessionHit): Row.Row => {
  const spans: Array<Row.Span> = []
  let at = 0
  for (const [from, to] of marks) {
    spans.push(Row.span(snippet.slice(at, from)), Row.span(`«${snippet.slice(from, to)}»`, "match"))
    at = to
  }
  return [...spans, Row.span(snippet.slice(at))]
}

const picker = (sessions: ReadonlyArray<Summary> | null, { all, sort, found }: Options): Picker.Picker<Listed> => ({
  name: "sessions",
  title: ({ symbols }) => [
    Row.span("SESSIONS  ", "title"),
    Row.span(`${all ? symbols.off : symbols.on} this folder `, all ? "dim" : "plain"),
    Row.span(`${all ? symbols.on : symbols.off} all `, all ? "plain" : "dim"),
    Row.span(`  sort ${sort}`, "dim")
  ],
  items: listed(sessions ?? [], sort),
  textOf: ({ session }) => `${nameOf(session)} ${session.firstMessage ?? ""} ${session.cwd} ${session.id}`,
  row: ({ session, depth }, columns, { symbols, now, session: current }) => {
    const sign = session.path === current.ref.path ? symbols.userOnPath : symbols.userOffPath
    const fork = depth === 0 ? `${sign} ` : `${"  ".repeat(Math.min(depth, 6) - 1)}${symbols.lastFork} `
    const name = Row.fill(Row.row(Preview.line(nameOf(session), 60)), Math.floor(columns * 0.34))
    const hit = found.hits.get(session.path)
    const said = session.name === null ? "" : (session.firstMessage ?? "")
    const first = hit === undefined ? said : `"${found.query}" ${symbols.times}${hit.count} in text`
    const status = session.draft ? "draft" : session.path === current.ref.path ? "open" : ""
    const right = [
      `${session.messageCount}m`,
      `${session.branches}${symbols.branches}`,
      Words.age(time(session), now).padStart(4),
      status.padEnd(5)
    ]
    return Row.spread(
      [Row.span(fork, "accent"), ...name, Row.span(` ${Preview.line(first, columns)}`, "dim")],
      Row.row(`  ${right.join(" ")}`, "dim"),
      columns
    )
  },
  preview: (item, columns, { symbols }) => {
    if (item === undefined) return []
    const { firstMessage, cwd, path } = item.session
    const hit = found.hits.get(path)
    return [
      hit === undefined
        ? Row.row(Preview.line(firstMessage ?? "(nothing was said)", columns))
        : Row.cut(snippetRow(hit), columns),
      Row.cut(
        Row.row(
          `${Preview.line(cwd ?? "", 200)}${symbols.dot}${Preview.line(path.split("/").at(-1) ?? "", 200)}`,
          "dim"
        ),
        columns
      )
    ]
  },
  hint: ["Enter open", "Tab scope", "^S sort", "^R rename", "^D to the trash", "Esc"],
  nothing: (query) =>
    sessions === null
      ? "looking"
      : query !== ""
        ? `no session has these letters${all ? "" : "; Tab: look in all folders"}`
        : all
          ? "there are no sessions yet; Esc, and say something"
          : "no session in this folder yet; Tab: all folders",
  alsoAsk: (query) => ({ intents: [{ _tag: "SearchSessions", query }] }),
  isFound: ({ session }, query) => query === found.query && found.hits.has(session.path),
  enter: ({ session }) => ({ intents: [{ _tag: "OpenSession", path: session.path }] }),
  keys: {
    tab: () => ({ intents: [{ _tag: "ListSessions", all: !all }] }),
    "ctrl+s": () => ({ events: [{ _tag: "SessionsSorted" }] }),
    "ctrl+r": (item) =>
      item === undefined
        ? {}
        : {
            open: Ask.make(
              {
                name: "rename",
                question: "Name",
                answer: (name) => ({
                  intents: [
                    { _tag: "RenameSession", path: item.session.path, name },
                    { _tag: "ListSessions", all }
                  ]
                })
              },
              item.session.name ?? ""
            )
          },
    "ctrl+d": (item) =>
      item === undefined
        ? {}
        : {
            open: Ask.make({
              name: "delete",
              question: `To the trash: ${Preview.line(nameOf(item.session), 30)}? y`,
              answer: (word) =>
                /^y(es)?$/i.test(word)
                  ? {
                      intents: [
                        { _tag: "DeleteSession", path: item.session.path },
                        { _tag: "ListSessions", all }
                      ]
                    }
                  : {}
            })
          }
  },
  hear: (event) => {
    if (event._tag === "Sessions") return picker(event.sessions, { all: event.all, sort, found })
    if (event._tag === "SessionsSorted") {
      return picker(sessions, { all, sort: SORTS[(SORTS.indexOf(sort) + 1) % SORTS.length]!, found })
    }
    if (event._tag === "SessionsFound") {
      const hits = new Map(event.hits.map((hit) => [hit.path, hit]))
      return picker(sessions, { all, sort, found: { query: event.query, hits } })
    }
    return null
  }
})

export const open = (_: World): Outcome => ({
  open: Picker.make(picker(null, { all: false, sort: "threaded", found: nothingFound })),
  intents: [{ _tag: "ListSessions", all: false }]
})
