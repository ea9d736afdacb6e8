/** The tree beside the transcript: by the trunk rule, folded to what a person needs, and moved in by key. */
"use client"
import { type EntryId, type SessionTree, TreeView } from "@grove/core/model"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react"
import { useSettings, useWords } from "../shared/Settings.tsx"
import { safe } from "../shared/Titles.ts"
import type { Words } from "../words/index.ts"
import type { SessionModel } from "./SessionModel.ts"
import type { Line, Rows, TreeRow } from "./TreeRows.ts"

const ROW_HEIGHTS = { comfortable: 26, compact: 22 } as const
const STEP = 12
/** However deep a branch is, its words keep most of the room. */
const MOST_GUTTER = 3

const speaker = (row: TreeRow, words: Words): string => {
  if (row.role === "user") return words.session.you
  if (row.role === "assistant") return "ai"
  if (row.role === "toolResult") return words.session.tool
  if (row.role === "bashExecution" || row.role === "pythonExecution") return words.session.ran
  return ""
}

const sign = (row: TreeRow): string => {
  if (row.here) return "◆"
  if (row.type === "compaction" || row.type === "branch_summary") return "⊙"
  if (row.role !== "user") return ""
  return row.onPath ? "●" : "○"
}

interface RowProps {
  readonly row: TreeRow
  readonly model: SessionModel
  readonly isSelected: boolean
  readonly isHit: boolean
  readonly onFold: () => void
}

const Row = ({ row, model, isHit, onFold }: RowProps) => {
  const words = useWords()
  const label = model.tree.facts.labels.get(row.id)
  const rating = model.tree.facts.annotations.get(row.id)?.rating
  const name = speaker(row, words)
  return (
    <>
      {Array.from({ length: Math.min(row.depth, MOST_GUTTER) }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: guides have no name but their place
        <span key={at} className="guide" />
      ))}
      <span className={`knot ${row.kind}`} data-here={row.here || undefined}>
        {row.kind === "side" ? (
          <button
            type="button"
            tabIndex={-1}
            className="fold"
            aria-label={row.folded ? words.tree.unfold : words.tree.fold}
            onClick={(event) => {
              event.stopPropagation()
              onFold()
            }}
          >
            {row.folded ? "▸" : "▾"}
          </button>
        ) : (
          sign(row)
        )}
      </span>
      {name === "" ? null : <span className={`who ${row.role}`}>{name}</span>}
      <span className="tree-text" dir="auto">
        {isHit ? <mark>{model.preview(row.id) ?? "…"}</mark> : (model.preview(row.id) ?? "…")}
      </span>
      {label === undefined ? null : <span className="chip label">{safe(label, 24)}</span>}
      {rating == null ? null : <span className="remark">★{rating}</span>}
      {row.tools > 0 ? <span className="remark">⚙{row.tools}</span> : null}
      {row.isFailed ? <span className="remark failed">✕</span> : null}
      {row.folded ? <span className="remark size">{words.tree.size(row.entries, row.leaves)}</span> : null}
      {row.here ? <span className="remark here">← {words.tree.here}</span> : null}
    </>
  )
}

export interface TreeHandle {
  readonly focus: () => void
}

interface Props {
  readonly model: SessionModel
  readonly tree: SessionTree
  readonly rows: Rows
  readonly filter: TreeView.Filter
  readonly selected: EntryId | null
  readonly hits: ReadonlySet<string>
  readonly isUnfolded: (id: EntryId) => boolean
  readonly onFilter: (filter: TreeView.Filter) => void
  readonly onFold: (id: EntryId, isUnfolded: boolean) => void
  readonly onGo: (row: number) => void
  readonly handle: RefObject<TreeHandle | null>
}

const idOf = (line: Line | undefined): EntryId | null => (line?.is === "row" ? line.row.id : null)

const TYPE_AHEAD = 800

