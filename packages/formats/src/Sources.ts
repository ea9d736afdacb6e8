/** Files of other programs: which there are below a folder, and what each of them holds. Never writes to any. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { JsonText } from "@grove/core"
import { Data, Effect } from "effect"
import * as Zstd from "fzstd"
import { Databases } from "./Databases.ts"
import type { Format } from "./Format.ts"
import * as OpencodeTables from "./OpencodeTables.ts"
import type { Source } from "./read/Reader.ts"
import * as Readers from "./read/Readers.ts"
import type { Translation } from "./read/Translation.ts"

/** A file that could not be read; trying again may help. */
export class SourceRefused extends Data.TaggedError("SourceRefused")<{
  readonly file: string
  readonly cause: unknown
}> {}

export interface Found {
  readonly file: string
  readonly format: Format
}

const NAMES = /\.(jsonl|json|jsonl\.zst|db)$/

/** Regular files below a folder, by name. Links are not followed; a folder that cannot be opened is passed over. */
export const filesBelow = (folder: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const pending = [folder]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const item of list(at)) {
      const path = join(at, item.name)
      if (item.isDirectory()) pending.push(path)
      else if (item.isFile() && NAMES.test(item.name)) found.push(path)
    }
  }
  return found.sort()
}

/** Names of the folders in a folder. */
export const foldersIn = (folder: string): ReadonlyArray<string> =>
  list(folder)
    .filter((item) => item.isDirectory())
    .map(({ name }) => name)
    .sort()

const list = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

const unpacked = (file: string, bytes: Uint8Array): Uint8Array =>
  file.endsWith(".zst") ? Zstd.decompress(bytes) : bytes

const readWhole = (file: string): Uint8Array => unpacked(file, readFileSync(file))

/** So much of a file tells its format, unless it is one JSON value. */
const HEAD_BYTES = 256 * 1024

const headOf = (file: string): Uint8Array => {
  if (!file.endsWith(".jsonl")) return readWhole(file)
  const open = openSync(file, "r")
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    return head.subarray(0, readSync(open, head, 0, HEAD_BYTES, 0))
  } finally {
    closeSync(open)
  }
}

const isDatabase = (file: string): boolean => file.endsWith(".db")

const formatOf = (file: string): Format | undefined => {
  // The one program that keeps its sessions in a database.
  if (isDatabase(file)) return /^opencode[^/\\]*\.db$/.test(basename(file)) ? "opencode" : undefined
  try {
    return Readers.detect(file, headOf(file))
  } catch {
    return undefined
  }
}

/** Where a program keeps what sub-agents of a session said: in a folder that is named like the file. */
const folderOf = (file: string): string => file.replace(/\.jsonl(\.zst)?$/, "")

/**
 * The sources a path stands for: a file together with its sub-agents, or everything below a folder that some reader
 * knows. A file that a person named is a source whatever it holds, of no format if none fits.
 */
export const discover = (
  path: string,
  format?: Format
): ReadonlyArray<{ readonly file: string; readonly format: Format | undefined }> => {
  const named = resolve(path)
  const known = (files: ReadonlyArray<string>) =>
    files.flatMap((file) => {
      const its = format ?? formatOf(file)
      return its === undefined ? [] : [{ file, format: its }]
    })
  if (statSync(named).isDirectory()) return known(filesBelow(named))
  const below = folderOf(named) === named ? [] : known(filesBelow(folderOf(named)))
  return [{ file: named, format: format ?? formatOf(named) }, ...below]
}

/** What a source looked at: itself and what lies around it. When none of these has changed, nor has its translation. */
export interface Loaded {
  readonly source: Source
  readonly lookedAt: ReadonlySet<string>
}

/** A file, with what its reader may look up. */
export const load = (file: string): Loaded => {
  const lookedAt = new Set([file])
  const around = <A>(path: string, look: (path: string) => A, otherwise: A): A => {
    const whole = join(dirname(file), path)
    lookedAt.add(whole)
    try {
      return look(whole)
    } catch {
      return otherwise
    }
  }
  const source: Source = {
    file,
    bytes: readWhole(file),
    beside: (path) => around<Uint8Array | undefined>(path, readWhole, undefined),
    namesIn: (path) => around<ReadonlyArray<string>>(path, (folder) => readdirSync(folder).sort(), [])
  }
  return { source, lookedAt }
}

export interface Translated extends Translation {
  readonly lookedAt: ReadonlySet<string>
}

const refuse = (file: string) => (cause: unknown) => new SourceRefused({ file, cause })

/** The file of a database, and what has not yet been moved into it. */
const filesOfDatabase = (file: string): ReadonlySet<string> => new Set([file, `${file}-wal`])

const loadDatabase = Effect.fnUntraced(function* (file: string) {
  const databases = yield* Databases
  const rows = yield* Effect.mapError(databases.rows(file, OpencodeTables.queries), ({ cause }) => refuse(file)(cause))
  const bytes = new TextEncoder().encode(JsonText.stringify(OpencodeTables.exportsFrom(rows)))
  return { source: { file, bytes, beside: () => undefined, namesIn: () => [] }, lookedAt: filesOfDatabase(file) }
})

/** What a source holds. */
export const translate = Effect.fn("Sources.translate")(function* ({ file, format }: Found) {
  const { source, lookedAt } = isDatabase(file)
    ? yield* loadDatabase(file)
    : yield* Effect.try({ try: () => load(file), catch: refuse(file) })
  return { ...Readers.read(format, source), lookedAt } satisfies Translated
})
