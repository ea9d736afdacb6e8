/**
 * A session file without one of its entries, as if it had never been: what followed it follows its parent, and what was
 * said about it is gone too. All other lines keep their bytes.
 */
import { Entry, type EntryId, Header, Jsonl, Mark, NONE, SessionTree } from "@grove/core"
import { Result } from "effect"
import { asBuffer } from "./Bytes.ts"
import * as JsonLine from "./JsonLine.ts"

const LINE_END = 10

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const dataOf = (entry: Entry.Entry): Json => (isObject(entry.data) ? entry.data : {})

// -------------------------------------------------------------------------------------------- what goes with it

type IsGone = (id: unknown) => boolean

/** Whether an entry says something about what is gone and nothing else. */
const isOnlyAbout = (tree: SessionTree, entry: Entry.Entry, isGone: IsGone): boolean => {
  const { targetId, targetIds, op } = Mark.isMark(entry) ? dataOf(entry) : entry
  switch (entry.type === "custom" ? entry.customType : entry.type) {
    case "label":
    case "context_edit":
    case "leaf":
    case "grove.leaf":
    case "grove.annotation":
      return isGone(targetId)
    case "grove.state":
      return Array.isArray(targetIds) && targetIds.length > 0 && targetIds.every(isGone)
    case "grove.edit":
      // What was pruned stays pruned, at the entry above, and what was grafted stays grafted.
      return isGone(targetId) && (op === "undo" || (op === "prune" && isRoot(tree, targetId as string)))
    default:
      return false
  }
}

const isRoot = (tree: SessionTree, id: string): boolean => tree.parentRow(tree.rowOf(id)) === NONE

/** What each entry may be about: by the id it names, those that name it. */
const byTarget = (entries: ReadonlyArray<Entry.Entry>): ReadonlyMap<unknown, ReadonlyArray<Entry.Entry>> => {
  const found = new Map<unknown, Array<Entry.Entry>>()
  for (const entry of entries) {
    const { targetId, targetIds } = Mark.isMark(entry) ? dataOf(entry) : entry
    for (const target of [targetId, ...(Array.isArray(targetIds) ? targetIds : [])]) {
      if (typeof target === "string") (found.get(target) ?? found.set(target, []).get(target)!).push(entry)
    }
  }
  return found
}

/** The ids that go when `id` goes: labels on it, edits of it, what undoes those, and so on. */
const goingWith = (tree: SessionTree, entries: ReadonlyArray<Entry.Entry>, id: EntryId): ReadonlySet<string> => {
  const about = byTarget(entries)
  const gone = new Set<string>([id])
  // A set hands out what is added to it on the way.
  for (const one of gone) {
    for (const entry of about.get(one) ?? []) {
      if (isOnlyAbout(tree, entry, (other) => gone.has(other as string))) gone.add(entry.id)
    }
  }
  return gone
}

// ---------------------------------------------------------------------------------------------- what stays, changed

interface Surgery {
  readonly tree: SessionTree
  readonly gone: ReadonlySet<string>
  /** The nearest entry that stays, at `id` or above it. */
  readonly stayingAt: (id: string | null) => EntryId | null
}

const makeStayingAt = (tree: SessionTree, gone: ReadonlySet<string>) => {
  const known = new Map<number, number>()
  return (id: string | null): EntryId | null => {
    const passed: Array<number> = []
    let at = tree.rowOf(id)
    while (at !== NONE && gone.has(tree.idAt(at)!)) {
      const short = known.get(at)
      passed.push(at)
      at = short ?? tree.parentRow(at)
    }
    for (const row of passed) known.set(row, at)
    return tree.idAt(at)
  }
}

/** A compaction that keeps what begins with something gone keeps it from the next entry that stays. */
const firstKept = ({ tree, gone }: Surgery, entry: Entry.Entry): string | undefined => {
  const path = tree.pathRows(tree.rowOf(entry.id)).map((row) => tree.idAt(row)!)
  const from = path.indexOf(entry.firstKeptEntryId as EntryId)
  return from < 0 ? undefined : path.slice(from, -1).find((id) => !gone.has(id))
}

