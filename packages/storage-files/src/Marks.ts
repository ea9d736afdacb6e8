/**
 * Which blobs are named anywhere. Names are looked for in raw bytes, so that a line which cannot be parsed, or was torn
 * after the name, still keeps its blob.
 */
import { open } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { BlobHash } from "@grove/core"
import { Effect } from "effect"
import * as Breadcrumbs from "./Breadcrumbs.ts"
import { asBuffer } from "./Bytes.ts"
import * as Elsewhere from "./Elsewhere.ts"
import { attempt, isMissing, refusedAt } from "./FileRefused.ts"
import * as FileTree from "./FileTree.ts"
import type { SessionPaths } from "./SessionPaths.ts"

const NAME = "blob:sha256:"
const HASH_LENGTH = 64
const HASH = /^[0-9a-f]{64}$/
const CHUNK = 1024 * 1024

/** Adds every hash named in `bytes`; answers how many bytes at the end may be the beginning of another name. */
const markIn = (bytes: Buffer, marks: Set<BlobHash>): number => {
  for (let at = bytes.indexOf(NAME); at >= 0; at = bytes.indexOf(NAME, at + 1)) {
    const start = at + NAME.length
    const hash = bytes.toString("latin1", start, start + HASH_LENGTH)
    if (HASH.test(hash)) marks.add(hash as BlobHash)
  }
  return Math.min(bytes.length, NAME.length + HASH_LENGTH - 1)
}

/** The blobs that bytes name. */
export const inBytes = (bytes: Uint8Array): ReadonlySet<BlobHash> => {
  const marks = new Set<BlobHash>()
  markIn(asBuffer(bytes), marks)
  return marks
}

const scan = async (path: string, marks: Set<BlobHash>): Promise<void> => {
  const file = await open(path, "r")
  try {
    const buffer = Buffer.allocUnsafe(CHUNK + NAME.length + HASH_LENGTH)
    for (let kept = 0; ; ) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK, null)
      if (bytesRead === 0) return
      const have = kept + bytesRead
      kept = markIn(buffer.subarray(0, have), marks)
      buffer.copyWithin(0, have - kept, have)
    }
  } finally {
    await file.close()
  }
}

/** The blobs that files name. A file that is gone names none; one that cannot be read is an error. */
export const inFiles = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  onFile: (path: string) => void = () => {}
) {
  const marks = new Set<BlobHash>()
  for (const path of files) {
    onFile(path)
    yield* Effect.tryPromise({
      try: () => scan(path, marks).catch((cause) => (isMissing(cause) ? undefined : Promise.reject(cause))),
      catch: refusedAt(path)
    })
  }
  return marks
})

/** Sessions, drafts, backups, rejected lines, and whatever else was made of a session beside it. */
export const mayNameBlobs = (name: string): boolean => /\.jsonl(\.|$)|\.(bak|rejected)(\.|$)/.test(name)

/** Every file that may name blobs of this home. Throws `FileRefused`. */
export const sources = (paths: SessionPaths): ReadonlyArray<FileTree.Found> => {
  const { home } = paths
  const sessions = [join(home, "sessions"), paths.sessions, ...Elsewhere.list(home)]
  // A breadcrumb may be all that is known of a session somewhere else.
  const visited = Breadcrumbs.all(home).flatMap(({ file }) => [file, `${file}.draft`])
  const found = [
    ...[...sessions, ...visited].flatMap((root) => FileTree.list(resolve(root), mayNameBlobs)),
    ...[join(home, "trash"), join(home, "running")].flatMap((root) => FileTree.list(root))
  ]
  return [...new Map(found.map((file) => [file.path, file])).values()]
}

/** How often files that came or grew while others were read are looked for. */
const MOST_ROUNDS = 5

export interface HomeOptions {
  /** Files that do not count, by identity. */
  readonly except?: ReadonlySet<string>
  readonly onFile?: ((path: string) => void) | undefined
}

/**
 * The blobs named in the home. Files that appear or grow meanwhile, because a draft got its name or a session was moved,
 * are read too.
 */
export const inHome = Effect.fn("Marks.inHome")(function* (paths: SessionPaths, options: HomeOptions = {}) {
  const { except, onFile } = options
  const marks = new Set<BlobHash>()
  const known = new Set<string>()
  const stateOf = ({ path, identity, size }: FileTree.Found) => `${identity} ${size} ${path}`
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const all = yield* attempt(paths.home, () => sources(paths))
    const news = all.filter((file) => !known.has(stateOf(file)) && except?.has(file.identity) !== true)
    if (news.length === 0) break
    for (const file of news) known.add(stateOf(file))
    const found = yield* inFiles(
      news.map(({ path }) => path),
      onFile
    )
    for (const hash of found) marks.add(hash)
  }
  return marks as ReadonlySet<BlobHash>
})
