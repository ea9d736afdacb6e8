/** Entries as lines. The bytes are lent until the next call, so that a long row of appends makes no garbage. */
import type { Entry } from "@grove/core"

const LF = 10
const SCRATCH = 256 * 1024
/** UTF-8 takes at most so many bytes for a unit of UTF-16. */
const WIDEST = 3

export class LineEncoder {
  #scratch = Buffer.allocUnsafe(0)

  encode(entries: ReadonlyArray<Entry.Entry>): Uint8Array {
    const lines = entries.map((entry) => JSON.stringify(entry))
    let most = 0
    for (const line of lines) most += WIDEST * line.length + 1
    const bytes = this.#bufferFor(most)
    let end = 0
    for (const line of lines) {
      end += bytes.write(line, end)
      bytes[end++] = LF
    }
    return bytes.subarray(0, end)
  }

  /** What is larger than usual is not kept. */
  #bufferFor(size: number): Buffer {
    if (size > SCRATCH) return Buffer.allocUnsafe(size)
    if (this.#scratch.length < size) this.#scratch = Buffer.allocUnsafe(SCRATCH)
    return this.#scratch
  }
}
