/**
 * The fold over edits: from the marks of a session to what is switched off, what is cut off, and what can be undone.
 * Total and linear: an edit whose premises are gone is void and told of, never an error.
 */
import type * as Entry from "./Entry.ts"
import type { EntryId } from "./EntryId.ts"
import { NONE } from "./EntryTable.ts"
import * as Mark from "./Mark.ts"
import { isObject } from "./open.ts"
import type { SessionTree } from "./SessionTree.ts"
import * as Units from "./Units.ts"

/** A mark that can be undone. */
export interface Edit {
  readonly id: EntryId
  readonly row: number
  /** `redo` is an undo of an undo. */
  readonly op: "enable" | "disable" | "prune" | "graft" | "leaf" | "rate" | "undo" | "redo"
  /** Not undone. */
  readonly live: boolean
  /** Entries that were written together with the mark. */
  readonly created: ReadonlyArray<EntryId>
  /** Where it takes the person; `undefined` if nowhere. */
  readonly movesTo: EntryId | null | undefined
  /** The edit that an undo or redo names. */
  readonly undoes: EntryId | null
}

export interface VoidEdit {
  readonly id: EntryId
  readonly message: string
}

/** A subtree that is cut off. */
export interface Fragment {
  readonly root: EntryId
  /** The mark that cut it off. */
  readonly edit: EntryId
}

export interface Edits {
  /** In file order. */
  readonly all: ReadonlyArray<Edit>
  /** Whole units, on every branch. */
  readonly disabled: ReadonlySet<EntryId>
  /** What was pruned, in the order in which that was done. */
  readonly stash: ReadonlyArray<Fragment>
  /** Rows at which a subtree is cut off: the stash, copies of undone grafts, copies whose graft was never finished. */
  readonly cuts: ReadonlySet<number>
  /** Rows of entries that no longer hang on a root. */
  readonly pruned: ReadonlySet<number>
  /** Rows that were written in the background: they neither move the person nor show that they are at work there. */
  readonly background: ReadonlySet<number>
  readonly problems: ReadonlyArray<VoidEdit>
}

export const none: Edits = {
  all: [],
  disabled: new Set(),
  stash: [],
  cuts: new Set(),
  pruned: new Set(),
  background: new Set(),
  problems: []
}

interface Draft {
  readonly id: EntryId
  readonly row: number
  readonly entry: Entry.Entry
  readonly undoes: EntryId | null
  op: Edit["op"]
  live: boolean
  /** The row of the last mark that had a say in whether this one counts. */
  since: number
}

const opOf = (entry: Entry.Entry): Edit["op"] | undefined => {
  const state = Mark.state(entry)
  if (state !== undefined) return state.enabled ? "enable" : "disable"
  if (Mark.prune(entry) !== undefined) return "prune"
  if (Mark.graft(entry) !== undefined) return "graft"
  if (Mark.undo(entry) !== undefined) return "undo"
  if (Mark.annotation(entry) !== undefined) return "rate"
  const leaf = Mark.leaf(entry)
  return leaf !== undefined && leaf.background === undefined ? "leaf" : undefined
}

const createdBy = (entry: Entry.Entry): ReadonlyArray<EntryId> => {
  const summary = Mark.state(entry)?.summary
  return Mark.graft(entry)?.copies ?? (summary === undefined ? [] : [summary])
}

/** A prune moves a person only off what it cuts, which the leaf follows by itself. */
const movesTo = (entry: Entry.Entry): EntryId | null | undefined => {
  const leaf = Mark.leaf(entry)
  if (leaf !== undefined) return leaf.targetId
  return entry.parentId !== null && createdBy(entry).includes(entry.parentId) ? entry.parentId : undefined
}

/** Which marks count: from the last to the first, a live undo strikes what it names. */
const settle = (drafts: ReadonlyArray<Draft>): ReadonlyArray<VoidEdit> => {
  const byId = new Map(drafts.map((draft) => [draft.id, draft]))
  const targetOf = ({ row, undoes }: Draft): Draft | undefined => {
    const target = undoes === null ? undefined : byId.get(undoes)
    return target !== undefined && target.row < row ? target : undefined
  }
  const problems: Array<VoidEdit> = []
  for (const draft of drafts.toReversed()) {
    const target = targetOf(draft)
    if (target !== undefined) {
      target.since = Math.max(target.since, draft.since)
      if (draft.live) target.live = false
    } else if (draft.undoes !== null && draft.live) {
      problems.push({ id: draft.id, message: `edit ${draft.id} undoes ${draft.undoes}, which is no edit before it` })
    }
  }
  for (const draft of drafts) if (targetOf(draft)?.op === "undo") draft.op = "redo"
  return problems.reverse()
}

/** A place where something may be cut off. */
interface Cut {
  readonly edit: EntryId
  readonly roots: ReadonlyArray<number>
  /** What is said inside after this row shows that it is in use, and voids the cut. */
  readonly since: number
  readonly kind: "prune" | "copies" | "summary"
}

