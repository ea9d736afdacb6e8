/** The lines of a foreign file that are JSON objects; every other line that is not blank gets a note. */
import { isObject, type Json, Jsonl } from "@grove/core"
import type { Note } from "./Translation.ts"

export interface Line {
  readonly line: number
  readonly value: Json
}

export const objects = (bytes: Uint8Array, repaired: Array<Note>): ReadonlyArray<Line> => {
  const found: Array<Line> = []
  let line = 0
  for (const { start, end, terminated } of Jsonl.spans(bytes)) {
    line++
    const parsed = Jsonl.parseLine(bytes.subarray(start, end))
    if (parsed.is === "blank") continue
    if (parsed.is === "not-json") repaired.push({ line, kind: terminated ? "not-json" : "torn-tail" })
    else if (isObject(parsed.value)) found.push({ line, value: parsed.value })
    else repaired.push({ line, kind: "not-object" })
  }
  return found
}

const decoder = new TextDecoder()

/** The bytes as one JSON value, `undefined` where they are none. */
export const value = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}
