/**
 * Runs every measurement in a process of its own, so that none inherits another's memory or compiled code, and all
 * contenders in turn, so that a machine that is busy for a while slows each of them.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { PROFILE } from "./timed.mjs"

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url))
const LONGEST_MS = 10 * 60_000

/** @typedef {{ readonly ms?: number, readonly memory?: number, readonly [fact: string]: unknown }} Measurement */

/**
 * @typedef {object} Row
 * @property {string} title
 * @property {(scale: import("./scales.mjs").Scale) => Record<string, unknown>} prepare makes the input of all jobs
 * @property {Readonly<Record<string, (input: any) => Promise<Measurement>>>} jobs in the order of a round
 * @property {ReadonlyArray<string>} [warm] jobs that run once before they count
 * @property {Readonly<Record<string, (input: any, round: number) => void>>} [before] what comes before a job, unmeasured
 * @property {(found: Found, input: any) => ReadonlyArray<Omit<import("./figures.mjs").Line, "row">>} lines
 */

/**
 * The answers of every job, by round. A job of another program that fails has none.
 *
 * @typedef {Readonly<Record<string, ReadonlyArray<any>>>} Found
 */

export class ChildFailed extends Error {}

/** What a stack trace begins with. @param {string} stderr */
const reasonIn = (stderr) =>
  stderr.split("\n").find((line) => /^(?:\w*Error|FATAL ERROR|error)\b/.test(line)) ?? stderr.trim()

/**
 * The answer of a job. The parent must stay small: until a child has loaded its own program, it counts with the memory
 * of whoever started it, and the most it ever had is what is reported.
 *
 * @param {string} module
 * @param {string} job
 * @param {unknown} input
 * @param {{ readonly program?: string, readonly profile?: string }} [how]
 */
export const inChild = (module, job, input, { program = process.execPath, profile } = {}) => {
  const { NODE_OPTIONS: _, ...env } = process.env
  if (profile !== undefined) env[PROFILE] = profile
  const child = spawnSync(program, [CHILD, module, job, JSON.stringify(input)], {
    env,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: LONGEST_MS
  })
  if (child.status !== 0) {
    throw new ChildFailed(
      child.error?.message ?? (reasonIn(child.stderr) || `ended by ${child.signal ?? child.status}`)
    )
  }
  return JSON.parse(child.stdout.trimEnd().split("\n").at(-1) ?? "null")
}

/** Programs that need not be there, nor work. */
const OTHERS = new Set(["pi", "omp"])
const BASELINES = new Set(["naive", "bare", "serial", "fts"])

/** Who does a job: the first word of its name, if that is not one of Grove's. @param {string} job */
const contenderOf = (job) => {
  const [who] = job.split("-")
  return OTHERS.has(who) || BASELINES.has(who) ? who : "grove"
}

/**
 * @param {string} module
 * @param {Row} row
 * @param {any} input
 * @param {{
 *   readonly rounds: number,
 *   readonly programs: Readonly<Record<string, string>>,
 *   readonly profile?: string | undefined,
 *   readonly tell: (progress: string) => void
 * }} options `programs` has what is not run by Node
 * @returns {{ readonly found: Found, readonly notes: ReadonlyArray<string> }}
 */
export const measure = (module, row, input, { rounds, programs, profile, tell }) => {
  /** @type {Record<string, Array<Measurement>>} */
  const found = {}
  /** @type {Array<string>} */
  const notes = []
  let jobs = Object.keys(row.jobs).filter((job) => input[contenderOf(job)] !== null)
  const run = (/** @type {string} */ job) => {
    const folder = profile !== undefined && contenderOf(job) === "grove" ? `${profile}/${job}` : undefined
    return inChild(module, job, input, { program: programs[contenderOf(job)], profile: folder })
  }
  for (const job of row.warm ?? []) run(job)
  for (let round = 0; round < rounds; round++) {
    for (const job of jobs) {
      row.before?.[job]?.(input, round)
      try {
        const measured = run(job)
        found[job] = [...(found[job] ?? []), measured]
        tell(`round ${round + 1} of ${rounds}, ${job}: ${Math.round(measured.ms * 10) / 10} ms`)
      } catch (cause) {
        if (!OTHERS.has(contenderOf(job)) || !(cause instanceof ChildFailed)) throw cause
        notes.push(`${job} could not do "${row.title}": ${cause.message}`)
        delete found[job]
        jobs = jobs.filter((other) => other !== job)
      }
    }
  }
  return { found, notes: [...notes, ...disagreements(row.title, found)] }
}

/**
 * Figures mean nothing where the answers differ.
 *
 * @param {string} title
 * @param {Found} found
 */
export const disagreements = (title, found) => {
  const answers = new Map(
    Object.entries(found).flatMap(([job, answered]) => {
      const given = new Set(answered.map(({ answer }) => answer).filter((answer) => answer !== undefined))
      return given.size === 0 ? [] : [[job, [...given].join(" and ")]]
    })
  )
  const isOne = new Set(answers.values()).size <= 1
  return isOne ? [] : [`"${title}": the answers differ: ${[...answers].map((pair) => pair.join(" ")).join(", ")}`]
}
