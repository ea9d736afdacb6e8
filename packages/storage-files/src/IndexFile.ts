/**
 * Line indexes kept in the cache, so that a second open reads only what it needs. An index is a cache: one that is
 * missing, foreign, damaged or stale is silently made anew, and deleting it loses nothing.
 */
import { createHash } from "node:crypto"
import { type BigIntStats, fstatSync, readFileSync, readSync } from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import * as CacheFile from "./CacheFile.ts"
import { bytesOfColumns, type Columns, columnsIn, type Facts, LineIndex, Names, ROW_BYTES } from "./LineIndex.ts"

const MAGIC = "GRVIDX03"
const HEADER_BYTES = 64

/** The cache file for a session file, wherever that one is. */
export const pathFor = (cacheDirectory: string, sessionFile: string): string =>
  join(cacheDirectory, `${createHash("sha256").update(sessionFile).digest("hex").slice(0, 32)}.idx`)

const identity = (stats: BigIntStats): string =>
  [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(" ")

/** Which file it is and in what state. Taken before the file is read, so that no change in between goes unnoticed. */
export const identityOf = (file: number): string => identity(fstatSync(file, { bigint: true }))

const SAMPLES = 32
const SAMPLE_BYTES = 64
const EDGE_BYTES = 4096

/** A hash of the head, the tail and samples between: what a file that only grew still has. */
const probe = (file: number, size: number): string => {
  const hash = createHash("sha256")
  const buffer = Buffer.allocUnsafe(EDGE_BYTES)
  const add = (start: number, length: number) =>
    hash.update(buffer.subarray(0, readSync(file, buffer, 0, length, start)))
  const edge = Math.min(EDGE_BYTES, size)
  add(0, edge)
  add(size - edge, edge)
  for (let i = 1; i < SAMPLES; i++) {
    const start = Math.floor((size / SAMPLES) * i)
    add(start, Math.min(SAMPLE_BYTES, size - start))
  }
  return hash.digest("hex")
}

interface Stored extends Omit<Facts, "types" | "roles" | "oddIds"> {
  readonly types: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  readonly oddIds: ReadonlyArray<string>
  readonly size: number
  readonly identity: string
  readonly probe: string
}

/** Keeps an index beside the others. */
export const save = (path: string, index: LineIndex, file: number, readAs: string): void => {
  const { types, roles, oddIds, ...facts } = index.facts
  const stored: Stored = {
    ...facts,
    types: types.list,
    roles: roles.list,
    oddIds: oddIds.list,
    size: index.size,
    identity: readAs,
    probe: probe(file, index.facts.end)
  }
  const text = Buffer.from(JSON.stringify(stored))
  const body = Buffer.concat([...bytesOfColumns(index.columns, index.size), text])
  const columnBytes = body.length - text.length
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 0, "latin1")
  header.writeUInt32LE(index.size, 8)
  header.writeUInt32LE(text.length, 12)
  createHash("sha256").update(text).digest().copy(header, 16)
  header.writeUInt32LE(crc32(body.subarray(0, columnBytes)), 48)
  CacheFile.write(path, Buffer.concat([header, body]))
}

/** The columns of a cache file, as views on its bytes. */
const columnsOf = (bytes: Buffer, size: number): Columns => {
  const copy = bytes.byteOffset % 8 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
  return columnsIn(copy.buffer as ArrayBuffer, copy.byteOffset + HEADER_BYTES, size)
}

const parse = (bytes: Buffer): { readonly stored: Stored; readonly columns: Columns } | undefined => {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, 8) !== MAGIC) return undefined
  const size = bytes.readUInt32LE(8)
  const textLength = bytes.readUInt32LE(12)
  if (bytes.length !== HEADER_BYTES + size * ROW_BYTES + textLength) return undefined
  const text = bytes.subarray(bytes.length - textLength)
  if (!createHash("sha256").update(text).digest().equals(bytes.subarray(16, 48))) return undefined
  if (crc32(bytes.subarray(HEADER_BYTES, bytes.length - textLength)) !== bytes.readUInt32LE(48)) return undefined
  return { stored: JSON.parse(text.toString()) as Stored, columns: columnsOf(bytes, size) }
}

export interface Loaded {
  readonly index: LineIndex
  /** Whether the file has grown since. */
  readonly isBehind: boolean
}

/** The cached index of an open file, if it is still true of it: the same file untouched, or the same file grown. */
export const load = (path: string, file: number): Loaded | undefined => {
  try {
    const found = parse(readFileSync(path))
    if (found === undefined) return undefined
    const { stored, columns } = found
    const stats = fstatSync(file, { bigint: true })
    const isSame = stored.identity === identity(stats)
    const hasGrown = Number(stats.size) > stored.end && stored.identity.startsWith(`${stats.dev} ${stats.ino} `)
    if (!isSame && !(hasGrown && probe(file, stored.end) === stored.probe)) return undefined
    const { size, identity: _identity, probe: _probe, types, roles, oddIds, ...facts } = stored
    const index = new LineIndex(
      { ...facts, types: new Names(types), roles: new Names(roles), oddIds: new Names(oddIds) },
      columns,
      size
    )
    return { index, isBehind: !isSame }
  } catch {
    return undefined
  }
}
