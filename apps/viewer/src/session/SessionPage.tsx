/** One session: its tree, the words of one path, and what is known of the entry one looks at. */
"use client"
import { type EntryId, NONE, TreeView } from "@grove/core/model"
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react"
import { useAddress } from "../shared/Address.ts"
import { ask, Refused } from "../shared/Api.ts"
import { Dialog } from "../shared/Dialog.tsx"
import { Frame, Menu } from "../shared/Frame.tsx"
import * as Icons from "../shared/Icons.tsx"
import { useKeys } from "../shared/Keys.ts"
import type { PaletteCommand } from "../shared/Palette.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { folderOf, titleOf } from "../shared/Titles.ts"
import type * as Wire from "../wire/Wire.ts"
import { money } from "../words/index.ts"
import { FindBar, useHits } from "./FindBar.tsx"
import { Inspector, useCosts } from "./Inspector.tsx"
import { Minimap } from "./Minimap.tsx"
import * as Path from "./Path.ts"
import { DataPath } from "./Picture.tsx"
import { SessionModel } from "./SessionModel.ts"
import { Transcript, type TranscriptHandle } from "./Transcript.tsx"
import { type TreeHandle, TreePane } from "./TreePane.tsx"
import * as TreeRows from "./TreeRows.ts"

/** `/s/<key>` */
const keyInAddress = (): string => decodeURIComponent(window.location.pathname.split("/")[2] ?? "")

const useSession = (): { readonly model: SessionModel | null; readonly error: Error | null } => {
  const [model, setModel] = useState<SessionModel | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    let stop = () => {}
    let isWanted = true
    ask<Wire.Session>(`/api/s/${encodeURIComponent(keyInAddress())}`).then(
      (session) => {
        if (!isWanted) return
        const next = new SessionModel(session)
        stop = next.listen()
        setModel(next)
      },
      (cause) => setError(cause as Error)
    )
    return () => {
      isWanted = false
      stop()
    }
  }, [])
  return { model, error }
}

const none = () => () => {}

const Failed = ({ error }: { readonly error: Error }) => {
  const words = useWords()
  const isUnknown = error instanceof Refused && error.status === 404
  return (
    <main id="main" className="empty">
      <h2>{isUnknown ? words.session.unknownSession : words.session.unreadable}</h2>
      <p>{isUnknown ? words.session.unknownSessionHelp : error.message}</p>
      <a href="/">{words.session.back}</a>
    </main>
  )
}

const Problems = ({ model, onClose }: { readonly model: SessionModel; readonly onClose: () => void }) => {
  const words = useWords()
  const { problems, problemCount } = model.session
  return (
    <Dialog title={words.session.problemsTitle} onClose={onClose}>
      <h2>{words.session.problemsTitle}</h2>
      <ul className="problems">
        {problems.map(({ line, kind, message }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several may be at one line
          <li key={at}>
            <span className="chip warn">{kind}</span>{" "}
            {line > 0 ? <span className="muted">{words.session.line(line)} · </span> : null}
            {message}
          </li>
        ))}
      </ul>
      {problemCount > problems.length ? (
        <p className="muted">{words.session.andMore(problemCount - problems.length)}</p>
      ) : null}
      <button type="button" className="button" onClick={onClose}>
        {words.close}
      </button>
    </Dialog>
  )
}

/** Where the page stands when the address does not say: with the session, unless that goes on somewhere else. */
const useFollowed = (model: SessionModel | null, version: number): EntryId | null => {
  const held = useRef<EntryId | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree grows in place; its version tells
  return useMemo(() => {
    if (model === null) return null
    const { tree } = model
    const next = tree.leaf
    const before = tree.rowOf(held.current)
    if (before === NONE) held.current = next
    else if (next !== held.current) {
      for (let at = tree.rowOf(next); at !== NONE; at = tree.parentRow(at)) if (at === before) held.current = next
    }
    return held.current
  }, [model, version])
}

const NO_HITS: ReadonlySet<string> = new Set()