export const TreePane = ({
  model,
  tree,
  rows,
  filter,
  selected,
  hits,
  isUnfolded,
  onFilter,
  onFold,
  onGo,
  handle
}: Props) => {
  const { words, settings } = useSettings()
  const { lines } = rows
  const scroller = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<EntryId | null>(null)
  const height = ROW_HEIGHTS[settings.density]
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 16,
    getItemKey: (at) => idOf(lines[at]) ?? `line-${at}`
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is another measure
  useEffect(() => virtual.measure(), [height])
  const visible = virtual.getVirtualItems()
  const ids = visible.flatMap(({ index }) => idOf(lines[index]) ?? [])
  const key = `${ids[0]} ${ids.at(-1)} ${ids.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same rows need asking once
  useEffect(() => model.wantPreviews(ids), [key, model, model.version])

  const places = useMemo(
    () => new Map(lines.flatMap((line, at) => (line.is === "row" ? [[line.row.id as string, at] as const] : []))),
    [lines]
  )
  const placeOf = (id: EntryId | null): number => {
    if (id === null) return -1
    return places.get(id) ?? places.get(tree.idAt(rows.view.nearest(tree.rowOf(id))) ?? "") ?? -1
  }
  const current = placeOf(focused ?? selected)
  const chosen = placeOf(selected)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the tree follows what is read
  useEffect(() => {
    if (chosen >= 0 && !scroller.current?.contains(document.activeElement))
      virtual.scrollToIndex(chosen, { align: "auto" })
  }, [chosen])

  const focusAt = (at: number) => {
    const line = lines[at]
    if (line?.is !== "row") return
    setFocused(line.row.id)
    virtual.scrollToIndex(at, { align: "auto" })
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-place="${at}"]`)?.focus())
  }
  const next = (
    from: number,
    step: number,
    isWanted: (line: Line) => boolean = (line) => line.is === "row"
  ): number => {
    for (let at = from + step; at >= 0 && at < lines.length; at += step) if (isWanted(lines[at]!)) return at
    return from
  }
  useImperativeHandle(handle, () => ({ focus: () => focusAt(current >= 0 ? current : next(-1, 1)) }))

  const typed = useRef({ text: "", at: 0 })
  const typeAhead = (letter: string) => {
    const now = Date.now()
    const text = (now - typed.current.at < TYPE_AHEAD ? typed.current.text : "") + letter.toLowerCase()
    typed.current = { text, at: now }
    const fits = (line: Line) => line.is === "row" && (model.preview(line.row.id) ?? "").toLowerCase().startsWith(text)
    const found = next(text.length === 1 ? current : current - 1, 1, fits)
    if (found !== current) focusAt(found)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[current]
    const row = line?.is === "row" ? line.row : undefined
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isSide = (each: Line) => each.is === "row" && each.row.kind === "side"
    const actions: { readonly [key: string]: () => void } = {
      ArrowDown: () => focusAt(next(current, 1)),
      ArrowUp: () => focusAt(next(current, -1)),
      Home: () => focusAt(next(-1, 1)),
      End: () => focusAt(next(lines.length, -1)),
      ArrowRight: () => {
        if (row?.folded) onFold(row.id, true)
        else focusAt(next(current, 1))
      },
      ArrowLeft: () => {
        if (row?.kind === "side" && !row.folded) return onFold(row.id, false)
        const depth = row?.depth ?? 0
        focusAt(
          next(
            current,
            -1,
            (each) =>
              each.is === "row" && (each.row.depth < depth || (each.row.kind === "side" && each.row.depth < depth))
          )
        )
      },
      Enter: () => row && onGo(row.row),
      " ": () => row && onGo(row.row),
      "{": () => focusAt(next(current, -1, isSide)),
      "}": () => focusAt(next(current, 1, isSide))
    }
    const act = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (act !== undefined) {
      event.preventDefault()
      event.stopPropagation()
      act()
    } else if (/^[\p{L}\p{N}]$/u.test(event.key) && !/^[jkJKtcein?G[\]N]$/.test(event.key)) {
      event.preventDefault()
      typeAhead(event.key)
    }
  }
  const hasFocusable = visible.some(({ index }) => index === current)
  return (
    <div className="tree-pane">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row of its own in every browser */}
      <div className="tree-filters" role="group" aria-label={words.tree.filter}>
        {TreeView.filters.map((name) => (
          <button key={name} type="button" aria-pressed={filter === name} onClick={() => onFilter(name)}>
            {words.tree.filters[name]}
          </button>
        ))}
      </div>
      {lines.length === 0 ? <p className="tree-nothing muted">{words.tree.nothing}</p> : null}
      <div
        className="tree-scroll"
        ref={scroller}
        role="tree"
        aria-label={words.tree.title}
        tabIndex={hasFocusable ? -1 : 0}
        onKeyDown={onKeyDown}
      >
        <div className="tree-inner" role="none" style={{ height: virtual.getTotalSize() }}>
          {visible.map(({ index, start, key }) => {
            const line = lines[index]!
            const place = { transform: `translateY(${start}px)`, height }
            if (line.is === "gap") {
              return (
                <div key={key} role="none" className="tree-row gap" style={place}>
                  {"≈ "}
                  {words.tree.hidden(line.hidden)}
                </div>
              )
            }
            if (line.is === "stash") {
              return (
                <div key={key} role="none" className="tree-row stash" style={place}>
                  {words.tree.stash(line.fragments)}
                </div>
              )
            }
            const { row } = line
            const isSelected = index === chosen
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes its keys as a whole
              <div
                key={key}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-posinset={row.position}
                aria-setsize={row.siblings}
                aria-selected={isSelected}
                aria-expanded={row.kind === "side" ? isUnfolded(row.id) : undefined}
                tabIndex={index === current ? 0 : -1}
                data-place={index}
                data-id={row.id}
                data-path={row.onPath || undefined}
                data-off={tree.facts.disabled.has(row.id) || undefined}
                className="tree-row"
                style={{ ...place, "--gutter": `${Math.min(row.depth, MOST_GUTTER) * STEP}px` } as object}
                onFocus={() => setFocused(row.id)}
                onBlur={() => setFocused(null)}
                onClick={() => onGo(row.row)}
              >
                <Row
                  row={row}
                  model={model}
                  isSelected={isSelected}
                  isHit={hits.has(row.id)}
                  onFold={() => onFold(row.id, row.folded)}
                />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
