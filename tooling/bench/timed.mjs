/** What a measurement inside its own process consists of. */
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"

/** Where a CPU profile of the work is written, if one is asked for. */
export const PROFILE = "GROVE_BENCH_PROFILE"

const SAMPLE_EVERY_US = 200

/**
 * Profiles the work alone, not what is loaded before it.
 *
 * @template A
 * @param {string} folder
 * @param {() => A | Promise<A>} work
 */
const profiled = async (folder, work) => {
  const { Session } = await import("node:inspector/promises")
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_US })
  await session.post("Profiler.start")
  const value = await work()
  const { profile } = await session.post("Profiler.stop")
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${process.pid}.cpuprofile`, JSON.stringify(profile))
  return value
}

/**
 * How long the work took, and the most memory the process has used until its end.
 *
 * @template A
 * @param {() => A | Promise<A>} work
 */
export const timed = async (work) => {
  const folder = process.env[PROFILE]
  const begun = performance.now()
  const value = folder === undefined ? await work() : await profiled(folder, work)
  const ms = performance.now() - begun
  return { value, ms, memory: process.resourceUsage().maxRSS / 1024 }
}

/**
 * Enough of a context to tell that two programs answered the same.
 *
 * @param {ReadonlyArray<unknown>} messages
 */
export const fingerprint = (messages) => {
  const sample = [0, messages.length >> 1, messages.length - 1].map((at) => messages[at])
  return `${messages.length} ${createHash("sha256").update(JSON.stringify(sample)).digest("hex").slice(0, 12)}`
}
