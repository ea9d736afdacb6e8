/** Entries that stay in their file until somebody asks for them. */
import { isUtf8 } from "node:buffer"
import { readSync } from "node:fs"
import { Entry, EntryTable, Jsonl, type Problem } from "@grove/core/model"
import { COPY, type LineIndex, MARK } from "./LineIndex.ts"

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

const valueIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Nothing that is read into it is needed once it is parsed, so all tables share it. */
const shared = Buffer.allocUnsafeSlow(GAP)

/**
 * The table over an index; `file` must stay open, and the same file, as long as the table is used. What is wrong with a
 * body is told when it is first read.
 */
export const make = (index: LineIndex, file: number, onProblem: (problem: Problem) => void): EntryTable.EntryTable => {
  const { columns, facts } = index
  const parentsOfUnlinked = new Map(facts.unlinked)
  const told = new Set(facts.problems.map(({ line }) => line))
  let scratch = shared
  const read = (start: number, length: number): Buffer => {
    if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(length)
    const bytes = readSync(file, scratch, 0, length, start)
    return scratch.subarray(0, bytes)
  }
  const typeOf = (row: number): string => facts.types.list[columns.types[row]!]!
  const tell = (problem: Problem): void => {
    if (!told.has(problem.line)) onProblem(problem)
    told.add(problem.line)
  }
  const parse = (row: number, bytes: Buffer): Entry.Entry | undefined => {
    const text = bytes.toString()
    const entry = Entry.fromJson(valueIn(text))
    const line = columns.lines[row]!
    const isAsIndexed =
      entry !== undefined &&
      entry.id === index.id(row) &&
      entry.type === typeOf(row) &&
      Entry.role(entry) === index.role(row)
    if (!isAsIndexed) {
      tell({ line, kind: "not-json", message: Jsonl.messages["not-json"] })
      return undefined
    }
    if (text.includes("\ufffd") && !isUtf8(bytes)) tell(Jsonl.damagedText(entry.id, line))
    return entry
  }
  /** The lines of some rows, a run at a time. Each is good until the next run is read. */
  function* linesOf(rows: ReadonlyArray<number>): Generator<readonly [row: number, line: Buffer]> {
    for (const { from, to, start, end } of runs(index, rows)) {
      const bytes = read(start, end - start)
      for (let i = from; i < to; i++) {
        const row = rows[i]!
        const at = columns.starts[row]! - start
        yield [row, bytes.subarray(at, at + columns.lengths[row]!)]
      }
    }
  }
  const entry = (row: number) => parse(row, read(columns.starts[row]!, columns.lengths[row]!))
  return {
    size: index.size,
    id: (row) => index.id(row),
    rowOf: (id) => index.rowOf(id),
    parentId: (row) =>
      columns.parents[row] === EntryTable.NONE ? (parentsOfUnlinked.get(row) ?? null) : index.id(columns.parents[row]!),
    type: typeOf,
    role: (row) => index.role(row),
    isMark: (row) => columns.marks[row] === MARK,
    isCopy: (row) => columns.marks[row] === COPY,
    time: (row) => columns.times[row]!,
    spoken: (row) => columns.spoken[row]!,
    entry,
    entries: (rows) => Array.from(linesOf(rows), ([row, line]) => parse(row, line)),
    lines: (rows) => {
      const all = [...runs(index, rows)]
      return Array.from(linesOf(rows), ([, line]) => (all.length === 1 ? line : Buffer.from(line)))
    },
    // Where parents are missing or go round, the tree links the rows itself and reports it.
    ...(facts.unlinked.length === 0 && { links: { parents: columns.parents.subarray(0, index.size), problems: [] } })
  }
}
