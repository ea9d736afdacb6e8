/** Every prompt that was typed: how often, when and where; one step from its turn. Nothing is deleted here. */
"use client"
import { Preview } from "@grove/core/model"
import { useState } from "react"
import { useAddress } from "../shared/Address.ts"
import { useAnswer } from "../shared/Api.ts"
import { Frame, Menu } from "../shared/Frame.tsx"
import * as Icons from "../shared/Icons.tsx"
import { useRested } from "../shared/Rested.ts"
import { SearchField, useFoundKeys } from "../shared/SearchField.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { Empty, Failed, Loading } from "../shared/States.tsx"
import { folderOf, safe } from "../shared/Titles.ts"
import type { Prompt, Prompts } from "../wire/Wire.ts"
import { ago, dateTime } from "../words/index.ts"

const SHOWN_LINES = 6
const COPIED_FOR = 1500

const CopyButton = ({ text }: { readonly text: string }) => {
  const words = useWords()
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_FOR)
  }
  return (
    <button
      type="button"
      className="button quiet"
      aria-label={words.copy}
      title={words.copy}
      onClick={() => void copy()}
    >
      <Icons.Copy />
      <span role="status">{isCopied ? words.copied : ""}</span>
    </button>
  )
}

const Row = ({ hit, now }: { readonly hit: Prompt; readonly now: number }) => {
  const words = useWords()
  const text = Preview.inert(hit.prompt)
  const lines = text.split("\n")
  const shown = lines.slice(0, SHOWN_LINES).join("\n")
  const rest = lines.length > SHOWN_LINES || hit.isCut ? "\n…" : ""
  const body = (
    <span className="prompt-text" dir="auto">
      {shown}
      {rest}
    </span>
  )
  const address = hit.key === null ? null : `/s/${encodeURIComponent(hit.key)}`
  return (
    <li className="card prompt">
      {address === null ? (
        body
      ) : (
        <a
          className="prompt-open"
          data-found
          title={words.prompts.open}
          href={hit.entry === null ? address : `${address}?entry=${encodeURIComponent(hit.entry)}`}
        >
          {body}
        </a>
      )}
      <span className="prompt-facts">
        <span className={hit.uses > 1 ? "chip accent" : "chip"} title={words.prompts.uses(hit.uses)}>
          ×{hit.uses}
        </span>
        {hit.cwd === null ? null : (
          <span className="chip" title={safe(hit.cwd)}>
            {folderOf(hit.cwd)}
          </span>
        )}
        {hit.key === null ? <span className="muted hide-narrow">{words.prompts.gone}</span> : null}
        <span className="spring" />
        <time className="muted" dateTime={new Date(hit.lastUsed).toISOString()} title={dateTime(words, hit.lastUsed)}>
          {ago(words, hit.lastUsed, now)}
        </time>
        <CopyButton text={hit.prompt} />
        <Menu label={words.prompts.removeLabel} icon={<Icons.Bin />}>
          <p className="small">{words.prompts.remove}</p>
          <code className="command">grove history delete --id {hit.id}</code>
        </Menu>
      </span>
    </li>
  )
}

const Content = () => {
  const words = useWords()
  const { params, go } = useAddress()
  const [now] = useState(Date.now)
  const query = params.get("q") ?? ""
  const cwd = params.get("cwd")
  const session = params.get("session")
  const rested = useRested(query.trim())
  const asked = new URLSearchParams({
    q: rested,
    ...(cwd === null ? {} : { cwd }),
    ...(session === null ? {} : { session })
  })
  const { answer, again } = useAnswer<Prompts>(`/api/prompts?${asked}`)
  useFoundKeys()
  const result = answer.is === "here" ? answer.value : null
  const found = () => {
    if (answer.is === "failed") return <Failed error={answer.error} again={again} />
    if (result === null) return <Loading />
    if (result.all === 0) return <Empty title={words.prompts.none} help={words.prompts.noneHelp} />
    if (result.prompts.length === 0) {
      return (
        <Empty title={words.prompts.noMatch} help={result.elsewhere === 0 ? words.prompts.noMatchHelp : undefined}>
          {result.elsewhere === 0 ? null : (
            <button type="button" className="button" onClick={() => go({ cwd: null, session: null })}>
              {words.prompts.elsewhere(result.elsewhere)}
            </button>
          )}
        </Empty>
      )
    }
    return (
      <ul className="column">
        {result.prompts.map((hit) => (
          <Row key={hit.id} hit={hit} now={now} />
        ))}
      </ul>
    )
  }
  return (
    <main id="main" className="across">
      <h1 className="visually-hidden">{words.prompts.title}</h1>
      <div className="sessions-tools">
        <SearchField
          label={words.prompts.placeholder}
          value={query}
          onChange={(value) => go({ q: value }, "replace")}
        />
        <select
          className="select"
          aria-label={words.list.projects}
          value={cwd ?? ""}
          onChange={(event) => go({ cwd: event.target.value })}
        >
          <option value="">{words.prompts.everywhere}</option>
          {[...new Set([...(result?.folders ?? []).map((each) => each.cwd), ...(cwd === null ? [] : [cwd])])].map(
            (each) => (
              <option key={each} value={each}>
                {folderOf(each)}
              </option>
            )
          )}
        </select>
        {session === null ? null : (
          <button type="button" className="button" aria-pressed="true" onClick={() => go({ session: null })}>
            {words.prompts.inSession}
            <Icons.Close />
          </button>
        )}
        <span className="spring" />
        <span className="muted" role="status">
          {result === null ? "" : words.prompts.shown(result.found, result.all)}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <section className="across-scroll" tabIndex={0} aria-label={words.prompts.title}>
        {result?.prompts.some(({ fit }) => fit === "near") ? <p className="banner">{words.prompts.near}</p> : null}
        {found()}
      </section>
    </main>
  )
}

export const HistoryPage = () => (
  <SettingsProvider>
    <Frame current="prompts">
      <Content />
    </Frame>
  </SettingsProvider>
)
