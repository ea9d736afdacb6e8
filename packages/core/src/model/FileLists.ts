/** Which files the tools of a conversation read and changed, carried on from summary to summary. */
import { isObject, type Json } from "./open.ts"
import { toolCallsOf } from "./Preview.ts"

/** Sorted; what was changed is not listed as read too. */
export interface FileLists {
  readonly readFiles: ReadonlyArray<string>
  readonly modifiedFiles: ReadonlyArray<string>
}

/** What tools of these names do to the file they name; other agents write the names in capitals. */
const EFFECTS: { readonly [tool: string]: "read" | "modified" } = {
  read: "read",
  write: "modified",
  edit: "modified",
  multiedit: "modified"
}
const ARGUMENTS = ["path", "file_path", "filePath"]

const effectOf = (call: Json): "read" | "modified" | undefined => {
  const name = typeof call.name === "string" ? call.name.toLowerCase() : ""
  return Object.hasOwn(EFFECTS, name) ? EFFECTS[name] : undefined
}

const pathOf = ({ arguments: given }: Json): string | undefined => {
  if (!isObject(given)) return undefined
  return ARGUMENTS.map((name) => given[name]).find((path) => typeof path === "string" && path !== "") as
    | string
    | undefined
}

/** The calls of a reply; of a result, those that its tool made in turn. */
const callsOf = (message: Json): ReadonlyArray<Json> => {
  if (message.role === "assistant") return toolCallsOf(message.content)
  return Array.isArray(message.nestedCalls) ? message.nestedCalls.filter(isObject) : []
}

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

/** From the calls in messages, and from the details that earlier summaries noted. */
export const gather = (messages: Iterable<Json>, earlier: Iterable<unknown> = []): FileLists => {
  const files = { read: new Set<string>(), modified: new Set<string>() }
  for (const details of earlier) {
    if (!isObject(details)) continue
    for (const path of strings(details.readFiles)) files.read.add(path)
    for (const path of strings(details.modifiedFiles)) files.modified.add(path)
  }
  for (const message of messages) {
    for (const call of callsOf(message)) {
      const effect = effectOf(call)
      const path = pathOf(call)
      if (effect !== undefined && path !== undefined) files[effect].add(path)
    }
  }
  const readFiles = [...files.read].filter((path) => !files.modified.has(path)).sort()
  return { readFiles, modifiedFiles: [...files.modified].sort() }
}

/** The details of a summary that Grove or Pi made. An extension may mean something else by the same names. */
export const detailsOf = (entry: Json): unknown =>
  entry.fromHook === true || entry.fromExtension === true ? undefined : entry.details

/** How many paths of a list are written out, so that a long life does not fill a small window with names. */
const SHOWN = 200

const block = (tag: string, paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const more = paths.length > SHOWN ? [`(and ${paths.length - SHOWN} more)`] : []
  const lines = paths.slice(0, SHOWN).map((path) => path.replace(/[\r\n]+/gu, " "))
  return [`<${tag}>`, ...lines, ...more, `</${tag}>`]
}

const text = ({ readFiles, modifiedFiles }: FileLists): string =>
  [block("read-files", readFiles), block("modified-files", modifiedFiles)]
    .filter((lines) => lines.length > 0)
    .map((lines) => `\n\n${lines.join("\n")}`)
    .join("")

export const append = (summary: string, lists: FileLists): string => `${summary}${text(lists)}`

/** The summary without the lists that its details make superfluous: whoever updates it lists the files anew. */
export const strip = (summary: string, details: unknown): string => {
  const lists = text(gather([], [details]))
  return lists !== "" && summary.endsWith(lists) ? summary.slice(0, -lists.length) : summary
}
