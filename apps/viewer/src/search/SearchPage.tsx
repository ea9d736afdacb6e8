/** What was said in any session: by session, the best few of each, one step from the entry itself. */
"use client"
import { useState } from "react"
import { useAddress } from "../shared/Address.ts"
import { useAnswer } from "../shared/Api.ts"
import { Frame } from "../shared/Frame.tsx"
import { useRested } from "../shared/Rested.ts"
import { SearchField, useFoundKeys } from "../shared/SearchField.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { Empty, Failed, Loading } from "../shared/States.tsx"
import { folderOf, safe, titleOf } from "../shared/Titles.ts"
import type { SearchGroup, SearchHit, SearchResult } from "../wire/Wire.ts"
import { ago, dateTime, number } from "../words/index.ts"
import { Marked } from "./Marked.tsx"

const ROLES = ["user", "assistant", "tool", "summary", "custom"] as const
type Role = (typeof ROLES)[number]

const roleOf = (name: string | null): Role | null => ROLES.find((role) => role === name) ?? null

const MOST_TOOLS = 4

const Hit = ({ hit, address, now }: { readonly hit: SearchHit; readonly address: string; readonly now: number }) => {
  const words = useWords()
  const role = roleOf(hit.role) ?? "custom"
  return (
    <li>
      <a className="hit" data-found href={`${address}?entry=${encodeURIComponent(hit.entry)}`}>
        <span className="hit-chips">
          <span className={role === "user" ? "chip accent" : "chip"}>{words.search.roles[role]}</span>
          {hit.tools.slice(0, MOST_TOOLS).map((tool) => (
            <span key={tool} className="chip mono">
              {safe(tool, 24)}
            </span>
          ))}
          <span className="spring" />
          {hit.at === 0 ? null : (
            <time className="muted" title={dateTime(words, hit.at)}>
              {ago(words, hit.at, now)}
            </time>
          )}
        </span>
        <span className="snippet" dir="auto">
          <Marked snippet={hit.snippet} marks={hit.marks} />
        </span>
      </a>
    </li>
  )
}

const Group = ({ group, now }: { readonly group: SearchGroup; readonly now: number }) => {
  const words = useWords()
  const address = `/s/${encodeURIComponent(group.key)}`
  const more = group.count - group.hits.length
  return (
    <section className="card">
      <h2 className="card-head">
        <a href={address} dir="auto">
          {titleOf(group, words)}
        </a>
        {group.cwd === null ? null : (
          <span className="chip" title={safe(group.cwd)}>
            {folderOf(group.cwd)}
          </span>
        )}
        <span className="spring" />
        <span className="muted">{number(words, group.count)}</span>
      </h2>
      <ul className="hits">
        {group.hits.map((hit) => (
          <Hit key={hit.entry} hit={hit} address={address} now={now} />
        ))}
      </ul>
      {more === 0 ? null : <p className="muted card-foot">{words.search.more(more)}</p>}
    </section>
  )
}

const Help = () => {
  const { search } = useWords()
  return (
    <div className="empty">
      <h2>{search.begin}</h2>
      <p>{search.help}</p>
      <dl className="syntax">
        {search.syntax.map(([example, meaning]) => (
          <div key={example} className="keys-row">
            <dt>
              <code>{example}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

const Content = () => {
  const words = useWords()
  const { params, go } = useAddress()
  const [now] = useState(Date.now)
  const query = params.get("q") ?? ""
  const scope = params.get("scope")
  const role = roleOf(params.get("role"))
  const rested = useRested(query.trim())
  const asked = new URLSearchParams({
    q: rested,
    ...(scope === null ? {} : { scope }),
    ...(role === null ? {} : { role })
  })
  const { answer, again } = useAnswer<SearchResult>(`/api/search?${asked}`)
  useFoundKeys()
  const result = answer.is === "here" ? answer.value : null
  const found = () => {
    if (answer.is === "failed") return <Failed error={answer.error} again={again} />
    if (rested === "") return <Help />
    if (result === null) return <Loading />
    if (result.groups.length === 0) {
      return (
        <Empty title={words.search.noMatch} help={words.search.noMatchHelp}>
          {result.elsewhere === 0 ? null : (
            <button type="button" className="button" onClick={() => go({ scope: null })}>
              {words.search.elsewhere(result.elsewhere)}
            </button>
          )}
        </Empty>
      )
    }
    return (
      <div className="column">
        {result.groups.map((group) => (
          <Group key={group.key} group={group} now={now} />
        ))}
      </div>
    )
  }
  return (
    <main id="main" className="across">
      <h1 className="visually-hidden">{words.search.title}</h1>
      <div className="sessions-tools">
        <SearchField label={words.search.placeholder} value={query} onChange={(value) => go({ q: value }, "replace")} />
        <select
          className="select"
          aria-label={words.list.projects}
          value={scope ?? ""}
          onChange={(event) => go({ scope: event.target.value })}
        >
          <option value="">{words.search.everywhere}</option>
          {[...new Set([...(result?.projects ?? []), ...(scope === null ? [] : [scope])])].map((cwd) => (
            <option key={cwd} value={cwd}>
              {folderOf(cwd)}
            </option>
          ))}
        </select>
        <select
          className="select"
          aria-label={words.search.anyone}
          value={role ?? ""}
          onChange={(event) => go({ role: event.target.value })}
        >
          <option value="">{words.search.anyone}</option>
          {ROLES.map((name) => (
            <option key={name} value={name}>
              {words.search.roles[name]}
            </option>
          ))}
        </select>
        <span className="spring" />
        <span className="muted" role="status">
          {result === null || rested === "" ? "" : words.search.found(result.hits, result.sessions)}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <section className="across-scroll" tabIndex={0} aria-label={words.search.title}>
        {result?.isLinear ? <p className="banner">{words.search.linear}</p> : null}
        {result?.isPartial ? <p className="banner">{words.search.partial}</p> : null}
        {found()}
      </section>
    </main>
  )
}

export const SearchPage = () => (
  <SettingsProvider>
    <Frame current="search">
      <Content />
    </Frame>
  </SettingsProvider>
)
