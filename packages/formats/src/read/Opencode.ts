/**
 * Sessions of opencode, as `opencode export` prints them; its database and its older folders of JSON are read as such
 * exports too. Messages stand in a row; a call and its result are one part of a reply.
 */
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { asTask, compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectIn, objectsIn, stringIn } from "./Values.ts"

const FORMAT = "opencode"

interface Message {
  readonly id: string
  readonly info: Json
  readonly parts: ReadonlyArray<Json>
  /** Of a message that was taken back; only what happened to it is still known. */
  readonly isRemoved: boolean
  /** Its number in the session, from 1. */
  readonly line: number
}

interface Export {
  readonly id: string
  readonly info: Json
  readonly messages: ReadonlyArray<Message>
}

// --------------------------------------------------------------------------------------------------------- exports

const createdAt = ({ info }: Message): number => Number(objectIn(info.time).created) || 0

const byTime = (a: Message, b: Message): number =>
  createdAt(a) - createdAt(b) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const messageFrom = ({ info, parts, removed }: Json, line: number): Message => ({
  ...{ id: stringIn(objectIn(info).id) ?? digest("message", line), info: objectIn(info), line },
  parts: [...objectsIn(parts)].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
  isRemoved: removed === true
})

const exportFrom = (value: Json): ReadonlyArray<Export> => {
  const { info, messages } = value
  if (!isObject(info) || !Array.isArray(messages)) return []
  const seen = new Set<string>()
  const distinct = objectsIn(messages)
    .map((message, i) => messageFrom(message, i + 1))
    .sort(byTime)
    .filter(({ id }) => !seen.has(id) && seen.add(id) !== undefined)
  return [{ id: stringIn(info.id) ?? "", info, messages: distinct }]
}

/** Before there was a database: a file for the session, for each message and for each part. */
const exportFromFolders = (info: Json, source: Source): Json => {
  const id = String(info.id)
  const [messages, partsOf] =
    source.namesIn(`../../message/${id}`).length > 0
      ? [`../../message/${id}`, (message: string) => `../../part/${message}`]
      : [`../message/${id}`, (message: string) => `../part/${id}/${message}`]
  const jsonIn = (folder: string): ReadonlyArray<Json> =>
    source
      .namesIn(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const value = Lines.value(source.beside(`${folder}/${name}`) ?? new Uint8Array())
        return isObject(value) ? [value] : []
      })
  const isName = (name: unknown): name is string => Names.isPlain(name) && !name.includes("..")
  return {
    info,
    messages: jsonIn(messages).map((message) => ({
      info: message,
      parts: isName(message.id) ? jsonIn(partsOf(message.id)) : []
    }))
  }
}

const isSessionInfo = (value: unknown): value is Json =>
  isObject(value) &&
  Names.isPlain(value.id) &&
  value.id.startsWith("ses") &&
  isObject(value.time) &&
  typeof value.title === "string"

const exportsIn = (source: Source): ReadonlyArray<Export> => {
  const value = Lines.value(source.bytes)
  if (isSessionInfo(value)) return exportFrom(exportFromFolders(value, source))
  return (Array.isArray(value) ? value : [value]).filter(isObject).flatMap(exportFrom)
}

// --------------------------------------------------------------------------------------------------------- forks

const IDS = new Set(["id", "sessionID", "messageID", "parentID"])

/** A message without its names: equal for the copies that a fork is made of. */
const essence = ({ info, parts }: Message): string =>
  JSON.stringify([info, ...parts], (key, value: unknown) => (IDS.has(key) ? undefined : value))

/**
 * A fork copies messages under new names and notes nowhere what it is a fork of, but in its title. Its copies get the
 * names of their originals, so that what they cost counts once.
 */
const relate = (exports: ReadonlyArray<Export>) => {
  const byTitle = new Map<string, Array<Export>>()
  for (const one of exports) {
    const alike = byTitle.get(baseTitle(one))
    if (alike === undefined) byTitle.set(baseTitle(one), [one])
    else alike.push(one)
  }
  return exports.map((one) => {
    const origin = isFork(one)
      ? byTitle.get(baseTitle(one))!.find((other) => other !== one && !isFork(other))
      : undefined
    const originals = origin?.messages.filter(({ isRemoved }) => !isRemoved) ?? []
    const own = one.messages.filter(({ isRemoved }) => !isRemoved)
    const copies = new Map<string, string>()
    for (const [i, message] of own.entries()) {
      const original = originals[i]
      if (original === undefined || essence(original) !== essence(message)) break
      copies.set(message.id, original.id)
      for (const [n, part] of message.parts.entries()) copies.set(String(part.id), String(original.parts[n]?.id))
    }
    return {
      export: one,
      forkOf: copies.size === 0 ? undefined : origin!.id,
      nameOf: (id: string) => copies.get(id) ?? id
    }
  })
}

