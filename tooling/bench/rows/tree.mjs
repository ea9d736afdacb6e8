/** Row 7: a large session as a tree on the screen, and what a key costs there. */
import { largeSession, scratch } from "../data.mjs"
import { column, median } from "../figures.mjs"

export const title = "tree view"

export const prepare = (/** @type {import("../scales.mjs").Scale} */ { entries }) => ({
  entries,
  file: largeSession({ entries }),
  cache: scratch("tree")
})

const KEYS = [
  "up",
  "up",
  "[",
  "right",
  "down",
  "down",
  "left",
  "left",
  "{",
  "pageup",
  "]",
  "home",
  "end",
  "p",
  "p",
  "p"
]
const TIMES = 20
/** User, labeled, errors, all, turns. */
const FILTERS = ["ctrl+u", "tab", "tab", "ctrl+o", "tab"]

const zero = { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, costMicros: 0 }

/** The chat has the session open and has read it, as it does once it is on the screen; then /tree is typed. */
const grove = async (/** @type {any} */ { file, cache }) => {
  const [{ Effect }, Grove, TreePane, TreeState, TreePage, { Ledger }, { Symbols }] = await Promise.all([
    import("effect"),
    import("../grove.mjs"),
    import("../../../apps/tui/dist/state/TreePane.js"),
    import("../../../apps/tui/dist/state/TreeState.js"),
    import("../../../apps/tui/dist/state/TreePage.js"),
    import("../../../apps/tui/dist/Ledger.js"),
    import("@grove/core/model")
  ])
  const store = await Grove.store({ home: cache, cache })
  const measured = Effect.gen(function* () {
    const { ref, tree } = yield* store.read(yield* store.find(file))
    const { leaf } = tree
    tree.childRows(tree.rowOf(leaf))
    const ledger = new Ledger(tree, () => undefined)
    while (!ledger.isWhole) ledger.read()
    const { errors } = ledger
    const session = {
      ref,
      tree,
      leaf,
      errors,
      cwd: "/",
      name: null,
      usage: { path: zero, tree: zero, abandoned: zero }
    }
    const world = /** @type {any} */ ({ columns: 120, rows: 40, now: Date.now(), symbols: Symbols.unicode, session })
    const clock = (/** @type {() => any} */ work) => {
      const begun = performance.now()
      const value = work()
      return { value, ms: performance.now() - begun }
    }
    const shown = (/** @type {() => any} */ work) =>
      clock(() => {
        const state = work()
        TreePage.draw(state, world)
        return state
      })
    const opened = shown(() => TreeState.open(world))
    const press = (/** @type {any} */ state, /** @type {string} */ name) =>
      shown(() => TreePane.on(state, { _tag: "Key", name }, world).state)
    /** @type {Array<number>} */
    const keys = []
    let state = opened.value
    for (let i = 0; i < TIMES; i++) {
      for (const key of KEYS) {
        const { value, ms } = press(state, key)
        state = value
        keys.push(ms)
      }
    }
    /** @type {Array<number>} */
    const filters = []
    for (const key of FILTERS) {
      const { value, ms } = press(state, key)
      state = value
      filters.push(ms)
    }
    keys.sort((a, b) => a - b)
    return {
      open: opened.ms,
      p50: median(keys),
      p95: keys[Math.floor(keys.length * 0.95)],
      filter: Math.max(...filters)
    }
  })
  return Effect.runPromise(Effect.scoped(measured))
}

export const jobs = { grove }
/** The index of the session is there, as it is once it was opened. */
export const warm = ["grove"]

/** @type {import("../harness.mjs").Row["lines"]} */
export const lines = (found, { entries }) => {
  const line = (/** @type {string} */ work, /** @type {string} */ fact, /** @type {any[]} */ goals) => ({
    work,
    unit: /** @type {const} */ ("ms"),
    columns: { grove: column(found.grove, fact) },
    goals
  })
  return [
    line(`tree of ${entries.toLocaleString("en")} entries: open the view`, "open", [{ most: 100 }]),
    line("… one key, p50", "p50", [{ most: 16 }]),
    line("… one key, p95", "p95", [{ most: 16 }]),
    line("… another filter, the slowest", "filter", [])
  ]
}
