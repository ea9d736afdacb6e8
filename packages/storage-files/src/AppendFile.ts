/**
 * One session file, appended to so that nothing acknowledged is ever lost: not by a crash at any byte, not by another
 * process that appends too, not by one that replaces the file. Each step below is there because leaving it out lost
 * lines in an experiment.
 *
 * 1. The path must still be our file, else it is opened anew; what others added is read; if the last byte is no LF,
 *    our write begins with one.
 * 2. One write of whole lines at the end. A short count is a failure and is never continued.
 * 3. fdatasync, shared by all appends that were waiting.
 * 4. The path must still be our file and have grown by our bytes alone, else our lines are looked for, and appended
 *    again if they are not there whole.
 *
 * Nothing is ever truncated or written in place.
 */
import { dirname } from "node:path"
import { type Disk, type FileState, isMissing, readRange, writeWhole } from "./Disk.ts"
import { type Lines, Scratch } from "./Scratch.ts"

/** `always`: acknowledged once durable. `never`: once written, which survives a killed process but not a power cut. */
export type Durability = "always" | "never"

export interface Options {
  readonly disk: Disk
  /** Names the file may have, the first that is there counts: a session, or its draft. */
  readonly names: ReadonlyArray<string>
  readonly durability: Durability
  /** The file as it was read: what comes after `end` is news. */
  readonly from: { readonly inode: number; readonly end: number }
  /**
   * Whole lines that are in the file and were not known, without their line ends: what others wrote. After a failure
   * or a replacement, lines of ours may be among them.
   */
  readonly onForeign: (lines: ReadonlyArray<Uint8Array>) => void
  /** The file is another one now, or shorter than it was: everything known of it must be read again. */
  readonly onReplaced: () => void
  /**
   * Whether a file that replaced ours holds what ours held. Asked when everything in it is taken and our write is next;
   * `unfinished` reads its last line if that has no end.
   */
  readonly isWhole?: (unfinished: () => Uint8Array) => boolean
  /** Called with the first of a row of failures. */
  readonly onFailure: (path: string, cause: unknown) => void
}

interface Failure {
  readonly cause: unknown
}

/** Called once: when lines are kept as the durability asks, or with the reason why they are not. */
export type Answer = (failure?: Failure) => void

interface Waiting {
  readonly lines: Lines
  readonly answer: Answer
}

const LF = 10
const LINE_END = Uint8Array.of(LF)
const MOST_ATTEMPTS = 1000
/** Half of those who wait share a sync, so that the others can share the next one; but not fewer than these. */
const FEWEST_SHARED = 32

/** Whoever replaces a file carries over last what it gained meanwhile; this long is waited for that. */
const PATIENCE = 1000
const PAUSE = 10

/** The file was replaced by one that lacks entries which were in it; whoever wrote on would lose their place. */
export class EntriesGone extends Error {
  constructor() {
    super("the file was replaced by one without entries that were in it; open the session again")
  }
}

const pause = () => new Promise((next) => setTimeout(next, PAUSE))

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))

export class AppendFile {
  readonly #options: Options
  #path: string
  #file: number
  #inode: number
  /** Everything before this byte is known to whoever opened the file. */
  #end: number
  #waiting: Array<Waiting> = []
  #draining: Promise<void> | undefined
  #failure: Failure | undefined
  /** After a sync that failed, the line end we see may not be on the medium: what comes next brings its own. */
  #isEndDoubtful = false
  /** How long the file was when it ended with a line of ours. */
  #written: number | undefined
  #isClosed = false
  /** What is being written; one write is under way at a time. */
  readonly #scratch = new Scratch()

