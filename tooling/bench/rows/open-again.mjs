/** Row 2: the same session when it was opened before, untouched or grown since. */
import { copyFileSync, cpSync, rmSync, statSync, truncateSync } from "node:fs"
import { largeSession, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { extendSession } from "../generate.mjs"
import { COMPACT_EVERY } from "./open-first.mjs"
import * as opening from "./opening.mjs"

export const title = "open + context, again"

const APPENDED = 100

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries, pi, omp }) => {
  const file = largeSession({ entries, compactEvery: COMPACT_EVERY })
  const cache = scratch("open-again")
  const grown = { file: scratch("grown.jsonl"), cache: scratch("grown"), size: statSync(file).size }
  for (const folder of [cache, grown.cache]) rmSync(folder, { recursive: true, force: true })
  copyFileSync(file, grown.file)
  return { pi, omp, file, cache, grown }
}

export const jobs = {
  naive: opening.naive,
  grove: opening.decoded,
  grown: async (/** @type {any} */ { grown }) => {
    const { answer: _, ...measured } = await opening.decoded(grown)
    return measured
  },
  pi: opening.pi,
  omp: opening.omp
}

export const warm = ["grove", "grown"]

export const before = {
  /** In every round the file and its index are first what they were before the appends of the last one. */
  grown: (/** @type {any} */ { grown: { file, cache, size } }, /** @type {number} */ round) => {
    const kept = `${cache}-kept`
    const [from, to] = round === 0 ? [cache, kept] : [kept, cache]
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true })
    truncateSync(file, size)
    extendSession(file, { entries: APPENDED, seed: 1_000 + round })
  }
}

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found) => {
  const others = { naive: column(found.naive), pi: column(found.pi), omp: column(found.omp) }
  const goals = [/** @type {const} */ ({ against: "naive", times: 50 })]
  return [
    { work: "the same again", unit: "ms", columns: { ...others, grove: column(found.grove) }, goals },
    { work: `… after ${APPENDED} appends`, unit: "ms", columns: { ...others, grove: column(found.grown) }, goals }
  ]
}
