/** Where Grove keeps its files, and how a session's place follows from its working directory, time and id. */
import { createHash } from "node:crypto"
import { join } from "node:path"

/** The folders of one GROVE_HOME. A session directory given by the person is flat. */
export interface SessionPaths {
  readonly home: string
  readonly sessions: string
  readonly blobs: string
  readonly cache: string
  readonly isFlat: boolean
}

export const make = (options: {
  readonly home: string
  readonly sessionDirectory?: string | undefined
}): SessionPaths => ({
  home: options.home,
  sessions: options.sessionDirectory ?? join(options.home, "sessions"),
  blobs: join(options.home, "blobs"),
  cache: join(options.home, "cache"),
  isFlat: options.sessionDirectory !== undefined
})

const LONGEST_FOLDER = 200
const KEPT_OF_LONG_FOLDER = 180

/** The first `bytes` bytes of a text, whole characters only. */
const prefixOf = (text: string, bytes: number): string => {
  let kept = ""
  let size = 0
  for (const character of text) {
    size += Buffer.byteLength(character)
    if (size > bytes) break
    kept += character
  }
  return kept
}

/** The folder for a working directory. Not unique (`/a/b-c`, `/a-b/c`), so whoever looks by cwd checks the header. */
export const folderFor = (cwd: string): string => {
  const encoded = cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")
  if (Buffer.byteLength(encoded) <= LONGEST_FOLDER) return `--${encoded}--`
  const hash = createHash("sha256").update(encoded).digest("hex").slice(0, 8)
  return `--${prefixOf(encoded, KEPT_OF_LONG_FOLDER)}-${hash}--`
}

export const fileNameFor = (timestamp: string, id: string): string => `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`

export const pathFor = (
  paths: SessionPaths,
  header: { readonly cwd: string; readonly timestamp: string; readonly id: string }
): string => {
  const folder = paths.isFlat ? paths.sessions : join(paths.sessions, folderFor(header.cwd))
  return join(folder, fileNameFor(header.timestamp, header.id))
}
