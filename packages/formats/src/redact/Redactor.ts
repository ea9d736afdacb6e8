/**
 * Sessions without secrets and without the person they are from: a walk over every text of an entry that knows which of
 * them are names and references. What comes out is the same tree.
 */
import { type Entry, type Header, JsonWalk, Mark } from "@grove/core/model"
import * as Person from "./Person.ts"
import * as Secrets from "./Secrets.ts"

export type Counts = ReadonlyMap<string, number>

/** Sealed by whoever made them: they prove texts that may be changed now, or hide texts that nobody can look into. */
const SEALED = new Set(["thinkingSignature", "thoughtSignature", "textSignature", "encrypted_content"])

/** By these, entries, calls and programs refer to each other. */
const ENTRY_REFERENCES = new Set([
  ...["type", "id", "parentId", "timestamp", "targetId", "firstKeptEntryId", "fromId", "customType", "group"],
  ...["fullText", "role", "kind"]
])
const MESSAGE_REFERENCES = new Set(["role", "toolCallId", "stopReason", "timestamp", "customType"])
const BLOCK_REFERENCES = new Set(["type", "id", "mimeType"])
const ORIGIN_REFERENCES = new Set(["session", "entry", "format"])
const MARK_TEXTS = new Set(["note", "summary", "pastedTextMap", "pastedImageMap", "approvalTools"])
/** Names of programs and models: no place for a person, whatever they are called. */
const PROGRAM_NAMES = new Set(["provider", "model", "modelId", "api", "toolName", "thinkingLevel", "mode"])

type Care = "keep" | "program" | "text"

const isContent = ({ key, node, above }: JsonWalk.Frame): boolean =>
  Array.isArray(node) && key === "content" && above !== undefined && (isEntry(above) || isMessage(above))
const isEntry = ({ above }: JsonWalk.Frame): boolean => above === undefined
const isMessage = ({ key, above }: JsonWalk.Frame): boolean =>
  above !== undefined && isEntry(above) && (key === "message" || key === "replacement")
const isBlock = ({ above }: JsonWalk.Frame): boolean => above !== undefined && isContent(above)
const isIn = (frame: JsonWalk.Frame, name: string): boolean =>
  frame.key === name && frame.above !== undefined && isEntry(frame.above)

const typeOf = ({ node }: JsonWalk.Frame): unknown => (Array.isArray(node) ? undefined : node.type)

/** Marks hold ids for the most part. The summary of a state is one, that of a config is a text. */
const isMarkReference = (frame: JsonWalk.Frame, key: string): boolean => {
  if (!isIn(frame, "data") || !Mark.isMark(frame.above!.node as { readonly [key: string]: unknown })) return false
  if (key === "summary") return (frame.above!.node as { readonly customType?: unknown }).customType === "grove.state"
  return !MARK_TEXTS.has(key)
}

/** How a member is treated: kept with all that is below it, or looked at. */
const careOf = (frame: JsonWalk.Frame, key: string): Care => {
  if (isEntry(frame)) return ENTRY_REFERENCES.has(key) ? "keep" : PROGRAM_NAMES.has(key) ? "program" : "text"
  if (isMessage(frame)) return MESSAGE_REFERENCES.has(key) ? "keep" : PROGRAM_NAMES.has(key) ? "program" : "text"
  if (isBlock(frame)) {
    if (BLOCK_REFERENCES.has(key) || (key === "data" && typeOf(frame) === "image")) return "keep"
    return key === "name" && typeOf(frame) === "toolCall" ? "program" : "text"
  }
  if (isIn(frame, "origin")) return ORIGIN_REFERENCES.has(key) ? "keep" : "text"
  return isMarkReference(frame, key) ? "keep" : "text"
}

/** An image that is a member of something else than content, as tools keep them in their details. */
const isImageData = (frame: JsonWalk.Frame, key: string): boolean =>
  key === "data" && typeOf(frame) === "image" && !Array.isArray(frame.node) && typeof frame.node.mimeType === "string"

