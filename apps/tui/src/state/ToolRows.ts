/** A tool call as rows: one line that says what was done and what came of it, and all of it when unfolded. */
import { isObject, type Json, Preview, type Symbols } from "@grove/core/model"
import { diffLines } from "diff"
import * as Markdown from "./Markdown.ts"
import * as Row from "./Row.ts"
import * as Words from "./Words.ts"

export interface Call {
  readonly name: string
  readonly arguments: Json
  /** The message of the result, if there is one yet. */
  readonly result: Json | undefined
  readonly isRunning: boolean
  readonly millis: number | undefined
}

const MOST_ROWS = 200
/** Beyond this a comparison line by line would be felt. */
const LONGEST_DIFF = 100_000
const USEFUL = [
  "path",
  "file_path",
  "filePath",
  "file",
  "command",
  "cmd",
  "pattern",
  "query",
  "url",
  "description",
  "prompt"
]

const textAt = (args: Json, names: ReadonlyArray<string>): string | undefined => {
  const name = names.find((each) => typeof args[each] === "string")
  return name === undefined ? undefined : (args[name] as string)
}

/** What a call is about: the argument a person would name it by. */
export const subject = (args: Json): string =>
  textAt(args, USEFUL) ?? Object.values(args).find((value): value is string => typeof value === "string") ?? ""

interface Change {
  readonly sign: "+" | "-" | " "
  readonly text: string
}

const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = text.split(/\r\n?|\n/)
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

const compared = (before: string, after: string): ReadonlyArray<Change> => {
  if (before.length + after.length > LONGEST_DIFF) {
    return [
      ...linesOf(before).map((text) => ({ sign: "-" as const, text })),
      ...linesOf(after).map((text) => ({ sign: "+" as const, text }))
    ]
  }
  return diffLines(before, after).flatMap(({ added, removed, value }) => {
    const sign = added ? "+" : removed ? "-" : " "
    return linesOf(value).map((text): Change => ({ sign, text }))
  })
}

const fromPatch = (patch: string): ReadonlyArray<Change> =>
  linesOf(patch)
    .filter((line) => !/^(?:\+\+\+|---|@@|diff |index )/.test(line))
    .map((line) => ({ sign: line[0] === "+" ? "+" : line[0] === "-" ? "-" : " ", text: line.slice(1) }))

const pairsOf = (args: Json): ReadonlyArray<Json> => (Array.isArray(args.edits) ? args.edits.filter(isObject) : [args])

/** What an edit changes, by its result if that tells, else by what was asked for; `undefined` if it is no edit. */
const changesOf = ({ arguments: args, result }: Call): ReadonlyArray<Change> | undefined => {
  const details = isObject(result?.details) ? result.details : {}
  if (typeof details.diff === "string" && details.diff !== "") return fromPatch(details.diff)
  const pairs = pairsOf(args).flatMap((pair) => {
    const before = textAt(pair, ["oldText", "old_string", "oldString", "old_text"])
    const after = textAt(pair, ["newText", "new_string", "newString", "new_text"])
    return before === undefined && after === undefined ? [] : [compared(before ?? "", after ?? "")]
  })
  return pairs.length === 0 ? undefined : pairs.flat()
}

const lastLine = (text: string): string => linesOf(text.trimEnd()).at(-1)?.trim() ?? ""

/** A few words on what came of it. */
const outcome = (call: Call, symbols: Symbols.Symbols): Row.Row => {
  if (call.isRunning) return Row.row("running", "accent")
  if (call.result === undefined) return Row.row("waiting", "dim")
  const text = Preview.textOf(call.result.content)
  if (call.result.isError === true) return Row.row(`${symbols.error} ${Preview.line(text, 30) || "failed"}`, "error")
  const changes = changesOf(call)
  if (changes !== undefined) {
    const added = changes.filter(({ sign }) => sign === "+").length
    const removed = changes.filter(({ sign }) => sign === "-").length
    return [Row.span(`+${added}`, "added"), Row.span(" "), Row.span(`${symbols.minus}${removed}`, "removed")]
  }
  const lines = linesOf(text)
  const isCommand = textAt(call.arguments, ["command", "cmd"]) !== undefined
  if (isCommand && lastLine(text) !== "") return Row.row(Preview.line(lastLine(text), 24), "dim")
  return Row.row(text === "" ? symbols.done : Words.count(lines.length, "line"), "dim")
}

export const head = (call: Call, isOpen: boolean, columns: number, symbols: Symbols.Symbols): Row.Row => {
  const left: Row.Row = [
    Row.span(`${isOpen ? symbols.unfolded : symbols.folded} `, "dim"),
    Row.span(Preview.line(call.name || "tool", 20).padEnd(5), "accent"),
    Row.span(` ${Preview.line(subject(call.arguments), columns)}`)
  ]
  const time = call.millis === undefined ? "" : Words.duration(call.millis)
  const right: Row.Row = [...outcome(call, symbols), Row.span(time === "" ? "" : time.padStart(8), "dim")]
  return Row.spread(left, right, columns)
}

const changeRows = (changes: ReadonlyArray<Change>, columns: number): ReadonlyArray<Row.Row> =>
  changes.flatMap(({ sign, text }) => {
    const style = sign === "+" ? "added" : sign === "-" ? "removed" : "dim"
    return Row.wrap(Row.row(`${sign} ${text}`, style), columns, Row.row("  "))
  })

const argumentRows = (args: Json, columns: number): ReadonlyArray<Row.Row> =>
  Object.entries(args).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "")
    return Row.indent(
      Markdown.verbatim(text, "code", columns - 2),
      [Row.span(`${Preview.line(name, 24)}: `, "dim")],
      Row.row("  ")
    ).map((row) => Row.cut(row, columns))
  })

/** A patch or a new text, as an approval shows it. */
export const previewRows = (
  kind: "diff" | "command" | "text",
  text: string,
  columns: number
): ReadonlyArray<Row.Row> =>
  kind === "diff" ? changeRows(fromPatch(text), columns) : Markdown.verbatim(text, "code", columns)

const images = (content: unknown): ReadonlyArray<Row.Row> =>
  Array.isArray(content) ? content.filter((block) => isObject(block) && block.type === "image").map(image) : []

/** An image in words: its kind and its size. */
export const image = (block: Json): Row.Row => {
  const data = typeof block.data === "string" ? block.data : ""
  const size = data.startsWith("blob:") ? "kept as a blob" : Words.bytes(Math.floor((data.length * 3) / 4))
  return Row.row(`[image ${typeof block.mimeType === "string" ? block.mimeType : ""} ${size}]`, "link")
}

/** All that a call asked for and got, cut where nobody would read on. */
export const body = (call: Call, columns: number, symbols: Symbols.Symbols): ReadonlyArray<Row.Row> => {
  const changes = changesOf(call)
  const asked = changes === undefined ? argumentRows(call.arguments, columns) : changeRows(changes, columns)
  const text = call.result === undefined ? "" : Preview.textOf(call.result.content)
  const isTold = changes !== undefined && call.result?.isError !== true
  const style = call.result?.isError === true ? "error" : "plain"
  const got = isTold || text === "" ? [] : Markdown.verbatim(text.slice(0, LONGEST_DIFF), style, columns)
  const rows = [...asked, ...got, ...images(call.result?.content)]
  if (rows.length <= MOST_ROWS) return rows
  return [...rows.slice(0, MOST_ROWS), Row.row(`${symbols.more} ${rows.length - MOST_ROWS} more rows`, "dim")]
}
