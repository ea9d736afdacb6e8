/**
 * Row 5: every session of every project, listed for the first time and again. Long sessions tell who reads too much of
 * each; short ones, of which oh-my-pi reads nearly all too, tell what a file costs whatever its length.
 */
import { rmSync } from "node:fs"
import { manySessions, scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { timed } from "../timed.mjs"

export const title = "list"

const SHORT = 20

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { sessions, perSession, pi, omp }) => ({
  ...{ sessions, perSession, pi, omp },
  long: { home: manySessions({ sessions, entries: perSession }), cache: scratch("list-long") },
  short: { home: manySessions({ sessions, entries: SHORT }), cache: scratch("list-short") }
})

/** @typedef {{ readonly home: string, readonly cache: string }} Place */

const naive = async (/** @type {Place} */ { home }) => {
  const { list } = await import("../naive.mjs")
  const { value, ...measured } = await timed(() => list(`${home}/sessions`))
  return { ...measured, answer: value.length }
}

const bare = async (/** @type {Place} */ { home }) => {
  const { look } = await import("../naive.mjs")
  const { value, ...measured } = await timed(() => look(`${home}/sessions`))
  return { ...measured, answer: value.length }
}

const grove = async (/** @type {Place} */ { home, cache }) => {
  const [{ Effect }, Grove] = await Promise.all([import("effect"), import("../grove.mjs")])
  const store = await Grove.store({ home, cache })
  const { value, ...measured } = await timed(() => Effect.runPromise(store.list()))
  return { ...measured, answer: value.length }
}

/** @param {Place} place @param {string} module */
const other = async ({ home }, module) => {
  process.env.PI_CODING_AGENT_DIR = home
  const { SessionManager } = await import(module)
  const list = () => SessionManager.listAll()
  const { value, ...measured } = await timed(list)
  return { ...measured, list, answer: value.length }
}

const pi = async (/** @type {Place} */ place, /** @type {string} */ module) => {
  const { list: _, ...measured } = await other(place, module)
  return measured
}

/** oh-my-pi keeps nothing on disk, so its second list is one of the same process. */
const omp = async (/** @type {Place} */ place, /** @type {string} */ module) => {
  const { list, ...measured } = await other(place, module)
  return { ...measured, again: (await timed(list)).ms }
}

export const jobs = {
  naive: (/** @type {any} */ { long }) => naive(long),
  first: (/** @type {any} */ { long }) => grove(long),
  bare: (/** @type {any} */ { long }) => bare(long),
  again: (/** @type {any} */ { long }) => grove(long),
  pi: (/** @type {any} */ { long, pi: module }) => pi(long, module),
  omp: (/** @type {any} */ { long, omp: module }) => omp(long, module),
  "naive-short": (/** @type {any} */ { short }) => naive(short),
  "grove-short": (/** @type {any} */ { short }) => grove(short),
  "pi-short": (/** @type {any} */ { short, pi: module }) => pi(short, module),
  "omp-short": (/** @type {any} */ { short, omp: module }) => omp(short, module)
}

const forget = (/** @type {Place} */ { cache }) => rmSync(cache, { recursive: true, force: true })
export const before = {
  first: (/** @type {any} */ { long }) => forget(long),
  "grove-short": (/** @type {any} */ { short }) => forget(short)
}

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { sessions, perSession }) => {
  const many = sessions.toLocaleString("en")
  return [
    {
      work: `list ${many} sessions of ${perSession} entries, first time`,
      unit: "ms",
      columns: {
        naive: column(found.naive),
        pi: column(found.pi),
        omp: column(found.omp),
        grove: column(found.first)
      },
      goals: [{ against: "pi", times: 10 }]
    },
    {
      work: "… its memory",
      unit: "MB",
      columns: {
        naive: column(found.naive, "memory"),
        pi: column(found.pi, "memory"),
        omp: column(found.omp, "memory"),
        grove: column(found.first, "memory")
      },
      goals: []
    },
    {
      work: "… again (naive: a bare readdir + stat)",
      unit: "ms",
      columns: {
        naive: column(found.bare),
        pi: column(found.pi),
        omp: column(found.omp, "again"),
        grove: column(found.again)
      },
      goals: [{ against: "naive", within: 3 }]
    },
    {
      work: `list ${many} sessions of ${SHORT} entries, first time`,
      unit: "ms",
      columns: {
        naive: column(found["naive-short"]),
        pi: column(found["pi-short"]),
        omp: column(found["omp-short"]),
        grove: column(found["grove-short"])
      },
      goals: [{ against: "omp" }]
    }
  ]
}
