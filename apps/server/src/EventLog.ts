/**
 * Everything that happens in one session, numbered: what is in the session by its place there, what is not by a count
 * beside it. A reader asks for what came after a number, and gets all of it, once, in order, or is told that it is gone.
 *
 * Nothing here waits: what the session has gained is taken in before anything is numbered or answered, so that no event
 * can come between an entry and its frame.
 */
import type { Header, SessionTree } from "@grove/core"
import * as ChatTree from "./ChatTree.ts"
import { type Event, type Frame, isSeq, ofRow, placeOf, seqOf, silentRows } from "./Frame.ts"

/** A frame as it is sent. */
export interface Sent {
  readonly seq: number
  readonly text: string
}

export interface Options {
  readonly sessionId: string
  readonly header: Header.Header | null
  readonly tree: SessionTree
  /** Milliseconds since 1970. */
  readonly now: number
  /** How many characters of frames are kept for those who lag behind. */
  readonly most?: number
}

/** Counts at the place where a session is opened begin with the time, so that they go up from one opening to the next. */
const BEGINNING = Date.UTC(2026, 0, 1)
const countAt = (now: number): number => Math.max(1, Math.floor((now - BEGINNING) / 1000))

const MOST = 4 << 20
/** Who has missed more than this is better off with the whole tree. */
const FURTHEST = 20_000
const AT_ONCE = 256

interface Growing extends ChatTree.Growing {
  text: string
  /** The number of the frame that told of its beginning. */
  readonly since: number
}

export class EventLog {
  readonly #options: Options
  readonly #listeners = new Set<() => void>()
  readonly #growing = new Map<string, Growing>()
  readonly #recent: Array<Sent> = []
  #size = 0
  /** Frames after this number are among the recent ones; those up to it have to be read from the session. */
  #floor: number
  #place: number
  #count: number
  #row: number
  #leaf: string | null

  constructor(options: Options) {
    const { tree, now } = options
    this.#options = options
    this.#place = tree.size
    this.#row = tree.rowCount
    this.#count = countAt(now)
    this.#floor = seqOf(this.#place, this.#count)
    this.#leaf = ChatTree.nodeId(tree, tree.leaf)
  }

