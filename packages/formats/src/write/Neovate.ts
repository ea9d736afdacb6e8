/**
 * Sessions as Neovate keeps them: a config line, then messages by uuid and parent, the last of which is where it goes
 * on. Only what was said has a place there.
 */
import { Entry, type EntryId, Facts, isObject, type Json, JsonText, NONE, Preview } from "@grove/core/model"
import { Stream } from "effect"
import type { Draft } from "./Draft.ts"

type Line = { [key: string]: unknown }

const text = (value: unknown): string => (typeof value === "string" ? value : "")
const blocksOf = (content: unknown): ReadonlyArray<Json> => (Array.isArray(content) ? content.filter(isObject) : [])

/** The members of those names that are there. */
const only = (value: Json, names: ReadonlyArray<string>): Line =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])))

const partOf = (block: Json): ReadonlyArray<Line> => {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: text(block.text) }]
    case "image": {
      const { data, mimeType } = block
      return [{ type: "image", data: `data:${text(mimeType)};base64,${text(data)}`, mimeType: text(mimeType) }]
    }
    case "thinking":
      return [{ type: "reasoning", text: text(block.thinking) }]
    case "toolCall":
      return [
        {
          ...{ type: "tool_use", id: text(block.id), name: text(block.name), input: block.arguments ?? {} },
          ...only(block, ["displayName", "description"])
        }
      ]
    default:
      return []
  }
}

/** A text, or parts. */
const contentOf = (content: unknown): unknown =>
  typeof content === "string" ? content : blocksOf(content).flatMap(partOf)

const count = (value: unknown): number => (typeof value === "number" ? value : 0)
const usageOf = (usage: unknown): Line => {
  if (!isObject(usage)) return { input_tokens: 0, output_tokens: 0 }
  const { input, output, cacheRead, cacheWrite } = usage
  return {
    input_tokens: count(input),
    output_tokens: count(output),
    ...(count(cacheRead) > 0 ? { cache_read_input_tokens: count(cacheRead) } : {}),
    ...(count(cacheWrite) > 0 ? { cache_creation_input_tokens: count(cacheWrite) } : {})
  }
}

const assistantOf = (message: Json): Line => ({
  role: "assistant",
  content: blocksOf(message.content).flatMap(partOf),
  text: Preview.textOf(message.content),
  model: `${text(message.provider)}/${text(message.model)}`,
  usage: usageOf(message.usage),
  ...only(message, ["uiContent", "metadata"])
})

const resultOf = (message: Json, input: unknown): Line => {
  const { content } = message
  const details = isObject(message.details) ? message.details : {}
  const isText = blocksOf(content).every(({ type }) => type === "text")
  const llmContent = typeof content === "string" || isText ? Preview.textOf(content) : contentOf(content)
  return {
    type: "tool-result",
    toolCallId: text(message.toolCallId),
    toolName: text(message.toolName),
    input: input ?? {},
    result: {
      llmContent,
      ...only(details, ["returnDisplay", "metadata"]),
      ...(message.isError === true ? { isError: true } : {})
    },
    ...only(details, ["agentId", "agentType"])
  }
}

const COMPACTED = "Chat history compacted successfully."
const executionOf = (message: Json): ReadonlyArray<Line> => {
  const command = text(message.command) || text(message.code)
  const failed = message.cancelled === true || (typeof message.exitCode === "number" && message.exitCode !== 0)
  const stream = failed ? "bash-stderr" : "bash-stdout"
  return [
    { role: "user", content: `<bash-input>${command}</bash-input>` },
    { role: "user", content: `<${stream}>${text(message.output)}</${stream}>`, uiContent: text(message.output) }
  ]
}

/** A message of a role that has no place here, which came from Neovate itself. */
const foreign = ({ parentUuid: _, uuid: __, type: ___, timestamp: ____, sessionId: _____, ...rest }: Json): Line => rest

/** What an entry comes to; a compaction begins anew, as Neovate's do. */
const linesOf = (entry: Entry.Entry): ReadonlyArray<Line> => {
  const message = isObject(entry.message) ? entry.message : {}
  switch (Entry.role(entry)) {
    case "user":
    case "developer":
      return [
        { role: "user", content: contentOf(message.content), ...only(message, ["hidden", "uiContent", "metadata"]) }
      ]
    case "assistant":
      return [assistantOf(message)]
    case "bashExecution":
    case "pythonExecution":
      return message.excludeFromContext === true ? [] : executionOf(message)
    case "custom":
    case "hookMessage":
      return [{ role: "user", content: contentOf(message.content), hidden: true }]
    case "system":
      return [{ role: "system", content: Preview.textOf(message.content) }]
  }
  switch (entry.type) {
    case "custom":
      return entry.customType === "neovate.message" && isObject(entry.data) ? [foreign(entry.data)] : []
    case "custom_message":
      return [{ role: "user", content: contentOf(entry.content), ...(entry.display === false ? { hidden: true } : {}) }]
    case "branch_summary":
      return [{ role: "user", content: [{ type: "text", text: text(entry.summary) }], hidden: true }]
    case "compaction":
      return [{ role: "user", content: [{ type: "text", text: text(entry.summary) }], uiContent: COMPACTED }]
    default:
      return []
  }
}

