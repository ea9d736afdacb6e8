/** The programs some tests drive that npm cannot install. */
import { existsSync } from "node:fs"
import { delimiter } from "node:path"
import { run } from "./tools.mjs"

/** What goes untested without each. The Debian package is called as its command. */
const TESTS = {
  tmux: "the terminal tests",
  chromium: "the viewer's browser tests"
}

/** @param {string} command */
const isMissing = (command) =>
  !(process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(`${folder}/${command}`))

/** @param {ReadonlyArray<string>} packages */
const install = (packages) => {
  const apt = (/** @type {ReadonlyArray<string>} */ args) =>
    run("apt-get", args, { stdout: 2, env: { DEBIAN_FRONTEND: "noninteractive" } })
  process.stderr.write(`grove: installing ${packages.join(", ")}, once…\n`)
  apt(["update", "-qq"])
  // One at a time: one that cannot be had does not cost the others.
  for (const name of packages) apt(["install", "-y", "-qq", "--no-install-recommends", name])
}

/**
 * Installs what is missing where it may, and warns where it may not.
 * False if the tests should not go on: on CI nothing is skipped in silence.
 *
 * @param {ReadonlyArray<keyof typeof TESTS>} commands
 */
export const ensureSystem = (commands) => {
  const wanted = commands.filter(isMissing)
  if (wanted.length > 0 && process.getuid?.() === 0 && !isMissing("apt-get")) install(wanted)
  const missing = wanted.filter(isMissing)
  // turbo counts it as an input of the tests, so a result with skips is not replayed once the program is there.
  process.env.GROVE_TEST_PROGRAMS = commands.filter((command) => !missing.includes(command)).join(" ")
  if (missing.length === 0) return true
  const rule = "!".repeat(72)
  const lines = missing.map((command) => `  ${command} is missing: ${TESTS[command]} are SKIPPED`)
  process.stderr.write(`\n${[rule, ...lines, "  Install it and run npm test again.", rule].join("\n")}\n\n`)
  return process.env.CI !== "true"
}
