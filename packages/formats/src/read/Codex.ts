/**
 * Rollouts of Codex: a line for everything that happened to one thread. Only what went to and came from the model is the
 * conversation; it has no links, so branches come from rollbacks alone, and a fork begins inside the file of another.
 */
import { basename } from "node:path"
import { isObject, type Json } from "@grove/core"
import * as Blocks from "./Blocks.ts"
import { asTask, compose, type Piece } from "./Compose.ts"
import { digest } from "./Digest.ts"
import * as Lines from "./Lines.ts"
import * as Names from "./Names.ts"
import type { Reader, Source } from "./Reader.ts"
import type { Note } from "./Translation.ts"
import { objectIn, stringIn } from "./Values.ts"

const FORMAT = "codex"

// --------------------------------------------------------------------------------------------------------- files

const NAME = /^rollout-.*?-([0-9a-f]{8}-[0-9a-f-]{27})(?:_([0-9a-f]{8}-[0-9a-f-]{27}))?\.jsonl(?:\.zst)?$/

/** What tells a rollout from all others: its own id after a revert, else that of its thread. */
const rolloutOf = (file: string): string | undefined => {
  const [, thread, rollout] = NAME.exec(basename(file)) ?? []
  return rollout ?? thread
}

interface Rollout {
  readonly file: string
  readonly id: string
  readonly lines: ReadonlyArray<Lines.Line>
}

const metaOf = (lines: ReadonlyArray<Lines.Line>): Json =>
  objectIn(lines.find(({ value }) => value.type === "session_meta")?.value.payload)

const DAY = 86_400_000

/** The folders in which a thread's rollouts may lie: its id begins with the time it was made, of one time zone or another. */
const foldersOf = (thread: string): ReadonlyArray<string> => {
  const made = Number.parseInt(thread.replaceAll("-", "").slice(0, 12), 16)
  const days = Number.isSafeInteger(made) ? [0, -1, 1].map((days) => new Date(made + days * DAY)) : []
  const dated = days
    .filter((day) => !Number.isNaN(day.getTime()))
    .map((day) => day.toISOString().slice(0, 10).replaceAll("-", "/"))
  return [
    ".",
    ...dated.map((path) => `../../../${path}`),
    "../../../../archived_sessions",
    ...dated.map((path) => `../sessions/${path}`)
  ]
}

/** The rollout that a fork or a revert goes on from: of its thread, the newest that is older than itself. */
const baseOf = (
  source: Source,
  name: string,
  thread: string
): { readonly file: string; readonly bytes: Uint8Array } | undefined => {
  const own = basename(name)
  for (const folder of foldersOf(thread)) {
    const found = source.namesIn(folder).filter((other) => NAME.exec(other)?.[1] === thread && other < own)
    const last = found.at(-1)
    const bytes = last === undefined ? undefined : source.beside(`${folder}/${last}`)
    if (bytes !== undefined) return { file: last!, bytes }
  }
  return undefined
}

const MOST_BASES = 100

/** The rollouts a session is made of, oldest first, each as far as the next one needs it. */
const rolloutsOf = (source: Source, repaired: Array<Note>): ReadonlyArray<Rollout> => {
  const own = Lines.objects(source.bytes, repaired)
  const rollouts: Array<Rollout> = [
    { file: source.file, id: rolloutOf(source.file) ?? stringIn(metaOf(own).id) ?? digest(source.file), lines: own }
  ]
  for (let meta = metaOf(own); rollouts.length < MOST_BASES; ) {
    const { thread_id, end_ordinal_exclusive: end, end_byte_offset: size } = objectIn(meta.history_base)
    const thread = stringIn(thread_id)
    if (thread === undefined) break
    const base = baseOf(source, rollouts[0]!.file, thread)
    if (base === undefined) {
      repaired.push({ line: 1, kind: "missing-base" })
      break
    }
    const bytes =
      typeof size === "number" && size > 0 && size < base.bytes.length ? base.bytes.subarray(0, size) : base.bytes
    const isBefore = ({ value: { ordinal } }: Lines.Line) =>
      typeof ordinal !== "number" || typeof end !== "number" || ordinal < end
    const lines = Lines.objects(bytes, []).filter(isBefore)
    rollouts.unshift({ file: base.file, id: rolloutOf(base.file)!, lines })
    meta = metaOf(lines)
  }
  return rollouts
}

