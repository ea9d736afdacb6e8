/** Random operations on a session, against a model that is nothing but a list of entries. */
import { appendFileSync, existsSync, utimesSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import {
  ContextBuilder,
  Entry,
  Mark,
  type NewEntry,
  type Session,
  SessionStore,
  Sessions,
  type Store
} from "@grove/core"
import { Clock, Duration, Effect, Exit, Scope } from "effect"
import { real } from "../src/Disk.ts"
import { existing } from "../src/JsonlSessionStore.ts"
import { rewrite } from "../src/Rewrite.ts"
import { Chance } from "./support/Chance.ts"
import { sessionsLayer } from "./support/Stores.ts"
import { temporary } from "./support.ts"

/** A mark whose id only the program knows; where it must stand and what it must say is known. */
interface ExpectedMark {
  readonly mark: string | null
}

const isMark = (line: Entry.Entry | ExpectedMark): line is ExpectedMark => "mark" in line && !("id" in line)

/** What the file must hold and where the person must stand. */
class Model {
  readonly lines: Array<Entry.Entry | ExpectedMark> = []
  person: string | null = null
  /** The person has moved since anything of theirs was written. */
  hasMoved = false
  torn = 0
  /** The last line has no end, so a program that does not look would write into it. */
  isUnfinished = false

  get shown(): ReadonlyArray<Entry.Entry> {
    return this.lines.flatMap((line) => (isMark(line) ? [] : [line]))
  }

  /** Where the file says the person stands: its last line alone decides. */
  get leaf(): string | null {
    const last = this.lines.at(-1)
    if (last === undefined) return null
    return isMark(last) ? last.mark : last.id
  }

  get hasReply(): boolean {
    return this.shown.some((entry) => Entry.role(entry) === "assistant")
  }

  get labels(): ReadonlyMap<string, string> {
    const labels = new Map<string, string>()
    for (const { type, targetId, label } of this.shown) {
      if (type !== "label") continue
      labels.delete(String(targetId))
      if (typeof label === "string") labels.set(String(targetId), label)
    }
    return labels
  }

  get name(): string | null {
    const named = this.shown.filter(({ type }) => type === "session_info").at(-1)
    return named === undefined ? null : String(named.name)
  }

  path(leaf: string | null): ReadonlyArray<Entry.Entry> {
    const path: Array<Entry.Entry> = []
    for (let at = leaf; at !== null; ) {
      const entry = this.shown.find(({ id }) => id === at)!
      path.unshift(entry)
      at = entry.parentId
    }
    return path
  }

  written(entry: Entry.Entry): void {
    assert.strictEqual(entry.parentId, this.person)
    this.lines.push(entry)
    this.person = entry.id
    this.hasMoved = false
  }

  moved(to: string | null): void {
    if (to === this.person) return
    this.person = to
    this.hasMoved = true
  }

  /** What leaving writes: where the person stands, unless the file as far as it is known says so already. */
  left(known: string | null): void {
    if (this.hasMoved && known !== this.person) {
      this.lines.push({ mark: this.person })
      this.isUnfinished = false
    }
    this.hasMoved = false
  }

  /** A file read anew must be this model, and the person stands where it says. */
  isReadAs({ tree, problems }: Store.Snapshot): void {
    const entries = tree.entries
    assert.strictEqual(entries.length, this.lines.length)
    for (const [i, line] of this.lines.entries()) {
      if (isMark(line)) {
        const { parentId } = entries[i]!
        const data = Mark.leaf(entries[i]!)
        assert.deepStrictEqual([parentId, data?.targetId], [line.mark, line.mark] as never)
      } else assert.deepStrictEqual(entries[i], line)
    }
    assert.strictEqual(tree.leaf, this.leaf)
    assert.deepStrictEqual(new Map(tree.facts.labels), this.labels as never)
    assert.strictEqual(tree.facts.name, this.name)
    assert.deepStrictEqual(
      ContextBuilder.build(tree).messages.filter(({ role }) => role !== "branchSummary"),
      this.path(this.leaf).flatMap(({ type, message }) => (type === "message" ? [message] : [])) as never
    )
    assert.strictEqual(problems.length, this.torn)
  }

  /** An open session shows the same entries, and its person stands where they went. */
  isShownBy(tree: Session["tree"]): void {
    const shown = tree.rows().flatMap((row) => (tree.isMarkAt(row) ? [] : [tree.entryAt(row)]))
    const last = this.lines.at(-1)
    const isPending = this.isUnfinished && last !== undefined && !isMark(last) && !tree.has(last.id)
    assert.deepStrictEqual(shown, isPending ? this.shown.slice(0, -1) : this.shown)
    assert.deepStrictEqual(
      tree.path(this.person ?? "").filter((entry) => entry.customType === undefined),
      this.path(this.person)
    )
  }
}

const prompt = (text: string): NewEntry => ({ type: "message", message: { role: "user", content: text } })
const reply = (text: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text }] }
})

