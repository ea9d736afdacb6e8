/**
 * The whole tree as few enough pieces to be drawn: a piece is a run of turns without a fork. Of very many branches the
 * largest are drawn, the others are counted where they part, so that the size of a picture never depends on that of a
 * session.
 */
import { NONE, type TreeLayout } from "@grove/core/model"

export interface Segment {
  readonly id: string
  /** Its first row. */
  readonly row: number
  /** Turns in it; of a folded branch, all that it holds. */
  readonly turns: number
  /** Branches that part from it and are not drawn. */
  readonly hidden: number
  readonly isSide: boolean
  readonly isFolded: boolean
  readonly isOnPath: boolean
  /** Where the person stands is in it. */
  readonly isHere: boolean
  readonly parent: string | null
  readonly children: Array<Segment>
}

export interface Drawn {
  readonly roots: ReadonlyArray<Segment>
  readonly byId: ReadonlyMap<string, Segment>
  /** Branches that are counted, not drawn. */
  readonly hidden: number
}

/** So many side branches are drawn; each makes at most two pieces. */
export const MOST_SIDES = 300

/** The largest side branches below some rows. One inside another is smaller than that, so none hangs in the air. */
const largestSides = ({ view, isSide, sizeOf }: TreeLayout.Plan, from: ReadonlyArray<number>): ReadonlySet<number> => {
  const sides: Array<number> = []
  const pending = [...from]
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    if (isSide(row)) sides.push(row)
    const only = view.onlyChildOf(row)
    if (only !== NONE) pending.push(only)
    else for (const child of view.childrenOf(row)) pending.push(child)
  }
  return new Set(sides.toSorted((a, b) => sizeOf(b).entries - sizeOf(a).entries || b - a).slice(0, MOST_SIDES))
}

interface Start {
  readonly row: number
  readonly parent: Segment | null
}

export const make = (plan: TreeLayout.Plan, from: ReadonlyArray<number>, isFolded: (id: string) => boolean): Drawn => {
  const { view, isSide, isOnPath, sizeOf, here } = plan
  const { tree } = view
  const drawn = largestSides(plan, from)
  const isDrawn = (row: number) => !isSide(row) || drawn.has(row) || (from.length === 1 && row === from[0])
  const roots: Array<Segment> = []
  const byId = new Map<string, Segment>()
  let hiddenInAll = from.filter((row) => !isDrawn(row)).length
  const pending: Array<Start> = from
    .filter(isDrawn)
    .map((row) => ({ row, parent: null }))
    .toReversed()
  for (let start = pending.pop(); start !== undefined; start = pending.pop()) {
    const { row: first, parent } = start
    const id = tree.idAt(first)!
    const isSideHead = isSide(first) && parent !== null
    const folds = isSideHead && isFolded(id)
    let [turns, hidden, isHere, row] = [0, 0, false, first]
    let next: ReadonlyArray<number> = []
    for (;;) {
      turns++
      isHere ||= row === here
      const only = view.onlyChildOf(row)
      const children = only === NONE ? view.childrenOf(row) : [only]
      const shown = children.filter(isDrawn)
      hidden += children.length - shown.length
      if (folds || shown.length === 0) break
      if (shown.length > 1) {
        next = shown
        break
      }
      row = shown[0]!
    }
    const size = sizeOf(first)
    const segment: Segment = {
      id,
      row: first,
      turns: folds ? size.entries : turns,
      hidden: folds ? size.leaves - 1 : hidden,
      isSide: isSideHead,
      isFolded: folds,
      isOnPath: isOnPath(first),
      isHere,
      parent: parent?.id ?? null,
      children: []
    }
    if (!folds) hiddenInAll += hidden
    byId.set(id, segment)
    if (parent === null) roots.push(segment)
    else parent.children.push(segment)
    for (let at = next.length - 1; at >= 0; at--) pending.push({ row: next[at]!, parent: segment })
  }
  return { roots, byId, hidden: hiddenInAll }
}
