/** Entries that stay in their file until somebody asks for them. */
import { readSync } from "node:fs"
import { Entry, EntryTable } from "@grove/core/model"
import type { LineIndex } from "./LineIndex.ts"

/** Lines closer together than this are read in one go. */
const GAP = 64 * 1024
const BATCH = 4 * 1024 * 1024

/** A run of rows whose lines lie close together. */
interface Run {
  readonly from: number
  readonly to: number
  readonly start: number
  readonly end: number
}

function* runs(index: LineIndex, rows: ReadonlyArray<number>): Generator<Run> {
  const { starts, lengths } = index.columns
  const endOf = (row: number) => starts[row]! + lengths[row]!
  for (let from = 0; from < rows.length; ) {
    const start = starts[rows[from]!]!
    let end = endOf(rows[from]!)
    let to = from + 1
    while (to < rows.length) {
      const next = starts[rows[to]!]!
      if (next < end || next - end > GAP || endOf(rows[to]!) - start > BATCH) break
      end = endOf(rows[to]!)
      to++
    }
    yield { from, to, start, end }
    from = to
  }
}

const valueIn = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** The table over an index; `file` must stay open, and the same file, as long as the table is used. */
export const make = (index: LineIndex, file: number): EntryTable.EntryTable => {
  const { columns, facts } = index
  let scratch = Buffer.allocUnsafeSlow(GAP)
  const read = (start: number, length: number): Buffer => {
    if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(length)
    const bytes = readSync(file, scratch, 0, length, start)
    return scratch.subarray(0, bytes)
  }
  const parse = (row: number, bytes: Buffer): Entry.Entry | undefined => {
    const entry = Entry.fromJson(valueIn(bytes))
    return entry?.id === index.id(row) ? entry : undefined
  }
  const entry = (row: number) => parse(row, read(columns.starts[row]!, columns.lengths[row]!))
  return {
    size: index.size,
    id: (row) => index.id(row),
    rowOf: (id) => index.rowOf(id),
    parentId: (row) => (columns.parents[row] === EntryTable.NONE ? null : index.id(columns.parents[row]!)),
    type: (row) => facts.types.list[columns.types[row]!]!,
    role: (row) => facts.roles.list[columns.roles[row]!] || null,
    isMark: (row) => columns.marks[row] === 1,
    time: (row) => columns.times[row]!,
    spoken: (row) => columns.spoken[row]!,
    entry,
    entries: (rows) => {
      const found: Array<Entry.Entry | undefined> = []
      for (const { from, to, start, end } of runs(index, rows)) {
        const bytes = read(start, end - start)
        for (let i = from; i < to; i++) {
          const at = columns.starts[rows[i]!]! - start
          found.push(parse(rows[i]!, bytes.subarray(at, at + columns.lengths[rows[i]!]!)))
        }
      }
      return found
    },
    links: { parents: columns.parents.subarray(0, index.size), problems: facts.linkProblems }
  }
}
