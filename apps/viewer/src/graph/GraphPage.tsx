/** The whole tree as a picture, for people who would rather look than read. */
"use client"
import "@xyflow/react/dist/base.css"
import { type EntryId, NONE, TreeLayout, TreeView } from "@grove/core/model"
import {
  type Edge,
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow
} from "@xyflow/react"
import { createContext, memo, useContext, useEffect, useMemo, useRef } from "react"
import * as Path from "../session/Path.ts"
import type { SessionModel } from "../session/SessionModel.ts"
import { useAddress } from "../shared/Address.ts"
import { Frame } from "../shared/Frame.tsx"
import * as Icons from "../shared/Icons.tsx"
import { useKeys } from "../shared/Keys.ts"
import { OneSession } from "../shared/OneSession.tsx"
import { SettingsProvider, useWords } from "../shared/Settings.tsx"
import { Empty } from "../shared/States.tsx"
import { safe, titleOf } from "../shared/Titles.ts"
import * as Layout from "./Layout.ts"
import * as Segments from "./Segments.ts"

interface Deeds {
  readonly model: SessionModel
  readonly onFold: (id: string) => void
  readonly onRoot: (id: string) => void
  readonly root: string | null
}

const Deeds = createContext<Deeds | null>(null)

type SegmentNode = Node<{ readonly segment: Segments.Segment; readonly words: string | undefined }, "segment">

const hrefOf = (model: SessionModel, id: string): string =>
  `/s/${encodeURIComponent(model.session.row.key)}?entry=${encodeURIComponent(id)}`

