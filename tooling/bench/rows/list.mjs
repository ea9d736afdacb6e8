/** Row 5: every session of every project, listed for the first time and again. */
import { rmSync } from "node:fs"
import { manySessions, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { timed } from "../timed.mjs"

export const title = "list"

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { sessions, perSession, pi, omp }) => ({
  ...{ sessions, perSession, pi, omp },
  home: manySessions({ sessions, entries: perSession }),
  cache: scratch("list")
})

const grove = async (/** @type {any} */ { home, cache }) => {
  const [{ Effect }, Grove] = await Promise.all([import("effect"), import("../grove.mjs")])
  const store = await Grove.store({ home, cache })
  const { value, ...measured } = await timed(() => Effect.runPromise(store.list()))
  return { ...measured, answer: value.length }
}

export const jobs = {
  naive: async (/** @type {any} */ { home }) => {
    const { list } = await import("../naive.mjs")
    const { value, ...measured } = await timed(() => list(`${home}/sessions`))
    return { ...measured, answer: value.length }
  },
  first: grove,
  bare: async (/** @type {any} */ { home }) => {
    const { look } = await import("../naive.mjs")
    const { value, ...measured } = await timed(() => look(`${home}/sessions`))
    return { ...measured, answer: value.length }
  },
  again: grove,
  pi: async (/** @type {any} */ { home, pi }) => {
    process.env.PI_CODING_AGENT_DIR = home
    const { SessionManager } = await import(pi)
    const { value, ...measured } = await timed(() => SessionManager.listAll())
    return { ...measured, answer: value.length }
  },
  /** Keeps nothing on disk: its second list is one of the same process. */
  omp: async (/** @type {any} */ { home, omp }) => {
    process.env.PI_CODING_AGENT_DIR = home
    const { SessionManager } = await import(omp)
    const { value, ...measured } = await timed(() => SessionManager.listAll())
    const { ms: again } = await timed(() => SessionManager.listAll())
    return { ...measured, again, answer: value.length }
  }
}

export const before = {
  first: (/** @type {any} */ { cache }) => rmSync(cache, { recursive: true, force: true })
}

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { sessions, perSession }) => {
  const by = (/** @type {string} */ fact) => ({
    naive: column(found.naive, fact),
    pi: column(found.pi, fact),
    omp: column(found.omp, fact),
    grove: column(found.first, fact)
  })
  const again = { naive: column(found.bare), pi: column(found.pi), omp: column(found.omp, "again") }
  return [
    {
      work: `list ${sessions.toLocaleString("en")} sessions of ${perSession} entries, first time`,
      unit: "ms",
      columns: by("ms"),
      goals: [{ against: "pi", times: 10 }, { against: "omp" }]
    },
    { work: "its memory", unit: "MB", columns: by("memory"), goals: [] },
    {
      work: "list again (naive: a bare readdir + stat)",
      unit: "ms",
      columns: { ...again, grove: column(found.again) },
      goals: [{ against: "naive", within: 3 }]
    }
  ]
}
