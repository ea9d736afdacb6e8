/** The pieces of a foreign session put together: as entries, in order, each with a word on where it came from. */
import { type Entry, type EntryId, type Header, isObject, type Json, JsonText } from "@grove/core"
import type { Format } from "../Format.ts"
import * as Blocks from "./Blocks.ts"
import { digest } from "./Digest.ts"
import * as Forest from "./Forest.ts"
import * as Names from "./Names.ts"
import type { Note, TranslatedSession } from "./Translation.ts"

/** An entry to be. */
export interface Piece {
  /** Unique in the session. */
  readonly id: string
  readonly parentId: string | null
  /** The line it stands on, or the first of several. */
  readonly line: number
  /** Where that line is, if not in the file of the session. */
  readonly file?: string
  /** As the source has it; where it cannot be read, the time of the piece before counts. */
  readonly timestamp: unknown
  /** What the source calls it, if it has a name for it. */
  readonly entry?: string
  readonly body: Json & { readonly type: string }
}

export interface Composition {
  readonly format: Format
  readonly file: string
  /** What the source calls the session. */
  readonly session: string | null
  readonly id: string
  readonly timestamp: unknown
  readonly cwd: string
  readonly parentSession?: string | undefined
  readonly name?: string | undefined
  readonly pieces: ReadonlyArray<Piece>
  readonly leaf: string | null
}

/** Fields of a body that name other entries. */
const LINKS = ["targetId", "firstKeptEntryId", "fromId"]

/** Names for a session's entries: its own where they are plain. */
const namesFor = (session: string, pieces: ReadonlyArray<Piece>): ((id: unknown) => EntryId) => {
  const made = new Map<string, string>()
  for (const { id } of pieces) if (!Names.isPlain(id)) made.set(id, digest(session, id))
  return (id) => (made.get(id as string) ?? id) as EntryId
}

/** The name as a record that later ones overrule; it is no entry that anything could follow. */
const nameMark = (session: string, name: string, leaf: EntryId | null, timestamp: string, origin: Json): Entry.Entry =>
  ({
    ...{ type: "custom", id: digest(session, "name", name), parentId: leaf, timestamp },
    ...{ customType: "grove.config", data: { summary: name }, origin: { ...origin, digest: digest(name) } }
  }) as unknown as Entry.Entry

export const compose = (composition: Composition, repaired: Array<Note>): TranslatedSession => {
  const { format, file, session, id, cwd, parentSession, name, pieces } = composition
  const first = pieces.find(({ timestamp }) => Names.timeOf(timestamp) !== undefined)?.timestamp
  const created = Names.timeOf(composition.timestamp) ?? Names.timeOf(first) ?? Names.NO_TIME
  const nameOf = namesFor(id, pieces)
  const whole = { format, file, ...(session === null ? {} : { session }) }
  let timestamp = created
  const entries = Forest.ordered(pieces, repaired).map((piece) => {
    timestamp = Names.timeOf(piece.timestamp) ?? timestamp
    const parentId = piece.parentId === null ? null : nameOf(piece.parentId)
    const { type, ...fields } = piece.body
    const links = LINKS.filter((key) => typeof fields[key] === "string").map((key) => [key, nameOf(fields[key])])
    const body = { ...fields, ...Object.fromEntries(links) }
    const named = piece.entry === undefined ? {} : { entry: piece.entry }
    const place = { file: piece.file ?? file, line: piece.line }
    const origin = { ...whole, ...place, ...named, digest: digest(JsonText.stringify([parentId, body])) }
    return { type, id: nameOf(piece.id), parentId, timestamp, ...body, origin } as unknown as Entry.Entry
  })
  const leaf = composition.leaf === null ? null : nameOf(composition.leaf)
  const isNamed = name !== undefined && name.trim() !== "" && entries.length > 0
  const header: Header.Header = {
    ...{ type: "session", version: 3, id, timestamp: created, cwd },
    ...(parentSession === undefined ? {} : { parentSession }),
    origin: { format, file }
  }
  return { header, entries: isNamed ? [...entries, nameMark(id, name, leaf, timestamp, whole)] : entries, leaf }
}

/** What a sub-agent was asked to do stands first, which is what tells its session from others. */
export const asTask = (pieces: ReadonlyArray<Piece>, session: string): ReadonlyArray<Piece> => {
  const isPrompt = ({ body: { message } }: Piece): boolean => isObject(message) && message.role === "user"
  const prompt = pieces.find(isPrompt)?.body.message
  const task = isObject(prompt) ? Blocks.textOf(prompt.content) : ""
  const id = digest(session, "init")
  const body = { type: "session_init", systemPrompt: "", task, tools: [] }
  const init = { id, parentId: null, line: pieces[0]?.line ?? 1, timestamp: pieces[0]?.timestamp, body }
  return [init, ...pieces.map((piece) => (piece.parentId === null ? { ...piece, parentId: id } : piece))]
}
