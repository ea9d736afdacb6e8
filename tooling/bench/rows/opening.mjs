/** How each program opens a session and builds its context: what the first three rows have in common. */
import { fingerprint, timed } from "../timed.mjs"

export const naive = async (/** @type {any} */ { file }) => {
  const { open } = await import("../naive.mjs")
  const { value, ...measured } = await timed(() => open(file))
  return { ...measured, answer: fingerprint(value.messages) }
}

/**
 * @param {any} input
 * @param {"build" | "plan"} how
 * @returns {Promise<any>}
 */
const withGrove = async ({ file, cache }, how) => {
  const [{ ContextBuilder }, { Effect }, Grove] = await Promise.all([
    import("@grove/core"),
    import("effect"),
    import("../grove.mjs")
  ])
  const store = await Grove.store({ home: cache, cache })
  const opened = Effect.gen(function* () {
    const { tree } = yield* store.read(yield* store.find(file))
    return ContextBuilder[how](tree)
  })
  return timed(() => Effect.runPromise(Effect.scoped(opened)))
}

/** Every message decoded. */
export const decoded = async (/** @type {any} */ input) => {
  const { value, ...measured } = await withGrove(input, "build")
  return { ...measured, answer: fingerprint(value.messages) }
}

/** Every message known, and decoded when somebody looks at it. */
export const lazily = async (/** @type {any} */ input) => {
  const { value, ...measured } = await withGrove(input, "plan")
  return { ...measured, messages: value.rows.length }
}

export const pi = async (/** @type {any} */ { file, pi }) => {
  const { SessionManager } = await import(pi)
  const { value, ...measured } = await timed(() => SessionManager.open(file).buildSessionContext())
  return { ...measured, answer: fingerprint(value.messages) }
}

export const omp = async (/** @type {any} */ { file, omp, cache }) => {
  process.env.PI_CODING_AGENT_DIR = `${cache}-omp`
  const { SessionManager } = await import(omp)
  const { value, ...measured } = await timed(async () => (await SessionManager.open(file)).buildSessionContext())
  return { ...measured, messages: value.messages.length }
}
