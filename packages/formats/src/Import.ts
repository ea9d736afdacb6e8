/** Translated sessions as sessions of a store: made once, and brought up to date as their source grows. */
import { type Entry, type SessionRef, SessionStore } from "@grove/core"
import { Effect } from "effect"
import { leafMark, type TranslatedSession } from "./read/Translation.ts"
import * as Update from "./Update.ts"

export interface Imported {
  readonly id: string
  /** `null` for a session that would be new, where nothing is written. */
  readonly path: string | null
  /** How many entries the session has of its source. */
  readonly entries: number
  /** How many of them were not there before. */
  readonly added: number
  readonly status: "new" | "updated" | "unchanged"
}

export interface ImportOptions {
  /** The session of that id, if there is one; asked before anything is made. */
  readonly known: (id: string) => SessionRef | undefined
  /** Only says what would be done. */
  readonly dryRun?: boolean
}

/** Written so many at a time, so that a long session needs no buffer of its whole size. */
const BATCH = 1000

const appendAll = Effect.fnUntraced(function* (ref: SessionRef, entries: ReadonlyArray<Entry.Entry>) {
  const store = yield* SessionStore
  const log = yield* store.open(ref)
  for (let at = 0; at < entries.length; at += BATCH) yield* log.append(entries.slice(at, at + BATCH))
}, Effect.scoped)

/** Everything the session has, ready for a new file. */
const whole = ({ header, entries, leaf }: TranslatedSession) => [...entries, ...leafMark(header, entries.at(-1), leaf)]

/** What was cut short is completed by importing again: entries that are there are never written twice. */
export const session = Effect.fn("Import.session")(function* (
  translated: TranslatedSession,
  { known, dryRun = false }: ImportOptions
) {
  const store = yield* SessionStore
  const { header, entries } = translated
  const before = known(header.id)
  const count = entries.length
  if (before === undefined) {
    if (dryRun) return { id: header.id, path: null, entries: count, added: count, status: "new" } as const
    const ref = yield* store.create(header)
    yield* appendAll(ref, whole(translated))
    return { id: header.id, path: ref.path, entries: count, added: count, status: "new" } as const
  }
  const added = yield* Effect.scoped(
    Effect.map(store.read(before), ({ tree }) => (tree.size === 0 ? whole(translated) : Update.plan(tree, translated)))
  )
  const imported = { id: header.id, path: before.path, entries: count, added: added.length }
  if (added.length === 0) return { ...imported, status: "unchanged" } as const
  if (!dryRun) yield* appendAll(before, added)
  return { ...imported, status: "updated" } as const
})