const FORK = / \(fork #\d+\)$/
const titleOf = ({ info }: Export): string => stringIn(info.title) ?? ""
const isFork = (one: Export): boolean => FORK.test(titleOf(one))
const baseTitle = (one: Export): string => `${titleOf(one).replace(FORK, "")}\n${String(one.info.directory)}`

// --------------------------------------------------------------------------------------------------------- bodies

type Body = Piece["body"]

const fileBlock = ({ mime, filename, url }: Json): Json => {
  const image = stringIn(mime)?.startsWith("image/") === true ? Blocks.imageFromUrl(url) : undefined
  return image ?? Blocks.text(`[${stringIn(filename) ?? "file"}]`)
}

const STRUCTURE = new Set(["step-start", "step-finish"])

const prompts = ({ parts, line }: Message, unmapped: Array<Note>): ReadonlyArray<Body> => {
  const typed: Array<Json> = []
  const given: Array<Json> = []
  for (const part of parts) {
    if (part.type === "text" && part.ignored !== true)
      (part.synthetic === true ? given : typed).push(Blocks.text(String(part.text ?? "")))
    else if (part.type === "file") typed.push(fileBlock(part))
    else if (part.type === "subtask") typed.push(Blocks.text(String(part.prompt ?? "")))
    else if (part.type !== "compaction") unmapped.push({ line, kind: `part ${stringIn(part.type) ?? "unknown"}` })
  }
  const shown = { type: "message", message: { role: "user", content: Blocks.content(typed) } }
  const hidden = {
    type: "custom_message",
    customType: `${FORMAT}.synthetic`,
    content: Blocks.content(given),
    display: false
  }
  if (given.length === 0) return [shown]
  return typed.length === 0 ? [hidden] : [shown, hidden]
}

const usageOf = ({ tokens, cost }: Json): Json => {
  const { input, output, reasoning, cache } = objectIn(tokens)
  const { read, write } = objectIn(cache)
  return Blocks.usage({
    input,
    output: (Number(output) || 0) + (Number(reasoning) || 0),
    ...{ cacheRead: read, cacheWrite: write, reasoning, cost }
  })
}

const said = (part: Json, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  if (part.type === "text") return [Blocks.text(String(part.text ?? ""))]
  if (part.type === "reasoning") return [{ type: "thinking", thinking: String(part.text ?? "") }]
  if (part.type === "file") return [fileBlock(part)]
  if (part.type === "tool" && typeof part.callID === "string") {
    const name = stringIn(part.tool) ?? "unknown"
    return [{ type: "toolCall", id: part.callID, name, arguments: Blocks.argumentsFrom(objectIn(part.state).input) }]
  }
  if (!STRUCTURE.has(String(part.type))) unmapped.push({ line, kind: `part ${stringIn(part.type) ?? "unknown"}` })
  return []
}

const result = (part: Json): ReadonlyArray<Body> => {
  const state = objectIn(part.state)
  const { status, output, error, attachments, metadata } = state
  if (part.type !== "tool" || typeof part.callID !== "string" || (status !== "completed" && status !== "error"))
    return []
  const text = Blocks.text(stringIn(status === "error" ? error : output) ?? "")
  const agent = stringIn(objectIn(metadata).sessionId)
  return [
    {
      type: "message",
      message: {
        ...{ role: "toolResult", toolCallId: part.callID, toolName: stringIn(part.tool) ?? "unknown" },
        ...{ content: [text, ...objectsIn(attachments).map(fileBlock)], isError: status === "error" },
        ...(agent === undefined ? {} : { details: { agentId: agent } })
      }
    }
  ]
}

const stopReasons: { readonly [finish: string]: string } = { stop: "stop", length: "length", "tool-calls": "toolUse" }

/** The parts of a reply, one list for each request that it took. */
const stepsOf = (parts: ReadonlyArray<Json>): ReadonlyArray<ReadonlyArray<Json>> => {
  const steps: Array<Array<Json>> = [[]]
  for (const part of parts) {
    if (part.type === "step-start" && steps.at(-1)!.length > 0) steps.push([])
    steps.at(-1)!.push(part)
  }
  return steps
}

const replies = ({ info, parts, line }: Message, unmapped: Array<Note>): ReadonlyArray<Body> => {
  const steps = stepsOf(parts)
  const error = objectIn(info.error)
  return steps.flatMap((step, i) => {
    const content = step.flatMap((part) => said(part, line, unmapped))
    const isLast = i === steps.length - 1
    const finished = step.find(({ type }) => type === "step-finish")
    const used = steps.length === 1 ? info : (finished ?? {})
    const hasCalls = content.some(({ type }) => type === "toolCall")
    const isError = isLast && isObject(info.error)
    const failure = error.name === "MessageAbortedError" ? "aborted" : "error"
    const why = stringIn(objectIn(error.data).message) ?? stringIn(error.name)
    const reply = {
      type: "message",
      message: {
        ...{ role: "assistant", content, provider: stringIn(info.providerID) ?? "unknown" },
        ...{ model: stringIn(info.modelID) ?? "unknown", usage: usageOf(used) },
        stopReason: isError ? failure : (stopReasons[String(info.finish)] ?? (hasCalls ? "toolUse" : "stop")),
        ...(isError && why !== undefined ? { errorMessage: why } : {})
      }
    }
    return [reply, ...step.flatMap(result)]
  })
}

// --------------------------------------------------------------------------------------------------------- pieces

const compactionOf = ({ parts }: Message): Json | undefined => parts.find(({ type }) => type === "compaction")

const textIn = ({ parts }: Message): string =>
  parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => String(text ?? ""))
    .join("\n")

