/** One measurement in a process of its own: `child.mjs <module> <job> <input as JSON>`; answers in a line of JSON. */
import { writeSync } from "node:fs"

const [module, job, input] = process.argv.slice(2)
const { jobs } = await import(module)
const answer = await jobs[job](JSON.parse(input))
writeSync(1, `\n${JSON.stringify(answer ?? null)}\n`)
// Whoever was measured may have left timers or handles behind.
process.exit(0)
