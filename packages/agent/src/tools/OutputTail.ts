/** What a command prints: the end of it in memory, the whole in a file, and never more than there is room for. */
import { randomBytes } from "node:crypto"
import { closeSync, lstatSync, openSync, readdirSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"

export interface Limits {
  /** So much of the end is kept to be shown. */
  readonly lines: number
  readonly bytes: number
  /** So much of the beginning is kept in the file. */
  readonly fileBytes: number
}

export const limits: Limits = { lines: 2_000, bytes: 50 * 1024, fileBytes: 100 * 1024 * 1024 }

/** What was printed, for people and models. */
export interface Printed {
  /** The end of it, as plain text. */
  readonly text: string
  /** Whether there was more than that. */
  readonly isCut: boolean
  readonly bytes: number
  /** Where what is left out can be read; absent where nothing is, or where no file could be written. */
  readonly file?: string
  /** Whether the file has all of it; otherwise it has the beginning. */
  readonly isFileWhole: boolean
}

const LOG = /^grove-output-[0-9a-f]{16}\.log$/
/** A log is for the conversation in which it was written; a week later nobody asks for the rest any more. */
const KEPT_MILLIS = 7 * 24 * 60 * 60_000
const swept = new Set<string>()

/** Removes logs of ours that are too old; once a folder, when the next log is written there. */
const sweep = (folder: string): void => {
  if (swept.has(folder)) return
  swept.add(folder)
  for (const name of readdirSync(folder).filter((each) => LOG.test(each))) {
    const path = join(folder, name)
    try {
      const { mtimeMs, uid } = lstatSync(path)
      if (uid === process.getuid?.() && Date.now() - mtimeMs > KEPT_MILLIS) unlinkSync(path)
    } catch {
      // Somebody else was first.
    }
  }
}

/** What colours, moves and titles a terminal; hyperlinks too. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g
const CONTROLS = /(?![\n\t])\p{Cc}/gu

/** A line that was written over itself, as bars of progress are, is what it was at last. */
const overwritten = (line: string): string => line.slice(line.lastIndexOf("\r") + 1)

/** As plain text: nothing in it moves a cursor, rings a bell, or is invisible. */
export const plain = (text: string): string =>
  text
    .replace(ESCAPES, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => overwritten(line.replace(/\r+$/, "")))
    .join("\n")
    .replace(CONTROLS, "\ufffd")

/** The bytes from the first whole character on. */
const fromCharacter = (bytes: Buffer): Buffer => {
  let at = 0
  while (at < 3 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at++
  return bytes.subarray(at)
}

const lastLines = (text: string, lines: number): string => {
  let at = text.endsWith("\n") ? text.length - 1 : text.length
  for (let left = lines; left > 0; left--) {
    at = text.lastIndexOf("\n", at - 1)
    if (at < 0) return text
    if (at === 0) return left === 1 ? text.slice(1) : text
  }
  return text.slice(at + 1)
}

export class OutputTail {
  readonly #folder: string
  readonly #limits: Limits
  /** The last bytes; once it is full, the oldest is at `#next`. */
  readonly #ring: Buffer
  #next = 0
  #total = 0
  #file: { readonly path: string; readonly descriptor: number } | undefined
  #mayWrite = true
  #written = 0

  constructor(folder: string, limit: Limits = limits) {
    this.#folder = folder
    this.#limits = limit
    this.#ring = Buffer.alloc(limit.bytes)
  }

  add(chunk: Buffer): void {
    if (this.#file === undefined && this.#total + chunk.length > this.#ring.length) this.#openFile()
    this.#write(chunk)
    this.#total += chunk.length
    const kept = chunk.subarray(-this.#ring.length)
    const fitting = kept.copy(this.#ring, this.#next)
    const wrapped = kept.copy(this.#ring, 0, fitting)
    this.#next = wrapped > 0 ? wrapped : (this.#next + fitting) % this.#ring.length
  }

  /** What was printed so far; call `close` when nothing more will be. */
  printed(): Printed {
    const isLonger = this.#total > this.#ring.length
    const held = this.#held()
    const text = plain(new TextDecoder().decode(isLonger ? fromCharacter(held) : held))
    const tail = lastLines(text, this.#limits.lines)
    const isCut = isLonger || tail.length < text.length
    if (isCut && this.#file === undefined) this.#openFile()
    return {
      text: tail,
      isCut,
      bytes: this.#total,
      isFileWhole: this.#file !== undefined && this.#written === this.#total,
      ...(this.#file !== undefined && { file: this.#file.path })
    }
  }

  #held(): Buffer {
    if (this.#total < this.#ring.length) return this.#ring.subarray(0, this.#next)
    return Buffer.concat([this.#ring.subarray(this.#next), this.#ring.subarray(0, this.#next)])
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.descriptor)
    this.#mayWrite = false
  }

  /** Only its owner can read it: what commands print may be secret. Without a file the tail is all there is. */
  #openFile(): void {
    if (!this.#mayWrite) return
    const path = join(this.#folder, `grove-output-${randomBytes(8).toString("hex")}.log`)
    try {
      this.#file = { path, descriptor: openSync(path, "wx", 0o600) }
      this.#write(this.#held())
      sweep(this.#folder)
    } catch {
      this.#mayWrite = false
    }
  }

  #write(chunk: Buffer): void {
    if (this.#file === undefined || !this.#mayWrite) return
    const piece = chunk.subarray(0, Math.max(0, this.#limits.fileBytes - this.#written))
    try {
      for (let at = 0; at < piece.length; ) at += writeSync(this.#file.descriptor, piece, at)
      this.#written += piece.length
    } catch {
      // A full disk: what is there stays, and the command goes on.
      this.#mayWrite = false
    }
  }
}