/** Where the session stands: before what a person took back and has not yet replaced. */
const lastShown = ({ info, messages }: Export): Message | undefined => {
  const shown = messages.filter(({ isRemoved }) => !isRemoved)
  const reverted = shown.findIndex(({ id }) => id === objectIn(info.revert).messageID)
  return reverted < 0 ? shown.at(-1) : shown[reverted - 1]
}

/** Requests for a summary, each with the summary it got; one that failed leaves everything as it was. */
const summariesIn = (messages: ReadonlyArray<Message>): ReadonlyMap<string, Message> => {
  const isSummary = ({ info }: Message): boolean =>
    info.role === "assistant" && info.summary === true && stringIn(info.finish) !== undefined && !isObject(info.error)
  return new Map(messages.filter(isSummary).map((message) => [String(message.info.parentID), message]))
}

const compaction = (summary: Message, kept: string | undefined): Body => {
  const keeps = kept === undefined ? {} : { firstKeptEntryId: kept }
  return { type: "compaction", summary: textIn(summary), tokensBefore: 0, ...keeps, usage: usageOf(summary.info) }
}

/** A summary that came to nothing has still been paid for. */
const failure = ({ info }: Message): Body => ({
  ...{ type: "usage", kind: "compaction", provider: stringIn(info.providerID) ?? "unknown" },
  ...{ model: stringIn(info.modelID) ?? "unknown", usage: usageOf(info) }
})

/** What each message becomes; a request for a summary and the summary become one compaction. */
const bodiesIn = ({ messages }: Export, nameOf: (id: string) => string, unmapped: Array<Note>) => {
  const summaries = summariesIn(messages)
  const requests = new Set(messages.filter((one) => compactionOf(one) !== undefined).map(({ id }) => id))
  return (message: Message): ReadonlyArray<Body> => {
    const { id, info } = message
    const request = compactionOf(message)
    const summary = summaries.get(request === undefined ? String(info.parentID) : id)
    if (request !== undefined) {
      const kept = stringIn(request.tail_start_id)
      return summary === undefined ? [] : [compaction(summary, kept === undefined ? undefined : nameOf(kept))]
    }
    if (info.role !== "assistant") return prompts(message, unmapped)
    if (info.summary !== true) return replies(message, unmapped)
    // Once there were summaries that nobody had asked for in a message of its own.
    if (summary === message) return requests.has(String(info.parentID)) ? [] : [compaction(message, undefined)]
    return [failure(message)]
  }
}

const piecesOf = (one: Export, nameOf: (id: string) => string, unmapped: Array<Note>) => {
  const pieces: Array<Piece> = []
  const ends = new Map<Message, string | null>()
  const bodiesOf = bodiesIn(one, nameOf, unmapped)
  /** The end of what is there, and of all that ever was. */
  let tip: string | null = null
  let newest: string | null = null
  for (const message of one.messages) {
    const name = nameOf(message.id)
    let parentId: string | null = message.isRemoved ? newest : tip
    for (const [i, body] of bodiesOf(message).entries()) {
      const id: string = i === 0 ? name : digest(name, i)
      const timestamp = objectIn(message.info.time).created
      pieces.push({ id, parentId, line: message.line, timestamp, entry: message.id, body })
      parentId = id
    }
    newest = parentId
    if (!message.isRemoved) tip = parentId
    ends.set(message, parentId)
  }
  const last = lastShown(one)
  return { pieces, leaf: last === undefined ? null : (ends.get(last) ?? null) }
}

/** Before sessions knew their folder, replies did. */
const cwdOf = ({ info, messages }: Export): string => {
  const inReply = messages.map((message) => stringIn(objectIn(message.info.path).cwd)).find((cwd) => cwd !== undefined)
  return stringIn(info.directory) ?? inReply ?? ""
}

const UNNAMED = /^(New|Child) session - \d{4}-/

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const sessions = relate(exportsIn(source)).map(({ export: one, forkOf, nameOf }) => {
    const { info } = one
    const { pieces, leaf } = piecesOf(one, nameOf, unmapped)
    const id = Names.session(FORMAT, one.id, one.messages[0]?.id ?? source.file)
    const parent = stringIn(info.parentID)
    return compose(
      {
        ...{ format: FORMAT, file: source.file, session: one.id, id, timestamp: objectIn(info.time).created },
        cwd: cwdOf(one),
        parentSession: parent ?? forkOf,
        name: UNNAMED.test(titleOf(one)) ? undefined : titleOf(one),
        pieces: parent === undefined ? pieces : asTask(pieces, id),
        leaf
      },
      repaired
    )
  })
  return { format: FORMAT, sessions, repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ value }) => {
    const [first] = Array.isArray(value) ? value : [value]
    if (isSessionInfo(first)) return true
    return (
      isObject(first) &&
      isObject(first.info) &&
      Array.isArray(first.messages) &&
      String(first.info.id).startsWith("ses")
    )
  },
  read
}
