/**
 * Old versions of the session file brought to version 3. Pure, idempotent and deterministic: a file migrated in memory
 * by a reader and on disk by a writer gets the same ids.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Header from "./Header.ts"
import { isObject, type Json } from "./open.ts"

/** One object of the file, with the line it stands on. */
export interface NumberedObject {
  readonly line: number
  readonly value: Json
}

export interface Migrated {
  readonly header: Header.Header
  readonly objects: ReadonlyArray<NumberedObject>
}

/** Eight hex digits that depend only on the session and the line; `taken` ids are avoided by counting up. */
const idFor = (session: string, line: number, taken: ReadonlySet<string>): string => {
  for (let attempt = 0; ; attempt++) {
    const seed = attempt === 0 ? `${session}\n${line}` : `${session}\n${line}\n${attempt}`
    const id = bytesToHex(sha256(utf8ToBytes(seed))).slice(0, 8)
    if (!taken.has(id)) return id
  }
}

/** The index counted the header as 0, so `index - 1` is a row; rows after the compaction were never kept. */
const keptById = ({ firstKeptEntryIndex, ...body }: Json, ids: ReadonlyArray<string>): Json => {
  const kept = typeof firstKeptEntryIndex === "number" ? ids[firstKeptEntryIndex - 1] : undefined
  return kept === undefined ? body : { ...body, firstKeptEntryId: kept }
}

/** Version 1 had no ids: entries become one chain, and a compaction's index becomes the id it pointed to. */
const toVersion2 = ({ header, objects }: Migrated): Migrated => {
  const ids: Array<string> = []
  const taken = new Set<string>()
  const migrated = objects.map(({ line, value }, row) => {
    const id = idFor(header.id, line, taken)
    taken.add(id)
    ids.push(id)
    const { type, id: _id, parentId: _parentId, timestamp, ...body } = value
    const link = { type, id, parentId: ids[row - 1] ?? null, timestamp }
    return { line, value: { ...link, ...(type === "compaction" ? keptById(body, ids) : body) } }
  })
  return { header: { ...header, version: 2 }, objects: migrated }
}

/** Version 3 renamed the role `hookMessage` to `custom`. */
const toVersion3 = ({ header, objects }: Migrated): Migrated => ({
  header: { ...header, version: 3 },
  objects: objects.map((object) => {
    const { message } = object.value
    if (object.value.type !== "message" || !isObject(message) || message.role !== "hookMessage") return object
    return { line: object.line, value: { ...object.value, message: { ...message, role: "custom" } } }
  })
})

/** Brings a file to version 3. Objects that need no change come back as they are, and so do newer files. */
export const migrate = (file: Migrated): Migrated => {
  const version = Header.version(file.header)
  if (version >= 3) return file
  return toVersion3(version < 2 ? toVersion2(file) : file)
}
