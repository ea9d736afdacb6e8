/**
 * One session as the page knows it: its tree from the start, its words as they are needed, and what is appended while
 * the person looks. Not a part of the screen; those who draw subscribe.
 */
import { Entry, type SessionTree } from "@grove/core/model"
import { ask } from "../shared/Api.ts"
import { treeOf } from "../wire/Skeleton.ts"
import type * as Wire from "../wire/Wire.ts"

export type Connection = "live" | "lost" | "gone"

/** Texts of so many entries are kept; those asked for longest ago go first. */
const MOST_BODIES = 1500
const MOST_IN_ONE = 60
const MOST_PREVIEWS = 200

/** Collects what is asked for within a moment, and asks for it in as few requests as can be. */
class Collector<A> {
  readonly #wanted = new Set<string>()
  readonly #fetch: (ids: ReadonlyArray<string>) => Promise<ReadonlyArray<A>>
  readonly #take: (found: ReadonlyArray<A>, asked: ReadonlyArray<string>) => void
  readonly #most: number
  #isBusy = false

  constructor(
    most: number,
    fetch: (ids: ReadonlyArray<string>) => Promise<ReadonlyArray<A>>,
    take: (found: ReadonlyArray<A>, asked: ReadonlyArray<string>) => void
  ) {
    this.#most = most
    this.#fetch = fetch
    this.#take = take
  }

  ask(ids: Iterable<string>): void {
    for (const id of ids) this.#wanted.add(id)
    if (!this.#isBusy && this.#wanted.size > 0) {
      this.#isBusy = true
      queueMicrotask(() => void this.#run())
    }
  }

  /** What was scrolled past is not worth asking for: the newest wishes come first. */
  async #run(): Promise<void> {
    while (this.#wanted.size > 0) {
      const ids = [...this.#wanted].slice(-this.#most)
      for (const id of ids) this.#wanted.delete(id)
      try {
        this.#take(await this.#fetch(ids), ids)
      } catch {
        // The server is gone for now; what is on screen asks again when it is back.
        this.#take([], [])
        break
      }
    }
    this.#isBusy = false
  }
}

const query = (ids: ReadonlyArray<string>): string => ids.map((id) => `id=${encodeURIComponent(id)}`).join("&")

export class SessionModel {
  session: Wire.Session
  tree: SessionTree
  connection: Connection = "live"
  /** Goes up with whatever changed; trees and paths made before are of an older state. */
  version = 0
  /** Lines that were appended and could not be read. */
  malformed = 0
  /** Entries that came while the page was open, oldest first. */
  readonly arrived: Array<string> = []
  readonly #bodies = new Map<string, Wire.Body>()
  readonly #previews = new Map<string, string>()
  readonly #listeners = new Set<() => void>()
  readonly #bodyCollector: Collector<Wire.Body>
  readonly #previewCollector: Collector<Wire.Preview>
  #events: EventSource | undefined
  #end: number

  readonly path: string

  constructor(session: Wire.Session) {
    this.session = session
    this.tree = treeOf(session.skeleton)
    this.#end = session.end
    this.path = `/api/s/${encodeURIComponent(session.row.key)}`
    this.#bodyCollector = new Collector(
      MOST_IN_ONE,
      (ids) => ask<ReadonlyArray<Wire.Body>>(`${this.path}/entries?${query(ids)}`),
      (found, asked) => {
        for (const body of found) this.#keep(body)
        const missing = found.length === 0 ? [] : asked.filter((id) => !this.#bodies.has(id) && this.tree.has(id))
        this.#tell()
        this.#bodyCollector.ask(missing)
      }
    )
    this.#previewCollector = new Collector(
      MOST_PREVIEWS,
      (ids) => ask<ReadonlyArray<Wire.Preview>>(`${this.path}/previews?${query(ids)}`),
      (found) => {
        for (const { id, text } of found) this.#previews.set(id, text)
        this.#tell()
      }
    )
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly snapshot = (): number => this.version

  #tell(): void {
    this.version++
    for (const listener of this.#listeners) listener()
  }

  #keep(body: Wire.Body): void {
    this.#bodies.delete(body.entry.id)
    this.#bodies.set(body.entry.id, body)
    while (this.#bodies.size > MOST_BODIES) this.#bodies.delete(this.#bodies.keys().next().value!)
  }

  body(id: string): Wire.Body | undefined {
    return this.#bodies.get(id)
  }

  preview(id: string): string | undefined {
    return this.#previews.get(id)
  }

  wantBodies(ids: ReadonlyArray<string>): void {
    this.#bodyCollector.ask(ids.filter((id) => !this.#bodies.has(id)))
  }

  wantPreviews(ids: ReadonlyArray<string>): void {
    this.#previewCollector.ask(ids.filter((id) => !this.#previews.has(id)))
  }

  /** The entry with all of its text. */
  async wantWhole(id: string): Promise<void> {
    const [body] = await ask<ReadonlyArray<Wire.Body>>(`${this.path}/entries?full=1&${query([id])}`)
    if (body !== undefined) this.#keep(body)
    this.#tell()
  }

  find(words: string, signal: AbortSignal): Promise<Wire.Found> {
    return ask<Wire.Found>(`${this.path}/find?q=${encodeURIComponent(words)}`, signal)
  }

  /** Listens until the answer is called. A page that nobody sees does not hold a connection. */
  listen(): () => void {
    const open = () => {
      if (this.#events !== undefined || document.hidden || this.connection === "gone") return
      const address = `${this.path}/events?from=${this.#end}&generation=${this.session.generation}`
      const events = new EventSource(address)
      events.onopen = () => this.#connected("live")
      events.onerror = () => this.#connected("lost")
      for (const type of ["entries", "replaced", "gone"]) {
        events.addEventListener(type, (event) => {
          const { data, lastEventId } = event as MessageEvent<string>
          this.#happened(JSON.parse(data) as Wire.Event, Number(lastEventId))
        })
      }
      this.#events = events
    }
    const close = () => {
      this.#events?.close()
      this.#events = undefined
    }
    const onVisible = () => (document.hidden ? close() : open())
    document.addEventListener("visibilitychange", onVisible)
    open()
    return () => {
      document.removeEventListener("visibilitychange", onVisible)
      close()
    }
  }

  #connected(connection: Connection): void {
    if (this.connection === connection || this.connection === "gone") return
    this.connection = connection
    this.#tell()
  }

  #happened(event: Wire.Event, end: number): void {
    if (event.type === "entries") {
      this.#end = end
      this.malformed += event.malformed
      for (const entry of event.entries) {
        this.tree.put(entry)
        this.#bodies.delete(entry.id)
        this.#previews.delete(entry.id)
        if (Entry.role(entry) !== null) this.arrived.push(entry.id)
      }
      this.#tell()
    } else {
      this.#events?.close()
      this.#events = undefined
      if (event.type === "gone") this.#connected("gone")
      else void this.#readAgain()
    }
  }

  async #readAgain(): Promise<void> {
    try {
      this.session = await ask<Wire.Session>(this.path)
    } catch {
      return this.#connected("gone")
    }
    this.tree = treeOf(this.session.skeleton)
    this.#end = this.session.end
    this.#bodies.clear()
    this.#previews.clear()
    this.#tell()
    this.listen()
  }
}
