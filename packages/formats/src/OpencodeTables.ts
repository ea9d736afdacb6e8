/** The tables of opencode's database as the list of exports that its sessions would make. */
import { isObject, type Json } from "@grove/core"

/** What is asked of the database, in this order. Of what happened only that is wanted which says what was taken back. */
export const queries = [
  "SELECT * FROM session ORDER BY time_created, id",
  "SELECT id, session_id, data FROM message",
  "SELECT id, message_id, session_id, data FROM part",
  `SELECT aggregate_id, type, data FROM event WHERE type LIKE 'message.%' AND aggregate_id IN
     (SELECT aggregate_id FROM event WHERE type LIKE 'message.removed%') ORDER BY aggregate_id, seq`
]

type Rows = ReadonlyArray<Json>

const jsonIn = (text: unknown): Json => {
  try {
    const value: unknown = JSON.parse(String(text))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const grouped = (rows: Rows, key: string): ReadonlyMap<unknown, Rows> => {
  const groups = new Map<unknown, Array<Json>>()
  for (const row of rows) {
    const group = groups.get(row[key])
    if (group === undefined) groups.set(row[key], [row])
    else group.push(row)
  }
  return groups
}

/** Messages of which only their history is left. */
const removedIn = (events: Rows, present: ReadonlySet<unknown>): Rows => {
  const infos = new Map<unknown, Json>()
  const parts = new Map<unknown, Map<unknown, Json>>()
  for (const { data } of events) {
    const { info, part } = jsonIn(data)
    if (isObject(info) && !present.has(info.id)) infos.set(info.id, info)
    if (isObject(part) && !present.has(part.messageID)) {
      const own = parts.get(part.messageID) ?? new Map<unknown, Json>()
      parts.set(part.messageID, own.set(part.id, part))
    }
  }
  return [...infos].map(([id, info]) => ({ info, parts: [...(parts.get(id)?.values() ?? [])], removed: true }))
}

const infoOf = (row: Json): Json => ({
  ...{ id: row.id, title: row.title, directory: row.directory, version: row.version },
  ...(row.parent_id === null ? {} : { parentID: row.parent_id }),
  ...(typeof row.revert === "string" ? { revert: jsonIn(row.revert) } : {}),
  time: { created: Number(row.time_created), updated: Number(row.time_updated) }
})

export const exportsFrom = ([sessions = [], messages = [], parts = [], events = []]: ReadonlyArray<Rows>): Rows => {
  const messagesOf = grouped(messages, "session_id")
  const partsOf = grouped(parts, "message_id")
  const eventsOf = grouped(events, "aggregate_id")
  return sessions.map((session) => {
    const own = messagesOf.get(session.id) ?? []
    const present = new Set(own.map(({ id }) => id))
    const whole = own.map(({ id, session_id, data }) => ({
      info: { ...jsonIn(data), id, sessionID: session_id },
      parts: (partsOf.get(id) ?? []).map((part) => ({ ...jsonIn(part.data), id: part.id, messageID: id }))
    }))
    return { info: infoOf(session), messages: [...whole, ...removedIn(eventsOf.get(session.id) ?? [], present)] }
  })
}
