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
import type { Translation } from "./Translation.ts"

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

/** Only what begins like a JSON value is parsed whole, and only if its first line is none by itself. */
const sampleOf = (file: string, bytes: Uint8Array): Sample => {
  const lines = Lines.objects(bytes.subarray(0, SAMPLED_BYTES), [])
    .slice(0, SAMPLED_LINES)
    .map(({ value }) => value)
  const value = lines.length === 0 || (lines.length === 1 && isObject(lines[0])) ? Lines.value(bytes) : undefined
  return { file, lines, value }
}

/** By content; `undefined` for what no reader knows. */
export const detect = (file: string, bytes: Uint8Array): Format | undefined => {
  const sample = sampleOf(file, bytes)
  return readers.find((reader) => reader.recognises(sample))?.format
}

export const read = (format: Format, source: Source): Translation =>
  byFormat.get(format)?.read(source) ?? { format, sessions: [], repaired: [], unmapped: [] }
