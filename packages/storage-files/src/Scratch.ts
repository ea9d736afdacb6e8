/** Lines as bytes, in one place that is used again, so that a long row of appends makes no garbage. */

/** The texts of lines, or the bytes of whole lines. */
export type Lines = ReadonlyArray<string> | Uint8Array

const LF = 10
const SIZE = 1024 * 1024
/** UTF-8 takes at most so many bytes for a unit of UTF-16. */
const WIDEST = 3

const mostBytes = (lines: Lines): number => {
  if (lines instanceof Uint8Array) return lines.length
  let most = 0
  for (const text of lines) most += WIDEST * text.length + 1
  return most
}

export class Scratch {
  #buffer = Buffer.allocUnsafe(0)

  /** All of them in a row, each with its line end. The bytes are lent until the next call. */
  bytesOf(parts: ReadonlyArray<Lines>): Uint8Array {
    let most = 0
    for (const lines of parts) most += mostBytes(lines)
    const buffer = this.#bufferFor(most)
    let end = 0
    for (const lines of parts) {
      if (lines instanceof Uint8Array) {
        buffer.set(lines, end)
        end += lines.length
        continue
      }
      for (const text of lines) {
        end += buffer.write(text, end)
        buffer[end++] = LF
      }
    }
    return buffer.subarray(0, end)
  }

  /** What is larger than usual is not kept. */
  #bufferFor(size: number): Buffer {
    if (size > SIZE) return Buffer.allocUnsafe(size)
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafe(SIZE)
    return this.#buffer
  }
}