const SegmentView = memo(({ data }: NodeProps<SegmentNode>) => {
  const { graph: say } = useWords()
  const { model, onFold, onRoot, root } = useContext(Deeds)!
  const { segment, words } = data
  const label = model.tree.facts.labels.get(segment.id as EntryId)
  const isPrompt = model.tree.roleAt(segment.row) === "user"
  return (
    <div
      className="segment"
      data-path={segment.isOnPath || undefined}
      data-here={segment.isHere || undefined}
      data-folded={segment.isFolded || undefined}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <a className="segment-words nodrag" data-segment={segment.id} href={hrefOf(model, segment.id)} dir="auto">
        <span className="segment-mark" aria-hidden="true">
          {segment.isHere ? "◆" : isPrompt ? (segment.isOnPath ? "●" : "○") : "·"}
        </span>
        {words === undefined ? "…" : safe(words, 90)}
      </a>
      <span className="segment-facts">
        <span>{say.entries(segment.turns)}</span>
        {label === undefined ? null : <span className="chip label">{safe(label, 16)}</span>}
        {segment.hidden === 0 ? null : segment.isFolded || segment.id === root ? (
          <span>{say.more(segment.hidden)}</span>
        ) : (
          <button type="button" className="segment-button nodrag" title={say.from} onClick={() => onRoot(segment.id)}>
            {say.more(segment.hidden)}
          </button>
        )}
        <span className="spring" />
        {segment.isSide ? (
          <button
            type="button"
            className="segment-button nodrag"
            aria-expanded={!segment.isFolded}
            aria-label={segment.isFolded ? say.unfold : say.fold}
            title={segment.isFolded ? say.unfold : say.fold}
            onClick={() => onFold(segment.id)}
          >
            {segment.isFolded ? "▸" : "▾"}
          </button>
        ) : null}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
SegmentView.displayName = "SegmentView"

const TYPES = { segment: SegmentView }
const FIT = { padding: 0.08, maxZoom: 1 }
const LEAST_ZOOM = 0.02

/** More pieces than this are not read at once: the picture begins where the person stands. */
const LEGIBLE = 40

const Picture = ({ model, version }: { readonly model: SessionModel; readonly version: number }) => {
  const words = useWords()
  const { graph: say } = words
  const { params, go } = useAddress()
  const { tree } = model
  const flow = useReactFlow()
  const leaf = tree.idAt(Path.shownLeaf(tree, params.get("leaf") ?? tree.leaf))
  const rootRow = tree.rowOf(params.get("root"))
  const isFoldedAtFirst = params.get("fold") === "all"
  const toggledIn = params.get("t") ?? ""
  const plan = useMemo(
    () => TreeLayout.plan(TreeView.make(tree, "turns", { forks: true, skim: true }), leaf),
    [tree, leaf]
  )
  const root = plan.view.nearest(rootRow)
  const drawn = useMemo(() => {
    const toggled = new Set(toggledIn.split(",").filter(Boolean))
    const from = root === NONE ? plan.view.childrenOf(NONE) : [root]
    return Segments.make(plan, from, (id) => isFoldedAtFirst !== toggled.has(id))
  }, [plan, root, isFoldedAtFirst, toggledIn])
  const places = useMemo(() => Layout.places(drawn), [drawn])
  useEffect(() => model.wantPreviews([...drawn.byId.keys()]), [model, drawn])

  // biome-ignore lint/correctness/useExhaustiveDependencies: words come with newer versions
  const nodes = useMemo(
    () =>
      places.map(
        ({ segment, x, y }): SegmentNode => ({
          id: segment.id,
          type: "segment",
          position: { x, y },
          width: Layout.WIDTH,
          height: Layout.HEIGHT,
          data: { segment, words: model.preview(segment.id) }
        })
      ),
    [places, version]
  )
  const edges = useMemo(
    () =>
      places.flatMap(({ segment }): ReadonlyArray<Edge> => {
        const { id, parent, isOnPath } = segment
        if (parent === null) return []
        return [{ id, source: parent, target: id, className: isOnPath ? "on-path" : "", focusable: false }]
      }),
    [places]
  )

  // ------------------------------------------------------------------------------------------- moving about

  const show = (id: string, zoom = flow.getZoom()) => {
    const place = places.find(({ segment }) => segment.id === id)
    if (place === undefined) return
    void flow.setCenter(place.x + Layout.WIDTH / 2, place.y + Layout.HEIGHT / 2, { zoom })
  }
  const focusOn = (id: string) => {
    show(id)
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        document.querySelector<HTMLElement>(`[data-segment="${CSS.escape(id)}"]`)?.focus({ preventScroll: true })
      )
    )
  }
  const here = places.find(({ segment }) => segment.isHere)?.segment.id ?? places[0]?.segment.id
  const current = () => (document.activeElement as HTMLElement | null)?.dataset.segment
  const move = (direction: Layout.Direction) => () => {
    const from = current()
    const next = from === undefined ? here : Layout.neighbour(places, from, direction)
    if (next !== undefined) focusOn(next)
  }
  const fold = (id: string) => {
    const toggled = toggledIn.split(",").filter(Boolean)
    go({ t: (toggled.includes(id) ? toggled.filter((each) => each !== id) : [...toggled, id]).join(",") }, "replace")
  }
  const latest = useRef(fold)
  latest.current = fold
  useKeys({
    ArrowLeft: move("ArrowLeft"),
    ArrowRight: move("ArrowRight"),
    ArrowUp: move("ArrowUp"),
    ArrowDown: move("ArrowDown"),
    "+": () => void flow.zoomIn(),
    "-": () => void flow.zoomOut(),
    "0": () => void flow.fitView(FIT),
    " ": () => {
      const at = current()
      if (at !== undefined && drawn.byId.get(at)?.isSide) latest.current(at)
    },
    Escape: () => go({ root: null })
  })
  const rootName = params.get("root")
  const deeds = useMemo(
    () => ({
      model,
      onFold: (id: string) => latest.current(id),
      onRoot: (id: string) => go({ root: id }),
      root: rootName
    }),
    [model, go, rootName]
  )
  const begin = () => {
    if (places.length <= LEGIBLE) void flow.fitView(FIT)
    else if (here !== undefined) show(here, 0.8)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another root is another picture
  useEffect(begin, [root])

  return (
    <Deeds value={deeds}>
      <div className="graph">
        <div className="sessions-tools">
          <span className="segments">
            <button
              type="button"
              className="button"
              aria-label={say.zoomOut}
              title={say.zoomOut}
              onClick={() => void flow.zoomOut()}
            >
              −
            </button>
            <button
              type="button"
              className="button"
              aria-label={say.zoomIn}
              title={say.zoomIn}
              onClick={() => void flow.zoomIn()}
            >
              +
            </button>
            <button type="button" className="button" onClick={() => void flow.fitView(FIT)}>
              {say.fit}
            </button>
          </span>
          <button
            type="button"
            className="button"
            aria-pressed={isFoldedAtFirst}
            onClick={() => go({ fold: isFoldedAtFirst ? null : "all", t: null })}
          >
            {say.foldSides}
          </button>
          {rootName === null ? null : (
            <button type="button" className="button" onClick={() => go({ root: null })}>
              {say.whole}
              <Icons.Close />
            </button>
          )}
          <span className="spring" />
          <span className="muted small hide-narrow">{drawn.hidden === 0 ? say.help : say.part(drawn.hidden)}</span>
        </div>
        <div className="graph-field">
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={TYPES}
            onInit={begin}
            minZoom={LEAST_ZOOM}
            maxZoom={2}
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            disableKeyboardA11y
            deleteKeyCode={null}
            selectionKeyCode={null}
            multiSelectionKeyCode={null}
            onlyRenderVisibleElements
            proOptions={{ hideAttribution: true }}
            aria-label={say.title}
          >
            <MiniMap
              pannable
              zoomable
              ariaLabel={say.overview}
              nodeClassName={(node) => ((node as SegmentNode).data.segment.isOnPath ? "on-path" : "")}
            />
          </ReactFlow>
        </div>
      </div>
    </Deeds>
  )
}

const Loaded = ({ model, version }: { readonly model: SessionModel; readonly version: number }) => {
  const words = useWords()
  const { row, name } = model.session
  const title = titleOf({ ...row, name: model.tree.facts.name ?? name }, words)
  const address = `/s/${encodeURIComponent(row.key)}`
  useEffect(() => {
    document.title = `${words.graph.title} · ${title} · Grove`
  }, [words, title])
  const bar = (
    <>
      <a className="session-name" href={address} dir="auto" title={title}>
        {title}
      </a>
      <h1 className="muted bar-where">{words.graph.title}</h1>
      <span className="spring" />
    </>
  )
  return (
    <Frame current={null} bar={bar} isDeep>
      <main id="main" className="graph-main">
        {model.tree.rowCount === 0 ? (
          <Empty title={words.session.empty}>
            <a href={address}>{title}</a>
          </Empty>
        ) : (
          <ReactFlowProvider>
            <Picture model={model} version={version} />
          </ReactFlowProvider>
        )}
      </main>
    </Frame>
  )
}

export const GraphPage = () => (
  <SettingsProvider>
    <OneSession>{(model, version) => <Loaded model={model} version={version} />}</OneSession>
  </SettingsProvider>
)
