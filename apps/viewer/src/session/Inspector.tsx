/** All that is known of one entry: facts, cost, and the line as it is written. */
"use client"
import { Entry, isObject, type Usage } from "@grove/core/model"
import { type ReactNode, useEffect, useState } from "react"
import { ask } from "../shared/Api.ts"
import { useWords } from "../shared/Settings.tsx"
import { safe } from "../shared/Titles.ts"
import type { Costs } from "../wire/Wire.ts"
import { dateTime, money, number } from "../words/index.ts"
import { Code } from "./Code.tsx"
import type { SessionModel } from "./SessionModel.ts"

const TABS = ["entry", "usage", "raw"] as const
type Tab = (typeof TABS)[number]

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) =>
  children === null || children === undefined || children === "" ? null : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )

const Sum = ({ sum }: { readonly sum: Usage.UsageSum }) => {
  const words = useWords()
  const say = words.inspector
  return (
    <dl className="facts">
      <Fact name={say.requests}>{number(words, sum.requests)}</Fact>
      <Fact name={say.input}>{number(words, sum.input)}</Fact>
      <Fact name={say.output}>{number(words, sum.output)}</Fact>
      <Fact name={say.cacheRead}>{number(words, sum.cacheRead)}</Fact>
      <Fact name={say.cacheWrite}>{number(words, sum.cacheWrite)}</Fact>
      {sum.reasoning > 0 ? <Fact name={say.reasoning}>{number(words, sum.reasoning)}</Fact> : null}
      <Fact name={say.cost}>{money(words, sum.costMicros)}</Fact>
    </dl>
  )
}

const EntryTab = ({ model, id }: { readonly model: SessionModel; readonly id: string }) => {
  const words = useWords()
  const say = words.inspector
  const body = model.body(id)
  if (body === undefined) return <p className="muted">{words.loading}</p>
  const { entry, usage } = body
  const message = isObject(entry.message) ? entry.message : {}
  const { labels, annotations, disabled } = model.tree.facts
  const row = model.tree.rowOf(id)
  const state = disabled.has(entry.id)
    ? words.session.disabled
    : model.tree.isPrunedAt(row)
      ? words.session.pruned
      : null
  const time = Entry.time(entry.timestamp)
  const { origin } = entry
  return (
    <>
      <dl className="facts">
        <Fact name={say.id}>
          <code>{safe(entry.id)}</code>
        </Fact>
        <Fact name={say.parent}>{entry.parentId === null ? "—" : <code>{safe(entry.parentId)}</code>}</Fact>
        <Fact name={say.type}>{safe([entry.type, Entry.role(entry)].filter(Boolean).join(" · "))}</Fact>
        <Fact name={say.time}>{time === 0 ? null : dateTime(words, time)}</Fact>
        <Fact name={say.model}>
          {typeof message.model === "string"
            ? safe([message.provider, message.model].filter((each) => typeof each === "string").join("/"))
            : null}
        </Fact>
        <Fact name={say.stop}>{typeof message.stopReason === "string" ? safe(message.stopReason) : null}</Fact>
        <Fact name={say.latency}>
          {typeof message.latencyMs === "number" ? `${number(words, message.latencyMs)} ms` : null}
        </Fact>
        <Fact name={say.label}>{labels.has(entry.id) ? safe(labels.get(entry.id)!) : null}</Fact>
        <Fact name={say.rating}>{annotations.get(entry.id)?.rating ?? null}</Fact>
        <Fact name={say.state}>{state}</Fact>
        <Fact name={say.origin}>
          {isObject(origin)
            ? safe([origin.format, origin.session, origin.entry].filter((each) => typeof each === "string").join(" · "))
            : null}
        </Fact>
      </dl>
      {usage === undefined ? null : <Sum sum={usage} />}
    </>
  )
}

const UsageTab = ({ costs }: { readonly costs: Costs | null }) => {
  const words = useWords()
  if (costs === null) return <p className="muted">{words.loading}</p>
  return (
    <>
      <h3>{words.session.pathCost}</h3>
      <Sum sum={costs.path} />
      <h3>{words.session.treeCost}</h3>
      <Sum sum={costs.tree} />
      <h3>{words.session.deadEnds}</h3>
      <Sum sum={costs.abandoned} />
    </>
  )
}

const RawTab = ({ model, id }: { readonly model: SessionModel; readonly id: string }) => {
  const words = useWords()
  const body = model.body(id)
  if (body === undefined) return <p className="muted">{words.loading}</p>
  return (
    <>
      {body.isTooDeep ? <p className="chip warn">{words.inspector.tooDeep}</p> : null}
      <Code text={JSON.stringify(body.entry, null, 2)} language="json" />
    </>
  )
}

/** Counting reads every reply: the words that a person waits for come first. */
const REST = 500

/** The cost of a path, of the tree and of what was left, as of now. */
export const useCosts = (model: SessionModel, leaf: string | null): Costs | null => {
  const [costs, setCosts] = useState<Costs | null>(null)
  const size = model.tree.rowCount
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is appended costs too
  useEffect(() => {
    const controller = new AbortController()
    const timer = setTimeout(() => {
      ask<Costs>(`${model.path}/usage?leaf=${encodeURIComponent(leaf ?? "")}`, controller.signal).then(
        setCosts,
        () => {}
      )
    }, REST)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [model, leaf, size])
  return costs
}

export const Inspector = ({
  model,
  id,
  costs
}: {
  readonly model: SessionModel
  readonly id: string | null
  readonly costs: Costs | null
}) => {
  const words = useWords()
  const [tab, setTab] = useState<Tab>("entry")
  return (
    <aside className="inspector" aria-label={words.session.inspector}>
      <div className="tabs" role="tablist">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="inspector-panel"
            onClick={() => setTab(name)}
          >
            {words.inspector[name]}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <div id="inspector-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} className="inspector-body" tabIndex={0}>
        {tab === "usage" ? <UsageTab costs={costs} /> : null}
        {tab !== "usage" && id === null ? <p className="muted">{words.inspector.none}</p> : null}
        {tab === "entry" && id !== null ? <EntryTab model={model} id={id} /> : null}
        {tab === "raw" && id !== null ? <RawTab model={model} id={id} /> : null}
      </div>
    </aside>
  )
}
