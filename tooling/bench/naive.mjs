/** What one writes first: read, split, parse, walk. The baseline that the other figures are ratios of. */
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync
} from "node:fs"

/** @typedef {Record<string, any>} Json */

/** @param {string} path */
const readLines = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** @param {Json} entry */
const messageOf = (entry) => {
  const timestamp = new Date(entry.timestamp).getTime()
  if (entry.type === "message") return entry.message
  if (entry.type === "custom_message") {
    const { customType, content, display, details } = entry
    return { role: "custom", customType, content, display, details, timestamp }
  }
  if (entry.type === "branch_summary" && entry.summary) {
    return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp }
  }
}

/** @param {Array<Json>} path @param {Json} compaction */
const compacted = (path, compaction) => {
  const { summary, tokensBefore, timestamp } = compaction
  const at = path.indexOf(compaction)
  const first = path.findIndex(({ id }) => id === compaction.firstKeptEntryId)
  const shown = [...(first < 0 || first > at ? [] : path.slice(first, at)), ...path.slice(at + 1)]
  const told = { role: "compactionSummary", summary, tokensBefore, timestamp: new Date(timestamp).getTime() }
  return [told, ...shown.map(messageOf)]
}

/**
 * A session and what the model is shown at its last entry, by Pi's rule.
 *
 * @param {string} path
 */
export const open = (path) => {
  const entries = readLines(path).slice(1)
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  /** @type {Array<Json>} */
  const branch = []
  for (let entry = entries.at(-1); entry !== undefined; entry = byId.get(entry.parentId)) branch.push(entry)
  branch.reverse()
  let thinkingLevel = "off"
  let model = null
  let compaction = null
  for (const entry of branch) {
    if (entry.type === "thinking_level_change") thinkingLevel = entry.thinkingLevel
    else if (entry.type === "model_change") model = { provider: entry.provider, modelId: entry.modelId }
    else if (entry.type === "compaction") compaction = entry
    else if (entry.message?.role === "assistant") {
      model = { provider: entry.message.provider, modelId: entry.message.model }
    }
  }
  const messages = compaction === null ? branch.map(messageOf) : compacted(branch, compaction)
  return { entries, messages: messages.filter((message) => message !== undefined), thinkingLevel, model }
}

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder).flatMap((project) =>
    readdirSync(`${folder}/${project}`).map((name) => `${folder}/${project}/${name}`)
  )

/**
 * Every session below a folder with its first prompt, newest first.
 *
 * @param {string} folder
 */
export const list = (folder) =>
  filesBelow(folder)
    .map((path) => {
      const [header, ...entries] = readLines(path)
      const messages = entries.filter(({ type }) => type === "message")
      const first = messages.find(({ message }) => message.role === "user")
      const modified = messages.at(-1)?.timestamp ?? header.timestamp
      return { path, header, messages: messages.length, first: first?.message.content[0].text, modified }
    })
    .sort((a, b) => (a.modified < b.modified ? 1 : -1))

/**
 * The least that any list costs: the names, and the state of each file.
 *
 * @param {string} folder
 */
export const look = (folder) => filesBelow(folder).map((path) => ({ path, state: statSync(path) }))

/**
 * @param {string} path
 * @param {ReadonlyArray<object>} entries
 */
export const append = (path, entries) => {
  for (const entry of entries) appendFileSync(path, `${JSON.stringify(entry)}\n`)
}

/**
 * The same, each on the medium before the next.
 *
 * @param {string} path
 * @param {ReadonlyArray<object>} entries
 */
export const appendDurably = (path, entries) => {
  const file = openSync(path, "a")
  for (const entry of entries) {
    writeSync(file, `${JSON.stringify(entry)}\n`)
    fdatasyncSync(file)
  }
  closeSync(file)
}
