/** Prompts as other programs keep them: histories of agents and shells, and the sessions of several formats. */
import { Preview, Prompts } from "@grove/core"

export const FORMATS = ["grove", "claude-code", "codex", "neovate", "shell"] as const
export type Format = (typeof FORMATS)[number]

export interface Read {
  readonly format: Format
  readonly uses: ReadonlyArray<Prompts.PromptUse>
  /** Lines that are not what they should be. */
  readonly bad: number
}

type Json = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const textOr = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

const timeOf = (value: unknown): number => {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN
  return Number.isFinite(at) ? Math.trunc(at) : 0
}

const use = (prompt: string, fields: Partial<Prompts.PromptUse>): Prompts.PromptUse => ({
  prompt,
  at: 0,
  cwd: null,
  session: null,
  entry: null,
  author: Prompts.PERSON,
  ...fields
})

/** Reads one line after the other; what came before may say where the later ones belong. */
interface LineReader {
  readonly format: Format
  /** Whether a line is of this format, so that a file can be told by its first ones. */
  readonly knows: (line: Json) => boolean
  readonly read: (line: Json, state: Reading) => Prompts.PromptUse | undefined
}

interface Reading {
  session: string | null
  cwd: string | null
  /** Whether the file says of each prompt that a person typed it. */
  readonly hasEvents: boolean
}

/** Sessions of Grove, Pi and oh-my-pi. */
const grove: LineReader = {
  format: "grove",
  knows: ({ type, cwd, id }) => type === "session" && (typeof cwd === "string" || typeof id === "string"),
  read: (line, state) => {
    if (line.type === "session") {
      state.session = textOr(line.id)
      state.cwd = textOr(line.cwd)
    }
    const { message } = line
    if (line.type !== "message" || !isObject(message) || message.role !== "user") return undefined
    // Copies of a fork are the same use, and what was grafted was typed elsewhere; what was imported is nowhere else.
    if (line.origin !== undefined && !(isObject(line.origin) && typeof line.origin.format === "string"))
      return undefined
    const at = timeOf(message.timestamp) || timeOf(line.timestamp)
    return use(Preview.textOf(message.content), { at, cwd: state.cwd, session: state.session, entry: textOr(line.id) })
  }
}

/** `~/.claude/history.jsonl`, and transcripts. */
const claudeCode: LineReader = {
  format: "claude-code",
  knows: (line) =>
    (typeof line.display === "string" && "project" in line) ||
    (typeof line.sessionId === "string" &&
      typeof line.type === "string" &&
      ("isSidechain" in line || "leafUuid" in line)),
  read: (line) => {
    if (typeof line.display === "string") {
      return use(line.display, {
        at: timeOf(line.timestamp),
        cwd: textOr(line.project),
        session: textOr(line.sessionId)
      })
    }
    const { message } = line
    if (line.type !== "user" || line.isMeta === true || line.isCompactSummary === true || !isObject(message)) {
      return undefined
    }
    return use(Preview.textOf(message.content), {
      at: timeOf(line.timestamp),
      cwd: textOr(line.cwd),
      session: textOr(line.sessionId),
      entry: textOr(line.uuid),
      author: line.isSidechain === true ? "agent" : Prompts.PERSON
    })
  }
}

/** `~/.codex/history.jsonl`, and rollouts. */
const codex: LineReader = {
  format: "codex",
  knows: ({ type, session_id, ts, payload }) =>
    (type === "session_meta" && isObject(payload)) || (typeof session_id === "string" && typeof ts === "number"),
  read: (line, state) => {
    if (typeof line.session_id === "string" && typeof line.text === "string") {
      return use(line.text, { at: timeOf(line.ts) * 1000, session: line.session_id })
    }
    const { payload } = line
    if (!isObject(payload)) return undefined
    if (line.type === "session_meta") {
      state.session = textOr(payload.id)
      state.cwd = textOr(payload.cwd)
    }
    const place = { at: timeOf(line.timestamp), cwd: state.cwd, session: state.session }
    if (line.type === "event_msg" && payload.type === "user_message" && typeof payload.message === "string") {
      return use(payload.message, place)
    }
    if (state.hasEvents || line.type !== "response_item" || payload.role !== "user") return undefined
    const texts = Array.isArray(payload.content) ? payload.content.filter(isObject).map(({ text }) => textOr(text)) : []
    const text = texts.filter((part) => part !== null).join("\n")
    // What the program itself adds stands in tags.
    return text.startsWith("<") ? undefined : use(text, place)
  }
}

