/** Two branches of a session side by side, from where they part. */
"use client"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, useEffect, useMemo, useRef } from "react"
import { EntryView } from "../session/EntryView.tsx"
import * as Path from "../session/Path.ts"
import { DataPath } from "../session/Picture.tsx"
import type { SessionModel } from "../session/SessionModel.ts"
import { useAddress } from "../shared/Address.ts"
import { Refused, useAnswer } from "../shared/Api.ts"
import { Frame } from "../shared/Frame.tsx"
import * as Icons from "../shared/Icons.tsx"
import { OneSession } from "../shared/OneSession.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { Empty, Failed, Loading } from "../shared/States.tsx"
import { safe, titleOf } from "../shared/Titles.ts"
import type { Compared, ComparedSide } from "../wire/Wire.ts"
import { duration, money, number, short } from "../words/index.ts"
import { TextDiff } from "./TextDiff.tsx"
import * as Turns from "./Turns.ts"

const SIDES = ["a", "b"] as const
type SideName = (typeof SIDES)[number]

const Items = ({ model, items }: { readonly model: SessionModel; readonly items: ReadonlyArray<Path.Item> }) => {
  const { labels, annotations, disabled } = model.tree.facts
  return items.map((item) => {
    const body = model.body(item.id)
    return (
      <div key={item.id} className="entry-frame" data-off={disabled.has(item.id) || undefined}>
        {body === undefined ? (
          <div className="entry waiting" aria-hidden="true" />
        ) : (
          <EntryView
            body={body}
            results={item.results.map((id) => [id, model.body(id)] as const)}
            label={labels.get(item.id)}
            rating={annotations.get(item.id)}
            isDisabled={disabled.has(item.id)}
            isPruned={model.tree.isPrunedAt(item.row)}
            onWhole={(id) => void model.wantWhole(id)}
          />
        )}
      </div>
    )
  })
}

const PairView = ({
  model,
  pair,
  at,
  isDiff,
  onDiff
}: {
  readonly model: SessionModel
  readonly pair: Turns.Pair
  readonly at: number
  readonly isDiff: boolean
  readonly onDiff: () => void
}) => {
  const { compare: say } = useWords()
  const { turn } = pair
  const hasBoth = turn.a !== null && turn.b !== null
  return (
    <section className="pair" aria-label={say.turn(at + 1)}>
      <h2 className="pair-head">
        {say.turn(at + 1)}
        {hasBoth && turn.isSame ? <span className="chip">{say.same}</span> : null}
        <span className="spring" />
        {hasBoth && !turn.isSame ? (
          <button type="button" className="button" aria-pressed={isDiff} onClick={onDiff}>
            {say.differences}
          </button>
        ) : null}
      </h2>
      {isDiff && hasBoth ? (
        turn.diff === null ? (
          <p className="muted">{say.tooLong}</p>
        ) : (
          <TextDiff parts={turn.diff} />
        )
      ) : (
        <div className="pair-columns">
          {SIDES.map((side) => (
            <div key={side} className="pair-side" data-side={side}>
              {pair[side].length === 0 ? <p className="muted nothing">{say.onlyHere}</p> : null}
              <Items model={model} items={pair[side]} />
            </div>
          ))}
        </div>
      )}
    </section>
  )
}