  constructor(options: Options) {
    this.#options = options
    const { disk, from, names } = options
    this.#path = names[0]!
    this.#file = this.#open()
    this.#inode = disk.statOpen(this.#file).inode
    this.#end = this.#inode === from.inode ? from.end : 0
    if (this.#inode !== from.inode) options.onReplaced()
  }

  /** The name the file has now. */
  get path(): string {
    return this.#path
  }

  /**
   * Keeps whole lines. They stay together, in the order of the calls. The answer may come during the call, where
   * nothing has to be waited for.
   */
  write(lines: Lines, answer: Answer): void {
    if (this.#isClosed) {
      answer({ cause: new Error("the session is closed") })
      return
    }
    let failure: Failure | undefined
    try {
      if (!this.#mayBeKeptAtOnce || !this.#isKeptAtOnce(lines)) {
        this.#waiting.push({ lines, answer })
        this.#draining ??= this.#drain()
        return
      }
    } catch (cause) {
      failure = this.#latch(cause)
    }
    answer(failure)
  }

  /** `write` as a promise. */
  append(lines: Lines): Promise<void> {
    return new Promise((done, failed) => {
      this.write(lines, (failure) => (failure === undefined ? done() : failed(failure.cause)))
    })
  }

  /** Everything appended before is on the medium; fails with the first failure that no later append has made good. */
  async flush(): Promise<void> {
    await this.#settle()
    if (this.#options.durability === "never" && !this.#isClosed) await this.#options.disk.sync(this.#file)
  }

  async #settle(): Promise<void> {
    await this.#draining
    if (this.#failure !== undefined) throw this.#failure.cause
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#settle()
    } finally {
      this.#options.disk.close(this.#file)
    }
  }

  /** Looks for what others did. Cheap when they did nothing. */
  poll(): void {
    if (this.#isClosed || this.#draining !== undefined) return
    this.#synchronise()
  }

  /** Gives the file its final name: done by whoever appends the first reply to a draft. */
  promote(to: string): void {
    if (this.#path === to) return
    const { disk } = this.#options
    try {
      disk.rename(this.#path, to)
      this.#path = to
    } catch (cause) {
      this.#state()
      if (this.#path !== to) throw cause
      // Somebody else was first.
    }
    disk.syncDirectory(dirname(to))
  }

  async #drain(): Promise<void> {
    // One turn of the event loop lets appends that come together share a write and a sync.
    if (this.#options.durability === "always") await Promise.resolve()
    let answer = () => {}
    for (;;) {
      if (this.#waiting.length === 0) {
        answer()
        answer = () => {}
        if (this.#waiting.length === 0) break
      }
      const batch = this.#waiting.splice(0, Math.max(FEWEST_SHARED, this.#waiting.length >> 1))
      const committed = this.#commit(batch.map(({ lines }) => lines))
      // While the medium is busy, those who were served before make their next lines.
      answer()
      const failure = await committed.then(
        () => (this.#failure = undefined),
        (cause) => this.#latch(cause)
      )
      answer = () => {
        for (const { answer } of batch) answer(failure)
      }
    }
    this.#draining = undefined
  }

  /** Flushing and closing fail with the first failure, until a write succeeds. */
  #latch(cause: unknown): Failure {
    if (this.#failure === undefined) {
      this.#failure = { cause }
      this.#options.onFailure(this.#path, cause)
    }
    return { cause }
  }

  get #mayBeKeptAtOnce(): boolean {
    return this.#options.durability === "never" && this.#draining === undefined && this.#failure === undefined
  }

  /** False where the file is another one, or must be waited for. */
  #isKeptAtOnce(text: Lines): boolean {
    const before = this.#synchronise()
    if (!this.#isWhole(before)) return false
    const lines = this.#scratch.bytesOf([text])
    return this.#isKept(before, this.#write(lines, before), lines)
  }

  async #commit(texts: ReadonlyArray<Lines>): Promise<void> {
    const lines = this.#scratch.bytesOf(texts)
    const { disk, durability } = this.#options
    let hasSyncFailed = false
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      let before = this.#synchronise()
      for (let waited = 0; !this.#isWhole(before); waited += PAUSE) {
        if (waited >= PATIENCE) throw new EntriesGone()
        await pause()
        before = this.#synchronise()
      }
      const bytes = this.#write(lines, before)
      if (durability === "always") {
        try {
          await disk.sync(this.#file)
        } catch (cause) {
          // The kernel may have dropped the pages it could not write, so syncing them again proves nothing.
          this.#isEndDoubtful = true
          if (hasSyncFailed) throw cause
          hasSyncFailed = true
          continue
        }
      }
      if (!this.#isKept(before, bytes, lines)) continue
      this.#isEndDoubtful = false
      return
    }
    throw new Error("the file was replaced again and again while it was written")
  }

  #isWhole(size: number): boolean {
    const { isWhole } = this.#options
    return isWhole === undefined || isWhole(() => this.#read(this.#end, size))
  }

  /** Step 2; answers what was written. */
  #write(lines: Uint8Array, before: number): Uint8Array {
    const bytes = this.#endsWithLine(before) ? lines : concat([LINE_END, lines])
    writeWhole(this.#options.disk, this.#file, bytes)
    return bytes
  }

  /** Step 4. Takes what others wrote around our lines; false if our lines are not in the file the path names. */
  #isKept(before: number, bytes: Uint8Array, lines: Uint8Array): boolean {
    const { disk } = this.#options
    const after = this.#state()
    if (after.inode === this.#inode && after.size === before + bytes.length) {
      this.#takePending(before)
      this.#end = after.size
      this.#written = after.size
      return true
    }
    const isReplaced = after.inode !== this.#inode
    if (isReplaced) this.#reopen()
    const start = this.#end
    const tail = this.#read(start, disk.statOpen(this.#file).size)
    const at = findLines(tail, lines, start === 0 || this.#byteAt(start - 1) === LF)
    if (at === undefined) return false
    // Of a new file everything is told, ours too: whoever must know what it holds knows it then.
    this.#takeForeign(tail.subarray(0, isReplaced ? at + lines.length : at))
    this.#end = start + at + lines.length
    this.#takeNews(start + tail.length)
    return true
  }

  /** Step 1: our file is open and everything others wrote is taken. Answers its size. */
  #synchronise(): number {
    const state = this.#state()
    const isOurs = state.inode === this.#inode
    if (!isOurs) this.#reopen()
    const { size } = isOurs ? state : this.#options.disk.statOpen(this.#file)
    if (size < this.#end) {
      this.#end = 0
      this.#written = undefined
      this.#options.onReplaced()
    }
    this.#takeNews(size)
    return size
  }

  /** What `use` answers for the first name that is there. The first comes again at last: a draft may get it meanwhile. */
  #first<A>(use: (name: string) => A): A {
    const { names } = this.#options
    let missing: unknown
    for (const name of [...names, names[0]!]) {
      try {
        const found = use(name)
        this.#path = name
        return found
      } catch (cause) {
        if (!isMissing(cause)) throw cause
        missing ??= cause
      }
    }
    throw missing
  }

  #open(): number {
    return this.#first((name) => this.#options.disk.open(name, "append"))
  }

  #state(): FileState {
    const { disk, names } = this.#options
    try {
      // As a rule the file has had its final name for long.
      if (this.#path === names[0]) return disk.stat(this.#path)
    } catch (cause) {
      if (!isMissing(cause)) throw cause
    }
    return this.#first(disk.stat)
  }

  #reopen(): void {
    const { disk, durability, onReplaced } = this.#options
    // Whoever replaced it may not have come to this yet, and what we write must not go with a name that is forgotten.
    if (durability === "always") disk.syncDirectory(dirname(this.#path))
    const file = this.#open()
    disk.close(this.#file)
    this.#file = file
    this.#inode = disk.statOpen(file).inode
    this.#end = 0
    this.#written = undefined
    onReplaced()
  }

  #read(start: number, end: number): Uint8Array {
    return readRange(this.#options.disk, this.#file, start, end)
  }

  #byteAt(position: number): number | undefined {
    return this.#read(position, position + 1)[0]
  }

  #endsWithLine(size: number): boolean {
    if (this.#isEndDoubtful) return false
    return size === 0 || size === this.#written || this.#byteAt(size - 1) === LF
  }

  /** Takes whole lines up to `size`; an unfinished last one stays news until it is whole. */
  #takeNews(size: number): void {
    if (size <= this.#end) return
    const news = this.#read(this.#end, size)
    const lastLine = news.lastIndexOf(LF) + 1
    this.#takeForeign(news.subarray(0, lastLine))
    this.#end += lastLine
  }

  /** An unfinished line of somebody else that our LF has ended is theirs, whole or torn. */
  #takePending(before: number): void {
    if (this.#end < before) this.#takeForeign(this.#read(this.#end, before))
  }

  #takeForeign(bytes: Uint8Array): void {
    const lines: Array<Uint8Array> = []
    for (let start = 0; start < bytes.length; ) {
      const lf = bytes.indexOf(LF, start)
      const end = lf === -1 ? bytes.length : lf
      if (end > start) lines.push(bytes.subarray(start, end))
      start = end + 1
    }
    if (lines.length > 0) this.#options.onForeign(lines)
  }
}

/** Where `lines` stand whole at the start of a line in `bytes`. */
export const findLines = (bytes: Uint8Array, lines: Uint8Array, startsLine: boolean): number | undefined => {
  const within = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = within.indexOf(lines); at >= 0; at = within.indexOf(lines, at + 1)) {
    if (at === 0 ? startsLine : bytes[at - 1] === LF) return at
  }
  return undefined
}
