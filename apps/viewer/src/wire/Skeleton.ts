/**
 * A session without its words: all that drawing its tree needs, in columns, so that 100,000 entries are a few megabytes
 * and no body is read. On the other side it becomes the same `SessionTree` that the terminal draws from.
 */
import { type Entry, type EntryId, type EntryTable, isObject, NONE, SessionTree, TreeView } from "@grove/core/model"

export interface Skeleton {
  /** Names of kinds: a type, or `message/` and a role. */
  readonly kinds: ReadonlyArray<string>
  readonly ids: ReadonlyArray<string>
  /** How many rows above its parent is, cycles cut; 0 for a root. Below, for a parent that was written later. */
  readonly up: ReadonlyArray<number>
  readonly kind: ReadonlyArray<number>
  /** Milliseconds since the row before. */
  readonly time: ReadonlyArray<number>
  readonly flags: ReadonlyArray<number>
  /** Entries that are sent whole, by row: what labels, names and edits are made of. */
  readonly whole: { readonly [row: number]: Entry.Entry }
  /** Where the person stands. */
  readonly leaf: EntryId | null
  /** The id in the header. */
  readonly session: string | null
}

const FAILED = 1
const SILENT = 2
const MARK = 4
const COPY = 8

const kindOf = (tree: SessionTree, row: number): string => {
  const type = tree.typeAt(row)
  return type === "message" ? `message/${tree.roleAt(row) ?? ""}` : type
}

const CAN_FAIL = new Set(["assistant", "toolResult", "bashExecution", "pythonExecution"])
const SENT_WHOLE = new Set(["label", "session_info", "leaf"])

/**
 * Which bodies decide whether a row is shown among turns. A large session is not read for every failed tool: only
 * replies that another reply follows are looked at, and what is short by nature.
 */
const mustRead = (tree: SessionTree, isLarge: boolean): ((row: number) => boolean) => {
  if (!isLarge) return (row) => CAN_FAIL.has(tree.roleAt(row) ?? "") || tree.typeAt(row) === "custom_message"
  const isReply = (row: number) => tree.roleAt(row) === "assistant"
  return (row) =>
    tree.typeAt(row) === "custom_message" ||
    tree.roleAt(row) === "bashExecution" ||
    (isReply(row) && tree.childRows(row).some(isReply))
}

export interface SkeletonOptions {
  /** Bodies stay in the file as far as possible. */
  readonly isLarge: boolean
}

const BATCH = 1024

export const of = (tree: SessionTree, { isLarge }: SkeletonOptions): Skeleton => {
  const rows = tree.rows()
  const place = new Map(rows.map((row, at) => [row, at]))
  const names = new Map<string, number>()
  const flags = rows.map((row) => (tree.isMarkAt(row) ? MARK : 0) | (tree.isCopyAt(row) ? COPY : 0))
  const isWanted = mustRead(tree, isLarge)
  const reads = rows.flatMap((row, at) => (isWanted(row) ? [at] : []))
  for (let from = 0; from < reads.length; from += BATCH) {
    const batch = reads.slice(from, from + BATCH)
    for (const [i, entry] of tree.entriesAt(batch.map((at) => rows[at]!)).entries()) {
      if (TreeView.isError(entry)) flags[batch[i]!]! |= FAILED
      if (entry.type === "custom_message" && entry.display === false) flags[batch[i]!]! |= SILENT
    }
  }
  const whole: { [row: number]: Entry.Entry } = {}
  for (const [at, row] of rows.entries()) {
    if (tree.isMarkAt(row) || SENT_WHOLE.has(tree.typeAt(row))) whole[at] = tree.entryAt(row)
    else if (tree.isCopyAt(row)) {
      const { type, id, parentId, timestamp, origin } = tree.entryAt(row)
      whole[at] = { type, id, parentId, timestamp, origin }
    }
  }
  const kind = rows.map((row) => {
    const name = kindOf(tree, row)
    if (!names.has(name)) names.set(name, names.size)
    return names.get(name)!
  })
  let before = 0
  return {
    kinds: [...names.keys()],
    ids: rows.map((row) => tree.idAt(row)!),
    up: rows.map((row, at) => {
      const parent = tree.parentRow(row)
      return parent === NONE ? 0 : at - place.get(parent)!
    }),
    kind,
    time: rows.map((row) => {
      const time = tree.timeAt(row)
      const since = time - before
      before = time
      return since
    }),
    flags,
    whole,
    leaf: tree.leaf,
    session: tree.session
  }
}

