/** Row 1: a large session with compactions, opened for the first time. */
import { rmSync } from "node:fs"
import { largeSession, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import * as opening from "./opening.mjs"

export const title = "open + context, first time"

export const COMPACT_EVERY = 40

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries, pi, omp }) => ({
  ...{ entries, pi, omp },
  file: largeSession({ entries, compactEvery: COMPACT_EVERY }),
  cache: scratch("open-first")
})

export const jobs = { naive: opening.naive, grove: opening.decoded, pi: opening.pi, omp: opening.omp }

export const before = {
  grove: (/** @type {any} */ { cache }) => rmSync(cache, { recursive: true, force: true })
}

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { entries }) => {
  const work = `open + context, ${entries.toLocaleString("en")} entries, compacted, first time`
  const by = (/** @type {string} */ fact) => ({
    naive: column(found.naive, fact),
    pi: column(found.pi, fact),
    omp: column(found.omp, fact),
    grove: column(found.grove, fact)
  })
  return [
    { work, unit: "ms", columns: by("ms"), goals: [{ against: "naive", times: 8 }, { against: "omp" }] },
    { work: "its memory", unit: "MB", columns: by("memory"), goals: [{ against: "naive", times: 6 }] }
  ]
}
