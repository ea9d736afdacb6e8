/** Which entries of a session are exported, and in which order: all of them as the file has them, or one branch. */
import { type Entry, type EntryId, Mark, NONE, SessionTree, TreeEdit } from "@grove/core/model"
import { digest } from "../read/Digest.ts"

export interface Selection {
  /** A few at a time, in the order they are written; bodies are read when they are asked for. */
  readonly batches: () => Iterable<ReadonlyArray<Entry.Entry>>
  /** Where whoever opens the export stands. */
  readonly leaf: EntryId | null
}

export const BATCH = 256

type Fact = { readonly type: string; readonly [key: string]: unknown }

/** An entry that the session does not have, under the same id each time it is exported. */
const madeHere = (tree: SessionTree, parentId: EntryId | null, { type, ...body }: Fact, at: number): Entry.Entry => {
  const timestamp = tree.rowCount === 0 ? "" : new Date(tree.timeAt(tree.rowCount - 1)).toISOString()
  let id = digest(tree.session ?? "", "export", parentId ?? "", at)
  while (tree.has(id)) id = digest(id)
  return { type, id: id as EntryId, parentId, timestamp, ...body }
}

const leafMark = (targetId: EntryId | null) => ({ type: "custom", customType: "grove.leaf", data: { targetId } })

/** Whether the last row alone says where the session stands, as it does unless a line that counts came earlier again. */
const endsAtLeaf = (tree: SessionTree): boolean => {
  const written = tree.rowOf(tree.leafAsOf(tree.rowCount - 1))
  return TreeEdit.nearestLive(tree, tree.edits, written) === tree.rowOf(tree.leaf)
}

/** Every entry that can be read, marks and fragments included. */
export const whole = (tree: SessionTree): Selection => ({
  leaf: tree.leaf,
  batches: function* () {
    const rows = tree.rows()
    for (let from = 0; from < rows.length; from += BATCH) {
      const some = rows.slice(from, from + BATCH)
      const entries = tree.entriesAt(some)
      // A line may turn out to be no entry when it is read.
      yield entries.filter((_, i) => tree.isThere(some[i]!))
    }
    if (!endsAtLeaf(tree)) yield [madeHere(tree, tree.leaf, leafMark(tree.leaf), 0)]
  }
})

export interface BranchOptions {
  /** Leaves out what is switched off, for programs that cannot be told that it is. */
  readonly withoutMuted: boolean
}

/** The nearest row that is written, at `row` or above it. */
const writtenFrom = (tree: SessionTree, row: number, isWritten: (row: number) => boolean): EntryId | null => {
  let at = row
  while (at !== NONE && !isWritten(at)) at = tree.parentRow(at)
  return tree.idAt(at)
}

/** The path to an entry. Marks belong to the whole file: what they say of the path is said again at its end. */
export const branch = (tree: SessionTree, leaf: EntryId, { withoutMuted }: BranchOptions): Selection => {
  const { disabled } = tree.facts
  const path = tree.pathRows(tree.rowOf(leaf))
  const isWritten = (row: number): boolean => !tree.isMarkAt(row) && !(withoutMuted && disabled.has(tree.idAt(row)!))
  const rows = path.filter(isWritten)
  const end = tree.idAt(rows.at(-1) ?? NONE)

  /** What begins with an entry that is not written begins with the next one that is. */
  const firstKept = (id: unknown): unknown => {
    const at = typeof id === "string" ? path.indexOf(tree.rowOf(id)) : -1
    return at < 0 ? id : (tree.idAt(path.slice(at).find(isWritten) ?? NONE) ?? id)
  }
  const moved = (entry: Entry.Entry, row: number): Entry.Entry => {
    const parentId = writtenFrom(tree, tree.parentRow(row), isWritten)
    const isCompaction = entry.type === "compaction" && entry.firstKeptEntryId !== undefined
    const firstKeptEntryId = isCompaction ? firstKept(entry.firstKeptEntryId) : undefined
    const isSame = parentId === entry.parentId && (!isCompaction || firstKeptEntryId === entry.firstKeptEntryId)
    return isSame ? entry : { ...entry, parentId, ...(isCompaction ? { firstKeptEntryId } : {}) }
  }
  const here = new Set(rows)
  const isHere = (id: string): boolean => here.has(tree.rowOf(id))

  return {
    leaf: end,
    batches: function* () {
      /** Lines that facts are made of: few, so that they can be kept to see what they come to. */
      const telling: Array<Entry.Entry> = []
      for (let from = 0; from < rows.length; from += BATCH) {
        const some = rows.slice(from, from + BATCH)
        const entries = tree.entriesAt(some).map((entry, i) => moved(entry, some[i]!))
        for (const entry of entries) {
          const { type, id, parentId, timestamp } = entry
          telling.push(type === "label" || type === "session_info" ? entry : { type, id, parentId, timestamp })
        }
        yield entries
      }
      const told = SessionTree.from(telling).facts
      const facts: Array<Fact> = []
      for (const targetId of new Set([...tree.facts.labels.keys(), ...told.labels.keys()])) {
        const label = tree.facts.labels.get(targetId)
        if (label !== told.labels.get(targetId) && isHere(targetId)) {
          facts.push({ type: "label", targetId, ...(label === undefined ? {} : { label }) })
        }
      }
      if (tree.facts.name !== told.name) facts.push({ type: "session_info", name: tree.facts.name ?? "" })
      const muted = [...disabled].filter(isHere)
      if (muted.length > 0) {
        facts.push({ type: "custom", customType: "grove.state", data: { targetIds: muted, enabled: false } })
      }
      for (const [targetId, annotation] of tree.facts.annotations) {
        if (isHere(targetId))
          facts.push({ type: "custom", customType: "grove.annotation", data: { targetId, ...annotation } })
      }
      if (facts.length === 0) return
      let parentId = end
      const added: Array<Entry.Entry> = []
      for (const fact of [...facts, leafMark(end)]) {
        const isMark = Mark.isMark(fact)
        const entry = madeHere(tree, isMark ? end : parentId, fact, added.length + 1)
        if (!isMark) parentId = entry.id
        added.push(entry)
      }
      yield added
    }
  }
}
