/** Row 3: a large session without compactions, so that everything said on its path is context. */
import { rmSync } from "node:fs"
import { largeSession, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import * as opening from "./opening.mjs"

export const title = "open + context without compaction"

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries, pi, omp }) => ({
  ...{ entries, pi, omp },
  file: largeSession({ entries }),
  cache: scratch("open-whole")
})

export const jobs = {
  naive: opening.naive,
  first: opening.decoded,
  grove: opening.decoded,
  lazily: opening.lazily,
  pi: opening.pi,
  omp: opening.omp
}

export const before = {
  first: (/** @type {any} */ { cache }) => rmSync(cache, { recursive: true, force: true })
}

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { entries }) => {
  const by = (/** @type {string} */ job, fact = "ms") => ({
    naive: column(found.naive, fact),
    pi: column(found.pi, fact),
    omp: column(found.omp, fact),
    grove: column(found[job], fact)
  })
  const work = `open + context, ${entries.toLocaleString("en")} entries, no compaction, decoded`
  const messages = Number.parseInt(found.naive[0].answer, 10).toLocaleString("en")
  return [
    { work: `${work}, first time`, unit: "ms", columns: by("first"), goals: [{ against: "naive", times: 2 }] },
    {
      work: `… again (${messages} messages)`,
      unit: "ms",
      columns: by("grove"),
      goals: [{ against: "naive", times: 2 }]
    },
    { work: "… its memory", unit: "MB", columns: by("grove", "memory"), goals: [] },
    {
      work: "… again, bodies decoded on first access",
      unit: "ms",
      columns: by("lazily"),
      goals: [{ against: "naive", times: 50 }]
    },
    { work: "… its memory", unit: "MB", columns: by("lazily", "memory"), goals: [] }
  ]
}
