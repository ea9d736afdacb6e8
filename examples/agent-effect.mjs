/**
 * An agent with Effect's layers, on a storage adapter of its own: sessions live in a plain `Map`, which stands for a
 * database. It answers each line of standard input and shows the tree at the end.
 *
 *   node agent-effect.mjs
 */
import { createInterface } from "node:readline"
import { EntryIds, SessionStore, SessionStoreError, Sessions, SessionTree, Store } from "@grove/core"
import { Effect, Layer, Stream } from "effect"

/** Everything that a storage adapter has to do. */
const layerTable = Layer.sync(SessionStore, () => {
  /** @type {Map<string, { header: any, lines: string[] }>} */
  const table = new Map()
  const missing = (/** @type {string} */ session) =>
    Effect.fail(new SessionStoreError({ session, reason: new Store.SessionNotFound() }))
  const row = (/** @type {string} */ id) =>
    Effect.suspend(() => (table.has(id) ? Effect.succeed(table.get(id)) : missing(id)))
  const read = (/** @type {any} */ ref) =>
    Effect.map(row(ref.id), ({ header, lines }) => ({
      ...{ ref, header, version: 3, readOnly: false, title: null, problems: [] },
      tree: SessionTree.from(lines.map((line) => JSON.parse(line)))
    }))
  return {
    find: (/** @type {string} */ id) => Effect.as(row(id), { id, path: id }),
    list: () => Effect.succeed([]),
    read,
    create: (/** @type {any} */ header) =>
      Effect.sync(() => {
        table.set(header.id, { header, lines: [] })
        return { id: header.id, path: header.id }
      }),
    open: Effect.fnUntraced(function* (/** @type {any} */ ref) {
      const snapshot = yield* read(ref)
      const { lines } = yield* row(ref.id)
      const append = (/** @type {ReadonlyArray<any>} */ entries) =>
        Effect.sync(() => void lines.push(...entries.map((entry) => JSON.stringify(entry))))
      return { snapshot, append, changes: Stream.never, flush: Effect.void, discardDraft: Effect.void }
    })
  }
})

/** In place of a request to a model. @param {ReadonlyArray<any>} messages */
const model = (messages) => Effect.succeed(`I was shown ${messages.length} messages.`)

const program = Effect.gen(function* () {
  const sessions = yield* Sessions
  const { path } = yield* sessions.create({ cwd: process.cwd() })
  const { main, tree } = yield* sessions.open(path)
  const say = (/** @type {string} */ role, /** @type {string} */ text) =>
    main.append({ type: "message", message: { role, content: [{ type: "text", text }], timestamp: Date.now() } })
  const answer = Effect.gen(function* () {
    const text = yield* model((yield* main.context).messages)
    yield* say("assistant", text)
    console.log(text)
  })
  let prompt = null
  for (const line of yield* Effect.promise(typed)) {
    if (line === "/again" && prompt !== null) yield* main.branch(prompt.id)
    else prompt = yield* say("user", line)
    yield* answer
  }
  for (const entry of tree.entries) console.log(`${entry.parentId ?? "root"} → ${entry.id} ${entry.message.role}`)
}).pipe(Effect.scoped)

/** The lines of standard input. */
const typed = async () => {
  const lines = []
  for await (const line of createInterface({ input: process.stdin })) lines.push(line)
  return lines
}

const layer = Sessions.layer.pipe(Layer.provide([layerTable, EntryIds.layer]))
await Effect.runPromise(Effect.provide(program, layer))
