/** The whole session at a glance: time from left to right, side branches below the trunk, and what is in view now. */
"use client"
import { type EntryId, NONE, type SessionTree, TreeLayout, TreeView } from "@grove/core/model"
import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react"
import { useSettings, useWords } from "../shared/Settings.tsx"

const HEIGHT = 56
const LANE = 7
const TOP = 6

interface Spot {
  readonly row: number
  readonly lane: number
  readonly kind: "path" | "side" | "failed" | "label" | "summary"
}

/** Every shown entry in the order it was written, in the lane that its column gives. */
const spotsOf = (tree: SessionTree, leaf: EntryId | null): ReadonlyArray<Spot> => {
  const view = TreeView.make(tree, "turns", { skim: true })
  const plan = TreeLayout.plan(view, leaf)
  const spots: Array<Spot> = []
  const { labels } = tree.facts
  TreeLayout.walk(
    plan,
    { rows: view.childrenOf(NONE), depth: 0 },
    () => true,
    (row, depth) => {
      const type = tree.typeAt(row)
      const lane = plan.isSide(row) ? depth + 1 : depth
      const kind = labels.has(tree.idAt(row)!)
        ? "label"
        : type === "compaction" || type === "branch_summary"
          ? "summary"
          : TreeView.isError(tree.entryAt(row))
            ? "failed"
            : plan.isOnPath(row)
              ? "path"
              : "side"
      spots.push({ row, lane, kind })
    }
  )
  return spots.toSorted((a, b) => a.row - b.row)
}

const COLORS = {
  path: "--accent",
  side: "--line-strong",
  failed: "--error",
  label: "--label",
  summary: "--summary"
} as const

/** What matters more comes later. */
const KINDS = ["side", "path", "summary", "label", "failed"] as const

export const Minimap = ({
  tree,
  version,
  leaf,
  seen,
  hits,
  onGo
}: {
  readonly tree: SessionTree
  readonly version: number
  readonly leaf: EntryId | null
  /** The first and the last row in view. */
  readonly seen: readonly [from: number, to: number]
  readonly hits: ReadonlySet<string>
  readonly onGo: (row: number) => void
}) => {
  const words = useWords()
  const { settings } = useSettings()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const spots = useMemo(() => spotsOf(tree, leaf), [tree, leaf, tree.rowCount])
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours change with the theme
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext("2d")
    if (element == null || context == null || width === 0) return
    const scale = window.devicePixelRatio || 1
    element.width = width * scale
    element.height = HEIGHT * scale
    context.scale(scale, scale)
    context.clearRect(0, 0, width, HEIGHT)
    const styles = getComputedStyle(element)
    const color = (name: string) => styles.getPropertyValue(name).trim()
    let lanes = 1
    for (const { lane } of spots) lanes = Math.max(lanes, lane + 1)
    const lane = Math.min(LANE, (HEIGHT - 2 * TOP) / lanes)
    const xOf = (at: number) => Math.floor((at / spots.length) * (width - 4)) + 2
    const wide = Math.max(1, Math.min(28, (width - 4) / Math.max(spots.length, 1) - 1))
    const [from, to] = seen
    const first = spots.findIndex(({ row, kind }) => row >= from && kind !== "side")
    const last = spots.findLastIndex(({ row, kind }) => row <= to && kind !== "side")
    if (first >= 0 && last >= first) {
      const left = xOf(first) - 2
      const right = xOf(last) + wide + 2
      context.fillStyle = color("--accent-soft")
      context.strokeStyle = color("--accent-line")
      context.fillRect(left, 1, Math.max(6, right - left), HEIGHT - 2)
      context.strokeRect(left + 0.5, 1.5, Math.max(6, right - left) - 1, HEIGHT - 3)
    }
    // Of all that falls on one point, what matters most is drawn: a large session has more entries than points.
    const points = new Uint8Array(width * lanes)
    for (const [at, { lane, kind }] of spots.entries()) {
      const point = lane * width + xOf(at)
      points[point] = Math.max(points[point]!, KINDS.indexOf(kind) + 1)
    }
    for (const [rank, kind] of KINDS.entries()) {
      context.fillStyle = color(COLORS[kind])
      const tall = kind === "side" || kind === "path" ? Math.max(2, lane - 2) : lane + 4
      for (const [point, found] of points.entries()) {
        if (found !== rank + 1) continue
        const y = TOP + Math.floor(point / width) * lane
        context.fillRect(point % width, tall > lane ? y - 3 : y, wide, tall)
      }
    }
    if (hits.size > 0) {
      context.fillStyle = color("--warn")
      for (const [at, { row }] of spots.entries()) {
        if (hits.has(tree.idAt(row)!)) context.fillRect(xOf(at), HEIGHT - 7, Math.max(2, wide), 5)
      }
    }
  }, [spots, width, seen[0], seen[1], hits, settings.theme, version])
  const goTo = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect()
    const at = Math.floor(((event.clientX - box.left) / box.width) * spots.length)
    const spot = spots[Math.min(Math.max(at, 0), spots.length - 1)]
    if (spot !== undefined) onGo(spot.row)
  }
  return (
    <canvas
      ref={canvas}
      className="minimap"
      role="img"
      aria-label={words.tree.minimap}
      title={words.tree.minimap}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        goTo(event)
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1) goTo(event)
      }}
    />
  )
}
