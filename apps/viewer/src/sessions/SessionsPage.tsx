/** The list of all sessions: projects at the left, what matches at the right. */
"use client"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef, useState } from "react"
import { useAddress } from "../shared/Address.ts"
import { useAnswer } from "../shared/Api.ts"
import { Frame } from "../shared/Frame.tsx"
import * as Icons from "../shared/Icons.tsx"
import { useKeys } from "../shared/Keys.ts"
import { useRested } from "../shared/Rested.ts"
import { SettingsProvider, useSettings, useWords } from "../shared/Settings.tsx"
import { folderOf, safe, titleOf } from "../shared/Titles.ts"
import type { Details, ListedRow, Sessions, TextHits } from "../wire/Wire.ts"
import { ago, dateTime, money, number } from "../words/index.ts"
import { type Known, useDetails } from "./Details.ts"
import * as Filter from "./Filter.ts"

type Go = ReturnType<typeof useAddress>["go"]

const Row = ({
  row,
  depth,
  hits,
  details,
  now
}: Filter.Shown & {
  readonly hits: number
  readonly details: Details | null | undefined
  readonly now: number
}) => {
  const words = useWords()
  const modified = Date.parse(row.modified ?? row.created ?? "")
  const title = titleOf(row, words)
  const status = Filter.statusOf(row)
  const first = row.firstMessage === null ? "" : safe(row.firstMessage, 240)
  return (
    <a className="session-row" data-depth={depth} href={`/s/${encodeURIComponent(row.key)}`}>
      <span className="dot" data-status={status ?? undefined} title={status === null ? undefined : words.list[status]}>
        {status === null ? null : <span className="visually-hidden">{words.list[status]}</span>}
      </span>
      <span className="session-title" dir="auto">
        {depth > 0 ? <span className="muted">⇢ </span> : null}
        {title}
      </span>
      <span className="session-first" dir="auto">
        {first === title ? safe(row.cwd ?? "") : first}
      </span>
      <span className="session-facts">
        {row.draft ? <span className="chip warn">{words.list.draft}</span> : null}
        {hits > 0 ? <span className="chip accent">{words.list.inText(hits)}</span> : null}
        {row.source === "grove" ? null : <span className="chip">{row.source}</span>}
        {row.cwd === null ? null : (
          <span className="chip hide-narrow" title={row.cwd}>
            {folderOf(row.cwd)}
          </span>
        )}
        <span className="fact" title={words.list.branches(row.branches)}>
          {row.branches > 1 ? (
            <>
              <Icons.Branch /> {number(words, row.branches)}
            </>
          ) : null}
        </span>
        <span className="fact turns hide-narrow" title={words.list.messages(row.messageCount)}>
          {details ? words.list.turns(details.turns) : ""}
        </span>
        <span className="fact cost" title={details ? words.list.cost : undefined}>
          {details ? money(words, details.costMicros) : ""}
        </span>
        <time
          className="fact age"
          dateTime={row.modified ?? undefined}
          title={Number.isNaN(modified) ? undefined : dateTime(words, modified)}
        >
          {Number.isNaN(modified) ? "" : ago(words, modified, now)}
        </time>
      </span>
    </a>
  )
}

const NO_FILTER = {
  q: null,
  project: null,
  source: null,
  since: null,
  status: null,
  model: null,
  label: null,
  branched: null
}

const ROW_HEIGHTS = { comfortable: 56, compact: 46 } as const

