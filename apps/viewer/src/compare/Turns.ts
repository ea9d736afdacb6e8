/** The turns of two branches from where they part, each with what it stands against. */
import { NONE, type SessionTree } from "@grove/core/model"
import * as Path from "../session/Path.ts"
import type { Compared } from "../wire/Wire.ts"

export interface Pair {
  readonly a: ReadonlyArray<Path.Item>
  readonly b: ReadonlyArray<Path.Item>
  readonly turn: Compared["turns"][number]
}

/** What a branch has of its own, cut where turns begin; settings before the first turn go with it. */
const turnsOf = (
  tree: SessionTree,
  leaf: string,
  fork: string | null,
  begins: ReadonlySet<string>
): ReadonlyMap<string, ReadonlyArray<Path.Item>> => {
  const shared = new Set(tree.pathRows(tree.rowOf(fork)))
  const turns: Array<Array<Path.Item>> = []
  let hasBegun = false
  for (const item of Path.items(tree, Path.shownLeaf(tree, leaf))) {
    if (shared.has(item.row)) continue
    if (turns.length === 0 || (begins.has(item.id) && hasBegun)) turns.push([])
    hasBegun ||= begins.has(item.id)
    turns.at(-1)!.push(item)
  }
  return new Map(turns.flatMap((turn) => turn.filter(({ id }) => begins.has(id)).map(({ id }) => [id as string, turn])))
}

const ids = (all: ReadonlyArray<string | null>): ReadonlySet<string> => new Set(all.filter((id) => id !== null))

export const pairs = (tree: SessionTree, compared: Compared): ReadonlyArray<Pair> => {
  const { a, b, fork, turns } = compared
  const left = turnsOf(tree, a.leaf, fork, ids(turns.map((turn) => turn.a)))
  const right = turnsOf(tree, b.leaf, fork, ids(turns.map((turn) => turn.b)))
  return turns.map((turn) => ({ a: left.get(turn.a ?? "") ?? [], b: right.get(turn.b ?? "") ?? [], turn }))
}

const MOST_LEAVES = 200

/** Ends of branches, the newest first. */
export const leaves = (tree: SessionTree, wanted: ReadonlyArray<string | null>): ReadonlyArray<string> => {
  const ends = tree
    .rows()
    .filter((row) => !tree.isMarkAt(row) && tree.childRows(row).length === 0)
    .toSorted((x, y) => tree.timeAt(y) - tree.timeAt(x) || y - x)
    .slice(0, MOST_LEAVES)
    .map((row) => tree.idAt(row)! as string)
  const named = wanted.filter((id) => id !== null && tree.rowOf(id) !== NONE && !ends.includes(id)) as Array<string>
  return [...named, ...ends]
}