/** An entry with all its tree needs and no words, for what was appended while somebody looks. */
export const slim = (entry: Entry.Entry): Entry.Entry => {
  if (entry.type === "custom" || SENT_WHOLE.has(entry.type)) return entry
  const { type, id, parentId, timestamp, origin, display, message } = entry
  const envelope = { type, id, parentId, timestamp, ...(origin === undefined ? {} : { origin }) }
  if (type === "custom_message") return { ...envelope, display }
  if (!isObject(message)) return envelope
  const { role, stopReason, isError, exitCode, cancelled, toolCallId, content } = message
  const calls = Array.isArray(content)
    ? content.filter(isObject).flatMap(({ type, id, name }) => (type === "toolCall" ? [{ type, id, name }] : []))
    : []
  return { ...envelope, message: { role, stopReason, isError, exitCode, cancelled, toolCallId, content: calls } }
}

const FAILURES: { readonly [role: string]: object } = {
  assistant: { stopReason: "error" },
  toolResult: { isError: true },
  bashExecution: { exitCode: 1 },
  pythonExecution: { exitCode: 1 }
}

/** The tree, and nothing of what is said in it. A reply is taken to have made the calls whose results follow it. */
export const treeOf = (skeleton: Skeleton): SessionTree => {
  const { ids, up, kind, kinds, flags, whole } = skeleton
  const size = ids.length
  const times = new Float64Array(size)
  const parents = new Int32Array(size)
  let now = 0
  for (let row = 0; row < size; row++) {
    now += skeleton.time[row]!
    times[row] = now
    parents[row] = up[row] === 0 ? NONE : row - up[row]!
  }
  const types = kinds.map((name) => (name.startsWith("message/") ? "message" : name))
  const roles = kinds.map((name) => (name.startsWith("message/") ? name.slice("message/".length) || null : null))
  const roleOf = (row: number): string | null => roles[kind[row]!] ?? null
  const calls = new Map<number, Array<string>>()
  for (let row = 0; row < size; row++) {
    if (roleOf(row) !== "toolResult") continue
    let reply = parents[row]!
    while (reply !== NONE && roleOf(reply) === "toolResult") reply = parents[reply]!
    const made = calls.get(reply)
    if (made !== undefined) made.push(ids[row]!)
    else if (reply !== NONE) calls.set(reply, [ids[row]!])
  }
  const rowOf = new Map(ids.map((id, row) => [id, row]))
  const parentId = (row: number): EntryId | null => (parents[row] === NONE ? null : (ids[parents[row]!] as EntryId))
  const timestamp = (row: number): string => {
    const date = new Date(times[row]!)
    return Number.isNaN(date.getTime()) ? "" : date.toISOString()
  }
  const entry = (row: number): Entry.Entry | undefined => {
    const known = whole[row]
    if (known !== undefined && known.type !== "message") return known
    const id = ids[row] as EntryId
    const type = types[kind[row]!]!
    const role = roleOf(row)
    const has = (flag: number) => (flags[row]! & flag) !== 0
    const envelope = { type, id, parentId: parentId(row), timestamp: timestamp(row), ...known }
    if (type === "custom_message") return { ...envelope, display: !has(SILENT) }
    if (type !== "message") return envelope
    const content = (calls.get(row) ?? []).map((call) => ({ type: "toolCall", id: call }))
    return { ...envelope, message: { role, content, toolCallId: id, ...(has(FAILED) ? FAILURES[role ?? ""] : {}) } }
  }
  const table: EntryTable.EntryTable = {
    size,
    id: (row) => ids[row] as EntryId,
    rowOf: (id) => rowOf.get(id) ?? NONE,
    parentId,
    type: (row) => types[kind[row]!]!,
    role: roleOf,
    isMark: (row) => (flags[row]! & MARK) !== 0,
    isCopy: (row) => (flags[row]! & COPY) !== 0,
    time: (row) => times[row]!,
    spoken: (row) => times[row]!,
    entry,
    entries: (rows) => rows.map(entry),
    links: { parents, problems: [] }
  }
  const stands = { type: "leaf", id: "" as EntryId, parentId: null, timestamp: "", targetId: skeleton.leaf }
  return SessionTree.over(table, size === 0 ? null : stands, skeleton.session)
}