/** The newest row in the subtree of each row. */
const newestBelow = (tree: SessionTree, order: ReadonlyArray<number>, counts: (row: number) => boolean): Int32Array => {
  const newest = new Int32Array(tree.rowCount).fill(NONE)
  for (let at = order.length - 1; at >= 0; at--) {
    const row = order[at]!
    if (counts(row)) newest[row] = Math.max(newest[row]!, row)
    const parent = tree.shownParentRow(row)
    if (parent !== NONE) newest[parent] = Math.max(newest[parent]!, newest[row]!)
  }
  return newest
}

/** Rows of `ids` whose parent is not among them. */
const topsOf = (tree: SessionTree, rows: ReadonlyArray<number>): ReadonlyArray<number> => {
  const among = new Set(rows)
  return rows.filter((row) => !among.has(tree.shownParentRow(row)))
}

const rowsOf = (tree: SessionTree, ids: ReadonlyArray<string>): ReadonlyArray<number> =>
  ids.map((id) => tree.rowOf(id)).filter((row) => row !== NONE && !tree.isMarkAt(row))

/** Copies that no graft names: the write that should have ended with their mark was cut short. */
const unfinishedCopies = (tree: SessionTree, named: ReadonlySet<number>): ReadonlyArray<number> =>
  tree.session === null
    ? []
    : tree.notable.copies.filter((row) => {
        const origin = named.has(row) ? undefined : tree.entryAt(row).origin
        return isObject(origin) && origin.session === tree.session
      })

/** What the marks of a session come to; with `undone`, what they would come to if that mark were undone next. */
export const fold = (tree: SessionTree, undone: EntryId | null = null): Edits => {
  const rows = [...tree.notable.marks]
  const marks = tree.entriesAt(rows)
  const drafts: Array<Draft> = []
  const background = new Set<number>()
  for (const [at, entry] of marks.entries()) {
    for (const id of Mark.leaf(entry)?.background ?? []) background.add(tree.rowOf(id))
    const op = opOf(entry)
    if (op === undefined) continue
    const row = rows[at]!
    drafts.push({ id: entry.id, row, entry, op, undoes: Mark.undo(entry)?.targetId ?? null, live: true, since: row })
  }
  if (undone !== null) {
    const next = { type: "custom", id: "" as EntryId, parentId: null, timestamp: "" }
    drafts.push({
      id: next.id,
      row: tree.rowCount,
      entry: next,
      op: "undo",
      undoes: undone,
      live: true,
      since: tree.rowCount
    })
  }
  const problems = new Map<EntryId, string>(settle(drafts).map(({ id, message }) => [id, message]))

  const units = Units.make(tree)
  const off = new Set<number>()
  const cuts: Array<Cut> = []
  for (const { id, row: markRow, entry, live, since } of drafts) {
    const state = Mark.state(entry)
    const prune = Mark.prune(entry)
    const graft = Mark.graft(entry)
    if (state !== undefined) {
      // Taken back, the summary says nothing; but what was said below it since stays where it is.
      for (const row of live || state.summary === undefined ? [] : rowsOf(tree, [state.summary])) {
        off.add(row)
        cuts.push({ edit: id, roots: [row], since: row, kind: "summary" })
      }
      if (!live) continue
      const targets = rowsOf(tree, state.targetIds)
      if (targets.length === 0 && state.targetIds.length > 0) {
        problems.set(id, `edit ${id} switches ${state.targetIds.join(", ")}, which ${noneIsHere(state.targetIds)}`)
      }
      for (const row of units.whole(targets)) {
        if (state.enabled) off.delete(row)
        else off.add(row)
      }
    } else if (prune !== undefined && live) {
      const target = tree.rowOf(prune.targetId)
      const roots = rowsOf(tree, prune.roots).filter((root) => tree.shownParentRow(root) === target)
      if (target === NONE) problems.set(id, `edit ${id} prunes at ${prune.targetId}, which is not here`)
      else if (roots.length === 0) problems.set(id, `edit ${id} prunes nothing that follows ${prune.targetId}`)
      else cuts.push({ edit: id, roots, since, kind: "prune" })
    } else if (graft !== undefined) {
      const copies = rowsOf(tree, graft.copies)
      if (live && (copies.length < graft.copies.length || copies.some((row) => row > markRow))) {
        problems.set(id, `edit ${id} names copies that are not here`)
      }
      if (!live && copies.length > 0) cuts.push({ edit: id, roots: topsOf(tree, copies), since, kind: "copies" })
      if (graft.sources.length !== graft.copies.length) continue
      for (const [at, copy] of graft.copies.entries()) {
        if (off.has(tree.rowOf(graft.sources[at]!))) off.add(tree.rowOf(copy))
      }
    }
  }
  const made = new Set(drafts.flatMap(({ entry }) => rowsOf(tree, createdBy(entry))))
  const unfinished = unfinishedCopies(tree, made)
  if (unfinished.length > 0) {
    const roots = topsOf(tree, unfinished)
    for (const row of roots) {
      const id = tree.idAt(row)!
      problems.set(id, `entry ${id} begins copies whose graft was never finished`)
      cuts.push({ edit: id, roots: [row], since: unfinished.at(-1)!, kind: "copies" })
    }
  }
  return {
    all: drafts.map(({ id, row, op, live, entry, undoes }) => ({
      id,
      row,
      op,
      live,
      created: createdBy(entry),
      movesTo: movesTo(entry),
      undoes
    })),
    disabled: new Set([...off].filter((row) => row !== NONE).map((row) => tree.idAt(row)!)),
    ...cutOff(tree, cuts, (row) => !background.has(row) && !made.has(row), problems),
    background,
    problems: [...problems].map(([id, message]) => ({ id, message }))
  }
}

