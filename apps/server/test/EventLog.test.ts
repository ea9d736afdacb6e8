import { assert, describe, it } from "@effect/vitest"
import { EntryIds, type Session, SessionStore, Sessions, type SessionTree, TreeEdits } from "@grove/core"
import { Effect, Layer, type Scope } from "effect"
import { EventLog } from "../src/EventLog.ts"
import { type Frame, placeOf } from "../src/Frame.ts"
import { Picture } from "./support.ts"

const layer = Sessions.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(SessionStore.layerMemory, EntryIds.layerSequential))
)

const test = <A, E>(name: string, effect: () => Effect.Effect<A, E, Layer.Success<typeof layer> | Scope.Scope>) =>
  it.effect(name, () => Effect.provide(effect(), layer))

/** Numbers that look drawn by lot, and are the same each time. */
const lot = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

let clock = Date.UTC(2026, 5, 1)

/** Opened anew, a while later, as after a restart. */
const logOf = (
  { ref: { id }, header, tree }: { ref: { id: string }; header: Session["header"]; tree: SessionTree },
  most?: number
) => {
  clock += 2000
  return new EventLog({ sessionId: id, header, tree, now: clock, ...(most !== undefined && { most }) })
}

const opened = Effect.gen(function* () {
  const sessions = yield* Sessions
  const { path } = yield* sessions.create({ cwd: "/work" })
  return yield* sessions.open(path)
})

const reread = (session: Session) => SessionStore.use((store) => store.read(session.ref))

const user = (text: string) => ({ type: "message", message: { role: "user", content: text } })
const reply = (text: string, stopReason = "stop") => ({
  type: "message",
  message: { role: "assistant", provider: "p", model: "m", content: [{ type: "text", text }], stopReason }
})

/** All that came after a number, however many times one has to ask. */
const readFrom = (log: EventLog, since: number): ReadonlyArray<Frame> | undefined => {
  const frames: Array<Frame> = []
  for (let at = since; ; ) {
    const more = log.after(at)
    if (more === undefined) return undefined
    if (more.length === 0) return frames
    for (const { text } of more) frames.push(JSON.parse(text))
    at = more.at(-1)!.seq
  }
}

const events = (frames: ReadonlyArray<Frame> | undefined) => (frames ?? []).map(({ event }) => event)