const neovate: LineReader = {
  format: "neovate",
  knows: (line) => "parentUuid" in line && typeof line.role === "string",
  read: (line) => {
    if (line.type !== "message" || line.role !== "user" || line.hidden === true) return undefined
    return use(Preview.textOf(line.content), {
      at: timeOf(line.timestamp),
      session: textOr(line.sessionId),
      entry: textOr(line.uuid)
    })
  }
}

const readers: ReadonlyArray<LineReader> = [grove, claudeCode, codex, neovate]

const parsed = (line: string): Json | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const readLines = (reader: LineReader, lines: ReadonlyArray<string>): Read => {
  const uses: Array<Prompts.PromptUse> = []
  const hasEvents = lines.some((line) => line.includes('"type":"user_message"'))
  const state: Reading = { session: null, cwd: null, hasEvents }
  let bad = 0
  for (const line of lines) {
    if (line.trim() === "") continue
    const value = parsed(line)
    if (value === undefined) {
      bad++
      continue
    }
    const found = reader.read(value, state)
    if (found !== undefined && found.prompt.trim() !== "") uses.push(found)
  }
  return { format: reader.format, uses, bad }
}

/** zsh's extended form, with continued lines: `: 1700000000:0;git push`. */
const ZSH = /^: (\d+):\d+;/
const BASH_TIME = /^#(\d{9,})$/

/**
 * Lines of bash, zsh or fish. What has no time gets one by its place in the file, so that it keeps its order and is
 * the same use when the file is read again.
 */
const shell = (lines: ReadonlyArray<string>): Read => {
  const uses: Array<Prompts.PromptUse> = []
  const isFish = lines.some((line) => line.startsWith("- cmd: "))
  let at: number | undefined
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const time = BASH_TIME.exec(line)
    if (time !== null) {
      at = Number(time[1]) * 1000
      continue
    }
    const fish = /^- cmd: (.*)$/.exec(line)
    if (fish !== null) {
      const when = /^ {2}when: (\d+)$/.exec(lines[i + 1] ?? "")
      const text = fish[1]!.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character))
      uses.push(use(text, { at: when === null ? i + 1 : Number(when[1]) * 1000 }))
      continue
    }
    if (isFish && /^ {2}(when|paths): ?|^ {4}- /.test(line)) continue
    const zsh = ZSH.exec(line)
    const startedAt = i + 1
    let text = zsh === null ? line : line.slice(zsh[0].length)
    while (text.endsWith("\\") && i + 1 < lines.length) text = `${text.slice(0, -1)}\n${lines[++i]}`
    if (text.trim() !== "") uses.push(use(text, { at: zsh === null ? (at ?? startedAt) : Number(zsh[1]) * 1000 }))
    at = undefined
  }
  return { format: "shell", uses, bad: 0 }
}

/** How many lines are looked at to tell a format. */
const TELLING = 20

const tell = (lines: ReadonlyArray<string>): LineReader | undefined => {
  const first = lines
    .slice(0, TELLING)
    .map(parsed)
    .filter((line) => line !== undefined)
  return readers.find(({ knows }) => first.some(knows))
}

/** The prompts of a file; `undefined` if its format is not known, unless one is named. */
export const read = (text: string, format?: Format): Read | undefined => {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/)
  if (format === "shell") return shell(lines)
  const reader = format === undefined ? tell(lines) : readers.find((one) => one.format === format)
  return reader === undefined ? undefined : readLines(reader, lines)
}
