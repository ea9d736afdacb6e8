/** What a session is called on screen, and its folder in short. */
import { Preview } from "@grove/core/model"
import type { SessionRow } from "../wire/Wire.ts"
import type { Words } from "../words/index.ts"

const COLUMNS = 200

/** Nothing in a name may hide or turn round what stands beside it. */
export const safe = (text: string, columns = COLUMNS): string => Preview.line(text, columns)

export const titleOf = (row: Pick<SessionRow, "name" | "firstMessage">, words: Words): string =>
  safe(row.name ?? row.firstMessage ?? words.list.untitled) || words.list.untitled

/** The last part of a path. */
export const folderOf = (cwd: string): string =>
  safe(
    cwd
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1) || cwd
  )