const inputsOf = (entry: Entry.Entry): ReadonlyMap<string, unknown> => {
  const content = isObject(entry.message) ? entry.message.content : undefined
  return new Map(Preview.toolCallsOf(content).map((call) => [text(call.id), call.arguments]))
}

const isResult = (entry: Entry.Entry): boolean => Entry.role(entry) === "toolResult"

/** The entry whose line Neovate is to go on from: the leaf, or the nearest above it that has a line at all. */
const lastSpeaking = ({ tree, leaf }: Draft): EntryId | null => {
  let row = tree.rowOf(leaf)
  while (row !== NONE && !isResult(tree.entryAt(row)) && linesOf(tree.entryAt(row)).length === 0)
    row = tree.parentRow(row)
  return tree.idAt(row)
}

/** Results are looked up among the calls of this many replies. */
const MOST_REPLIES = 64

/** Results of one reply that follow each other, which go into one line. */
interface Results {
  readonly uuid: EntryId
  readonly parent: string | null
  readonly timestamp: string
  readonly parts: Array<Line>
  isLast: boolean
}

/** Takes entries in their order and answers their lines, each as soon as nothing more can belong to it. */
const makeWriter = (draft: Draft) => {
  const sessionId = draft.header?.id ?? ""
  const last = lastSpeaking(draft)
  /** The uuid that what follows an entry hangs on; that of an entry without a line is its parent's. */
  const standsFor = new Map<EntryId | null, string | null>()
  const inputs = new Map<string, ReadonlyMap<string, unknown>>()
  let results: Results | undefined
  /** The line that Neovate goes on from, which comes last. */
  let held = ""

  const lineOf = (fields: Line, uuid: string, parentUuid: string | null, timestamp: string): string =>
    `${JsonText.stringify({ parentUuid, uuid, ...fields, type: "message", timestamp, sessionId })}\n`

  const put = (line: string, isLast: boolean): string => {
    if (!isLast) return line
    held = line
    return ""
  }

  const finishResults = (): string => {
    if (results === undefined) return ""
    const { uuid, parent, timestamp, parts, isLast } = results
    results = undefined
    return put(lineOf({ role: "tool", content: parts }, uuid, parent, timestamp), isLast)
  }

  const takeResult = (entry: Entry.Entry, parent: string | null): string => {
    const continues = results !== undefined && parent === results.uuid
    const before = continues ? "" : finishResults()
    if (!continues) results = { uuid: entry.id, parent, timestamp: entry.timestamp, parts: [], isLast: false }
    const message = isObject(entry.message) ? entry.message : {}
    const input = inputs.get(results!.parent ?? "")?.get(text(message.toolCallId))
    results!.parts.push(resultOf(message, input))
    results!.isLast ||= entry.id === last
    standsFor.set(entry.id, results!.uuid)
    return before
  }

  const noteCalls = (entry: Entry.Entry): void => {
    inputs.set(entry.id, inputsOf(entry))
    if (inputs.size > MOST_REPLIES) inputs.delete(inputs.keys().next().value!)
  }

  const take = (entry: Entry.Entry): string => {
    const parent = standsFor.get(entry.parentId) ?? null
    if (isResult(entry)) return takeResult(entry, parent)
    const before = finishResults()
    const lines = linesOf(entry)
    standsFor.set(entry.id, lines.length === 0 ? parent : entry.id)
    if (Entry.role(entry) === "assistant") noteCalls(entry)
    const written = lines.map((line, i) => {
      const isEnd = i === lines.length - 1
      const above = i > 0 ? `${entry.id}-${i - 1}` : entry.type === "compaction" ? null : parent
      return put(
        lineOf(line, isEnd ? entry.id : `${entry.id}-${i}`, above, entry.timestamp),
        isEnd && entry.id === last
      )
    })
    return before + written.join("")
  }

  return { take, end: (): string => finishResults() + held }
}

/** The session's config, with its name as the summary; none where nothing was ever configured or named. */
const configLine = ({ tree, title, header, redact, redactor }: Draft): string => {
  const { config } = tree.facts
  const name = Facts.nameOf(tree.facts, title, header)
  if (name === null && config === Facts.defaultConfig) return ""
  const { summary: _, ...settings } = redactor === undefined ? config : redactor.value(config)
  const summary = name === null ? {} : { summary: redact(name) }
  return `${JsonText.stringify({ type: "config", config: { ...settings, ...summary } })}\n`
}

export const write = (draft: Draft): Stream.Stream<string> => {
  const writer = makeWriter(draft)
  return Stream.make(configLine(draft)).pipe(
    Stream.concat(Stream.map(draft.entries, (entries) => entries.map(writer.take).join(""))),
    Stream.concat(Stream.suspend(() => Stream.make(writer.end())))
  )
}
