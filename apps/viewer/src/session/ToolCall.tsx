/** A tool call with its result, folded to one line that tells what it did. */
"use client"
import { isObject, type Json, Preview } from "@grove/core/model"
import { type ReactNode, useState } from "react"
import { useWords } from "../shared/Settings.tsx"
import { safe } from "../shared/Titles.ts"
import type { Body } from "../wire/Wire.ts"
import { Ansi } from "./Ansi.tsx"
import { Code } from "./Code.tsx"
import { Diff, DiffCounts, type Edit } from "./Diff.tsx"
import { languageOf } from "./Highlighter.ts"
import { Picture } from "./Picture.tsx"

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const pick = (given: Json, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) if (typeof given[name] === "string" && given[name] !== "") return given[name]
  return undefined
}

const COMMAND = ["command", "cmd", "script"]
const PATH = ["path", "file_path", "filePath", "file", "notebook_path"]
const OTHERS = ["pattern", "query", "url", "description", "prompt", "task", "name"]

/** What a person would ask first: which command, which file, which words. */
export const gistOf = (given: Json): string =>
  pick(given, [...COMMAND, ...PATH, ...OTHERS]) ??
  Object.values(given).find((value): value is string => typeof value === "string") ??
  ""

/** What a call changes, if it is one that edits a file; programs name the same things differently. */
export const editsOf = (given: Json): ReadonlyArray<Edit> => {
  const many = Array.isArray(given.edits) ? given.edits.filter(isObject) : []
  const one = (edit: Json): ReadonlyArray<Edit> => {
    const before = pick(edit, ["oldText", "old_string", "old_str", "oldString"])
    const after = ["newText", "new_string", "new_str", "newString"]
      .map((name) => text(edit[name]))
      .find((each) => each !== undefined)
    return before === undefined || after === undefined ? [] : [{ before, after }]
  }
  return [...one(given), ...many.flatMap(one)]
}

const ResultBlocks = ({ body, id }: { readonly body: Body; readonly id: string }) => {
  const message = isObject(body.entry.message) ? body.entry.message : {}
  const { content } = message
  if (typeof content === "string") return <Output text={content} />
  if (!Array.isArray(content)) return null
  return content.filter(isObject).map((block, at) => {
    const key = `${id}-${at}`
    if (block.type === "text") return <Output key={key} text={text(block.text) ?? ""} />
    if (block.type === "image") return <Picture key={key} entry={id} data={block.data} />
    return <Code key={key} text={JSON.stringify(block, null, 2)} language="json" />
  })
}

/** So much of an output is drawn before somebody asks for more. */
const FIRST = 4_000

export const Output = ({ text }: { readonly text: string }) => {
  const words = useWords()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? text : text.slice(0, FIRST)
  return (
    <div className="output">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <pre tabIndex={0}>
        <Ansi text={shown} />
      </pre>
      {shown.length < text.length ? (
        <button type="button" className="more" onClick={() => setWhole(true)}>
          {words.session.more(text.length - shown.length)}
        </button>
      ) : null}
    </div>
  )
}

const linesIn = (body: Body | undefined): number | undefined => {
  if (body === undefined || !isObject(body.entry.message)) return undefined
  const said = Preview.textOf(body.entry.message.content)
  return said === "" ? undefined : said.replace(/\n$/, "").split("\n").length
}

const Given = ({ given, path }: { readonly given: Json; readonly path: string | undefined }): ReactNode => {
  const edits = editsOf(given)
  if (edits.length > 0) return <Diff edits={edits} />
  const command = pick(given, COMMAND)
  if (command !== undefined) return <Code text={command} language="bash" />
  const content = text(given.content)
  if (path !== undefined && content !== undefined) {
    return <Code text={content} language={languageOf(path) ?? "text"} />
  }
  return Object.keys(given).length === 0 ? null : <Code text={JSON.stringify(given, null, 2)} language="json" />
}

export const ToolCall = ({
  call,
  result,
  resultId,
  isOpenAtFirst
}: {
  readonly call: Json
  readonly result: Body | undefined
  /** Absent where the call was never answered. */
  readonly resultId: string | undefined
  readonly isOpenAtFirst: boolean
}) => {
  const words = useWords()
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const given = isObject(call.arguments) ? call.arguments : {}
  const message = result !== undefined && isObject(result.entry.message) ? result.entry.message : undefined
  const isError = message?.isError === true
  const path = pick(given, PATH)
  const edits = editsOf(given)
  const lines = linesIn(result)
  return (
    <div className="tool" data-error={isError || undefined}>
      <button type="button" className="tool-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="fold" aria-hidden="true">
          {isOpen ? "▾" : "▸"}
        </span>
        <span className="tool-name">{safe(text(call.name) ?? words.session.tool, 60)}</span>
        <span className="tool-gist" dir="auto">
          {safe(gistOf(given), 240)}
        </span>
        {edits.length > 0 ? <DiffCounts edits={edits} /> : null}
        {edits.length === 0 && lines !== undefined && !isError ? (
          <span className="muted tool-size">{words.session.lines(lines)}</span>
        ) : null}
        {isError ? <span className="chip error">✕ {words.session.failed}</span> : null}
      </button>
      {isOpen ? (
        <div className="tool-body">
          <Given given={given} path={path} />
          {resultId === undefined ? <p className="muted">{words.session.noResult}</p> : null}
          {result === undefined ? null : <ResultBlocks body={result} id={resultId!} />}
        </div>
      ) : null}
    </div>
  )
}