let counter = 0
const foreign = (chance: Chance, parentId: string | null): Entry.Entry =>
  ({
    type: "message",
    id: `foreign-${counter++}`,
    parentId,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: chance.pick(["user", "assistant"]), content: "theirs" }
  }) as unknown as Entry.Entry

interface Setting {
  readonly chance: Chance
  readonly model: Model
  readonly ref: Store.SessionRef
  readonly session: Session
  readonly reopen: Effect.Effect<Session, unknown, Sessions | SessionStore>
}

type Operation = (setting: Setting) => Effect.Effect<void, unknown, Sessions | SessionStore>

/** Any place that the open session knows of; what others wrote comes with the next look. */
const somewhere = ({ chance, model, session }: Setting): string | null =>
  chance.pick([null, ...model.shown.map(({ id }) => id).filter((id) => session.tree.has(id))])

const operations: { readonly [name: string]: Operation } = {
  "says something": ({ chance, session, model }) =>
    Effect.map(session.main.append(chance.oneIn(2) ? prompt("hello") : reply("yes")), (entry) => model.written(entry)),
  "says something again": (setting) => operations["says something"]!(setting),
  "names it": ({ chance, session, model }) =>
    Effect.map(session.name(chance.pick(["one", "another"])), (entry) => model.written(entry)),
  labels: (setting) =>
    Effect.gen(function* () {
      const { chance, session, model } = setting
      const target = somewhere(setting)
      if (target === null) return
      model.written(yield* session.label(target, chance.pick(["here", "there", null])))
    }),
  "goes elsewhere": (setting) =>
    Effect.gen(function* () {
      const { session, model } = setting
      const target = somewhere(setting)
      yield* target === null ? session.main.resetLeaf : session.main.branch(target)
      model.moved(target)
    }),
  "goes elsewhere with a summary": (setting) =>
    Effect.gen(function* () {
      const { session, model } = setting
      const target = somewhere(setting)
      const entry = yield* session.main.branchWithSummary(target, { summary: "in short" })
      model.moved(target)
      model.written(entry)
    }),
  "is answered in the background": (setting) =>
    Effect.gen(function* () {
      const { session, model } = setting
      const target = somewhere(setting)
      const entry = yield* (yield* session.cursor(target)).append(reply("meanwhile"))
      assert.strictEqual(entry.parentId, target)
      model.lines.push(entry, { mark: model.person })
    }),
  "is written to by another program": (setting) =>
    Effect.gen(function* () {
      const { chance, model, ref } = setting
      const store = yield* SessionStore
      const batch = Array.from({ length: chance.between(1, 4) }, () => foreign(chance, somewhere(setting)))
      yield* Effect.scoped(Effect.flatMap(store.open(ref), (log) => log.append(batch)))
      model.lines.push(...batch)
    }),
  "is written to by a careless program": (setting) =>
    Effect.sync(() => {
      const { chance, model, ref } = setting
      if (model.isUnfinished) return
      const entry = foreign(chance, somewhere(setting))
      appendFileSync(existing(ref.path), JSON.stringify(entry))
      model.lines.push(entry)
      model.isUnfinished = true
    }),
  "is torn": ({ model, ref }) =>
    Effect.sync(() => {
      const path = existing(ref.path)
      appendFileSync(path, '\n{"type":"mess')
      utimesSync(path, 1, 1)
      model.torn++
      model.isUnfinished = true
    }),
  "is replaced": ({ ref }) =>
    Effect.promise(async () => {
      const path = existing(ref.path)
      utimesSync(path, 1, 1)
      await rewrite({ disk: real, path }, (bytes) => bytes)
    })
}
const names = Object.keys(operations)

