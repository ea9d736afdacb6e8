/** What all sessions cost: by day, by model, project and session, and how much of it went into dead ends. */
"use client"
import type { ReactNode } from "react"
import { useAddress } from "../shared/Address.ts"
import { useAnswer } from "../shared/Api.ts"
import { Frame } from "../shared/Frame.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { Empty, Failed, Loading } from "../shared/States.tsx"
import { folderOf, safe, titleOf } from "../shared/Titles.ts"
import type { Spending, UsageRow } from "../wire/Wire.ts"
import { money, number, short } from "../words/index.ts"
import { costOf, DayChart, dayName, NameChart } from "./Charts.tsx"

const GROUPINGS = ["model", "project", "session"] as const
type Grouping = (typeof GROUPINGS)[number]

const SPANS = [
  ["week", 7],
  ["month", 30],
  ["quarter", 90]
] as const

const DAY = 86_400_000
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

const Figure = ({
  name,
  value,
  aside
}: {
  readonly name: string
  readonly value: string
  readonly aside: ReactNode
}) => (
  <dl className="card figure">
    <dt>{name}</dt>
    <dd>{value}</dd>
    <dd className="aside">{aside}</dd>
  </dl>
)

const share = (part: number, whole: number, locale: string): string =>
  new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 }).format(whole === 0 ? 0 : part / whole)

const Figures = ({ total }: { readonly total: Spending["total"] }) => {
  const words = useWords()
  const { usage: say } = words
  const input = total.input + total.cacheRead + total.cacheWrite
  const left = total.knownMicros - total.liveMicros
  return (
    <div className="figures">
      <Figure name={say.spent} value={costOf(words, total)} aside={say.requests(total.requests)} />
      <Figure
        name={say.deadEnds}
        value={money(words, left)}
        aside={
          <>
            {say.deadEndsHelp(share(left, total.knownMicros, words.locale))} · {money(words, total.liveMicros)}{" "}
            {say.live}
          </>
        }
      />
      <Figure
        name={say.tokens}
        value={short(words, input + total.output)}
        aside={say.inAndOut(short(words, input), short(words, total.output))}
      />
      <Figure
        name={say.cache}
        value={share(total.cacheRead, input, words.locale)}
        aside={`${say.cacheHelp} · ${short(words, total.cacheRead)}`}
      />
    </div>
  )
}

