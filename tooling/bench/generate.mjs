/**
 * Sessions to measure with: made up, always the same for a seed, and shaped like real work. A turn is a prompt of some
 * 300 characters, one to four times a reply of 1.5 kB with a tool call and its result of 4 kB, and a last reply; one
 * turn in ten goes back and branches off, one in twenty is preceded by a setting, a label or an entry of an extension.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs"
import { dirname } from "node:path"

/** Changes with the shape of the sessions, so that old ones are not measured again. */
export const VERSION = 1

const BRANCHES = 0.1
const FURTHEST_BACK = 8
const SETTINGS = 0.05
const MOST_TOOL_CALLS = 4
const TURNS_KEPT = 3

/** Everything that a writer must escape and a reader must not stumble over. */
const WORDS = [
  ..."a session is a tree and every entry names the one it follows so whoever reads walks from the leaf to the root".split(
    " "
  ),
  ..."scan decode offset envelope index column cursor append flush rename inode branch graft prune compact".split(" "),
  ..."const yield import export interface readonly Promise<void> packages/core/src/model/Entry.ts 0x7f 2.718".split(
    " "
  ),
  ...["größer", "naïve", "日本語", "привет", "🌳", 'a "quoted" word', "back\\slash", "tab\there", "two\nlines", "{}[]"]
]
const POOL_CHARACTERS = 1 << 18