/** Gives the session a moment to take in what others wrote. */
const settled = (check: () => void) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 200; tries++) {
      const outcome = yield* Effect.exit(Effect.try({ try: check, catch: (cause) => cause }))
      if (Exit.isSuccess(outcome)) return
      yield* Effect.sleep("5 millis")
    }
    check()
  })

const play = (seed: number) =>
  Effect.gen(function* () {
    const chance = new Chance(seed)
    const model = new Model()
    const sessions = yield* Sessions
    const store = yield* SessionStore
    const ref = yield* sessions.create({ cwd: "/w", draft: chance.oneIn(2) })
    const done: Array<string> = []
    const opened = Effect.gen(function* () {
      const scope = yield* Scope.make()
      return { scope, session: yield* Scope.provide(sessions.open(ref.path), scope) }
    })
    let current = yield* opened
    const reopen = Effect.gen(function* () {
      done.push("reopens")
      yield* settled(() => model.isShownBy(current.session.tree))
      const { leaf } = current.session.tree
      yield* Scope.close(current.scope, Exit.void)
      model.left(leaf)
      yield* Effect.scoped(Effect.map(store.read(ref), (snapshot) => model.isReadAs(snapshot)))
      current = yield* opened
      model.person = model.leaf
      if (model.hasReply) assert.isTrue(existsSync(ref.path), "a draft with a reply has its final name")
      return current.session
    })
    const steps = Effect.gen(function* () {
      for (let step = chance.between(5, 25); step > 0; step--) {
        if (chance.oneIn(6)) yield* reopen
        const name = chance.pick(names)
        done.push(name)
        const lines = model.lines.length
        yield* operations[name]!({ chance, model, ref, session: current.session, reopen })
        if (model.lines.length > lines && name !== "is written to by a careless program") model.isUnfinished = false
        if (!chance.oneIn(4)) continue
        // What others wrote is taken with the next append at the latest.
        const entry = yield* current.session.main.append(prompt("and?"))
        model.written(entry)
        model.isUnfinished = false
        done.push("asks")
        yield* settled(() => model.isShownBy(current.session.tree))
      }
      yield* reopen
    })
    yield* steps.pipe(
      Effect.catchCause((cause) => Effect.die(new Error(`seed ${seed}: ${done.join(", ")}`, { cause })))
    )
    yield* Scope.close(current.scope, Exit.void)
  })

/** However slow the machine: nobody in this test rests long enough for a move to be written down before they leave. */
const restless = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Clock.clockWith((clock) => {
    const sleep = (duration: Duration.Duration) =>
      Duration.toMillis(duration) >= 1000 ? Effect.never : clock.sleep(duration)
    return Effect.provideService(effect, Clock.Clock, Object.create(clock, { sleep: { value: sleep } }))
  })

describe("200 random sequences of operations", () => {
  it.live(
    "leave the session as the simplest of models has it",
    () =>
      Effect.gen(function* () {
        const seeds = Array.from({ length: 200 }, (_, i) => i + 1)
        yield* Effect.forEach(seeds, play, { concurrency: 20 })
      }).pipe(Effect.provide(sessionsLayer(temporary(), { durability: "never" })), restless),
    { timeout: 180_000 }
  )
})
