/** Row 4: messages appended to a new session, and appends that are acknowledged only once they are durable. */
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { scratch } from "../data.mjs"
import { column } from "../figures.mjs"
import { session } from "../generate.mjs"
import { timed } from "../timed.mjs"

export const title = "append"

const BATCH = 100
const WRITERS = 64
/** Appended by everybody before the clock runs: a chat that has been open for a while is what people wait for. */
const WARM_UP = 2_000

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { appends, durable, serial, pi, omp }) => ({
  ...{ appends, durable, serial, pi, omp },
  home: scratch("append")
})

/** @param {number} count @returns {ReadonlyArray<any>} */
const entries = (count) =>
  [...session({ seed: 2, entries: 2 * count, after: "00000000" })]
    .filter(({ type }) => type === "message")
    .slice(0, count)

/** @param {number} count */
const messages = (count) => entries(count).map(({ message }) => message)

/** How many entries a file holds; so that nobody is fast by not writing. @param {string} path */
const entriesIn = (path) => readFileSync(path, "utf8").trimEnd().split("\n").slice(1).length

/** @param {any} options */
const groveSession = async ({ home, durability, disk }) => {
  const [Core, Storage, { Effect, Layer }, Grove] = await Promise.all([
    import("@grove/core"),
    import("@grove/storage-files"),
    import("effect"),
    import("../grove.mjs")
  ])
  const store = Grove.layer({ home, durability }).pipe(
    Layer.provide(Layer.succeed(Storage.Disk.Disk, disk?.(Storage.Disk.real) ?? Storage.Disk.real))
  )
  const layer = Layer.mergeAll(store, Core.Sessions.layer.pipe(Layer.provide([store, Core.EntryIds.layer])))
  return { ...Core, Effect, layer }
}

/** Everything a cursor does for an append: a place in the tree, the write, the event. */
const oneByOne = async (/** @type {any} */ { home, appends }) => {
  const { Effect, Sessions, layer } = await groveSession({ home, durability: "never" })
  const said = messages(appends)
  const program = Effect.gen(function* () {
    const sessions = yield* Sessions
    const { path } = yield* sessions.create({ cwd: "/" })
    const { main } = yield* sessions.open(path)
    const append = (/** @type {ReadonlyArray<any>} */ some) =>
      Effect.gen(function* () {
        for (const message of some) yield* main.append({ type: "message", message })
      })
    yield* append(messages(WARM_UP))
    return { path, measured: yield* Effect.promise(() => timed(() => Effect.runPromise(append(said)))) }
  })
  const { path, measured } = await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
  return { ms: measured.ms, answer: entriesIn(path) - WARM_UP }
}

/**
 * Appends to a session opened at the store, below all cursors.
 *
 * @param {any} options
 * @param {(log: any, Effect: any) => (entries: ReadonlyArray<any>) => any} appender
 * @param {number} count how many appends are measured
 */
const atStore = async (options, appender, count) => {
  const { Effect, Sessions, SessionStore, layer } = await groveSession(options)
  const program = Effect.gen(function* () {
    const ref = yield* (yield* Sessions).create({ cwd: "/" })
    const append = appender(yield* (yield* SessionStore).open(ref), Effect)
    const [first, some] = [entries(WARM_UP), entries(count)]
    yield* append(first)
    options.warm?.()
    return { path: ref.path, measured: yield* Effect.promise(() => timed(() => Effect.runPromise(append(some)))) }
  })
  const { path, measured } = await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
  return { ms: measured.ms, answer: entriesIn(path) - WARM_UP }
}

const inBatches = (/** @type {any} */ { home, appends }) => {
  /** @type {string | null} */
  let parentId = null
  let last = 0
  const placed = (/** @type {any} */ { message }) => {
    const id = (++last).toString(16).padStart(12, "0")
    const entry = { type: "message", id, parentId, timestamp: new Date().toISOString(), message }
    parentId = id
    return entry
  }
  /** @type {Parameters<typeof atStore>[1]} */
  const appender = (log, Effect) => (entries) =>
    Effect.gen(function* () {
      for (let from = 0; from < entries.length; from += BATCH) {
        const batch = entries.slice(from, from + BATCH).map(placed)
        yield* log.append(batch)
        for (const entry of batch) log.snapshot.tree.put(entry)
      }
    })
  return atStore({ home, durability: "never" }, appender, appends)
}

/** So many at once, each waiting for its own acknowledgement; and how often the medium was asked to keep something. */
const writers = async (/** @type {any} */ { home, durable }) => {
  let syncs = 0
  const disk = (/** @type {any} */ real) => ({
    ...real,
    sync: (/** @type {number} */ file) => {
      syncs++
      return real.sync(file)
    }
  })
  const warm = () => {
    syncs = 0
  }
  /** @type {Parameters<typeof atStore>[1]} */
  const appender = (log, Effect) => (entries) =>
    Effect.forEach(
      Array(WRITERS).keys(),
      (/** @type {number} */ at) =>
        Effect.gen(function* () {
          for (let i = at; i < entries.length; i += WRITERS) yield* log.append([entries[i]])
        }),
      { concurrency: WRITERS, discard: true }
    )
  const { answer, ms } = await atStore({ home, durability: "always", disk, warm }, appender, durable)
  return { ms, perAppend: (ms / answer) * 1000, syncs: syncs / answer }
}