  /** Called whenever there is something new; answers how to stop that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The number of the last thing that happened. */
  get seq(): number {
    this.take()
    return seqOf(this.#place, this.#count)
  }

  /** Takes in what the session has gained. */
  take(): void {
    const { tree } = this.#options
    if (this.#row === tree.rowCount) return
    const silent = silentRows(tree)
    for (const id of this.#growing.keys()) if (tree.has(id)) this.#growing.delete(id)
    const growing = [...this.#growing.values()]
    for (; this.#row < tree.rowCount; this.#row++) {
      if (!tree.isThere(this.#row)) continue
      // A line that was written twice is one entry, and has one place.
      if (this.#place < tree.size) {
        this.#place++
        this.#count = 0
      }
      const { events, leaf } = ofRow(tree, this.#row, this.#leaf, silent, growing)
      this.#leaf = leaf
      for (const event of events) this.#add(event)
    }
    this.#tell()
  }

  #add(event: Event): void {
    const seq = seqOf(this.#place, ++this.#count)
    const text = JSON.stringify({ seq, ...event } satisfies Frame)
    this.#recent.push({ seq, text })
    this.#size += text.length
    let gone = 0
    while (this.#size > (this.#options.most ?? MOST) && gone < this.#recent.length - 1) {
      this.#size -= this.#recent[gone]!.text.length
      this.#floor = this.#recent[gone++]!.seq
    }
    if (gone > 0) this.#recent.splice(0, gone)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  // -------------------------------------------------------------------------------------------------------- replies

  /** A reply begins to grow. Twice is once, and one that is in the session has grown already. */
  begin(reply: Omit<ChatTree.Growing, "text">): void {
    this.take()
    const { tree } = this.#options
    if (this.#growing.has(reply.id) || tree.has(reply.id)) return
    const growing = { ...reply, text: "", since: seqOf(this.#place, this.#count + 1) }
    this.#growing.set(reply.id, growing)
    this.#add({ event: "node.created", data: ChatTree.growingNode(tree, growing) })
    this.#tell()
  }

  /** A reply goes on. */
  grow(id: string, kind: "text" | "thinking", text: string): void {
    this.take()
    const growing = this.#growing.get(id)
    if (growing === undefined) return
    if (kind === "text") growing.text += text
    const data = kind === "text" ? { id, contentChunk: text } : { id, contentChunk: "", thinkingChunk: text }
    this.#add({ event: "node.content.updated", data })
    this.#tell()
  }

  /** A reply will never be in the session: it could not be written, or is asked for again under another name. */
  drop(id: string, error: string): void {
    this.take()
    const growing = this.#growing.get(id)
    if (growing === undefined) return
    this.#growing.delete(id)
    const node = ChatTree.growingNode(this.#options.tree, growing)
    this.#add({ event: "node.failed", data: { ...node, status: "error", metadata: { ...node.metadata, error } } })
    this.#tell()
  }

  isGrowing(id: string): boolean {
    this.take()
    return this.#growing.has(id)
  }

  // -------------------------------------------------------------------------------------------------------- reading

  node(id: string): ChatTree.ChatMessageNode | undefined {
    this.take()
    const { tree } = this.#options
    const growing = this.#growing.get(id)
    if (growing !== undefined) return ChatTree.growingNode(tree, growing)
    const isNode = tree.has(id) && ChatTree.isNodeAt(tree, tree.rowOf(id))
    return isNode ? ChatTree.nodeAt(tree, tree.rowOf(id), [...this.#growing.values()]) : undefined
  }

  tree(): ChatTree.ChatHistoryTree {
    const { seq } = this
    const { sessionId, header, tree } = this.#options
    return ChatTree.of({ sessionId, header, tree, growing: [...this.#growing.values()], seq })
  }

  /** What came after a number, as much as is handed out at once; `undefined` where that can no longer be told. */
  after(seq: number): ReadonlyArray<Sent> | undefined {
    const last = this.seq
    if (seq === last) return []
    if (!isSeq(seq) || seq > last) return undefined
    if (seq >= this.#floor) return this.#after(seq)
    // Pieces of a growing reply are nowhere but among the recent frames.
    for (const { since } of this.#growing.values()) if (since <= this.#floor) return undefined
    const written = this.#written(seq)
    return written === undefined || written.length > 0 ? written : this.#after(this.#floor)
  }

  #after(seq: number): ReadonlyArray<Sent> {
    let low = 0
    let high = this.#recent.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#recent[middle]!.seq <= seq) low = middle + 1
      else high = middle
    }
    return this.#recent.slice(low, low + AT_ONCE)
  }

  /** Frames of entries, read from the session again, up to where the recent ones begin. */
  #written(seq: number): ReadonlyArray<Sent> | undefined {
    const { tree } = this.#options
    const [from, to] = [placeOf(seq), placeOf(this.#floor)]
    if (to - from > FURTHEST) return undefined
    const rows = tree.rows()
    const silent = silentRows(tree)
    let leaf = leafBefore(tree, rows, from - 1, silent)
    const found: Array<Sent> = []
    for (let place = Math.max(from, 1); place <= to && found.length < AT_ONCE; place++) {
      const told = ofRow(tree, rows[place - 1]!, leaf, silent, [...this.#growing.values()])
      leaf = told.leaf
      for (const [at, event] of told.events.entries()) {
        const own = seqOf(place, at + 1)
        if (own > seq && own <= this.#floor) found.push({ seq: own, text: JSON.stringify({ seq: own, ...event }) })
      }
    }
    return found
  }
}

/** The node the person stood on when so many entries had been written. */
const leafBefore = (
  tree: SessionTree,
  rows: ReadonlyArray<number>,
  place: number,
  silent: ReadonlySet<number>
): string | null => {
  let at = place - 1
  while (at >= 0 && silent.has(rows[at]!)) at--
  return at < 0 ? null : ChatTree.nodeId(tree, tree.leafAsOf(rows[at]!))
}

/** Whether an entry was written after a number was given out. */
export const isStale = (log: EventLog, seq: number): boolean => placeOf(log.seq) > placeOf(seq) || seq > log.seq
