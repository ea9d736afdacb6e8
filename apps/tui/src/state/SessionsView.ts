/** The sessions there are, forks below what they were forked from; to open, look at, rename or put in the trash (`/resume`). */
import { Preview, type SessionSummary, type SessionWork } from "@grove/core"
import * as Ask from "./Ask.ts"
import type { Outcome } from "./Commands.ts"
import * as Picker from "./Picker.ts"
import * as Row from "./Row.ts"
import * as SessionThreads from "./SessionThreads.ts"
import type { SessionDetails, SessionHit, World } from "./View.ts"
import * as Words from "./Words.ts"

/** What was found in the text of sessions, by their paths. */
interface Found {
  readonly query: string
  readonly hits: ReadonlyMap<string, SessionHit>
}

interface Known {
  readonly all: boolean
  readonly sort: SessionThreads.Sort
  /** `null` before they are there. */
  readonly sessions: ReadonlyArray<SessionSummary.SessionSummary> | null
  readonly items: ReadonlyArray<SessionThreads.Listed>
  /** By the ids of sessions. */
  readonly works: ReadonlyMap<string, SessionWork>
  /** By the paths of sessions. */
  readonly details: ReadonlyMap<string, SessionDetails>
  readonly found: Found
}

const unknown: Known = {
  all: false,
  sort: "threaded",
  sessions: null,
  items: [],
  works: new Map(),
  details: new Map(),
  found: { query: "", hits: new Map() }
}

