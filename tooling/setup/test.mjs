/** Everything that must hold before a change is kept, cheapest first; CI runs the same. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { ensureSystem } from "./system.mjs"
import { root, run, turbo, workspaces } from "./tools.mjs"

const report = (/** @type {string} */ workspace) => `${root}${workspace}/.reports/vitest.json`
const selfTests = readdirSync(`${root}tooling`, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.mjs"))
  .map((path) => `tooling/${path}`)

/** @type {ReadonlyArray<readonly [name: string, passes: () => boolean]>} */
const steps = [
  ["system packages", () => ensureSystem(["tmux", "chromium"])],
  ["lint", () => run("npm", ["run", "--silent", "lint"])],
  ["direction", () => run("npm", ["run", "--silent", "check:direction"])],
  ["tooling", () => run(process.execPath, ["--test", "--test-reporter=spec", ...selfTests])],
  // Goes on after a failure, so the counts below are of all the tests there are.
  [
    "build, types and tests",
    () => turbo(["build", "typecheck", "test", "--output-logs=full", "--continue=dependencies-successful"])
  ],
  ["packed packages", () => run("npm", ["run", "--silent", "check:pack"])],
  ["docs", () => run("npm", ["run", "--silent", "check:docs"])]
]

// turbo brings back the report of a test it need not run again; any other would be of an older run.
for (const workspace of workspaces) rmSync(report(workspace), { force: true })

const failed = steps.find(([, passes]) => !passes())?.[0]

const reports = workspaces
  .map(report)
  .filter(existsSync)
  .map((file) => JSON.parse(readFileSync(file, "utf8")))
const count = (/** @type {string} */ field) => reports.reduce((sum, report) => sum + report[field], 0)
if (failed !== undefined) process.stderr.write(`\n${"─".repeat(72)}\n  FAILED: ${failed}\n${"─".repeat(72)}\n\n`)
// A step that fails without a failing test is one failure, so the last line is never green by omission.
const failures = Math.max(count("numFailedTests"), failed === undefined ? 0 : 1)
console.log(`${count("numPassedTests")} passed, ${failures} failed, ${count("numPendingTests")} skipped`)
process.exitCode = failed === undefined ? 0 : 1
