/** Row 8: the chat in a terminal, from the command to the first screen, and from a key to what it changes there. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { scratch } from "../data.mjs"
import { column, median } from "../figures.mjs"

export const title = "chat"

export const prepare = () => ({ place: scratch("chat") })

const command = fileURLToPath(new URL("../../../apps/cli/bin/grove.js", import.meta.url))
const KEYS = "abcdefghijklmnopqrstuvwxyz"
const QUIT = "\x03\x04"

const grove = async (/** @type {{ readonly place: string }} */ { place }) => {
  mkdirSync(place, { recursive: true })
  const home = mkdtempSync(`${place}/home-`)
  const begun = performance.now()
  // `script` is what gives a program a terminal that nobody sits at.
  const chat = spawn("script", ["-qfc", `stty cols 80 rows 24; exec "${process.execPath}" "${command}"`, "/dev/null"], {
    cwd: place,
    env: { ...process.env, GROVE_HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color", TMUX: "" },
    stdio: ["pipe", "pipe", "inherit"]
  })
  let said = ""
  let heard = () => {}
  chat.stdout.on("data", (chunk) => {
    said += chunk
    heard()
  })
  const until = (/** @type {string} */ wanted) =>
    /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        heard = () => said.includes(wanted) && resolve()
        heard()
      })
    )
  await until("Say something")
  const paint = performance.now() - begun
  /** @type {Array<number>} */
  const keys = []
  for (const key of KEYS) {
    said = ""
    const pressed = performance.now()
    chat.stdin.write(key)
    await until(key)
    keys.push(performance.now() - pressed)
  }
  chat.stdin.write(QUIT)
  await new Promise((resolve) => chat.once("exit", resolve))
  keys.sort((a, b) => a - b)
  return { paint, p50: median(keys), p95: keys[Math.floor(keys.length * 0.95)] }
}

export const jobs = { grove }
/** The program is in the cache of the file system, as it is the second time it is started. */
export const warm = ["grove"]

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found) => {
  const line = (/** @type {string} */ work, /** @type {string} */ fact, /** @type {any[]} */ goals) => ({
    work,
    unit: /** @type {const} */ ("ms"),
    columns: { grove: column(found.grove, fact) },
    goals
  })
  return [
    line("chat: start to first paint", "paint", [{ most: 400 }]),
    line("… a key to its effect, p50", "p50", [{ most: 16 }]),
    line("… a key to its effect, p95", "p95", [])
  ]
}
