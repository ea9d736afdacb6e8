/** What a reader finds of the lines that tests write. */
import { Jsonl } from "@grove/core"
import { Result } from "effect"

export interface Found {
  readonly ids: ReadonlySet<string>
  readonly problems: ReadonlyArray<string>
  /** Whether each entry's text is the one its line was written with. */
  readonly isSound: boolean
}

/** What a reader finds in a session file. Fails if it is none. */
export const read = (bytes: Uint8Array): Found => {
  const { rows, problems } = Result.getOrThrow(Jsonl.read(bytes))
  const isSound = rows.every(({ entry }) => {
    const { content } = (entry.message ?? {}) as { content?: unknown }
    return typeof content !== "string" || new RegExp(`^${entry.id} x*$`).test(content)
  })
  return { ids: new Set(rows.map(({ entry }) => entry.id)), problems: problems.map(({ kind }) => kind), isSound }
}

/** Acknowledged ids that a reader does not find. */
export const missing = (acknowledged: Iterable<string>, found: ReadonlySet<string>): ReadonlyArray<string> =>
  [...acknowledged].filter((id) => !found.has(id))
