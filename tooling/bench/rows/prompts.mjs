/**
 * Row 6: what a key typed into the prompt search costs, beside plain LIKE and beside a plain FTS5 table as agents have used
 * it so far; also how fast prompts are added, and how large the file is.
 */
import { readFileSync, statSync } from "node:fs"
import { histories } from "../data.mjs"
import { column } from "../figures.mjs"
import { promptsFrom, questions } from "../prompts.mjs"

export const title = "prompt search"

const SEED = 1
const LIMIT = 100
const ASKED = 100
/** What scans everything is asked less often. */
const ASKED_OF_SCANS = 8
const WARMING = 5

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { prompts }) => ({
  sizes: prompts.map((count) => ({ count, ...histories(count) }))
})

/** @typedef {{ readonly count: number, readonly grove: string, readonly plain: string }} Size */

/** @param {ReadonlyArray<number>} sorted @param {number} share */
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]

/**
 * Every kind of question, so many times each: percentiles by kind.
 *
 * @param {number} times
 * @param {(text: string) => Promise<unknown>} ask
 */
const asked = async (times, ask) => {
  /** @type {Record<string, number>} */
  const facts = {}
  const begun = performance.now()
  for (const [kind, question] of Object.entries(questions(promptsFrom(SEED).rare))) {
    const took = []
    for (let i = 0; i < WARMING + times; i++) {
      const text = question()
      const from = performance.now()
      await ask(text)
      if (i >= WARMING) took.push(performance.now() - from)
    }
    took.sort((a, b) => a - b)
    facts[`${kind} p50`] = percentile(took, 0.5)
    facts[`${kind} p95`] = percentile(took, 0.95)
    facts[`${kind} p99`] = percentile(took, 0.99)
  }
  return { ms: performance.now() - begun, ...facts }
}

/** @param {string} path */
const about = (path) => ({ size: statSync(path).size / 1e6, ...JSON.parse(readFileSync(`${path}.json`, "utf8")) })

const grove = async (/** @type {Size} */ { grove: path }) => {
  const [{ Effect }, { PromptHistory }, { SqlitePromptHistory }] = await Promise.all([
    import("effect"),
    import("@grove/core"),
    import("@grove/storage-sqlite")
  ])
  const work = Effect.gen(function* () {
    const history = yield* PromptHistory
    return yield* Effect.promise(() =>
      asked(ASKED, (text) => Effect.runPromise(history.search({ text, limit: LIMIT })))
    )
  })
  const measured = await Effect.runPromise(Effect.provide(work, SqlitePromptHistory.layer({ path })))
  return { ...measured, ...about(path) }
}

/** @param {string} path */
const plain = async (path) => {
  const { SqliteDriver } = await import("@grove/storage-sqlite")
  const driver = SqliteDriver.preferred()
  if (driver === undefined) throw new Error("no SQLite driver loads")
  return driver.open(path)
}

const naive = async (/** @type {Size} */ { plain: path }) => {
  const database = await plain(path)
  const ask = (/** @type {string} */ text) => {
    const words = text.split(" ")
    const where = words.map(() => "prompt LIKE ?").join(" AND ")
    const sql = `SELECT * FROM history WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ${LIMIT}`
    return database.all(
      sql,
      words.map((word) => `%${word}%`)
    )
  }
  return { ...(await asked(ASKED_OF_SCANS, ask)), ...about(path) }
}

const fts = async (/** @type {Size} */ { plain: path }) => {
  const database = await plain(path)
  const ask = (/** @type {string} */ text) => {
    const match = text.split(" ").map((word) => `"${word}"*`)
    const sql = `SELECT h.* FROM history_fts f JOIN history h ON h.id = f.rowid WHERE f.history_fts MATCH ?
      ORDER BY h.created_at DESC, h.id DESC LIMIT ${LIMIT}`
    return database.all(sql, [match.join(" ")])
  }
  return { ...(await asked(ASKED_OF_SCANS, ask)), ...about(path) }
}

/** The first size is asked by `naive`, the second by `naive-1`. @param {number} at */
const jobsAt = (at) => {
  const name = (/** @type {string} */ who) => (at === 0 ? who : `${who}-${at}`)
  const on =
    (/** @type {(size: Size) => Promise<any>} */ job) =>
    (/** @type {any} */ { sizes }) =>
      sizes[at] === undefined ? { ms: 0 } : job(sizes[at])
  return { [name("naive")]: on(naive), [name("fts")]: on(fts), [name("grove")]: on(grove) }
}

const MOST_SIZES = 2
export const jobs = Object.assign({}, ...Array.from({ length: MOST_SIZES }, (_, at) => jobsAt(at)))

/** What a key may cost, p50, where it is held against a number; and at every size, p95. @type {Record<string, number>} */
const MOST_P50 = { "a rare word": 0.5, "a common word": 5, "2 CJK characters": 1, "inside a word": 5 }
const MOST_P95 = 16
const GOALS_OF = 100_000

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { sizes }) =>
  sizes.flatMap((/** @type {Size} */ { count }, /** @type {number} */ at) => {
    const name = (/** @type {string} */ who) => (at === 0 ? who : `${who}-${at}`)
    const columns = (/** @type {string} */ fact) => ({
      naive: column(found[name("naive")], fact),
      fts: column(found[name("fts")], fact),
      grove: column(found[name("grove")], fact)
    })
    const many = count.toLocaleString("en")
    const kinds = Object.keys(questions(promptsFrom(SEED).rare))
    const perKey = kinds.flatMap((kind) => [
      {
        work: `${many} prompts, ${kind}, p50`,
        unit: /** @type {const} */ ("ms"),
        columns: columns(`${kind} p50`),
        goals: count === GOALS_OF && MOST_P50[kind] !== undefined ? [{ most: MOST_P50[kind] }] : []
      },
      {
        work: "… p95",
        unit: /** @type {const} */ ("ms"),
        columns: columns(`${kind} p95`),
        goals: [{ most: MOST_P95 }]
      },
      { work: "… p99", unit: /** @type {const} */ ("ms"), columns: columns(`${kind} p99`), goals: [] }
    ])
    const eachMs = (/** @type {ReadonlyArray<any> | undefined} */ rounds) =>
      column(rounds?.map(({ perSecond }) => ({ ms: 1e6 / perSecond })))
    return [
      ...perKey,
      {
        work: `${many} prompts, adding one in batches`,
        unit: /** @type {const} */ ("µs each"),
        columns: { fts: eachMs(found[name("fts")]), grove: eachMs(found[name("grove")]) },
        goals: []
      },
      { work: `${many} prompts, the file`, unit: /** @type {const} */ ("MB"), columns: columns("size"), goals: [] }
    ]
  })
