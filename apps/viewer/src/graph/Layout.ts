/** Where each piece of a tree stands: from left to right as time goes, siblings below each other. */
import { flextree } from "d3-flextree"
import type { Drawn, Segment } from "./Segments.ts"

export const WIDTH = 232
export const HEIGHT = 74
const BETWEEN = 64
const BELOW = 16

export interface Place {
  readonly segment: Segment
  readonly depth: number
  readonly x: number
  readonly y: number
}

interface Data {
  readonly segment: Segment | null
  readonly children: ReadonlyArray<Data>
}

/** Pieces are few however large the session is, and so is the depth of this tree of them. */
const dataOf = (segment: Segment): Data => ({ segment, children: segment.children.map(dataOf) })

export const places = ({ roots }: Drawn): ReadonlyArray<Place> => {
  const root: Data = { segment: null, children: roots.map(dataOf) }
  const layout = flextree<Data>({
    children: ({ children }) => children,
    nodeSize: ({ data }) => [HEIGHT, data.segment === null ? 0 : WIDTH + BETWEEN],
    spacing: BELOW
  })
  const found: Array<Place> = []
  layout(layout.hierarchy(root)).each(({ data, x, y }) => {
    if (data.segment === null) return
    found.push({ segment: data.segment, depth: Math.round(y / (WIDTH + BETWEEN)), x: y, y: x - HEIGHT / 2 })
  })
  return found
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown"

/** The piece one comes to from another by an arrow key. */
export const neighbour = (all: ReadonlyArray<Place>, id: string, direction: Direction): string | undefined => {
  const at = all.find(({ segment }) => segment.id === id)
  if (at === undefined) return all[0]?.segment.id
  if (direction === "ArrowLeft") return at.segment.parent ?? undefined
  if (direction === "ArrowRight") {
    const { children } = at.segment
    return (children.find(({ isOnPath }) => isOnPath) ?? children.find(({ isSide }) => !isSide) ?? children[0])?.id
  }
  const column = all.filter(({ depth }) => depth === at.depth).toSorted((a, b) => a.y - b.y)
  return column[column.indexOf(at) + (direction === "ArrowDown" ? 1 : -1)]?.segment.id
}