export interface Redactor {
  readonly text: (text: string) => string
  readonly entry: (entry: Entry.Entry) => Entry.Entry
  readonly header: (header: Header.Header) => Header.Header
  /** Any other value, without names or references in it. */
  readonly value: <Value extends object>(value: Value) => Value
  /**
   * Whether anything in a line of JSON may have to go, told from its bytes read as characters of one byte each: never
   * wrong where it says no.
   */
  readonly mayConcern: (line: string) => boolean
  /** How many of each kind were taken out so far; `home` and `user` among them. */
  readonly counts: () => Counts
}

/** Also escapes that JSON does not ask for, behind which anything may hide, and what is sealed. */
const CONCERNS = Secrets.firstLook({
  characters: "S\\\\",
  beginnings: ['S(?=ignature")', "encrypted_(?=c)", "\\\\(?=u00[2-7]|/)"]
})
const MOST_NAMES = 10_000
const ignore = (): void => {}
const HEADER_REFERENCES = new Set(["type", "version", "id", "timestamp"])

/** Counts from when it was made: one for each export. */
export const make = (person: Person.Person): Redactor => {
  const counts = new Map<string, number>()
  const count = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const { withoutPerson, mayBeInLine } = Person.make(person)
  const program = (text: string): string => Secrets.withoutSecrets(text, count)
  const text = (text: string): string => withoutPerson(program(text), count)

  /** Names of members that were looked at: the same few come again and again. */
  const plainNames = new Set<string>()
  const isPlainName = (name: string): boolean => {
    if (plainNames.has(name)) return true
    const isPlain = withoutPerson(Secrets.withoutSecrets(name, ignore), ignore) === name
    if (isPlain && plainNames.size < MOST_NAMES) plainNames.add(name)
    return isPlain
  }

  /** The name of a member may be a secret too; two that become one are told apart. */
  const rename = (frame: JsonWalk.Frame, name: string): void => {
    const node = JsonWalk.writable(frame)
    const clean = text(name)
    let free = clean
    for (let n = 2; Object.hasOwn(node, free); n++) free = `${clean} ${n}`
    node[free] = node[name]
    delete node[name]
  }

  const walked = <Value extends object>(value: Value, care: (frame: JsonWalk.Frame, key: string) => Care): Value => {
    const telling: Array<readonly [JsonWalk.Frame, string]> = []
    const top: { frame?: JsonWalk.Frame } = {}
    const clean = JsonWalk.walk(value, (frame, key, member) => {
      top.frame ??= frame
      const how = care(frame, key)
      if (how === "keep") return false
      if (SEALED.has(key) && typeof member === "string") {
        count("signature")
        delete JsonWalk.writable(frame)[key]
        return false
      }
      if (!Array.isArray(frame.node) && !isPlainName(key)) telling.push([frame, key])
      if (typeof member !== "string") return true
      if (isImageData(frame, key)) return false
      const clean = how === "program" ? program(member) : memberText(key, member)
      if (clean !== member) JsonWalk.writable(frame)[key] = clean
      return false
    })
    // What is below first: it is found by the names that stand above it.
    for (const [frame, key] of telling.reverse()) rename(frame, key)
    return telling.length === 0 ? clean : (top.frame!.copy as Value)
  }

  const memberText = (key: string, member: string): string => {
    if (!Secrets.isSecretMember(key, member)) return text(member)
    const found = text(member)
    if (found !== member) return found
    count("assignment")
    return Secrets.placeholder("assignment")
  }
  return {
    text,
    entry: (entry) => walked(entry, careOf),
    header: (header) =>
      walked(header, (frame, key) => (isEntry(frame) && HEADER_REFERENCES.has(key) ? "keep" : "text")),
    value: (value) => walked(value, () => "text"),
    mayConcern: (line) => CONCERNS.test(line) || mayBeInLine(line) || Secrets.mayHoldOthers(line),
    counts: () => counts
  }
}
