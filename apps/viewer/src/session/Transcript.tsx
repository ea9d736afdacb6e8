/** The words of one path, drawn as far as they are in view. */
"use client"
import type { SessionTree } from "@grove/core/model"
import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react"
import * as Icons from "../shared/Icons.tsx"
import { useWords } from "../shared/Settings.tsx"
import { EntryView } from "./EntryView.tsx"
import type { Fork, Item } from "./Path.ts"
import type { SessionModel } from "./SessionModel.ts"

export interface TranscriptHandle {
  /** Brings an item into view; its own top to the top, as far as there is something below. */
  readonly show: (at: number, how?: "start" | "nearest") => void
  readonly toEnd: () => void
}

const ESTIMATE = 96

const ForkSwitch = ({
  fork,
  model,
  onSwitch
}: {
  readonly fork: Fork
  readonly model: SessionModel
  readonly onSwitch: (row: number) => void
}) => {
  const words = useWords()
  const { siblings, at } = fork
  const neighbours = [siblings[at - 1], siblings[at + 1]]
  const ids = neighbours.map((row) => (row === undefined ? null : model.tree.idAt(row)))
  const key = ids.join(" ")
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same neighbours need asking once
  useEffect(() => model.wantPreviews(ids.filter((id) => id !== null)), [key, model])
  const wordsOf = (place: 0 | 1) => {
    const id = ids[place]
    return id == null ? "" : (model.preview(id) ?? "")
  }
  return (
    <div className="fork">
      <button
        type="button"
        className="button quiet"
        disabled={at === 0}
        title={wordsOf(0)}
        aria-label={`${words.session.previousBranch}: ${wordsOf(0)}`}
        onClick={() => onSwitch(neighbours[0]!)}
      >
        ‹
      </button>
      <span>
        <Icons.Branch /> {words.session.fork(at + 1, siblings.length)}
      </span>
      <button
        type="button"
        className="button quiet"
        disabled={at === siblings.length - 1}
        title={wordsOf(1)}
        aria-label={`${words.session.nextBranch}: ${wordsOf(1)}`}
        onClick={() => onSwitch(neighbours[1]!)}
      >
        ›
      </button>
      <span className="fork-words" dir="auto">
        {wordsOf(1) === "" ? `‹ ${wordsOf(0)}` : `› ${wordsOf(1)}`}
      </span>
    </div>
  )
}

interface Props {
  readonly model: SessionModel
  readonly tree: SessionTree
  readonly items: ReadonlyArray<Item>
  /** The place that is selected, or -1. */
  readonly selected: number
  readonly onSelect: (at: number) => void
  readonly onSwitch: (row: number) => void
  /** Told which items are in view, and whether the end is. */
  readonly onSeen: (from: number, to: number, isAtEnd: boolean) => void
  readonly handle: RefObject<TranscriptHandle | null>
  /** Where to begin: an item, or the end. */
  readonly start: number | "end"
}

const AT_END = 80

const ItemView = memo(
  ({
    model,
    item,
    index,
    isSelected,
    onSelect,
    onSwitch
  }: Pick<Props, "model" | "onSelect" | "onSwitch"> & {
    readonly item: Item
    readonly index: number
    readonly isSelected: boolean
    readonly version: number
  }) => {
    const body = model.body(item.id)
    const { labels, annotations, disabled } = model.tree.facts
    return (
      <>
        {item.fork === null ? null : <ForkSwitch fork={item.fork} model={model} onSwitch={onSwitch} />}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: j and k select by key */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: selecting is a help for those with a mouse */}
        <div
          className="entry-frame"
          onClick={() => onSelect(index)}
          data-selected={isSelected || undefined}
          data-off={disabled.has(item.id) || undefined}
        >
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
      </>
    )
  }
)
ItemView.displayName = "ItemView"

export const Transcript = ({ model, items, selected, onSelect, onSwitch, onSeen, handle, start }: Props) => {
  const scroller = useRef<HTMLDivElement>(null)
  const [isPlaced, setPlaced] = useState(false)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: (at) => items[at]?.id ?? at,
    overscan: 6,
    paddingStart: 12,
    paddingEnd: 40
  })
  const visible = virtual.getVirtualItems()
  const wanted = visible.flatMap(({ index }) => [items[index]!.id, ...items[index]!.results])
  const wantedKey = `${wanted[0]} ${wanted.at(-1)} ${wanted.length}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: bodies that were let go are asked for again
  useEffect(() => model.wantBodies(wanted), [wantedKey, model, model.version])

  /** Whoever reads the end stays there while it grows; its height tells growing from scrolling. */
  const isHeld = useRef(start === "end")
  /** What was gone to stays on top while the words around it arrive, until the person scrolls. */
  const anchor = useRef<number | null>(start === "end" ? null : start)
  const height = useRef(0)
  useImperativeHandle(handle, () => ({
    show: (at, how = "start") => {
      isHeld.current = false
      anchor.current = how === "start" ? at : null
      virtual.scrollToIndex(at, { align: how === "start" ? "start" : "auto" })
    },
    toEnd: () => {
      isHeld.current = true
      anchor.current = null
      virtual.scrollToIndex(items.length - 1, { align: "end" })
    }
  }))

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, before the first paint
  useLayoutEffect(() => {
    if (start !== "end") virtual.scrollToIndex(start, { align: "start" })
    setPlaced(true)
  }, [])

  const total = virtual.getTotalSize()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another height needs following
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    if (isHeld.current) element.scrollTop = element.scrollHeight
    else if (anchor.current !== null) virtual.scrollToIndex(anchor.current, { align: "start" })
    height.current = element.scrollHeight
  }, [total])

  const seen = () => {
    const element = scroller.current
    if (element === null) return
    const top = element.scrollTop
    const bottom = top + element.clientHeight
    const isAtEnd = element.scrollHeight - bottom < AT_END
    if (element.scrollHeight === height.current) isHeld.current = isAtEnd
    const inView = virtual.getVirtualItems().filter((each) => each.end > top && each.start < bottom)
    onSeen(inView[0]?.index ?? 0, inView.at(-1)?.index ?? 0, isAtEnd || isHeld.current)
  }
  const letGo = () => {
    anchor.current = null
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is in view changes with the list too
  useEffect(seen, [items, wantedKey, isPlaced, total])

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only looks whether the person scrolls
    <div
      className="transcript"
      ref={scroller}
      onScroll={seen}
      onWheel={letGo}
      onTouchMove={letGo}
      onPointerDown={letGo}
      onKeyDown={letGo}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key
      tabIndex={0}
      data-testid="transcript"
    >
      <div className="transcript-inner" style={{ height: virtual.getTotalSize() }}>
        {visible.map(({ index, start: top, key }) => {
          const item = items[index]!
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              data-entry={item.id}
              className="item"
              tabIndex={-1}
              style={{ transform: `translateY(${top}px)` }}
            >
              <ItemView
                model={model}
                item={item}
                index={index}
                isSelected={index === selected}
                onSelect={onSelect}
                onSwitch={onSwitch}
                version={model.version}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}
