/** Reads a session file in chunks and hands its lines to an index. No line is ever part of a larger string. */
import { readSync } from "node:fs"
import type { LineIndex } from "./LineIndex.ts"

const CHUNK = 1 << 20
const LF = 10
const CR = 13
const PARENT_KEY = Buffer.from('"parentId":')
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Next positions of something in a chunk, found once and remembered, so that looking line by line stays linear. */
class Finder {
  readonly #wanted: Buffer | number
  readonly #bytes: Buffer
  #next: number

  constructor(bytes: Buffer, wanted: Buffer | number, from: number) {
    this.#bytes = bytes
    this.#wanted = wanted
    this.#next = bytes.indexOf(wanted, from)
  }

  /** How many lie before `end`, counted from where the last count ended. */
  countBefore(end: number): number {
    let count = 0
    while (this.#next >= 0 && this.#next < end) {
      count++
      this.#next = this.#bytes.indexOf(this.#wanted, this.#next + 1)
    }
    return count
  }
}

const sameLine = (file: number, index: LineIndex, bytes: Buffer, start: number, end: number) => (row: number) => {
  const length = index.columns.lengths[row]!
  if (length !== end - start) return false
  const before = Buffer.allocUnsafe(length)
  readSync(file, before, 0, length, index.columns.starts[row]!)
  return before.equals(bytes.subarray(start, end))
}

/**
 * Takes every whole line from where the index ends up to `size`. A last line without LF is taken too if `isFinal`, but
 * the index then still ends before it, so that it is read again when it is whole.
 */
export const scan = (file: number, index: LineIndex, size: number): void => {
  let buffer = Buffer.allocUnsafeSlow(CHUNK * 2)
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

/** Takes the whole lines of a chunk; answers where the unfinished rest begins. */
const takeLines = (file: number, index: LineIndex, chunk: Buffer, base: number, searched: number): number => {
  const parents = new Finder(chunk, PARENT_KEY, 0)
  const nuls = new Finder(chunk, 0, 0)
  let start = base === 0 && chunk.subarray(0, 3).equals(BOM) ? 3 : 0
  for (let lf = chunk.indexOf(LF, searched); lf >= 0; lf = chunk.indexOf(LF, start)) {
    const end = lf > start && chunk[lf - 1] === CR ? lf - 1 : lf
    const isPlain = parents.countBefore(lf) === 1 && nuls.countBefore(lf) === 0
    index.take(
      { bytes: chunk, start, end, offset: base + start, isPlain },
      true,
      sameLine(file, index, chunk, start, end)
    )
    start = lf + 1
    if (index.facts.noHeaderAt !== null) return start
  }
  return start
}

const takeTail = (file: number, index: LineIndex, bytes: Buffer, base: number): void => {
  const start = base === 0 && bytes.subarray(0, 3).equals(BOM) ? 3 : 0
  index.take(
    { bytes, start, end: bytes.length, offset: base + start, isPlain: false },
    false,
    sameLine(file, index, bytes, start, bytes.length)
  )
}
