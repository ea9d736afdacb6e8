/** Images that a session names and that lie beside it as blobs. */
import { createHash } from "node:crypto"
import { type BlobHash, Blobs, type Entry, isObject, type Json } from "@grove/core"
import type { Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"

/** The folders, from that of the session upwards, in which blobs are sought. */
const ABOVE = ["blobs", "../blobs", "../../blobs", "../../../blobs"]

const blobOf = (source: Source, hash: BlobHash): Uint8Array | undefined => {
  for (const folder of ABOVE) {
    const bytes = source.beside(`${folder}/${hash}`)
    if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === hash) return bytes
  }
  return undefined
}

const REFERENCE = "blob:sha256:"

/** Lists of blocks that may hold images, wherever an entry has them. */
const blockLists = (entry: Entry.Entry): ReadonlyArray<{ readonly of: Json; readonly key: string }> => {
  const holders = [entry, entry.message].filter(isObject)
  return holders.flatMap((of) =>
    ["content", "images"].filter((key) => Array.isArray(of[key])).map((key) => ({ of, key }))
  )
}

/** The entry with its images in the line again; a reference that leads nowhere stays, and is noted. */
export const inline = (source: Source, entry: Entry.Entry, line: number, unmapped: Array<Note>): Entry.Entry => {
  const whole = (block: unknown): unknown => {
    if (!isObject(block) || typeof block.data !== "string" || !block.data.startsWith(REFERENCE)) return block
    const hash = Blobs.hashIn(block.data)
    const bytes = hash === undefined ? undefined : blobOf(source, hash)
    if (bytes !== undefined) return { ...block, data: Buffer.from(bytes).toString("base64") }
    unmapped.push({ line, kind: "missing-blob" })
    return block
  }
  let changed = entry
  for (const { of, key } of blockLists(entry)) {
    const before = of[key] as ReadonlyArray<unknown>
    const blocks = before.map(whole)
    if (blocks.every((block, i) => block === before[i])) continue
    const holder = { ...of, [key]: blocks }
    changed = (of === entry ? { ...changed, ...holder } : { ...changed, message: holder }) as Entry.Entry
  }
  return changed
}