const detailsOf = (
  { details }: Known,
  { path, modified }: SessionSummary.SessionSummary
): SessionDetails | undefined => {
  const known = details.get(path)
  return known?.modified === modified ? known : undefined
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

/** Whose session it is, where it is not Grove's. */
const ownerOf = ({ source }: SessionSummary.SessionSummary): string =>
  source === "grove" || source === "memory" ? "" : source

const statusOf = ({ works }: Known, summary: SessionSummary.SessionSummary, { session }: World): string => {
  const { id, path, draft } = summary
  return works.get(id ?? "") ?? (draft ? "draft" : path === session.ref.path ? "open" : ownerOf(summary))
}

/** What a session is about, beside its name. */
const aboutOf = (known: Known, { session, depth }: SessionThreads.Listed, { symbols }: World): string => {
  const hit = known.found.hits.get(session.path)
  if (hit !== undefined) return `"${known.found.query}" ${symbols.times}${hit.count} in text`
  const details = detailsOf(known, session)
  if (depth > 0 && details !== undefined) {
    return details.forkedAfter === 0 ? "forked at its start" : `forked after turn ${details.forkedAfter}`
  }
  const said = details?.lastPrompt ?? session.firstMessage ?? ""
  return said === SessionThreads.nameOf(session) ? "" : said
}

const NARROW = 64

/** Turns, branches, cost, age and status; where there is little room, what is needed to choose. */
const figuresOf = (known: Known, { session }: SessionThreads.Listed, columns: number, world: World): string => {
  const { symbols, now } = world
  const details = detailsOf(known, session)
  const turns = (details === undefined ? "" : `${details.turns}t`).padStart(5)
  const branches = `${session.branches}${symbols.branches}`.padStart(3)
  const cost = (details === undefined ? "" : Words.cost(details.costMicros)).padStart(6)
  const age = Words.age(SessionThreads.timeOf(session), now).padStart(4)
  const status = statusOf(known, session, world)
  return columns < NARROW
    ? `${turns}${age}${status === "" ? "" : ` ${status}`}`
    : `${turns} ${branches} ${cost} ${age}  ${status.padEnd(7)}`
}

const rowOf = (known: Known, item: SessionThreads.Listed, columns: number, world: World): Row.Row => {
  const { session, depth } = item
  const { symbols } = world
  const sign = session.path === world.session.ref.path ? symbols.userOnPath : symbols.userOffPath
  const fork = depth === 0 ? `${sign} ` : `${"  ".repeat(Math.min(depth, 6) - 1)}${symbols.lastFork} `
  const figures = Row.row(figuresOf(known, item, columns, world), "dim")
  const room = columns - Row.width(figures) - Row.width(Row.row(fork)) - 2
  const about = columns < NARROW ? "" : aboutOf(known, item, world)
  const wide = about === "" ? room : Math.max(12, Math.floor(room / 2))
  const name = Row.fill(Row.row(Preview.line(SessionThreads.nameOf(session), wide)), wide)
  const beside = about === "" ? [] : [Row.span(` ${Preview.line(about, columns)}`, "dim")]
  return Row.spread([Row.span(fork, "accent"), ...name, ...beside], figures, columns)
}

const previewOf = (
  { found }: Known,
  { session: { firstMessage, cwd, path } }: SessionThreads.Listed,
  columns: number,
  { symbols }: World
): ReadonlyArray<Row.Row> => {
  const hit = found.hits.get(path)
  const place = `${Preview.line(cwd ?? "", 200)}${symbols.dot}${Preview.line(path.split("/").at(-1) ?? "", 200)}`
  return [
    hit === undefined
      ? Row.row(Preview.line(firstMessage ?? "(nothing was said)", columns))
      : Row.cut(snippetRow(hit), columns),
    Row.cut(Row.row(place, "dim"), columns)
  ]
}

const renaming = ({ session }: SessionThreads.Listed, all: boolean): Picker.Taken => {
  const answer = (name: string): Picker.Taken => ({
    intents: [
      { _tag: "RenameSession", path: session.path, name },
      { _tag: "ListSessions", all }
    ]
  })
  return { open: Ask.make({ name: "rename", question: "Name", answer }, session.name ?? "") }
}

const deleting = ({ session }: SessionThreads.Listed, all: boolean): Picker.Taken => {
  const answer = (word: string): Picker.Taken =>
    /^y(es)?$/i.test(word)
      ? {
          intents: [
            { _tag: "DeleteSession", path: session.path },
            { _tag: "ListSessions", all }
          ]
        }
      : {}
  const question = `To the trash: ${Preview.line(SessionThreads.nameOf(session), 30)}? y`
  return { open: Ask.make({ name: "delete", question, answer }) }
}

const withItem =
  (use: (item: SessionThreads.Listed) => Picker.Taken) =>
  (item: SessionThreads.Listed | undefined): Picker.Taken =>
    item === undefined ? {} : use(item)

const nothing = ({ sessions, all }: Known, query: string): string => {
  if (sessions === null) return "looking"
  if (query !== "") return `no session has these letters${all ? "" : "; Tab: look in all folders"}`
  return all ? "there are no sessions yet; Esc, and say something" : "no session in this folder yet; Tab: all folders"
}

const sorted = (known: Known, sort: SessionThreads.Sort): Known => ({
  ...known,
  sort,
  items: SessionThreads.listed(known.sessions ?? [], sort)
})

const sortAfter = (sort: SessionThreads.Sort): SessionThreads.Sort =>
  SessionThreads.sorts[(SessionThreads.sorts.indexOf(sort) + 1) % SessionThreads.sorts.length]!

const picker = (known: Known): Picker.Picker<SessionThreads.Listed> => {
  const { all, sort, items, found } = known
  return {
    name: "sessions",
    title: ({ symbols }) => [
      Row.span("SESSIONS  ", "title"),
      Row.span(`${all ? symbols.off : symbols.on} this folder `, all ? "dim" : "plain"),
      Row.span(`${all ? symbols.on : symbols.off} all `, all ? "plain" : "dim"),
      Row.span(`  sort ${sort}`, "dim")
    ],
    items,
    textOf: ({ session }) =>
      `${SessionThreads.nameOf(session)} ${session.firstMessage ?? ""} ${session.cwd} ${session.id} ${ownerOf(session)}`,
    row: (item, columns, world) => rowOf(known, item, columns, world),
    preview: (item, columns, world) => (item === undefined ? [] : previewOf(known, item, columns, world)),
    hint: ["Enter open", "Tab scope", "^S sort", "^R rename", "^D trash", "^T tree", "^W web"],
    nothing: (query) => nothing(known, query),
    alsoAsk: (query) => ({ intents: [{ _tag: "SearchSessions", query }] }),
    isFound: ({ session }, query) => query === found.query && found.hits.has(session.path),
    looksAt: (shown) => {
      const sessions = shown.map(({ session }) => session).filter((session) => detailsOf(known, session) === undefined)
      return sessions.length === 0 ? {} : { intents: [{ _tag: "DetailSessions", sessions }] }
    },
    enter: ({ session }) => ({ intents: [{ _tag: "OpenSession", path: session.path }] }),
    keys: {
      tab: () => ({ intents: [{ _tag: "ListSessions", all: !all }] }),
      "ctrl+s": () => ({ events: [{ _tag: "SessionsSorted" }] }),
      "ctrl+r": withItem((item) => renaming(item, all)),
      "ctrl+d": withItem((item) => deleting(item, all)),
      "ctrl+t": withItem(({ session: { path } }) => ({
        close: true,
        intents: [{ _tag: "OpenSession", path, tree: true }]
      })),
      "ctrl+w": withItem(({ session: { path } }) => ({ intents: [{ _tag: "OpenViewer", path, entry: null }] }))
    },
    hear: (event) => {
      switch (event._tag) {
        case "Sessions": {
          const { sessions, works } = event
          return picker(sorted({ ...known, all: event.all, sessions, works }, sort))
        }
        case "SessionsSorted":
          return picker(sorted(known, sortAfter(sort)))
        case "SessionDetailed":
          return picker({ ...known, details: new Map([...known.details, [event.details.path, event.details]]) })
        case "SessionsFound": {
          const hits = new Map(event.hits.map((hit) => [hit.path, hit]))
          return picker({ ...known, found: { query: event.query, hits } })
        }
        default:
          return null
      }
    }
  }
}

export const open = (_: World): Outcome => ({
  open: Picker.make(picker(unknown)),
  intents: [{ _tag: "ListSessions", all: false }]
})