const noneIsHere = (ids: ReadonlyArray<EntryId>): string => (ids.length === 1 ? "is not here" : "are not here")

const cutOff = (
  tree: SessionTree,
  cuts: ReadonlyArray<Cut>,
  isSaid: (row: number) => boolean,
  problems: Map<EntryId, string>
): Pick<Edits, "stash" | "cuts" | "pruned"> => {
  if (cuts.length === 0) return { stash: [], cuts: none.cuts, pruned: none.pruned }
  const order = tree.topDownRows()
  const newest = newestBelow(tree, order, isSaid)
  const roots = new Set<number>()
  const stash = new Map<number, Fragment>()
  for (const { edit, roots: cutRoots, since, kind } of cuts) {
    const used = cutRoots.find((root) => newest[root]! > since)
    if (used !== undefined) {
      if (kind === "summary") continue
      const latest = tree.idAt(newest[used]!)
      problems.set(edit, `edit ${edit} is void: ${latest} was appended to what it cut off`)
      continue
    }
    for (const root of cutRoots) {
      roots.add(root)
      if (kind === "prune") stash.set(root, { root: tree.idAt(root)!, edit })
    }
  }
  const pruned = new Set<number>()
  for (const row of order) if (roots.has(row) || pruned.has(tree.shownParentRow(row))) pruned.add(row)
  return { stash: [...stash.values()], cuts: roots, pruned }
}

/** The row itself, or the nearest row above it that is not cut off. */
export const nearestLive = (tree: SessionTree, { pruned }: Edits, row: number): number => {
  let at = row
  while (at !== NONE && pruned.has(at)) at = tree.shownParentRow(at)
  return at
}

const lastRow = (tree: SessionTree, isWanted: (row: number) => boolean): number => {
  const created = new Set(tree.edits.all.flatMap((edit) => edit.created.map((id) => tree.rowOf(id))))
  let row = tree.rowCount - 1
  while (row >= 0 && (!tree.isThere(row) || tree.isMarkAt(row) || created.has(row) || !isWanted(row))) row--
  return row
}

/** The last row at which the person said something: neither a mark, nor made by an edit, nor in the background. */
const lastSaid = (tree: SessionTree, { background }: Edits): number => lastRow(tree, (row) => !background.has(row))

/** The last row that neither is a mark nor was made by an edit, finished or not. */
export const lastWritten = (tree: SessionTree): number => {
  const unfinished = new Set(
    unfinishedCopies(tree, new Set(tree.edits.all.flatMap(({ created }) => rowsOf(tree, created))))
  )
  return lastRow(tree, (row) => !unfinished.has(row))
}

/** Where the person stands by the edits that count: where the last of them took them, else where they last spoke. */
const leafBy = (tree: SessionTree, edits: Edits, said: number): number => {
  const last = edits.all.findLast(({ live, row, movesTo }) => live && row > said && movesTo !== undefined)
  return nearestLive(tree, edits, tree.rowOf(last === undefined ? tree.leafAsOf(said) : last.movesTo!))
}

/** Where the person stands once an edit is undone: where they would stand without it, if they said nothing since. */
export const leafWithout = (tree: SessionTree, edit: Edit, leaf: EntryId | null): EntryId | null => {
  const said = lastSaid(tree, tree.edits)
  const after = fold(tree, edit.id)
  const isAsEdited = tree.idAt(leafBy(tree, tree.edits, said)) === leaf
  return tree.idAt(isAsEdited ? leafBy(tree, after, said) : nearestLive(tree, after, tree.rowOf(leaf)))
}

/** What an undo without a name means: the last edit that counts, but no move that the person has gone on from. */
export const lastUndoable = (tree: SessionTree): Edit | undefined => {
  const said = lastSaid(tree, tree.edits)
  return tree.edits.all.findLast(
    ({ live, op, row }) => live && op !== "undo" && op !== "redo" && (op !== "leaf" || row > said)
  )
}

/** What a redo means: the last undo that counts, unless something else was done since. */
export const lastUndone = ({ all }: Edits): Edit | undefined => {
  const last = all.findLast(({ op, live }) => live && op !== "redo")
  return last?.op === "undo" ? last : undefined
}