/** The same through cursors of one session, as replies that are generated at the same time would. */
const cursors = async (/** @type {any} */ { home, serial }) => {
  const { Effect, Sessions, layer } = await groveSession({ home, durability: "always" })
  const program = Effect.gen(function* () {
    const sessions = yield* Sessions
    const { path } = yield* sessions.create({ cwd: "/" })
    const session = yield* sessions.open(path)
    const positions = yield* Effect.forEach(Array(WRITERS).fill(null), session.cursor)
    const said = messages(serial)
    const append = Effect.forEach(
      positions,
      (cursor, at) =>
        Effect.gen(function* () {
          for (let i = at; i < said.length; i += WRITERS) yield* cursor.append({ type: "message", message: said[i] })
        }),
      { concurrency: "unbounded", discard: true }
    )
    return yield* Effect.promise(() => timed(() => Effect.runPromise(append)))
  })
  const { ms } = await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))
  return { ms, perAppend: (ms / serial) * 1000 }
}

export const jobs = {
  naive: async (/** @type {any} */ { home, appends }) => {
    const { append } = await import("../naive.mjs")
    mkdirSync(home, { recursive: true })
    const path = `${home}/naive.jsonl`
    const lines = entries(appends)
    append(path, [{ type: "session" }, ...entries(WARM_UP)])
    const { ms } = await timed(() => append(path, lines))
    return { ms, answer: entriesIn(path) - WARM_UP }
  },
  grove: oneByOne,
  batches: inBatches,
  pi: async (/** @type {any} */ { home, appends, pi }) => {
    process.env.PI_CODING_AGENT_DIR = home
    const { SessionManager } = await import(pi)
    const manager = SessionManager.create(home, home)
    const said = messages(appends)
    for (const message of messages(WARM_UP)) manager.appendMessage(message)
    const { ms } = await timed(() => {
      for (const message of said) manager.appendMessage(message)
    })
    return { ms, answer: entriesIn(manager.getSessionFile()) - WARM_UP }
  },
  omp: async (/** @type {any} */ { home, appends, omp }) => {
    process.env.PI_CODING_AGENT_DIR = home
    const { SessionManager } = await import(omp)
    const manager = SessionManager.create(home, home)
    const said = messages(appends)
    for (const message of messages(WARM_UP)) manager.appendMessage(message)
    await manager.flush()
    const { ms } = await timed(async () => {
      for (const message of said) manager.appendMessage(message)
      await manager.flush()
    })
    return { ms }
  },
  serial: async (/** @type {any} */ { home, serial }) => {
    const { appendDurably } = await import("../naive.mjs")
    mkdirSync(home, { recursive: true })
    const path = `${home}/serial.jsonl`
    const lines = entries(serial)
    appendDurably(path, entries(WARM_UP))
    const { ms } = await timed(() => appendDurably(path, lines))
    return { ms, perAppend: (ms / serial) * 1000, syncs: 1 }
  },
  writers,
  cursors
}

const afresh = (/** @type {any} */ { home }) => rmSync(home, { recursive: true, force: true })
export const before = Object.fromEntries(Object.keys(jobs).map((job) => [job, afresh]))

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { appends }) => {
  const others = { naive: column(found.naive), pi: column(found.pi), omp: column(found.omp) }
  const goals = [/** @type {const} */ ({ against: "pi" })]
  const work = `append ${appends.toLocaleString("en")} messages, mode never`
  return [
    { work: `${work}, one at a time`, unit: "ms", columns: { ...others, grove: column(found.grove) }, goals },
    { work: `… in batches of ${BATCH}`, unit: "ms", columns: { ...others, grove: column(found.batches) }, goals },
    {
      work: `durable appends, ${WRITERS} writers (naive: one with fdatasync)`,
      unit: "µs each",
      columns: { naive: column(found.serial, "perAppend"), grove: column(found.writers, "perAppend") },
      goals: [{ against: "naive", times: 10 }]
    },
    {
      work: "… syncs",
      unit: "each",
      columns: { naive: column(found.serial, "syncs"), grove: column(found.writers, "syncs") },
      goals: [{ against: "naive", times: 32 }]
    },
    {
      work: `… through ${WRITERS} cursors of one session`,
      unit: "µs each",
      columns: { naive: column(found.serial, "perAppend"), grove: column(found.cursors, "perAppend") },
      goals: []
    }
  ]
}
