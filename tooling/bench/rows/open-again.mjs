/** Row 2: the same session when it was opened before, untouched or grown since. */
import { copyFileSync, rmSync } from "node:fs"
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
  rmSync(cache, { recursive: true, force: true })
  const grown = scratch("grown.jsonl")
  copyFileSync(file, grown)
  return { pi, omp, file, grown, cache }
}

export const jobs = {
  naive: opening.naive,
  grove: opening.decoded,
  grown: async (/** @type {any} */ input) => {
    const { answer, ...measured } = await opening.decoded({ ...input, file: input.grown })
    return { ...measured, grown: answer }
  },
  pi: opening.pi,
  omp: opening.omp
}

export const warm = ["grove", "grown"]

export const before = {
  grown: (/** @type {any} */ { grown }, /** @type {number} */ round) =>
    extendSession(grown, { entries: APPENDED, seed: 1_000 + round })
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
