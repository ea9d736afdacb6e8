/** A session in one row of a list. */
import * as Entry from "./Entry.ts"
import * as Facts from "./Facts.ts"
import type { Header, TitleSlot } from "./Header.ts"
import { isObject, stringOr } from "./open.ts"
import { textOf } from "./Preview.ts"
import type { SessionTree } from "./SessionTree.ts"

export interface SessionSummary {
  readonly id: string | null
  readonly path: string
  readonly cwd: string | null
  readonly name: string | null
  readonly created: string | null
  /** The newest prompt or reply, else the header's time: reading or copying a file does not make it newer. */
  readonly modified: string | null
  readonly messageCount: number
  readonly branches: number
  readonly firstMessage: string | null
  readonly parentSession: string | null
  /** Whose store it is in. */
  readonly source: string
  /** A chat that has no reply yet. */
  readonly draft: boolean
}

const iso = (milliseconds: number): string | null => {
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

export const of = (
  header: Header | null,
  title: TitleSlot | null,
  tree: SessionTree,
  place: { readonly path: string; readonly source: string; readonly draft: boolean }
): SessionSummary => {
  let messageCount = 0
  let newest = 0
  let firstMessage: string | null = null
  for (const row of tree.rows()) {
    if (tree.typeAt(row) !== "message") continue
    messageCount++
    const role = tree.roleAt(row)
    if (role !== "user" && role !== "assistant") continue
    newest = Math.max(newest, tree.spokenAt(row))
    if (firstMessage === null && role === "user") {
      const { message } = tree.entryAt(row)
      firstMessage = (isObject(message) && textOf(message.content)) || null
    }
  }
  const created = stringOr(header?.timestamp, null)
  return {
    id: header?.id ?? null,
    path: place.path,
    cwd: stringOr(header?.cwd, null),
    name: Facts.nameOf(tree.facts, title, header),
    created,
    modified: (newest > 0 ? iso(newest) : null) ?? created,
    messageCount,
    branches: tree.leaves().length,
    firstMessage,
    parentSession: stringOr(header?.parentSession, null),
    source: place.source,
    draft: place.draft
  }
}

/** Newest first; what has no time comes last. */
export const byModified = (a: SessionSummary, b: SessionSummary): number =>
  Entry.time(b.modified ?? "") - Entry.time(a.modified ?? "") || (a.path < b.path ? -1 : 1)
