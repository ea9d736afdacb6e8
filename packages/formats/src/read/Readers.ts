/** All readers, and which of them a file is for. */
import { isObject } from "@grove/core"
import type { Format } from "../Format.ts"
import * as ChatGpt from "./ChatGpt.ts"
import * as ClaudeCode from "./ClaudeCode.ts"
import * as Codex from "./Codex.ts"
import * as Gemini from "./Gemini.ts"
import * as LibreChat from "./LibreChat.ts"
import * as Lines from "./Lines.ts"
import * as Neovate from "./Neovate.ts"
import * as Omp from "./Omp.ts"
import * as Opencode from "./Opencode.ts"
import * as Pi from "./Pi.ts"
import type { Reader, Sample, Source } from "./Reader.ts"
import * as Simple from "./Simple.ts"
import type { Note, Translation } from "./Translation.ts"

/** In the order in which they are asked; those that look for least come last. */
const readers: ReadonlyArray<Reader> = [
  Omp.reader,
  Pi.reader,
  ClaudeCode.reader,
  Codex.reader,
  Neovate.reader,
  Gemini.reader,
  Opencode.reader,
  ChatGpt.reader,
  LibreChat.reader,
  Simple.reader
]

const byFormat = new Map(readers.map((reader) => [reader.format, reader]))

/** So many bytes, and so many lines in them, tell one format from another. */
const SAMPLED_BYTES = 256 * 1024
const SAMPLED_LINES = 50

/** Only what is no object on its first line, or has no second, may be one JSON value, and then its lines mean nothing. */
const sampleOf = (file: string, bytes: Uint8Array): Sample => {
  const lines = Lines.objects(bytes.subarray(0, SAMPLED_BYTES), [])
  const isLines = lines.length > 1 && lines[0]!.line === 1
  const value = isLines ? undefined : Lines.value(bytes)
  return {
    file,
    lines: value === undefined ? lines.slice(0, SAMPLED_LINES).map((one) => one.value) : [value].filter(isObject),
    value
  }
}

/** By content; `undefined` for what no reader knows. */
export const detect = (file: string, bytes: Uint8Array): Format | undefined => {
  const sample = sampleOf(file, bytes)
  return readers.find((reader) => reader.recognises(sample))?.format
}

/** A session that comes twice is taken once; the note has its number among the sessions. */
const distinct = ({ sessions, repaired, ...rest }: Translation): Translation => {
  const ids = new Set<string>()
  const again: Array<Note> = []
  const kept = sessions.filter(({ header }, i) => {
    const isNew = !ids.has(header.id)
    if (!isNew) again.push({ line: i + 1, kind: "duplicate-session" })
    ids.add(header.id)
    return isNew
  })
  return { ...rest, sessions: kept, repaired: [...repaired, ...again] }
}

export const read = (format: Format, source: Source): Translation => {
  const reader = byFormat.get(format)
  return reader === undefined ? { format, sessions: [], repaired: [], unmapped: [] } : distinct(reader.read(source))
}