const Totals = ({ a, b }: Pick<Compared, SideName>) => {
  const words = useWords()
  const { compare: say } = words
  const rows: ReadonlyArray<readonly [string, (side: ComparedSide) => ReactNode]> = [
    [
      say.outcome,
      ({ outcome }) => <span className={outcome === "failed" ? "chip error" : "chip"}>{say.outcomes[outcome]}</span>
    ],
    [say.turns, ({ turns }) => number(words, turns)],
    [say.tools, ({ tools }) => number(words, tools)],
    [say.files, ({ files }) => <span title={files.join("\n")}>{number(words, files.length)}</span>],
    [say.tokens, ({ tokens }) => say.about(short(words, tokens))],
    [
      say.cost,
      ({ costMicros, pathMicros }) => (
        <span title={say.pathCost(money(words, pathMicros))}>{money(words, costMicros)}</span>
      )
    ],
    [say.time, ({ millis }) => duration(words, millis)]
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="totals-scroll" tabIndex={0} aria-label={say.totals}>
      <table className="numbers totals">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">{say.choose}</span>
            </th>
            {rows.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[a, b].map((side, at) => (
            <tr key={SIDES[at]}>
              <th scope="row">
                <span className={`side-mark ${SIDES[at]}`}>{SIDES[at]!.toUpperCase()}</span>
              </th>
              {rows.map(([name, tell]) => (
                <td key={name}>{tell(side)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Picker = ({
  side,
  model,
  leaves,
  value,
  onChange
}: {
  readonly side: SideName
  readonly model: SessionModel
  readonly leaves: ReadonlyArray<string>
  readonly value: string
  readonly onChange: (leaf: string) => void
}) => {
  const { compare: say } = useWords()
  return (
    <label className="picker">
      <span className={`side-mark ${side}`}>{side.toUpperCase()}</span>
      <span className="visually-hidden">{say.choose}</span>
      <select className="select" value={value} onChange={(event) => onChange(event.target.value)}>
        {leaves.map((id) => (
          <option key={id} value={id}>
            {safe(model.preview(id) ?? id, 80)}
          </option>
        ))}
      </select>
    </label>
  )
}

const ESTIMATE = 320

const Pairs = ({
  model,
  version,
  compared
}: {
  readonly model: SessionModel
  readonly version: number
  readonly compared: Compared
}) => {
  const words = useWords()
  const { compare: say } = words
  const { params, go } = useAddress()
  const scroller = useRef<HTMLDivElement>(null)
  const pairs = useMemo(() => Turns.pairs(model.tree, compared), [model, compared])
  const chosen = new Set((params.get("d") ?? "").split(",").filter(Boolean))
  const toggle = (at: number) => {
    const name = String(at + 1)
    const next = chosen.has(name) ? [...chosen].filter((each) => each !== name) : [...chosen, name]
    go({ d: next.join(",") }, "replace")
  }
  const virtual = useVirtualizer({
    count: pairs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    overscan: 3,
    paddingEnd: 40
  })
  const visible = virtual.getVirtualItems()
  const wanted = visible.flatMap(({ index }) =>
    SIDES.flatMap((side) => pairs[index]![side].flatMap(({ id, results }) => [id, ...results]))
  )
  const key = `${wanted[0]} ${wanted.at(-1)} ${wanted.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: bodies that were let go are asked for again
  useEffect(() => model.wantBodies(wanted), [key, model, version])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
    <section className="compare-scroll" ref={scroller} tabIndex={0} aria-label={say.title}>
      <p className="shared-bar">
        {compared.fork === null ? (
          say.nothingShared
        ) : (
          <a href={`/s/${encodeURIComponent(model.session.row.key)}?entry=${encodeURIComponent(compared.fork)}`}>
            {say.shared(compared.sharedTurns, compared.sharedEntries)}
          </a>
        )}
      </p>
      {pairs.length === 0 ? <Empty title={say.nothingMore} help={say.nothingMoreHelp} /> : null}
      <div className="pairs" style={{ height: virtual.getTotalSize() }}>
        {visible.map(({ index, start, key: name }) => (
          <div
            key={name}
            ref={virtual.measureElement}
            data-index={index}
            className="pair-place"
            style={{ transform: `translateY(${start}px)` }}
          >
            <PairView
              model={model}
              pair={pairs[index]!}
              at={index}
              isDiff={chosen.has("all") || chosen.has(String(index + 1))}
              onDiff={() => toggle(index)}
            />
          </div>
        ))}
      </div>
    </section>
  )
}

const Loaded = ({ model, version }: { readonly model: SessionModel; readonly version: number }) => {
  const words = useWords()
  const { compare: say } = words
  const { params, go } = useAddress()
  const { tree } = model
  const { row, name } = model.session
  const title = titleOf({ ...row, name: tree.facts.name ?? name }, words)
  const asked = { a: params.get("a"), b: params.get("b") }
  const leaves = useMemo(() => Turns.leaves(tree, [asked.a, asked.b]), [tree, asked.a, asked.b])
  const a = asked.a ?? tree.idAt(Path.shownLeaf(tree, tree.leaf)) ?? leaves[0]
  const b = asked.b ?? leaves.find((id) => id !== a)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for these ends
  useEffect(() => model.wantPreviews(leaves), [leaves])
  useEffect(() => {
    document.title = `${say.title} · ${title} · Grove`
  }, [say, title])
  const { answer, again } = useAnswer<Compared>(
    a === undefined || b === undefined ? null : `${model.path}/compare?${new URLSearchParams({ a, b })}`
  )
  const address = `/s/${encodeURIComponent(row.key)}`
  const isDiffAll = params.get("d") === "all"
  const bar = (
    <>
      <a className="session-name" href={address} dir="auto" title={title}>
        {title}
      </a>
      <h1 className="muted bar-where">{say.title}</h1>
      <span className="spring" />
    </>
  )
  const shown = () => {
    if (a === undefined || b === undefined) {
      return (
        <Empty title={say.single} help={say.singleHelp}>
          <a href={address}>{title}</a>
        </Empty>
      )
    }
    if (answer.is === "loading") return <Loading />
    if (answer.is === "failed") {
      const isUnknown = answer.error instanceof Refused && answer.error.status === 404
      if (!isUnknown) return <Failed error={answer.error} again={again} />
      return (
        <Empty title={say.unknown}>
          <button type="button" className="button" onClick={() => go({ a: null, b: null })}>
            {words.list.clear}
          </button>
        </Empty>
      )
    }
    return (
      <>
        <Totals a={answer.value.a} b={answer.value.b} />
        <Pairs model={model} version={version} compared={answer.value} />
      </>
    )
  }
  return (
    <DataPath value={model.path}>
      <Frame current={null} bar={bar} isDeep>
        <main id="main" className="compare">
          {a === undefined || b === undefined ? null : (
            <div className="sessions-tools">
              <Picker side="a" model={model} leaves={leaves} value={a} onChange={(leaf) => go({ a: leaf, b })} />
              <button
                type="button"
                className="button quiet"
                aria-label={say.swap}
                title={say.swap}
                onClick={() => go({ a: b, b: a })}
              >
                <Icons.Swap />
              </button>
              <Picker side="b" model={model} leaves={leaves} value={b} onChange={(leaf) => go({ a, b: leaf })} />
              <span className="spring" />
              <button
                type="button"
                className="button"
                aria-pressed={isDiffAll}
                onClick={() => go({ d: isDiffAll ? null : "all" }, "replace")}
              >
                {say.differences}
              </button>
            </div>
          )}
          {shown()}
        </main>
      </Frame>
    </DataPath>
  )
}

export const ComparePage = () => (
  <SettingsProvider>
    <OneSession>{(model, version) => <Loaded model={model} version={version} />}</OneSession>
  </SettingsProvider>
)