const List = ({
  shown,
  hits,
  details,
  onView
}: {
  readonly shown: ReadonlyArray<Filter.Shown>
  readonly hits: ReadonlyMap<string, number>
  readonly details: Known
  readonly onView: (keys: ReadonlyArray<string>) => void
}) => {
  const { words, settings } = useSettings()
  const scroller = useRef<HTMLDivElement>(null)
  const [now] = useState(Date.now)
  const height = ROW_HEIGHTS[settings.density]
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is another measure
  useEffect(() => virtual.measure(), [height])
  const visible = virtual.getVirtualItems()
  const inView = visible.map(({ index }) => shown[index]!.row.key)
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once for the same rows
  useEffect(() => onView(inView), [inView.join(" ")])
  const move = (step: number) => {
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>(".session-row") ?? [])]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    rows[at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus()
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
  return (
    <div className="sessions-scroll" ref={scroller}>
      <ul className="sessions-list" aria-label={words.list.title} style={{ height: virtual.getTotalSize() }}>
        {visible.map(({ index, start }) => {
          const { row, depth } = shown[index]!
          return (
            <li
              key={row.key}
              aria-setsize={shown.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)`, height }}
            >
              <Row row={row} depth={depth} hits={hits.get(row.key) ?? 0} details={details.get(row.key)} now={now} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const Projects = ({
  rows,
  wanted,
  go
}: {
  readonly rows: ReadonlyArray<ListedRow>
  readonly wanted: Filter.Wanted
  readonly go: Go
}) => {
  const words = useWords()
  const projects = useMemo(() => Filter.projects(rows), [rows])
  const sources = useMemo(() => [...new Set(rows.map(({ source }) => source))].toSorted(), [rows])
  const item = (isCurrent: boolean, name: string, count: number, title: string | undefined, onClick: () => void) => (
    <li key={title ?? name}>
      <button type="button" aria-pressed={isCurrent} title={title} onClick={onClick}>
        <span dir="auto">{name}</span>
        <span className="muted">{number(words, count)}</span>
      </button>
    </li>
  )
  return (
    <nav className="projects" aria-label={words.list.projects}>
      <h2>{words.list.projects}</h2>
      <ul>
        {item(wanted.project === null, words.list.allProjects, rows.length, undefined, () => go({ project: null }))}
        {projects.map(({ cwd, count }) =>
          item(wanted.project === cwd, cwd === "" ? words.list.noProject : folderOf(cwd), count, cwd || " ", () =>
            go({ project: cwd })
          )
        )}
      </ul>
      {sources.length < 2 ? null : (
        <>
          <h2>{words.list.sources}</h2>
          <ul>
            {sources.map((source) =>
              item(wanted.source === source, source, rows.filter((row) => row.source === source).length, source, () =>
                go({ source: wanted.source === source ? null : source })
              )
            )}
          </ul>
        </>
      )}
    </nav>
  )
}

/** A filter by what only the sessions themselves tell: they are all read once somebody is about to choose. */
const DetailFilter = ({
  name,
  any,
  value,
  known,
  onAbout,
  onChange
}: {
  readonly name: "models" | "labels"
  readonly any: string
  readonly value: string | null
  readonly known: Known
  readonly onAbout: () => void
  readonly onChange: (value: string) => void
}) => {
  const found = [...known.values()].flatMap((details) => details?.[name] ?? [])
  const options = [...new Set(value === null ? found : [value, ...found])].toSorted()
  return (
    <select
      className="select"
      aria-label={any}
      value={value ?? ""}
      onFocus={onAbout}
      onPointerEnter={onAbout}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {safe(option, 60)}
        </option>
      ))}
    </select>
  )
}

const Content = () => {
  const words = useWords()
  const { params, go } = useAddress()
  const wanted = Filter.fromAddress(params)
  const subAgents = params.get("subagents") === "1"
  const { answer, again } = useAnswer<Sessions>(`/api/sessions${subAgents ? "?subAgents=1" : ""}`)
  const query = useRested(wanted.query.trim())
  const { answer: text } = useAnswer<TextHits>(query === "" ? null : `/api/text?q=${encodeURIComponent(query)}`)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => field.current?.focus() })
  const hits = useMemo(
    () =>
      new Map(
        query !== "" && text.is === "here" && text.value.query === query
          ? text.value.sessions.map(({ key, hits }) => [key, hits])
          : []
      ),
    [text, query]
  )
  const rows = answer.is === "here" ? answer.value.sessions : []
  const [inView, setInView] = useState<ReadonlyArray<string>>([])
  const [isAbout, setIsAbout] = useState(false)
  const needsAll = isAbout || Filter.needsDetails(wanted)
  const details = useDetails(needsAll ? [...inView, ...rows.map(({ key }) => key)] : inView)
  const isReading = Filter.needsDetails(wanted) && rows.some(({ key }) => !details.has(key))
  const shown = Filter.apply(rows, wanted, hits, details, Date.now())
  if (answer.is === "loading")
    return (
      <main id="main" className="empty">
        {words.loading}
      </main>
    )
  if (answer.is === "failed") {
    return (
      <main id="main" className="empty">
        <h2>{answer.error.message}</h2>
        <button type="button" className="button" onClick={again}>
          {words.retry}
        </button>
      </main>
    )
  }
  if (rows.length === 0) {
    return (
      <main id="main" className="empty">
        <h2>{words.list.noStore}</h2>
        <p>{words.list.noStoreHelp(answer.value.places.join(", "))}</p>
      </main>
    )
  }
  return (
    <div className="sessions">
      <Projects rows={rows} wanted={wanted} go={go} />
      <main id="main" className="sessions-main">
        <h1 className="visually-hidden">{words.list.title}</h1>
        <div className="sessions-tools">
          <label className="field sessions-search">
            <Icons.Search />
            <span className="visually-hidden">{words.list.search}</span>
            <input
              ref={field}
              type="search"
              placeholder={words.list.search}
              value={wanted.query}
              onChange={(event) => go({ q: event.target.value }, "replace")}
              onKeyDown={(event) => {
                if (event.key === "Escape") go({ q: null }, "replace")
              }}
            />
            <span className="kbd hide-narrow">/</span>
          </label>
          <select
            className="select only-narrow"
            aria-label={words.list.projects}
            value={wanted.project ?? "*"}
            onChange={(event) => go({ project: event.target.value === "*" ? null : event.target.value })}
          >
            <option value="*">{words.list.allProjects}</option>
            {Filter.projects(rows).map(({ cwd }) => (
              <option key={cwd} value={cwd}>
                {cwd === "" ? words.list.noProject : folderOf(cwd)}
              </option>
            ))}
          </select>
          <select
            className="select"
            aria-label={words.list.when}
            value={wanted.since ?? ""}
            onChange={(event) => go({ since: event.target.value })}
          >
            <option value="">{words.list.when}</option>
            <option value="day">{words.list.lastDay}</option>
            <option value="week">{words.list.lastWeek}</option>
            <option value="month">{words.list.lastMonth}</option>
          </select>
          <select
            className="select"
            aria-label={words.list.anyStatus}
            value={wanted.status ?? ""}
            onChange={(event) => go({ status: event.target.value })}
          >
            <option value="">{words.list.anyStatus}</option>
            {Filter.statuses.map((status) => (
              <option key={status} value={status}>
                {words.list[status]}
              </option>
            ))}
          </select>
          {(
            [
              ["model", "models", words.list.anyModel],
              ["label", "labels", words.list.anyLabel]
            ] as const
          ).map(([field, name, any]) => (
            <DetailFilter
              key={field}
              name={name}
              any={any}
              value={wanted[field]}
              known={details}
              onAbout={() => setIsAbout(true)}
              onChange={(value) => go({ [field]: value })}
            />
          ))}
          <select
            className="select"
            aria-label={words.list.sort}
            value={wanted.sort}
            onChange={(event) => go({ sort: event.target.value === "newest" ? null : event.target.value })}
          >
            <option value="newest">{words.list.newest}</option>
            <option value="oldest">{words.list.oldest}</option>
            <option value="longest">{words.list.longest}</option>
            <option value="name">{words.list.byName}</option>
          </select>
          {(
            [
              ["branched", wanted.isBranched, words.list.branched],
              ["threaded", wanted.isThreaded, words.list.threaded],
              ["subagents", subAgents, words.list.subAgents]
            ] as const
          ).map(([name, isOn, label]) => (
            <button
              key={name}
              type="button"
              className="button"
              aria-pressed={isOn}
              onClick={() => go({ [name]: isOn ? null : "1" })}
            >
              {label}
            </button>
          ))}
          <span className="spring" />
          <span className="muted" role="status">
            {words.list.shown(shown.length, rows.length)}
          </span>
        </div>
        {query !== "" && text.is === "here" && !text.value.hasIndex ? (
          <p className="banner">{words.list.noIndex}</p>
        ) : null}
        {shown.length > 0 ? (
          <List shown={shown} hits={hits} details={details} onView={setInView} />
        ) : isReading ? (
          <div className="empty">{words.loading}</div>
        ) : (
          <div className="empty">
            <h2>{words.list.noMatch}</h2>
            <p>{words.list.noMatchHelp}</p>
            <button type="button" className="button" onClick={() => go(NO_FILTER)}>
              {words.list.clear}
            </button>
          </div>
        )}
      </main>
    </div>
  )
}

export const SessionsPage = () => (
  <SettingsProvider>
    <Frame current="sessions">
      <Content />
    </Frame>
  </SettingsProvider>
)
