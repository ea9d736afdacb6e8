/** Entries in an order in which every parent comes before its children. */
import * as Names from "./Names.ts"
import type { Note } from "./Translation.ts"

interface Node {
  readonly id: string
  readonly parentId: string | null
  readonly line: number
}

/**
 * File order, save that an ancestor which stands further down is moved before its descendants. A parent that is not
 * there makes a root, and a cycle is cut at its first entry; both are noted. Ids must be unique.
 */
export const ordered = <A extends Node>(nodes: ReadonlyArray<A>, repaired: Array<Note>): ReadonlyArray<A> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const placed = new Set<string>()
  const out: Array<A> = []
  const place = (node: A) => {
    placed.add(node.id)
    out.push(node)
  }
  const asRoot = (node: A, kind: string): A => {
    repaired.push({ line: node.line, kind })
    return { ...node, parentId: null }
  }
  for (const node of nodes) {
    const above: Array<A> = []
    const waiting = new Set<string>()
    for (let at: A | undefined = node; at !== undefined && !placed.has(at.id); at = parentOf(at, byId)) {
      if (waiting.has(at.id)) break
      waiting.add(at.id)
      above.push(at)
    }
    const top = above.at(-1)
    if (top === undefined) continue
    const parent = parentOf(top, byId)
    if (top.parentId === null || (parent !== undefined && placed.has(parent.id))) place(top)
    else if (parent === undefined) place(asRoot(top, "unknown-parent"))
    else {
      // The walk came back to an entry that it had met: the cycle opens at whichever of its entries is first in the file.
      const start = above.indexOf(parent)
      const cycle = above.slice(start)
      const first = cycle.reduce((a, b) => (b.line < a.line ? b : a))
      const turned = [...cycle.slice(cycle.indexOf(first) + 1), ...cycle.slice(0, cycle.indexOf(first))]
      place(asRoot(first, "cycle"))
      for (const next of turned.reverse()) place(next)
      above.length = start
      for (const next of above.reverse()) place(next)
      continue
    }
    above.pop()
    for (const next of above.reverse()) place(next)
  }
  return out
}

const parentOf = <A extends Node>({ parentId }: A, byId: ReadonlyMap<string, A>): A | undefined =>
  parentId === null ? undefined : byId.get(parentId)

/**
 * The entry below which the children of a node of the source hang: the last that it was made into, or for one that was
 * made into none, that of the nearest node above.
 */
export const endsOf = (parents: ReadonlyMap<string, string | null>, own: (id: string) => string | undefined) => {
  const known = new Map<string, string | null>()
  return (from: string | null): string | null => {
    const passed = new Set<string>()
    let at = from
    let end: string | null = null
    while (at !== null && !passed.has(at)) {
      const found = own(at) ?? known.get(at)
      if (found !== undefined) {
        end = found
        break
      }
      passed.add(at)
      at = parents.get(at) ?? null
    }
    for (const id of passed) known.set(id, end)
    return end
  }
}

/** In the order in which they were said; what has no time that can be read was said with the one before. */
export const inOrder = <A>(nodes: ReadonlyArray<A>, timeOf: (node: A) => unknown): ReadonlyArray<A> => {
  let time = Number.NEGATIVE_INFINITY
  const timed = nodes.map((node) => {
    const own = Names.timeOf(timeOf(node))
    if (own !== undefined) time = Date.parse(own)
    return { node, time }
  })
  return timed.sort((a, b) => (a.time === b.time ? 0 : a.time - b.time)).map(({ node }) => node)
}