const Loaded = ({ model, version }: { readonly model: SessionModel; readonly version: number }) => {
  const words = useWords()
  const { params, go } = useAddress()
  const { tree } = model
  const followed = useFollowed(model, version)
  const asked = params.get("leaf")
  const entryAsked = params.get("entry")
  const filter = TreeView.filters.find((name) => name === params.get("f")) ?? "turns"
  const query = params.get("q") ?? ""

  const entryRow = Path.shownLeaf(tree, entryAsked)
  const leafRow = useMemo(() => {
    const wanted = Path.shownLeaf(tree, asked !== null && tree.has(asked) ? asked : followed)
    return entryRow === NONE ? wanted : Path.leafThrough(tree, entryRow, wanted)
  }, [tree, asked, followed, entryRow])
  const leaf = tree.idAt(leafRow)
  const items = useMemo(() => Path.items(tree, leafRow), [tree, leafRow, tree.rowCount, tree.revision])
  const places = useMemo(() => Path.placesOf(items), [items])
  const selected = entryRow === NONE ? -1 : (places.get(tree.idAt(entryRow)!) ?? -1)
  const isMissing = (entryAsked !== null && entryRow === NONE) || (asked !== null && !tree.has(asked))

  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const isUnfolded = useCallback((id: EntryId) => unfolded.has(id), [unfolded])
  const rows = useMemo(
    () => TreeRows.make(tree, filter, leaf, isUnfolded),
    [tree, filter, leaf, isUnfolded, tree.rowCount]
  )

  const transcript = useRef<TranscriptHandle>(null)
  const treePane = useRef<TreeHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const [isTreeShown, setTreeShown] = useState(false)
  const [isInspected, setInspected] = useState(false)
  const [hasProblems, setProblems] = useState(false)
  const [seen, setSeen] = useState({ from: 0, to: 0, isAtEnd: true })
  const hits = useHits(model, query)
  const hitSet = useMemo(() => (hits.length === 0 ? NO_HITS : new Set(hits)), [hits])
  const costs = useCosts(model, leaf)
  const title = titleOf({ ...model.session.row, name: tree.facts.name ?? model.session.name }, words)
  useEffect(() => {
    document.title = `${title} · Grove`
  }, [title])

  // ------------------------------------------------------------------------------------------- moving about

  const goTo = useCallback(
    (row: number, how: "push" | "replace" = "push") => {
      const shown = tree.isMarkAt(row) ? tree.shownParentRow(row) : row
      if (shown === NONE) return
      const next = Path.leafThrough(tree, shown, leafRow)
      go({ leaf: next === tree.rowOf(followed) ? null : tree.idAt(next), entry: tree.idAt(shown) }, how)
      setTreeShown(false)
    },
    [tree, leafRow, followed, go]
  )
  const switchTo = useCallback(
    (row: number) => {
      const next = Path.leafThrough(tree, row, leafRow)
      go({ leaf: next === tree.rowOf(followed) ? null : tree.idAt(next), entry: null })
    },
    [tree, leafRow, followed, go]
  )
  const select = useCallback((at: number) => items[at] && go({ entry: items[at].id }, "replace"), [items, go])

  // What the address names is brought into view, also when the person goes back.
  const shownEntry = useRef<string | null>(null)
  useEffect(() => {
    if (entryAsked === shownEntry.current) return
    shownEntry.current = entryAsked
    if (selected >= 0) {
      const isInView = selected >= seen.from && selected <= seen.to
      if (!isInView) transcript.current?.show(selected)
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          const active = document.activeElement
          if (active === document.body || active?.closest(".transcript") != null) {
            document
              .querySelector<HTMLElement>(`[data-entry="${CSS.escape(items[selected]?.id ?? "")}"]`)
              ?.focus({ preventScroll: true })
          }
        })
      )
    }
  }, [entryAsked, selected, seen, items])

  const here = selected >= 0 ? selected : seen.isAtEnd ? items.length - 1 : seen.from
  const step = (by: 1 | -1, isWanted: (item: Path.Item) => boolean = () => true) => {
    const from = selected >= 0 ? selected : by === 1 ? seen.from - 1 : seen.to + 1
    for (let at = from + by; at >= 0 && at < items.length; at += by) {
      if (!isWanted(items[at]!)) continue
      select(at)
      transcript.current?.show(at, "nearest")
      return
    }
  }
  const sibling = (by: 1 | -1) => {
    const at = items.findLastIndex(({ fork }, place) => fork !== null && place <= Math.max(here, seen.to))
    const fork = items[at]?.fork
    const row = fork?.siblings[fork.at + by]
    if (row !== undefined) switchTo(row)
  }
  const hitAt = entryRow === NONE ? -1 : hits.indexOf(tree.idAt(entryRow)!)
  const stepHit = (by: 1 | -1) => {
    if (hits.length === 0) return
    const next = hitAt === -1 ? (by === 1 ? 0 : hits.length - 1) : (hitAt + by + hits.length) % hits.length
    goTo(tree.rowOf(hits[next]!), "replace")
  }
  const toEnd = () => {
    go({ entry: null }, "replace")
    transcript.current?.toEnd()
  }
  const focusTree = () => {
    setTreeShown(true)
    requestAnimationFrame(() => treePane.current?.focus())
  }
  const exportMenu = useRef<HTMLDivElement>(null)
  const address = `/s/${encodeURIComponent(model.session.row.key)}`
  const standing = asked === null || leaf === null ? "" : encodeURIComponent(leaf)
  const compareLink = `${address}/compare${standing === "" ? "" : `?a=${standing}`}`
  const graphLink = `${address}/graph${standing === "" ? "" : `?leaf=${standing}`}`
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    J: () => step(1, ({ isPrompt }) => isPrompt),
    K: () => step(-1, ({ isPrompt }) => isPrompt),
    "[": () => sibling(-1),
    "]": () => sibling(1),
    "{": () => step(-1, ({ fork }) => fork !== null),
    "}": () => step(1, ({ fork }) => fork !== null),
    t: focusTree,
    "/": () => field.current?.focus(),
    n: () => stepHit(1),
    N: () => stepHit(-1),
    G: toEnd,
    i: () => setInspected(!isInspected),
    c: () => window.location.assign(compareLink),
    e: () => exportMenu.current?.querySelector("button")?.click(),
    Escape: () => {
      setTreeShown(false)
      setInspected(false)
    }
  })

  // ------------------------------------------------------------------------------------------------ live tail

  const [countAtEnd, setCountAtEnd] = useState(items.length)
  const fresh = Math.max(0, items.length - countAtEnd)
  const onSeen = useCallback(
    (from: number, to: number, isAtEnd: boolean) => {
      setSeen((before) =>
        before.from === from && before.to === to && before.isAtEnd === isAtEnd ? before : { from, to, isAtEnd }
      )
      if (isAtEnd) setCountAtEnd(items.length)
    },
    [items.length]
  )
  // Another branch is not news.
  useEffect(() => {
    if (asked !== null) setCountAtEnd(items.length)
  }, [asked, items.length])

  // ------------------------------------------------------------------------------------------------- drawing

  const { row, exports } = model.session
  const problemCount = model.session.problemCount + model.malformed
  const commands: ReadonlyArray<PaletteCommand> = [
    { name: words.session.find, keys: "/", run: () => field.current?.focus() },
    { name: words.tree.open, keys: "t", run: focusTree },
    { name: words.session.inspector, keys: "i", run: () => setInspected(true) },
    { name: words.session.toEnd, keys: "G", run: toEnd },
    { name: words.session.compare, keys: "c", run: () => window.location.assign(compareLink) },
    { name: words.session.graph, run: () => window.location.assign(graphLink) },
    { name: words.session.copyLink, run: () => void navigator.clipboard.writeText(window.location.href) },
    { name: words.session.copyResume, run: () => void navigator.clipboard.writeText(`grove -r ${row.id ?? row.key}`) },
    ...exports.map((format) => ({
      name: `${words.session.export}: ${words.session.exportAs[format]}`,
      run: () => window.location.assign(`/s/${encodeURIComponent(row.key)}/export.${format}`)
    }))
  ]
  const bar = (
    <>
      <button
        type="button"
        className="button quiet only-tree-drawer"
        aria-label={words.tree.open}
        title={words.tree.open}
        aria-expanded={isTreeShown}
        onClick={focusTree}
      >
        <Icons.Tree />
      </button>
      <h1 className="session-name" dir="auto" title={title}>
        {title}
      </h1>
      {row.cwd === null ? null : (
        <span className="chip hide-medium" title={row.cwd}>
          {folderOf(row.cwd)}
        </span>
      )}
      {row.source === "grove" ? null : <span className="chip hide-medium">{row.source}</span>}
      {problemCount === 0 ? null : (
        <button type="button" className="chip warn as-button" onClick={() => setProblems(true)}>
          {words.session.problems(problemCount)}
        </button>
      )}
      <span className="spring" />
      {costs === null || costs.tree.requests === 0 ? null : (
        <span
          className="costs hide-medium"
          title={`${words.session.deadEnds} ${money(words, costs.abandoned.costMicros)}`}
        >
          {money(words, costs.path.costMicros)} <span className="muted">{words.session.pathCost}</span>
          {" · "}
          {money(words, costs.tree.costMicros)} <span className="muted">{words.session.treeCost}</span>
        </span>
      )}
      <FindBar
        field={field}
        value={query}
        at={hitAt + 1}
        of={hits.length}
        onChange={(value) => go({ q: value }, "replace")}
        onStep={stepHit}
        onClose={() => {
          go({ q: null }, "replace")
          field.current?.blur()
        }}
      />
      <span
        className={model.connection === "live" ? "live on" : "live"}
        role="status"
        title={model.connection === "live" ? words.session.live : words.session.lost}
      >
        <span className={model.connection === "live" ? "dot on" : "dot"} />
        <span className="visually-hidden">{model.connection === "live" ? words.session.live : words.session.lost}</span>
      </span>
      <a
        className="button quiet hide-narrow"
        href={graphLink}
        aria-label={words.session.graph}
        title={words.session.graph}
      >
        <Icons.Graph />
      </a>
      <a
        className="button quiet hide-narrow"
        href={compareLink}
        aria-label={words.session.compare}
        title={words.session.compare}
      >
        <Icons.Columns />
      </a>
      {exports.length === 0 ? null : (
        <div ref={exportMenu}>
          <Menu label={words.session.export} icon={<Icons.Download />}>
            <ul>
              {exports.map((format) => (
                <li key={format}>
                  <a
                    href={`/s/${encodeURIComponent(row.key)}/export.${format}${leaf === null || asked === null ? "" : `?leaf=${encodeURIComponent(leaf)}`}`}
                    download
                  >
                    {words.session.exportAs[format]}
                  </a>
                </li>
              ))}
            </ul>
          </Menu>
        </div>
      )}
      <button
        type="button"
        className="button quiet"
        aria-pressed={isInspected}
        aria-label={words.session.inspector}
        title={words.session.inspector}
        onClick={() => setInspected(!isInspected)}
      >
        <Icons.Panel />
      </button>
    </>
  )
  return (
    <DataPath value={model.path}>
      <Frame current={null} bar={bar} commands={commands} isDeep>
        <div className="session" data-inspector={isInspected || undefined}>
          <nav className="tree-side" data-shown={isTreeShown || undefined} aria-label={words.tree.title}>
            <Minimap
              tree={tree}
              version={version}
              leaf={leaf}
              seen={[items[seen.from]?.row ?? 0, items[seen.to]?.row ?? 0]}
              hits={hitSet}
              onGo={goTo}
            />
            <TreePane
              model={model}
              tree={tree}
              rows={rows}
              filter={filter}
              selected={items[here]?.id ?? leaf}
              hits={hitSet}
              isUnfolded={isUnfolded}
              onFilter={(name) => go({ f: name === "turns" ? null : name }, "replace")}
              onFold={(id, unfold) =>
                setUnfolded((before) => {
                  const next = new Set(before)
                  if (unfold) next.add(id)
                  else next.delete(id)
                  return next
                })
              }
              onGo={goTo}
              handle={treePane}
            />
          </nav>
          {isTreeShown ? (
            <button type="button" className="veil" aria-label={words.close} onClick={() => setTreeShown(false)} />
          ) : null}
          <main id="main" className="words">
            {isMissing ? <p className="banner">{words.session.noEntry}</p> : null}
            {model.session.isNewer ? <p className="banner">{words.session.newer}</p> : null}
            {model.connection === "lost" ? <p className="banner">{words.session.lost}</p> : null}
            {model.connection === "gone" ? <p className="banner">{words.session.gone}</p> : null}
            {items.length === 0 ? (
              <div className="empty">
                <h2>{words.session.empty}</h2>
              </div>
            ) : (
              <Transcript
                model={model}
                tree={tree}
                items={items}
                selected={selected}
                onSelect={select}
                onSwitch={switchTo}
                onSeen={onSeen}
                handle={transcript}
                start={selected >= 0 ? selected : "end"}
              />
            )}
            <div className="pill-place" aria-live="polite">
              {fresh > 0 && !seen.isAtEnd ? (
                <button type="button" className="pill" onClick={toEnd}>
                  {words.session.newTurns(fresh)}
                </button>
              ) : null}
            </div>
          </main>
          {isInspected ? <Inspector model={model} id={items[here]?.id ?? null} costs={costs} /> : null}
        </div>
        {hasProblems ? <Problems model={model} onClose={() => setProblems(false)} /> : null}
      </Frame>
    </DataPath>
  )
}

const Content = () => {
  const words = useWords()
  const { model, error } = useSession()
  const version = useSyncExternalStore(model?.subscribe ?? none, model?.snapshot ?? (() => 0), () => 0)
  if (model !== null) return <Loaded model={model} version={version} />
  return (
    <Frame current={null} isDeep>
      {error === null ? (
        <main id="main" className="empty">
          {words.loading}
        </main>
      ) : (
        <Failed error={error} />
      )}
    </Frame>
  )
}

export const SessionPage = () => (
  <SettingsProvider>
    <Content />
  </SettingsProvider>
)