const Table = ({
  title,
  first,
  rows,
  whole,
  nameOf
}: {
  readonly title: string
  readonly first: string
  readonly rows: ReadonlyArray<UsageRow>
  readonly whole: number
  readonly nameOf: (row: UsageRow) => ReactNode
}) => {
  const words = useWords()
  const { usage: say, inspector } = words
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="table-scroll" tabIndex={0} aria-label={title}>
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">{say.cost}</th>
            <th scope="col">{say.share}</th>
            <th scope="col">{inspector.requests}</th>
            <th scope="col">{inspector.input}</th>
            <th scope="col">{inspector.output}</th>
            <th scope="col">{inspector.cacheRead}</th>
            <th scope="col">{inspector.cacheWrite}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" dir="auto">
                {nameOf(row)}
              </th>
              <td>{costOf(words, row)}</td>
              <td>{share(row.knownMicros, whole, words.locale)}</td>
              <td>{number(words, row.requests)}</td>
              <td>{number(words, row.input)}</td>
              <td>{number(words, row.output)}</td>
              <td>{number(words, row.cacheRead)}</td>
              <td>{number(words, row.cacheWrite)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Charts = ({
  spending,
  by,
  onBy
}: {
  readonly spending: Spending
  readonly by: Grouping
  readonly onBy: (by: Grouping) => void
}) => {
  const words = useWords()
  const { usage: say } = words
  const { total, day, unpriced } = spending
  const named: { readonly [By in Grouping]: (row: UsageRow) => string } = {
    model: ({ key }) => safe(key, 60),
    project: ({ key }) => folderOf(key),
    session: (row) => titleOf(row as Spending["session"][number], words)
  }
  const names = { model: say.byModel, project: say.byProject, session: say.bySession }
  const linked = (row: UsageRow) => {
    const name = named[by](row)
    if (by === "session") return <a href={`/s/${encodeURIComponent(row.key)}`}>{name}</a>
    if (by === "project") return <a href={`/?project=${encodeURIComponent(row.key)}`}>{name}</a>
    return name
  }
  return (
    <>
      <section className="card">
        <h2 className="card-head">
          {say.perDay}
          <span className="spring" />
          <span className="legend">
            <span>
              <i /> {say.live}
            </span>
            <span>
              <i className="lost" /> {words.session.deadEnds}
            </span>
          </span>
        </h2>
        <DayChart rows={day} />
        <Table
          title={say.perDay}
          first={say.day}
          rows={day.toReversed()}
          whole={total.knownMicros}
          nameOf={({ key }) => (Number.isNaN(Date.parse(key)) ? safe(key) : dayName(words, Date.parse(key)))}
        />
      </section>
      <section className="card">
        <h2 className="card-head">
          {say.by}
          <span className="segments">
            {GROUPINGS.map((name) => (
              <button key={name} type="button" className="button" aria-pressed={by === name} onClick={() => onBy(name)}>
                {names[name]}
              </button>
            ))}
          </span>
        </h2>
        <NameChart rows={spending[by]} label={`${say.by} ${names[by]}`} nameOf={named[by]} />
        <Table title={names[by]} first={say[by]} rows={spending[by]} whole={total.knownMicros} nameOf={linked} />
      </section>
      {unpriced.length === 0 ? null : (
        <section className="card">
          <h2 className="card-head">{say.unpriced}</h2>
          <p className="chart-body small muted">{say.unpricedHelp}</p>
          <ul className="unpriced">
            {unpriced.map((model) => (
              <li key={model} className="chip warn">
                {safe(model, 80)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

const Content = () => {
  const words = useWords()
  const { usage: say } = words
  const { params, go } = useAddress()
  const from = params.get("from") ?? ""
  const to = params.get("to") ?? ""
  const by = GROUPINGS.find((name) => name === params.get("by")) ?? "model"
  const { answer, again } = useAnswer<Spending>(`/api/usage?${new URLSearchParams({ from, to })}`)
  const shown = () => {
    if (answer.is === "loading") return <Loading />
    if (answer.is === "failed") return <Failed error={answer.error} again={again} />
    const spending = answer.value
    if (spending.isNothing) return <Empty title={say.none} help={say.noneHelp} />
    if (spending.day.length === 0) {
      return (
        <Empty title={say.noneThen}>
          <button type="button" className="button" onClick={() => go({ from: null, to: null })}>
            {say.showAll}
          </button>
        </Empty>
      )
    }
    return (
      <div className="column wide">
        <Figures total={spending.total} />
        <Charts spending={spending} by={by} onBy={(name) => go({ by: name === "model" ? null : name }, "replace")} />
      </div>
    )
  }
  const isSpan = (days: number) => to === "" && from === dayOf(Date.now() - (days - 1) * DAY)
  return (
    <main id="main" className="across">
      <h1 className="visually-hidden">{say.title}</h1>
      <div className="sessions-tools">
        <span className="segments">
          {SPANS.map(([name, days]) => (
            <button
              key={name}
              type="button"
              className="button"
              aria-pressed={isSpan(days)}
              onClick={() => go({ from: dayOf(Date.now() - (days - 1) * DAY), to: null })}
            >
              {say[name]}
            </button>
          ))}
          <button
            type="button"
            className="button"
            aria-pressed={from === "" && to === ""}
            onClick={() => go({ from: null, to: null })}
          >
            {say.ever}
          </button>
        </span>
        {(
          [
            ["from", from, say.from],
            ["to", to, say.to]
          ] as const
        ).map(([name, value, label]) => (
          <label key={name} className="usage-dates">
            {label}
            <span className="field">
              <input type="date" value={value} onChange={(event) => go({ [name]: event.target.value })} />
            </span>
          </label>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <section className="across-scroll" tabIndex={0} aria-label={say.title}>
        {answer.is === "here" && answer.value.unread > 0 ? (
          <p className="banner">{say.unread(answer.value.unread)}</p>
        ) : null}
        {shown()}
      </section>
    </main>
  )
}

export const UsagePage = () => (
  <SettingsProvider>
    <Frame current="usage">
      <Content />
    </Frame>
  </SettingsProvider>
)
