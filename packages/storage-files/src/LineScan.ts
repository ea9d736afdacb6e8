/** Reads a session file in chunks and hands its lines to an index. No line is ever part of a larger string. */
import { readSync } from "node:fs"
import { Jsonl } from "@grove/core/model"
import type { Earlier, LineIndex } from "./LineIndex.ts"

const CHUNK = 1 << 20
const LF = 10
const CR = 13
/** What every `"parentId":` ends in, and how it begins: capitals are rare, so looking for the end first is faster. */
const PARENT_KEY_END = Buffer.from('Id":')
const PARENT_KEY_START = Buffer.from('"parent')
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Next positions of something in a chunk, found once and remembered, so that looking line by line stays linear. */
class Finder {
  readonly #bytes: Buffer
  readonly #wanted: Buffer | number
  readonly #counts: (at: number) => boolean
  #next: number

  constructor(bytes: Buffer, wanted: Buffer | number, counts: (at: number) => boolean) {
    this.#bytes = bytes
    this.#wanted = wanted
    this.#counts = counts
    this.#next = bytes.indexOf(wanted)
  }

  /** How many lie before `end`, counted from where the last count ended. */
  countBefore(end: number): number {
    let count = 0
    while (this.#next >= 0 && this.#next < end) {
      if (this.#counts(this.#next)) count++
      this.#next = this.#bytes.indexOf(this.#wanted, this.#next + 1)
    }
    return count
  }
}

const endsParentKey = (bytes: Buffer) => (at: number) => {
  const start = at - PARENT_KEY_START.length
  if (start < 0) return false
  for (let i = 0; i < PARENT_KEY_START.length; i++) if (bytes[start + i] !== PARENT_KEY_START[i]) return false
  return true
}

/** Looks back at the lines of a file; `line` is the one being taken. */
const lookBack = (file: number, index: LineIndex, line: { bytes: Buffer; start: number; end: number }): Earlier => {
  const lineOf = (row: number): Buffer => {
    const { starts, lengths } = index.columns
    const bytes = Buffer.allocUnsafe(lengths[row]!)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, starts[row]!))
  }
  return {
    isSame: (row) =>
      index.columns.lengths[row] === line.end - line.start &&
      lineOf(row).equals(line.bytes.subarray(line.start, line.end)),
    parsed: (row) => Jsonl.parseLine(lineOf(row))
  }
}

/** Kept from one file to the next: a list of many small sessions would otherwise make more garbage than it reads. */
const shared = Buffer.allocUnsafeSlow(CHUNK * 2)

/**
 * Takes every whole line from where the index ends up to `size`. A last line without LF is taken too, but the index
 * still ends before it, so that it is read again when it is whole.
 */
export const scan = (file: number, index: LineIndex, size: number): void => {
  let buffer = shared
  let position = index.facts.end
  let base = position
  let have = 0
  while (position < size) {
    if (have + CHUNK > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(buffer.length * 2)
      buffer.copy(larger, 0, 0, have)
      buffer = larger
    }
    const read = readSync(file, buffer, have, Math.min(CHUNK, size - position), position)
    if (read === 0) break
    position += read
    const chunk = buffer.subarray(0, have + read)
    const start = takeLines(file, index, chunk, base, have)
    if (index.facts.noHeaderAt !== null) return
    buffer.copyWithin(0, start, chunk.length)
    base += start
    have = chunk.length - start
  }
  index.facts.end = base
  if (have > 0) takeTail(file, index, buffer.subarray(0, have), base)
}

/** Where a line ends that goes up to `stop`: a CR before that is no part of it. */
const endOfText = (bytes: Buffer, start: number, stop: number): number =>
  stop > start && bytes[stop - 1] === CR ? stop - 1 : stop

/** Takes the whole lines of a chunk; answers where the unfinished rest begins. */
const takeLines = (file: number, index: LineIndex, chunk: Buffer, base: number, searched: number): number => {
  const first = chunk.indexOf(LF, searched)
  if (first < 0) return 0
  const parents = new Finder(chunk, PARENT_KEY_END, endsParentKey(chunk))
  const nuls = new Finder(chunk, 0, () => true)
  const line = { bytes: chunk, start: 0, end: 0, offset: 0, isPlain: false }
  const earlier = lookBack(file, index, line)
  let start = base === 0 && chunk.subarray(0, 3).equals(BOM) ? 3 : 0
  for (let lf = first; lf >= 0; lf = chunk.indexOf(LF, start)) {
    line.start = start
    line.end = endOfText(chunk, start, lf)
    line.offset = base + start
    line.isPlain = parents.countBefore(lf) === 1 && nuls.countBefore(lf) === 0
    index.take(line, true, earlier)
    start = lf + 1
    if (index.facts.noHeaderAt !== null) return start
  }
  return start
}

const takeTail = (file: number, index: LineIndex, bytes: Buffer, base: number): void => {
  const start = base === 0 && bytes.subarray(0, 3).equals(BOM) ? 3 : 0
  const end = endOfText(bytes, start, bytes.length)
  const line = { bytes, start, end, offset: base + start, isPlain: false }
  index.take(line, false, lookBack(file, index, line))
}