/** Entries that stay and follow something gone, in its stead. */
const heirs = ({ tree, gone }: Surgery, id: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const pending = [id]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!gone.has(next)) found.push(next)
    else for (const row of tree.writtenChildRows(tree.rowOf(next)).toReversed()) pending.push(tree.idAt(row)!)
  }
  return found
}

/** One member of a mark's data without what is gone: lists lose it, a summary is left out, other ids become the entry above. */
const spared = (surgery: Surgery, key: string, value: unknown): unknown => {
  const { gone, stayingAt } = surgery
  if (key === "summary") return gone.has(value as string) ? undefined : value
  if (typeof value === "string") return gone.has(value) ? stayingAt(value) : value
  if (Array.isArray(value)) {
    if (!value.some((id) => gone.has(id))) return value
    return key === "roots" ? value.flatMap((id) => heirs(surgery, id)) : value.filter((id) => !gone.has(id))
  }
  if (!isObject(value)) return value
  const pairs = Object.entries(value)
  const left = pairs.filter(([from, to]) => !gone.has(from) && !gone.has(to as string))
  return left.length === pairs.length ? value : Object.fromEntries(left)
}

/** The data of a mark that may name many entries; the same object if none of them is gone. */
const sparedData = (surgery: Surgery, entry: Entry.Entry): Json => {
  const data = dataOf(entry)
  if (entry.customType !== "grove.state" && entry.customType !== "grove.edit") return data
  const pairs = Object.entries(data).map(([key, value]) => [key, spared(surgery, key, value)] as const)
  return pairs.every(([key, value]) => data[key] === value) ? data : Object.fromEntries(pairs)
}

/** The line of an entry that stays. */
const mended = (surgery: Surgery, entry: Entry.Entry, line: Uint8Array): Uint8Array => {
  const { gone, stayingAt } = surgery
  let bytes = line
  const data = Mark.isMark(entry) ? sparedData(surgery, entry) : undefined
  if (data !== undefined && data !== entry.data && isObject(entry.data)) {
    bytes = Buffer.from(JSON.stringify({ ...entry, data }))
  }
  if (entry.parentId !== null && gone.has(entry.parentId)) {
    bytes = JsonLine.withMember(bytes, "parentId", stayingAt(entry.parentId))
  }
  if (entry.type === "compaction" && gone.has(entry.firstKeptEntryId as string)) {
    const id = firstKept(surgery, entry)
    if (id !== undefined) bytes = JsonLine.withMember(bytes, "firstKeptEntryId", id)
  }
  if (entry.type === "branch_summary" && gone.has(entry.fromId as string)) {
    bytes = JsonLine.withMember(bytes, "fromId", stayingAt(entry.fromId as string) ?? "root")
  }
  return bytes
}

// --------------------------------------------------------------------------------------------------------- files

/** Whether a line that is no JSON may be what a torn write left of the entry. */
const isRestOf = (line: Uint8Array, id: string): boolean => {
  const name = JSON.stringify(id).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  return new RegExp(`"id"\\s*:\\s*${name}`).test(asBuffer(line).toString())
}

/** Lines in which the id stands, wherever. */
function* linesWith(bytes: Uint8Array, id: string): Generator<Uint8Array> {
  const buffer = asBuffer(bytes)
  for (let at = buffer.indexOf(JSON.stringify(id)); at >= 0; ) {
    const lf = buffer.indexOf(LINE_END, at)
    const end = lf < 0 ? buffer.length : lf
    yield buffer.subarray(at === 0 ? 0 : buffer.lastIndexOf(LINE_END, at - 1) + 1, end)
    at = buffer.indexOf(JSON.stringify(id), end)
  }
}

/** Whether any line of a file is the entry, or the rest of it; old versions are understood. */
export const holds = (bytes: Uint8Array, id: string): boolean => {
  const read = Jsonl.read(bytes)
  if (Result.isSuccess(read) && read.success.rows.some(({ entry }) => entry.id === id)) return true
  for (const line of linesWith(bytes, id)) {
    const parsed = Jsonl.parseLine(line)
    if (
      parsed.is === "not-json" ? isRestOf(line, id) : parsed.is === "value" && Entry.fromJson(parsed.value)?.id === id
    )
      return true
  }
  return false
}