// --------------------------------------------------------------------------------------------------------- bodies

const shown = (items: unknown, line: number, unmapped: Array<Note>): ReadonlyArray<Json> => {
  if (typeof items === "string") return [Blocks.text(items)]
  const list = Array.isArray(items) ? items.filter(isObject) : []
  return list.flatMap((item) => {
    if (typeof item.text === "string") return [Blocks.text(item.text)]
    const image = Blocks.imageFromUrl(item.image_url)
    if (image !== undefined) return [image]
    unmapped.push({ line, kind: `block ${stringIn(item.type) ?? "unknown"}` })
    return []
  })
}

/** The program's own words, sent in the person's name. */
const SCAFFOLD =
  /^\s*(<environment_context>|<user_instructions>|# AGENTS\.md|<turn_aborted>|<permissions instructions>)/

const thinking = ({ summary, content, encrypted_content, id }: Json): Json => {
  const text = Blocks.textOf(content) || Blocks.textOf(summary)
  const signature = stringIn(encrypted_content)
  const item = { type: "reasoning", ...(stringIn(id) === undefined ? {} : { id }), summary, encrypted_content }
  return {
    ...{ type: "thinking", thinking: text },
    ...(signature === undefined ? {} : { thinkingSignature: JSON.stringify(item) })
  }
}

const call = (payload: Json): Json | undefined => {
  const id = stringIn(payload.call_id) ?? stringIn(payload.id)
  if (id === undefined) return undefined
  switch (payload.type) {
    case "function_call":
      return {
        type: "toolCall",
        id,
        name: stringIn(payload.name) ?? "unknown",
        arguments: Blocks.argumentsFrom(payload.arguments)
      }
    case "custom_tool_call":
      return {
        type: "toolCall",
        id,
        name: stringIn(payload.name) ?? "unknown",
        arguments: Blocks.argumentsFrom(payload.input)
      }
    case "local_shell_call":
      return { type: "toolCall", id, name: "local_shell", arguments: objectIn(payload.action) }
    default:
      return undefined
  }
}

const FAILED = /(?:Exit code:|exited with code) -?[1-9]/

const result = (payload: Json, toolName: string, line: number, unmapped: Array<Note>): Json => {
  const { output } = payload
  const content = isObject(output) ? (output.content ?? output.content_items) : output
  const blocks = shown(content, line, unmapped)
  const [head = ""] = Blocks.textOf(blocks).split("\nOutput:", 1)
  const isError = (isObject(output) && output.success === false) || (head.length < 2000 && FAILED.test(head))
  return { role: "toolResult", toolCallId: payload.call_id, toolName, content: blocks, isError }
}

const usageOf = (used: Json): Json => {
  const [input, cached] = [Number(used.input_tokens), Number(used.cached_input_tokens)]
  return Blocks.usage({
    input: input - (cached > 0 ? cached : 0),
    output: used.output_tokens,
    cacheRead: cached,
    cacheWrite: used.cache_write_input_tokens,
    reasoning: used.reasoning_output_tokens
  })
}

/** The summary, and the prompts that the model was still shown beside it. */
const summaryOf = ({ message, replacement_history: history }: Json): string => {
  const summary = stringIn(message) ?? "The summary is encrypted and can be read by its provider alone."
  const items = Array.isArray(history) ? history.filter(isObject) : []
  const prompts = items
    .filter(({ role }) => role === "user")
    .map(({ content }) => Blocks.textOf(content))
    .filter((text) => text !== "" && text !== summary && !SCAFFOLD.test(text))
  return prompts.length === 0 ? summary : `${summary}\n\nPrompts before it:\n\n${prompts.join("\n\n")}`
}

// --------------------------------------------------------------------------------------------------------- thread

/** A reply whose blocks are still coming. */
interface Open {
  readonly piece: Piece
  readonly content: Array<Json>
  usage: Json | undefined
}

/** What happened to a thread, line by line, as a tree. */
class Thread {
  readonly pieces: Array<Piece> = []
  readonly #replies = new Map<string, Open>()
  readonly #tools = new Map<string, string>()
  /** Where each prompt was said. */
  readonly #turns: Array<string | null> = []
  readonly #unmapped: Array<Note>
  readonly #hasRecords: boolean
  #tip: string | null = null
  #reply: Open | undefined
  /** The last reply, whether or not more of it may come. */
  #last: Open | undefined
  #usage: Json | undefined
  #total = ""
  #provider = "openai"
  #model = "unknown"
  #effort: string | undefined

  constructor(rollouts: ReadonlyArray<Rollout>, unmapped: Array<Note>) {
    this.#unmapped = unmapped
    this.#hasRecords = rollouts.some(({ lines }) => lines.some(({ value }) => value.type === "token_usage_record"))
  }

  get leaf(): string | null {
    return this.#tip
  }

  #put(at: Rollout, { line, value }: Lines.Line, body: Piece["body"], part = ""): Piece {
    const id = digest(FORMAT, at.id, line, part)
    const piece = { id, parentId: this.#tip, line, file: at.file, timestamp: value.timestamp, body }
    this.pieces.push(piece)
    this.#tip = id
    return piece
  }

  /** Blocks join the reply that is open; the body is finished when the thread is. */
  #say(at: Rollout, line: Lines.Line, block: Json): void {
    if (this.#reply === undefined) {
      const piece = this.#put(at, line, { type: "message", provider: this.#provider, model: this.#model })
      this.#reply = { piece, content: [], usage: this.#usage }
      this.#last = this.#reply
      this.#usage = undefined
      this.#replies.set(piece.id, this.#reply)
    }
    this.#reply.content.push(block)
  }

  #spend(used: Json): void {
    if (this.#last !== undefined && this.#last.usage === undefined) this.#last.usage = usageOf(used)
    else this.#usage = usageOf(used)
  }

  add(at: Rollout, line: Lines.Line): void {
    const payload = objectIn(line.value.payload)
    const { type } = line.value
    if (type === "session_meta") this.#provider = stringIn(payload.model_provider) ?? this.#provider
    else if (type === "turn_context") this.#settings(at, line, payload)
    else if (type === "response_item") this.#item(at, line, payload)
    else if (type === "event_msg") this.#event(payload)
    else if (type === "token_usage_record") this.#spend(objectIn(payload.usage))
    else if (type === "compacted") this.#compact(at, line, payload)
    else this.#unmapped.push({ line: line.line, kind: stringIn(type) ?? "unknown" })
  }

  #settings(at: Rollout, line: Lines.Line, payload: Json): void {
    this.#model = stringIn(payload.model) ?? this.#model
    const effort = stringIn(payload.effort)
    if (effort === undefined || effort === this.#effort) return
    this.#effort = effort
    this.#put(at, line, { type: "thinking_level_change", thinkingLevel: effort })
  }

  #event(payload: Json): void {
    if (payload.type === "thread_rolled_back") {
      const turns = typeof payload.num_turns === "number" ? Math.max(0, Math.trunc(payload.num_turns)) : 0
      const from = Math.max(0, this.#turns.length - turns)
      if (from < this.#turns.length) this.#tip = this.#turns[from]!
      this.#turns.length = from
      this.#reply = undefined
    } else if (payload.type === "token_count" && !this.#hasRecords) {
      const { total_token_usage: total, last_token_usage: last } = objectIn(payload.info)
      const said = JSON.stringify(total) ?? ""
      if (!isObject(last) || said === this.#total) return
      this.#total = said
      this.#spend(last)
    }
  }

  #compact(at: Rollout, line: Lines.Line, payload: Json): void {
    const usage = this.#usage === undefined ? {} : { usage: this.#usage }
    this.#usage = undefined
    this.#reply = undefined
    this.#put(at, line, { type: "compaction", summary: summaryOf(payload), tokensBefore: 0, ...usage })
  }

  #item(at: Rollout, line: Lines.Line, payload: Json): void {
    const { type, role } = payload
    const made = call(payload)
    const isReply = type === "message" && role === "assistant"
    if (made !== undefined) {
      this.#tools.set(String(made.id), String(made.name))
      this.#say(at, line, made)
    } else if (type === "reasoning") this.#say(at, line, thinking(payload))
    else if (isReply) for (const block of shown(payload.content, line.line, this.#unmapped)) this.#say(at, line, block)
    else if (typeof payload.call_id === "string" && "output" in payload) this.#result(at, line, payload)
    else if (type === "message") this.#prompt(at, line, payload)
    else this.#put(at, line, { type: "custom", customType: `${FORMAT}.${stringIn(type) ?? "item"}`, data: payload })
  }

  #result(at: Rollout, line: Lines.Line, payload: Json): void {
    this.#reply = undefined
    const name = this.#tools.get(String(payload.call_id)) ?? "unknown"
    this.#put(at, line, { type: "message", message: result(payload, name, line.line, this.#unmapped) })
  }

  #prompt(at: Rollout, line: Lines.Line, payload: Json): void {
    this.#reply = undefined
    const { role } = payload
    const blocks = shown(payload.content, line.line, this.#unmapped)
    if (role === "user" && !SCAFFOLD.test(Blocks.textOf(blocks))) {
      this.#turns.push(this.#tip)
      this.#put(at, line, { type: "message", message: { role, content: Blocks.content(blocks) } })
    } else {
      const customType = `${FORMAT}.${role === "user" ? "environment" : (stringIn(role) ?? "message")}`
      this.#put(at, line, { type: "custom", customType, data: { content: blocks } })
    }
  }

  /** All pieces, with the replies whole. */
  finish(): ReadonlyArray<Piece> {
    return this.pieces.map((piece) => {
      const reply = this.#replies.get(piece.id)
      if (reply === undefined) return piece
      const { content, usage = Blocks.usage({ input: 0, output: 0 }) } = reply
      const stopReason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop"
      const { provider, model } = piece.body
      return {
        ...piece,
        body: { type: "message", message: { role: "assistant", content, provider, model, usage, stopReason } }
      }
    })
  }
}

// --------------------------------------------------------------------------------------------------------- session

const INDEXES = ["session_index.jsonl", "../session_index.jsonl", "../../../../session_index.jsonl"]

/** The name a person gave to the thread; the last line on it counts. */
const nameOf = (source: Source, thread: string | undefined): string | undefined => {
  for (const path of INDEXES) {
    const bytes = source.beside(path)
    const own = bytes === undefined ? [] : Lines.objects(bytes, []).filter(({ value }) => value.id === thread)
    const name = stringIn(own.at(-1)?.value.thread_name)
    if (name !== undefined) return name
  }
  return undefined
}

const spawnedBy = (meta: Json): string | undefined =>
  stringIn(objectIn(objectIn(objectIn(meta.source).subagent).thread_spawn).parent_thread_id)

const read = (source: Source) => {
  const repaired: Array<Note> = []
  const unmapped: Array<Note> = []
  const rollouts = rolloutsOf(source, repaired)
  const own = rollouts.at(-1)!
  if (!own.lines.some(({ value }) => isObject(value.payload)))
    return { format: FORMAT, sessions: [], repaired, unmapped } as const
  const thread = new Thread(rollouts, unmapped)
  for (const rollout of rollouts) for (const line of rollout.lines) thread.add(rollout, line)
  const meta = metaOf(own.lines)
  const threadId = stringIn(meta.id) ?? NAME.exec(basename(source.file))?.[1]
  const id = Names.session(FORMAT, own.id, source.file)
  const parent = spawnedBy(meta) ?? stringIn(meta.forked_from_id) ?? (threadId === id ? undefined : threadId)
  const pieces = thread.finish()
  const session = compose(
    {
      ...{ format: FORMAT, file: source.file, session: threadId ?? null, id },
      timestamp: meta.timestamp ?? own.lines[0]?.value.timestamp,
      cwd: stringIn(meta.cwd) ?? "",
      parentSession: parent,
      name: nameOf(source, threadId),
      pieces: spawnedBy(meta) === undefined ? pieces : asTask(pieces, id),
      leaf: thread.leaf
    },
    repaired
  )
  return { format: FORMAT, sessions: [session], repaired, unmapped } as const
}

export const reader: Reader = {
  format: FORMAT,
  recognises: ({ lines }) =>
    lines.some(
      ({ type, payload }) =>
        (type === "session_meta" || type === "response_item" || type === "event_msg") && isObject(payload)
    ),
  read
}
