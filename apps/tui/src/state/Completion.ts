/** What Tab would complete where the caret stands: a command after a slash, a file after an at sign. */
import { Fzf } from "fzf"
import type { Command } from "./Commands.ts"
import type { Editor } from "./Editor.ts"

export interface Item {
  readonly text: string
  readonly about: string
}

export interface Completion {
  /** What is replaced. */
  readonly from: number
  readonly to: number
  readonly items: ReadonlyArray<Item>
  readonly selected: number
  readonly kind: "command" | "file"
}

const MOST = 8
const finders = new WeakMap<ReadonlyArray<string>, Fzf<ReadonlyArray<string>>>()

const filesLike = (query: string, files: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (query === "") return files.slice(0, MOST)
  let finder = finders.get(files)
  if (finder === undefined) {
    finder = new Fzf(files, { fuzzy: "v1", casing: "case-insensitive", limit: MOST })
    finders.set(files, finder)
  }
  return finder.find(query).map(({ item }: { readonly item: string }) => item)
}

/** `files` is `null` before they have been listed. */
export const at = (
  { text, caret }: Editor,
  commands: ReadonlyArray<Command>,
  files: ReadonlyArray<string> | null
): Completion | null => {
  const before = text.slice(0, caret)
  const command = /^\/([a-zA-Z]*)$/.exec(before)
  if (command !== null && caret === text.length) {
    const items = commands
      .filter(({ name }) => name.startsWith(command[1]!.toLowerCase()))
      .map(({ name, takes = "", about }) => ({ text: `/${name}`, about: `${takes} ${about}`.trim() }))
    return items.length === 0 ? null : { from: 0, to: caret, items, selected: 0, kind: "command" }
  }
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before)
  if (file === null || files === null) return null
  const items = filesLike(file[1]!, files).map((path) => ({ text: `@${path}`, about: "" }))
  return items.length === 0 ? null : { from: caret - file[1]!.length - 1, to: caret, items, selected: 0, kind: "file" }
}

/** Whether the caret stands where a file could be named. */
export const asksForFiles = ({ text, caret }: Editor): boolean => /(?:^|\s)@[^\s@]*$/.test(text.slice(0, caret))
