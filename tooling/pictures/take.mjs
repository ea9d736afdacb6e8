/**
 * The pictures of the README, taken anew: the chat is run in tmux on an example, typed into, and its screen is drawn
 * as SVG. `node tooling/pictures/take.mjs`; needs tmux and a built command.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { svg } from "./svg.mjs"

const root = join(import.meta.dirname, "../..")
const folder = join(root, "docs/pictures")
const home = mkdtempSync(join(tmpdir(), "grove-pictures-"))
const size = { columns: 80, rows: 24 }

const tmux = (/** @type {ReadonlyArray<string>} */ ...args) =>
  execFileSync("tmux", ["-u", "-L", "grove-pictures", ...args], { encoding: "utf8" })
const screen = () => tmux("capture-pane", "-p", "-e", "-t", "chat")

/** Waits until the screen shows a text. @param {string} text */
const shows = async (text) => {
  for (let tries = 0; tries < 100; tries++) {
    if (screen().includes(text)) return
    await pause(100)
  }
  throw new Error(`the chat never showed ${JSON.stringify(text)}:\n${screen()}`)
}

/** @param {string} text @param {string} answer */
const say = async (text, answer) => {
  tmux("send-keys", "-t", "chat", "-l", text)
  tmux("send-keys", "-t", "chat", "Enter")
  await shows(answer)
}

/** @param {string} name @param {string} title */
const take = async (name, title) => {
  await pause(500)
  writeFileSync(join(folder, `${name}.svg`), await svg(screen(), title, size))
}

mkdirSync(folder, { recursive: true })
const session = join(home, "rate-limit.jsonl")
copyFileSync(join(root, "docs/examples/rate-limit.jsonl"), session)
try {
  const environment = { GROVE_HOME: join(home, "grove"), LANG: "C.UTF-8", COLORTERM: "", TERM: "screen-256color" }
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const run = ["env", ...set, process.execPath, join(root, "apps/cli/dist/main.js"), "--session", session]
  tmux("new-session", "-d", "-s", "chat", "-x", `${size.columns}`, "-y", `${size.rows}`, ...run)
  await shows("429 where it returns false")
  tmux("send-keys", "-t", "chat", "-l", "now the tests: cover clock skew and an outage of redis")
  await take("chat", "A conversation in the terminal")
  tmux("send-keys", "-t", "chat", "C-u")
  await say("/tree", "TREE")
  tmux("send-keys", "-t", "chat", "Up")
  tmux("send-keys", "-t", "chat", "Up")
  tmux("send-keys", "-t", "chat", "Right")
  await take("tree", "The tree of the same conversation")
} finally {
  tmux("kill-server")
  rmSync(home, { recursive: true, force: true })
}
