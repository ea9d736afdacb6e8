/** Installs the dependencies when the lockfile is newer than what is installed. Needs only Node and npm. */
import { spawnSync } from "node:child_process"
import { readFileSync, statSync, utimesSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../../", import.meta.url)
const lockfile = new URL("package-lock.json", root)
/** npm writes it last, so an install that was interrupted does not count. */
const installed = new URL("node_modules/.package-lock.json", root)

/** @param {string} problem @returns {never} */
const fail = (problem) => {
  process.stderr.write(`grove: ${problem}\n`)
  process.exit(1)
}

/** @param {URL} file */
const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

const { engines } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"))
const least = engines.node.replace(">=", "")
if (process.versions.node.localeCompare(least, "en", { numeric: true }) < 0) {
  fail(`needs Node ${least} or newer, and this is ${process.versions.node}; see https://nodejs.org`)
}

if (changedAt(installed) < changedAt(lockfile)) {
  process.stderr.write("grove: installing dependencies, once…\n")
  // stdin may be a prompt piped to `npm start`, and stdout its answer: npm gets neither.
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: fileURLToPath(root),
    shell: process.platform === "win32",
    stdio: ["ignore", 2, 2]
  })
  if (status !== 0) fail("could not install the dependencies; npm says why above. Try again with: npm ci")
  utimesSync(installed, new Date(), new Date())
}
