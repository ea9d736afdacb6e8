/** Builds what is stale, then hands over to the chat. */
import { spawn } from "node:child_process"
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs"
import { constants } from "node:os"
import { isatty } from "node:tty"
import { root, turbo, workspaces } from "./tools.mjs"

const built = `${root}apps/cli/dist/main.js`
const sources = [
  ...["package-lock.json", "turbo.json", "tooling/tsconfig"],
  ...workspaces.flatMap((folder) =>
    ["src", "bin", "package.json", "build.mjs", "tsconfig.json", "tsconfig.build.json"].map(
      (name) => `${folder}/${name}`
    )
  )
]

/**
 * When anything at or below `path` last changed. A folder's own time counts: it is all that tells of a deleted file.
 *
 * @param {string} path
 * @returns {number}
 */
const newest = (path) => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 0
  const inside = found.isDirectory() ? readdirSync(path).map((name) => newest(`${path}/${name}`)) : []
  return Math.max(found.mtimeMs, ...inside)
}

if (Math.max(...sources.map((path) => newest(root + path))) >= newest(built)) {
  const begun = new Date()
  const isBuilt = turbo(["build", "--filter=@grove/cli...", "--output-logs=errors-only", "--log-prefix=none"], {
    stdout: 2
  })
  if (!isBuilt || !existsSync(built)) {
    process.stderr.write("grove: the build failed, as told above\n")
    process.exit(1)
  }
  // The time the build began, so what was edited meanwhile is still stale.
  utimesSync(built, begun, begun)
}

const chat = spawn(process.execPath, [`${root}apps/cli/bin/grove.js`, ...process.argv.slice(2)], { stdio: "inherit" })
// A terminal interrupts the chat by itself; told twice, it would think the user insists.
const hasTerminal = [0, 1, 2].some((fd) => isatty(fd))
process.on("SIGINT", () => hasTerminal || chat.kill("SIGINT"))
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => chat.kill(signal))
chat.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