export interface Removed {
  readonly bytes: Uint8Array
  /** How many entries went, the one asked for included. */
  readonly entries: number
  /** For each of them, the entry that stands above it now. */
  readonly above: ReadonlyMap<string, EntryId | null>
}

/** Where the person stands is written down if the lines that are left no longer say it. */
const leafMark = (leaf: EntryId | null, mark: { readonly id: string; readonly timestamp: string }): Uint8Array =>
  Buffer.from(
    Jsonl.encode({ type: "custom", ...mark, parentId: leaf, customType: "grove.leaf", data: { targetId: leaf } })
  )

const leafOf = (bytes: Uint8Array): EntryId | null => {
  const { rows, last } = Result.getOrThrow(Jsonl.read(bytes))
  return SessionTree.from(
    rows.map(({ entry }) => entry),
    last
  ).leaf
}

/** `undefined` if no line of the file is the entry. A file of an old version becomes one of the current. */
export const remove = (
  original: Uint8Array,
  id: EntryId,
  mark: { readonly id: string; readonly timestamp: string }
): Result.Result<Removed | undefined, Jsonl.NotASession> =>
  Result.gen(function* () {
    if (!holds(original, id)) return undefined
    const file = yield* Jsonl.read(original)
    const isOld = file.version !== null && file.version < Header.CURRENT_VERSION
    const bytes = isOld ? ((yield* Jsonl.upgrade(original)).text ?? original) : original
    const entries = file.rows.map(({ entry }) => entry)
    const tree = SessionTree.from(entries, file.last)
    const gone = goingWith(tree, entries, id)
    const surgery: Surgery = { tree, gone, stayingAt: makeStayingAt(tree, gone) }
    const parts: Array<Uint8Array> = []
    let hasHeader = false
    for (const { start, end, terminated } of Jsonl.spans(bytes)) {
      const line = bytes.subarray(start, end)
      const lineEnd = bytes.subarray(end, bytes.indexOf(LINE_END, end) + 1 || end)
      const parsed = Jsonl.parseLine(line)
      if (parsed.is === "not-json" && isRestOf(line, id)) continue
      const entry = parsed.is === "value" && hasHeader ? Entry.fromJson(parsed.value) : undefined
      hasHeader ||= parsed.is === "value" && Header.isHeader(parsed.value)
      if (entry !== undefined && gone.has(entry.id)) continue
      parts.push(entry === undefined ? line : mended(surgery, entry, line), terminated ? lineEnd : line.subarray(0, 0))
    }
    const rest = Buffer.concat([bytes.subarray(0, bom(bytes)), ...parts])
    const leaf = surgery.stayingAt(tree.leaf)
    const above = new Map([...gone].map((one) => [one, surgery.stayingAt(one)]))
    if (leafOf(rest) === leaf) return { bytes: rest, entries: gone.size, above }
    const separator = rest.length === 0 || rest.at(-1) === LINE_END ? [] : [Uint8Array.of(LINE_END)]
    return { bytes: Buffer.concat([rest, ...separator, leafMark(leaf, mark)]), entries: gone.size, above }
  })

const bom = (bytes: Uint8Array): number => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** The file with what was appended to entries that are gone hanging on those above them; `undefined` if nothing was. */
export const rehang = (bytes: Uint8Array, above: ReadonlyMap<string, EntryId | null>): Removed | undefined => {
  let entries = 0
  const parts: Array<Uint8Array> = []
  let from = 0
  for (const { start, end } of Jsonl.spans(bytes)) {
    const parsed = Jsonl.parseLine(bytes.subarray(start, end))
    const parentId = parsed.is === "value" ? Entry.fromJson(parsed.value)?.parentId : undefined
    if (parentId == null || !above.has(parentId)) continue
    entries++
    const line = JsonLine.withMember(bytes.subarray(start, end), "parentId", above.get(parentId)!)
    parts.push(bytes.subarray(from, start), line)
    from = end
  }
  return entries === 0 ? undefined : { bytes: Buffer.concat([...parts, bytes.subarray(from)]), entries, above }
}