describe("the events of a session", () => {
  test("are told once, in order, and say the same as the tree", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const log = logOf(session)
      const picture = new Picture(log.tree())
      const { id: prompt } = yield* session.main.append(user("hello"))
      log.begin({ id: "r1", parentId: prompt, model: "p/m", started: "" })
      log.grow("r1", "thinking", "hm")
      log.grow("r1", "text", "hel")
      log.grow("r1", "text", "lo")
      const cursor = yield* session.cursor(prompt)
      yield* cursor.appendAs("r1" as never, reply("hello"))
      yield* TreeEdits.disable(session, [prompt])
      yield* TreeEdits.label(session, prompt, "first")
      yield* TreeEdits.name(session, "a name")
      const frames = readFrom(log, picture.tree.seq)!
      assert.deepStrictEqual(events(frames), [
        "node.created",
        "leaf.changed",
        "node.created",
        "node.content.updated",
        "node.content.updated",
        "node.content.updated",
        "node.completed",
        "node.state.updated",
        "tree.edited",
        "tree.edited"
      ])
      const seqs = frames.map(({ seq }) => seq)
      assert.deepStrictEqual(
        seqs,
        [...new Set(seqs)].sort((a, b) => a - b)
      )
      for (const frame of frames) picture.take(frame)
      assert.deepStrictEqual(picture.shape, new Picture(log.tree()).shape)
      assert.strictEqual(picture.tree.title, "a name")
      assert.strictEqual(picture.tree.seq, log.seq)
    }))

  test("of a reply in the background leave the active leaf where it is", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const { id } = yield* session.main.append(user("hello"))
      const log = logOf(session)
      const start = log.seq
      const cursor = yield* session.cursor(id)
      yield* cursor.append(reply("one"))
      assert.deepStrictEqual(events(readFrom(log, start)), ["node.completed"])
      assert.strictEqual(log.tree().activeLeafId, id)
    }))

  test("that failed say so, and a reply that never came to be is failed too", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const log = logOf(session)
      const start = log.seq
      log.begin({ id: "lost", parentId: null, model: "p/m", started: "" })
      log.drop("lost", "the disk is full")
      yield* session.main.append(reply("so f", "error"))
      const frames = readFrom(log, start)!
      assert.deepStrictEqual(events(frames), ["node.created", "node.failed", "node.failed", "leaf.changed"])
      assert.notProperty(log.tree().nodes, "lost")
    }))

  test("come after any earlier number once more, also from another opening of the session", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const log = logOf(session)
      const first = log.seq
      const { id } = yield* session.main.append(user("hello"))
      yield* TreeEdits.disable(session, [id])
      yield* TreeEdits.leaf(session, null)
      const written = readFrom(log, first)!
      const later = logOf(yield* reread(session))
      for (const since of [first, ...written.map(({ seq }) => seq)]) {
        const expected = written.filter(({ seq }) => seq > since)
        assert.deepStrictEqual(readFrom(log, since), expected)
        assert.deepStrictEqual(readFrom(later, since), expected)
      }
      assert.isAbove(later.seq, log.seq, "numbers go up from one opening to the next")
      assert.strictEqual(placeOf(later.seq), placeOf(log.seq))
    }))

  test("that nobody can tell any more are gone, rather than told in part", () =>
    Effect.gen(function* () {
      const session = yield* opened
      const log = logOf(session, 2000)
      const start = log.seq
      assert.isUndefined(log.after(start + 1), "a number that was never given out")
      assert.isUndefined(log.after(-1))
      assert.isUndefined(log.after(0.5))
      log.begin({ id: "r1", parentId: null, model: "p/m", started: "" })
      for (let at = 0; at < 100; at++) log.grow("r1", "text", "word ")
      assert.isUndefined(log.after(start), "pieces of a growing reply are not kept for ever")
      assert.isDefined(log.after(log.seq - 3))
      yield* session.main.appendAs("r1" as never, reply("word ".repeat(100)))
      const told = events(readFrom(log, start)).filter((event) => event !== "node.content.updated")
      assert.deepStrictEqual(told, ["node.completed", "leaf.changed"])
    }))

  for (let seed = 1; seed <= 60; seed++) {
    test(`reach a reader who comes and goes, over restarts, none lost and none twice (${seed})`, () =>
      Effect.gen(function* () {
        const draw = lot(seed)
        const session = yield* opened
        const most = draw(2) === 0 ? 3000 : 100_000
        let log = logOf(session, most)
        let picture = new Picture(log.tree())
        const seen = new Set<number>()
        const growing = new Set<string>()
        let made = 0
        const anyone = () => {
          const ids = [...session.tree.ids()].filter((id) => !session.tree.isMarkAt(session.tree.rowOf(id)))
          return ids.length === 0 ? null : ids[draw(ids.length)]!
        }
        const finish = Effect.fnUntraced(function* (id: string, parent: string | null) {
          growing.delete(id)
          const cursor = yield* Effect.catch(session.cursor(parent), () => Effect.orDie(session.cursor(null)))
          yield* cursor.appendAs(id as never, reply(`said by ${id}`, draw(4) === 0 ? "error" : "stop"))
        })
        const parents = new Map<string, string | null>()
        for (let step = 0; step < 60; step++) {
          const target = anyone()
          switch (draw(9)) {
            case 0:
              yield* session.main.append(user(`prompt ${step}`))
              break
            case 1: {
              const id = `g${made++}`
              growing.add(id)
              parents.set(id, target)
              log.begin({ id, parentId: target, model: "p/m", started: "" })
              break
            }
            case 2:
            case 3:
              for (const id of growing) log.grow(id, draw(3) === 0 ? "thinking" : "text", `${step} `)
              break
            case 4:
              for (const id of growing) yield* finish(id, parents.get(id)!)
              break
            case 5:
              if (target !== null)
                yield* Effect.ignore(
                  TreeEdits.together(session, [{ op: draw(2) === 0 ? "disable" : "enable", ids: [target] }])
                )
              break
            case 6:
              if (target !== null) {
                const kinds: ReadonlyArray<TreeEdits.Operation> = [
                  { op: "prune", id: target },
                  { op: "graft", source: target, target: anyone()! },
                  { op: "leaf", target },
                  { op: "rate", id: target, rating: 3 },
                  { op: "undo" },
                  { op: "redo" }
                ]
                yield* Effect.ignore(TreeEdits.together(session, [kinds[draw(kinds.length)]!]))
              }
              break
            case 7: {
              const frames = readFrom(log, picture.tree.seq)
              if (frames === undefined) {
                picture = new Picture(log.tree())
                break
              }
              for (const frame of frames) {
                assert.isAbove(frame.seq, picture.tree.seq)
                assert.isFalse(seen.has(frame.seq))
                seen.add(frame.seq)
                picture.take(frame)
              }
              assert.deepStrictEqual(picture.shape, new Picture(log.tree()).shape)
              break
            }
            case 8:
              // What grew when the server died is found again, and ended.
              for (const id of growing) yield* finish(id, parents.get(id)!)
              log = logOf(session, most)
          }
        }
        const frames = readFrom(log, picture.tree.seq)
        if (frames === undefined) return
        for (const frame of frames) picture.take(frame)
        assert.deepStrictEqual(picture.shape, new Picture(log.tree()).shape)
        const again = logOf(yield* reread(session))
        assert.deepStrictEqual(new Picture(again.tree()).shape.activeLeafId, picture.shape.activeLeafId)
      }))
  }
})
