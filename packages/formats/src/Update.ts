/** What a translation adds to a session that was imported before. */
import { type Entry, type EntryId, isObject, type Json, Reply, type SessionTree } from "@grove/core"
import { digest } from "./read/Digest.ts"
import { leafMark, type TranslatedSession } from "./read/Translation.ts"

const originOf = ({ origin }: Entry.Entry): Json => (isObject(origin) ? origin : {})

/** Whether the importer wrote an entry, rather than somebody who went on from there. */
const isImported = (entry: Entry.Entry): boolean => typeof originOf(entry).format === "string"

/** An entry of a source that keeps its lines as they are has no digest, and never changes. */
const isSameBody = (a: Entry.Entry, b: Entry.Entry): boolean => {
  const [one, other] = [originOf(a).digest, originOf(b).digest]
  return one === undefined || other === undefined || one === other
}

const numberIn = (value: Json, key: string): number => {
  const number = value[key]
  return typeof number === "number" ? number : 0
}

/** What an entry used beyond what is already counted with an earlier form of it. */
const lessUsage = (entry: Entry.Entry, before: Entry.Entry): Entry.Entry => {
  const { message } = entry
  if (!isObject(message) || !isObject(message.usage)) return entry
  const counted = isObject(before.message) && isObject(before.message.usage) ? before.message.usage : {}
  const { cost: _, ...usage } = message.usage
  const left = Object.keys(usage).map((key) => [key, Math.max(0, numberIn(usage, key) - numberIn(counted, key))])
  return { ...entry, message: { ...message, usage: { ...Reply.noUsage, ...Object.fromEntries(left) } } } as Entry.Entry
}

/** Fields that name another entry. */
const LINKS = ["targetId", "firstKeptEntryId", "fromId"]

/**
 * The entries to append so that the session has everything the source has now, and stands where the source stands
 * unless a person went on from it. Nothing is ever taken back: an entry that the source has changed since comes
 * again under another id, as a sibling, and so does what follows it.
 */
export const plan = (tree: SessionTree, { header, entries, leaf }: TranslatedSession): ReadonlyArray<Entry.Entry> => {
  const now = new Map<string, EntryId>()
  const nowOf = (id: unknown): unknown => (typeof id === "string" ? (now.get(id) ?? id) : id)
  const added: Array<Entry.Entry> = []
  for (const entry of entries) {
    const parentId = nowOf(entry.parentId) as EntryId | null
    const known = tree.get(entry.id)
    const isKept = known !== undefined && known.parentId === parentId && isSameBody(known, entry)
    const id =
      known === undefined || isKept
        ? entry.id
        : (digest(header.id, entry.id, parentId ?? "", String(originOf(entry).digest)) as EntryId)
    now.set(entry.id, id)
    if (isKept || (id !== entry.id && tree.has(id))) continue
    const links = LINKS.filter((key) => key in entry).map((key) => [key, nowOf(entry[key])])
    const moved = { ...entry, id, parentId, ...Object.fromEntries(links) } as Entry.Entry
    added.push(known === undefined ? moved : lessUsage(moved, known))
  }
  if (added.length === 0) return []
  const last = tree.rowCount === 0 ? undefined : tree.entryAt(tree.rows().at(-1)!)
  const isTouched = last !== undefined && !isImported(last)
  return [...added, ...leafMark(header, added.at(-1), isTouched ? tree.leaf : (nowOf(leaf) as EntryId | null))]
}