/** xorshift32: numbers from 0 up to 1, the same ones for the same seed. */
export const randomFrom = (/** @type {number} */ seed) => {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** One long text that all others are cut from: looking words up one by one would take longer than writing them. */
const makePool = () => {
  const random = randomFrom(0)
  let text = ""
  while (text.length < POOL_CHARACTERS) text += `${WORDS[Math.floor(random() * WORDS.length)]} `
  return text
}
let pool = ""

const usage = {
  ...{ input: 14, output: 380, cacheRead: 28_000, cacheWrite: 900, totalTokens: 29_294 },
  cost: { input: 0.00004, output: 0.0057, cacheRead: 0.0084, cacheWrite: 0.0034, total: 0.01754 }
}

/**
 * @typedef {object} Shape
 * @property {number} seed
 * @property {number} entries how many at least; the last turn is finished
 * @property {number} [compactEvery] one compaction in so many turns; none if left out
 * @property {string} [cwd]
 * @property {string} [after] the entry to go on from: then there is no header
 */

/**
 * The lines of a session, as values.
 *
 * @param {Shape} shape
 */
export function* session({ seed, entries, compactEvery = 0, cwd = "/home/somebody/project", after }) {
  pool ||= makePool()
  const random = randomFrom(seed)
  const upTo = (/** @type {number} */ most) => Math.floor(random() * most)
  const oneOf = (/** @type {ReadonlyArray<string>} */ items) => items[upTo(items.length)]
  const hex = (/** @type {number} */ digits) =>
    upTo(16 ** digits)
      .toString(16)
      .padStart(digits, "0")
  const text = (/** @type {number} */ about) => {
    const length = Math.round(about * (0.5 + random()))
    const start = upTo(POOL_CHARACTERS - length)
    return pool.slice(start, start + length).toWellFormed()
  }
  const taken = new Set()
  const newId = () => {
    let id = hex(8)
    while (taken.has(id)) id = hex(8)
    taken.add(id)
    return id
  }

  let now = Date.UTC(2026, 0, 1) + upTo(86_400_000)
  let leaf = after ?? null
  let written = 0
  /** @param {string} type @param {object} fields */
  const entry = (type, fields) => {
    now += 500 + upTo(20_000)
    const line = { type, id: newId(), parentId: leaf, timestamp: new Date(now).toISOString(), ...fields }
    leaf = line.id
    written++
    return line
  }
  /** @param {object} fields */
  const message = (fields) => entry("message", { message: { ...fields, timestamp: now } })
  const prompt = () => message({ role: "user", content: [{ type: "text", text: text(300) }] })
  const reply = (/** @type {ReadonlyArray<object>} */ calls) =>
    message({
      role: "assistant",
      content: [{ type: "text", text: text(1500) }, ...calls],
      ...{ api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5", usage },
      stopReason: calls.length > 0 ? "toolUse" : "stop"
    })
  const setting = () => {
    const kind = oneOf(["model", "thinking", "label", "extension"])
    if (kind === "model")
      return entry("model_change", { provider: "anthropic", modelId: `claude-${oneOf(["a", "b"])}` })
    if (kind === "thinking") return entry("thinking_level_change", { thinkingLevel: oneOf(["off", "low", "high"]) })
    if (kind === "label" && leaf !== null) return entry("label", { targetId: leaf, label: `mark ${hex(4)}` })
    return entry("custom", { customType: "bench", data: { written } })
  }

  if (after === undefined) {
    const id = `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`
    yield { type: "session", version: 3, id, timestamp: new Date(now).toISOString(), cwd }
  }
  /** @type {Array<{ readonly start: string, end: string, readonly before: number }>} */
  const turns = []
  let at = -1
  const back = (/** @type {number} */ count) => {
    let turn = at
    for (let i = 0; i < count && turns[turn].before >= 0; i++) turn = turns[turn].before
    return turn
  }
  while (written < entries) {
    if (at >= 0 && random() < BRANCHES) {
      at = back(1 + upTo(FURTHEST_BACK))
      leaf = turns[at].end
    }
    if (random() < SETTINGS) yield setting()
    const asked = prompt()
    yield asked
    for (let calls = 1 + upTo(MOST_TOOL_CALLS); calls > 0; calls--) {
      const call = { type: "toolCall", id: `toolu_${hex(12)}`, name: oneOf(["read", "bash", "edit"]) }
      yield reply([{ ...call, arguments: { path: `src/${hex(4)}.ts`, command: text(60) } }])
      const result = { role: "toolResult", toolCallId: call.id, toolName: call.name }
      yield message({ ...result, content: [{ type: "text", text: text(4000) }], isError: false })
    }
    const last = reply([])
    yield last
    at = turns.push({ start: asked.id, end: last.id, before: at }) - 1
    if (compactEvery > 0 && turns.length % compactEvery === 0) {
      const firstKeptEntryId = turns[back(TURNS_KEPT - 1)].start
      const details = { readFiles: [], modifiedFiles: [] }
      const kept = { firstKeptEntryId, tokensBefore: 150_000, details }
      const compaction = entry("compaction", { summary: `## Goal\n${text(1500)}`, ...kept })
      yield compaction
      turns[at].end = compaction.id
    }
  }
}

const CHUNK = 1 << 20

/** @param {number} file @param {Iterable<object>} lines */
const writeLines = (file, lines) => {
  let chunk = ""
  for (const line of lines) {
    chunk += `${JSON.stringify(line)}\n`
    if (chunk.length < CHUNK) continue
    writeSync(file, chunk)
    chunk = ""
  }
  writeSync(file, chunk)
}

/**
 * A session file that is there whole or not at all.
 *
 * @param {string} path
 * @param {Shape} shape
 */
export const writeSession = (path, shape) => {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(`${path}.tmp`, "w")
  try {
    writeLines(file, session(shape))
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.tmp`, path)
}

/**
 * A home with many sessions in the folders of several projects: whole or not at all.
 *
 * @param {string} home
 * @param {{ readonly sessions: number, readonly entries: number, readonly projects: number, readonly seed: number }} shape
 */
export const writeHome = (home, { sessions, entries, projects, seed }) => {
  const unfinished = `${home}.tmp`
  rmSync(unfinished, { recursive: true, force: true })
  for (let i = 0; i < sessions; i++) {
    const project = `somebody-project-${i % projects}`
    const stamp = new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString().replace(/[:.]/g, "-")
    const name = `${stamp}_00000000-0000-7000-8000-${String(i).padStart(12, "0")}.jsonl`
    const cwd = `/home/${project.replaceAll("-", "/")}`
    writeSession(`${unfinished}/sessions/--home-${project}--/${name}`, { seed: seed + i, entries, cwd })
  }
  renameSync(unfinished, home)
}

const LONGEST_LINE = 1 << 16

/** @param {number} file */
const lastId = (file) => {
  const bytes = Buffer.alloc(LONGEST_LINE)
  const start = Math.max(0, fstatSync(file).size - LONGEST_LINE)
  const read = bytes.toString("utf8", 0, readSync(file, bytes, 0, LONGEST_LINE, start))
  return JSON.parse(read.trimEnd().split("\n").at(-1) ?? "").id
}

/**
 * Goes on with a session by about so many entries, as another program would.
 *
 * @param {string} path
 * @param {{ readonly entries: number, readonly seed: number }} shape
 */
export const extendSession = (path, shape) => {
  const file = openSync(path, "a+")
  try {
    writeLines(file, session({ ...shape, after: lastId(file) }))
  } finally {
    closeSync(file)
  }
}
