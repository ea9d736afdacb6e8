/**
 * A text taken out of session files, however JSON may have written it, with every other byte as it was. Only what stands
 * in strings is touched, so what is left is still the same JSON.
 */
import { Blobs } from "@grove/core"
import { asBuffer } from "./Bytes.ts"

/** What stands where the text was. */
export const REPLACEMENT = "[removed]"

/** A shorter text occurs everywhere by accident. */
export const SHORTEST = 4

const FORMAT_WORDS = [
  ...["session", "version", "timestamp", "parentSession", "title", "type", "parentId", "origin", "message", "role"],
  ...[
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "system",
    "content",
    "text",
    "thinking",
    "toolCall"
  ],
  ...["thinkingSignature", "thoughtSignature", "textSignature", "arguments", "toolCallId", "toolName", "isError"],
  ...["provider", "model", "modelId", "usage", "stopReason", "latencyMs", "image", "mimeType", "data", "fullText"],
  ...[
    "thinking_level_change",
    "thinkingLevel",
    "model_change",
    "compaction",
    "summary",
    "shortSummary",
    "tokensBefore"
  ],
  ...["firstKeptEntryId", "details", "preserveData", "fromExtension", "fromHook", "branch_summary", "fromId", "label"],
  ...["customType", "custom_message", "display", "targetId", "targetIds", "session_info", "name", "ttsr_injection"],
  ...["injectedRules", "session_init", "systemPrompt", "task", "tools", "outputSchema", "mode_change", "context_edit"],
  ...["replacement", "grove.leaf", "grove.state", "grove.edit", "grove.config", "grove.annotation", "blob:sha256:"],
  REPLACEMENT
]

/** Why a text cannot be taken out without breaking the files; `undefined` if it can. */
export const objection = (text: string): string | undefined => {
  if (text.length < SHORTEST) return `it is shorter than ${SHORTEST} characters and would be found by accident`
  if (FORMAT_WORDS.some((word) => word.includes(text))) return "it is a word that session files are made of"
  return undefined
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")

const SHORT_ESCAPES: { readonly [character: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "/": "\\/",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t"
}

const unicodeEscape = (unit: number): string =>
  escaped("\\u") + [...unit.toString(16).padStart(4, "0")].map((digit) => `[${digit}${digit.toUpperCase()}]`).join("")

/** A pattern for every way in which JSON can write one character, in bytes taken as Latin-1. */
const spellings = (character: string): string => {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  const plain = character === '"' || character === "\\" ? [] : [escaped(Buffer.from(character).toString("latin1"))]
  const short = SHORT_ESCAPES[character]
  return `(?:${[...plain, ...(short === undefined ? [] : [escaped(short)]), units.map(unicodeEscape).join("")].join("|")})`
}

export interface TextRemoval {
  /** Whether some line may hold the text: false is sure, true is a guess. */
  readonly mayBeIn: (bytes: Uint8Array) => boolean
  /** The line without the text; the same bytes if it is not there. */
  readonly fromLine: (line: Uint8Array) => Uint8Array
  /** Plain bytes without the text. */
  readonly fromPlain: (bytes: Uint8Array) => Uint8Array
  readonly isInPlain: (bytes: Uint8Array) => boolean
}

const isJson = (bytes: Buffer): boolean => {
  try {
    JSON.parse(bytes.toString("utf8"))
    return true
  } catch {
    return false
  }
}

const IN_REFERENCE = /blob:sha256:[0-9a-f]{0,63}$/
const LONGEST_REFERENCE = Blobs.reference("0".repeat(64) as Blobs.BlobHash).length

export const make = (text: string): TextRemoval => {
  const plain = Buffer.from(text)
  const written = Buffer.from(JSON.stringify(text).slice(1, -1))
  const pattern = [...text].map(spellings).join("")
  const isHex = /^[0-9a-f]+$/.test(text)
  // Escapes are read whole, so that the second half of one is never taken for the beginning of the text.
  const tokens = new RegExp(`(${pattern})|\\\\(?:u[0-9a-fA-F]{4}|[^])|"`, "g")

  const isInReference = (line: string, at: number): boolean =>
    isHex && IN_REFERENCE.test(line.slice(Math.max(0, at - LONGEST_REFERENCE), at))

  const fromLine = (bytes: Uint8Array): Uint8Array => {
    const line = asBuffer(bytes)
    const latin1 = line.toString("latin1")
    // Outside of strings a number may look like the text. What is no JSON has no outside.
    const isStrict = isJson(line)
    let isInString = false
    const left = latin1.replace(tokens, (found: string, hit: string | undefined, at: number) => {
      if (found === '"') isInString = !isInString
      if (hit === undefined || (isStrict && !isInString) || isInReference(latin1, at)) return found
      return REPLACEMENT
    })
    const clean = isStrict ? left : left.replaceAll(plain.toString("latin1"), () => REPLACEMENT)
    return clean === latin1 ? bytes : Buffer.from(clean, "latin1")
  }

  return {
    mayBeIn: (bytes) => {
      const buffer = asBuffer(bytes)
      return [written, plain, "\\u", "\\/"].some((part) => buffer.includes(part))
    },
    fromLine,
    isInPlain: (bytes) => asBuffer(bytes).includes(plain),
    fromPlain: (bytes) => {
      const latin1 = asBuffer(bytes).toString("latin1")
      return Buffer.from(
        latin1.replaceAll(plain.toString("latin1"), () => REPLACEMENT),
        "latin1"
      )
    }
  }
}
