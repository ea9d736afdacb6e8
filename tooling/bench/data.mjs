/** Where the sessions to measure with are: made once, in a process of their own, and used again. */
import { existsSync, mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { VERSION, writeHome, writeSession } from "./generate.mjs"
import { inChild } from "./harness.mjs"
import { VERSION as PROMPTS_VERSION, writeHistory, writePlain } from "./prompts.mjs"

export const cache = fileURLToPath(new URL("../../node_modules/.cache/grove-bench/", import.meta.url))

/** An empty place on the disk that the repository is on; whoever asks cleans it up. @param {string} name */
export const scratch = (name) => {
  mkdirSync(`${cache}scratch`, { recursive: true })
  return `${cache}scratch/${name}`
}

export const jobs = {
  session: (/** @type {any} */ { path, shape }) => writeSession(path, shape),
  home: (/** @type {any} */ { path, shape }) => writeHome(path, shape),
  history: (/** @type {any} */ { path, shape }) => writeHistory(path, shape),
  plain: (/** @type {any} */ { path, shape }) => writePlain(path, shape)
}

/** @param {keyof typeof jobs} job @param {string} name @param {object} shape */
const made = (job, name, shape) => {
  const path = cache + name
  if (!existsSync(path)) {
    process.stderr.write(`bench: making ${name}, once…\n`)
    inChild(import.meta.url, job, { path, shape })
  }
  return path
}

const SEED = 1

/** One session of so many entries. @param {{ readonly entries: number, readonly compactEvery?: number }} shape */
export const largeSession = ({ entries, compactEvery = 0 }) =>
  made("session", `session-${VERSION}-${entries}-${compactEvery}.jsonl`, { seed: SEED, entries, compactEvery })

/** A home with many sessions. @param {{ readonly sessions: number, readonly entries: number }} shape */
export const manySessions = ({ sessions, entries }) =>
  made("home", `home-${VERSION}-${sessions}-${entries}`, { seed: SEED, sessions, entries, projects: 20 })

/** So many prompts as Grove keeps them, and as a plain FTS5 table does. @param {number} prompts */
export const histories = (prompts) => ({
  grove: made("history", `history-${PROMPTS_VERSION}-${prompts}.db`, { seed: SEED, prompts }),
  plain: made("plain", `plain-${PROMPTS_VERSION}-${prompts}.db`, { seed: SEED, prompts })
})
