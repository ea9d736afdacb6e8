/** What a format brings: how its files are recognised, and how they are translated. Both are pure. */
import type { Json } from "@grove/core"
import type { Format } from "../Format.ts"
import type { Translation } from "./Translation.ts"

/** One file of another program, and what it may look up around it. */
export interface Source {
  /** Its path, as entries name it. */
  readonly file: string
  readonly bytes: Uint8Array
  /** A file by its path from the folder of this one; `undefined` if there is none. */
  readonly beside: (path: string) => Uint8Array | undefined
  /** Names in a folder, given by its path from the folder of this one; empty if there is none. */
  readonly namesIn: (path: string) => ReadonlyArray<string>
}

/** The beginning of a file, as far as it could be parsed. */
export interface Sample {
  readonly file: string
  /** The first lines that are JSON objects. */
  readonly lines: ReadonlyArray<Json>
  /** The whole file, where it is one JSON value. */
  readonly value: unknown
}

export interface Reader {
  readonly format: Format
  readonly recognises: (sample: Sample) => boolean
  /** Never throws, whatever the bytes are; what is nothing like the format has no sessions. */
  readonly read: (source: Source) => Translation
}
