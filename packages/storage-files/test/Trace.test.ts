/** A recorded trace of what oh-my-pi has in memory and on disk after each step of a chat, replayed with Grove. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type NewEntry, type Session, Sessions } from "@grove/core"
import { Effect, Exit, Scope } from "effect"
import { sessionsLayer } from "./support/Stores.ts"
import { temporary, write } from "./support.ts"

interface Row {
  readonly step: string
  /** Position of the leaf among the entries. */
  readonly leaf: number | null
  readonly inMemory: number
  readonly fileExists: boolean
  readonly lines: ReadonlyArray<string>
  readonly files: number
}

/** What Grove has besides: a draft is no session file yet. */
interface State extends Omit<Row, "step"> {
  readonly draft: ReadonlyArray<string>
  readonly backups: number
}

const trace: { readonly [program: string]: ReadonlyArray<Row> } = JSON.parse(
  readFileSync(new URL("../../../fixtures/omp/trace-persistence.json", import.meta.url), "utf8")
)
const recorded = trace["omp-18.3.4"]!

const LINE_TYPES = new Map([
  // Its title slot is no line of ours, and its title changes are our session_info.
  ["title", undefined],
  ["title_change", "session_info"]
])

/** A recorded row in Grove's words: no draft, no backup, no title slot. */
const inOurWords = ({ step: _, lines, ...row }: Row): State => {
  const ours = lines.flatMap((type) => (LINE_TYPES.has(type) ? (LINE_TYPES.get(type) ?? []) : type))
  return { ...row, lines: ours, draft: [], backups: 0 }
}

/** Every step at which Grove differs on purpose, what it has instead, and why. */
const differences: { readonly [step: string]: { readonly why: string; readonly instead: Partial<State> } } = {
  "append user": {
    why: "drafts: the first prompt is on disk at once, in a draft, so that no crash loses it",
    instead: { draft: ["session", "message"] }
  },
  "append model_change": {
    why: "drafts: as above",
    instead: { draft: ["session", "message", "model_change"] }
  },
  "setSessionName before any assistant": {
    why: "drafts: as above",
    instead: { draft: ["session", "message", "model_change", "session_info"] }
  },
  "branch to entry 0 again, then reopen": {
    why: "leaf marks: where the person stood is written down on leaving, so reopening finds them there",
    instead: {
      leaf: 0,
      lines: [
        ...["session", "message", "model_change", "session_info", "message", "message", "session_info", "label"],
        ...["message", "custom"]
      ]
    }
  },
  "resetLeaf then append user": {
    why: "leaf marks: the mark of the step before stays in the file",
    instead: {
      lines: [
        ...["session", "message", "model_change", "session_info", "message", "message", "session_info", "label"],
        ...["message", "custom", "message"]
      ]
    }
  },
  newSession: {
    why: "drafts: a session without a prompt writes nothing",
    instead: { fileExists: false, lines: [], files: 1 }
  },
  "append user in the new session": {
    why: "drafts: the first prompt of the new session is in its draft",
    instead: { fileExists: false, lines: [], draft: ["session", "message"] }
  }
}

const user: NewEntry = { type: "message", message: { role: "user", content: "hello" } }
const assistant: NewEntry = {
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text: "yes" }] }
}

const typesIn = (path: string): ReadonlyArray<string> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type)
    : []

/** A chat as the program runs it: its session is made with the first prompt, as a draft. */
class Chat {
  readonly #sessions: Sessions["Service"]
  #scope = Scope.makeUnsafe()
  #session: Session | undefined
  #folder: string | undefined
  constructor(sessions: Sessions["Service"]) {
    this.#sessions = sessions
  }

  get #main() {
    return this.#session!.main
  }

  append(entry: NewEntry) {
    return Effect.gen({ self: this }, function* () {
      if (this.#session === undefined) {
        const { path } = yield* this.#sessions.create({ cwd: "/home/dev", draft: true })
        this.#folder = dirname(path)
        this.#session = yield* Scope.provide(this.#sessions.open(path), this.#scope)
      }
      yield* this.#main.append(entry)
    })
  }

  name(name: string) {
    return this.#session!.name(name)
  }

  label(position: number) {
    return this.#session!.label(this.#entries[position]!.id, "here")
  }

  branch(position: number) {
    return this.#main.branch(this.#entries[position]!.id)
  }

  get resetLeaf() {
    return this.#main.resetLeaf
  }

  reopen() {
    return Effect.gen({ self: this }, function* () {
      const { path } = this.#session!.ref
      yield* this.leave()
      this.#session = yield* Scope.provide(this.#sessions.open(path), this.#scope)
    })
  }

  leave() {
    return Effect.gen({ self: this }, function* () {
      yield* Scope.close(this.#scope, Exit.void)
      this.#scope = Scope.makeUnsafe()
      this.#session = undefined
    })
  }

  get #entries() {
    const { tree } = this.#session!
    return tree.rows().flatMap((row) => (tree.isMarkAt(row) ? [] : [tree.entryAt(row)]))
  }

  state(): Effect.Effect<State> {
    return Effect.gen({ self: this }, function* () {
      const names = this.#folder === undefined ? [] : readdirSync(this.#folder)
      const count = (ending: string) => names.filter((name) => name.endsWith(ending)).length
      const common = { files: count(".jsonl"), backups: count(".bak") }
      if (this.#session === undefined) {
        return { leaf: null, inMemory: 0, fileExists: false, lines: [], draft: [], ...common }
      }
      const { path } = this.#session.ref
      const leaf = yield* this.#main.leaf
      const position = this.#entries.findIndex(({ id }) => id === leaf)
      return {
        leaf: position === -1 ? null : position,
        inMemory: this.#entries.length,
        fileExists: existsSync(path),
        lines: typesIn(path),
        draft: typesIn(`${path}.draft`),
        ...common
      }
    })
  }
}

const steps: { readonly [step: string]: (chat: Chat) => Effect.Effect<unknown, unknown> } = {
  create: () => Effect.void,
  "append user": (chat) => chat.append(user),
  "append model_change": (chat) => chat.append({ type: "model_change", model: "p/m" }),
  "setSessionName before any assistant": (chat) => chat.name("a name"),
  "append assistant (first)": (chat) => chat.append(assistant),
  setSessionName: (chat) => chat.name("another name"),
  label: (chat) => chat.label(0),
  "branch to entry 0, no append": (chat) => chat.branch(0),
  "append assistant on branch": (chat) => chat.append(assistant),
  "branch to entry 0 again, then reopen": (chat) => Effect.andThen(chat.branch(0), chat.reopen()),
  "resetLeaf then append user": (chat) => Effect.andThen(chat.resetLeaf, chat.append(user)),
  newSession: (chat) => chat.leave(),
  "append user in the new session": (chat) => chat.append(user)
}

describe("the recorded trace of a chat", () => {
  it.live("is what Grove does too, but for the differences that are named", () =>
    Effect.gen(function* () {
      const chat = new Chat(yield* Sessions)
      const differing = new Set<string>()
      for (const [position, row] of recorded.entries()) {
        yield* steps[row.step]!(chat)
        const state = yield* chat.state()
        // The second "append user" comes after the reply, when there is no draft any more.
        const isBeforeReply = position < 4 || position >= recorded.length - 2
        const difference = row.step === "append user" && !isBeforeReply ? undefined : differences[row.step]
        const theirs = inOurWords(row)
        if (difference === undefined) {
          assert.deepStrictEqual(state, theirs, row.step)
          continue
        }
        differing.add(row.step)
        assert.notDeepEqual(state, theirs, `${row.step} is not different: ${difference.why}`)
        assert.deepStrictEqual(state, { ...theirs, ...difference.instead }, `${row.step}: ${difference.why}`)
      }
      assert.deepStrictEqual([...differing], Object.keys(differences))
      yield* chat.leave()
    }).pipe(Effect.provide(sessionsLayer(temporary())))
  )

  it.live("has no backup at any step, for nothing is ever rewritten; an old version that is opened leaves one", () =>
    Effect.gen(function* () {
      const original = readFileSync(new URL("../../../fixtures/pi/v1.jsonl", import.meta.url))
      const path = write(join(temporary(), "old.jsonl"), original)
      const sessions = yield* Sessions
      yield* Effect.scoped(sessions.open(path))
      assert.deepStrictEqual(readdirSync(dirname(path)).sort(), ["old.jsonl", "old.jsonl.v1.bak"])
      assert.deepStrictEqual(readFileSync(`${path}.v1.bak`), original)
      assert.strictEqual(JSON.parse(readFileSync(path, "utf8").split("\n")[0]!).version, 3)
    }).pipe(Effect.provide(sessionsLayer(temporary())))
  )

  it("has the same steps for every program it was recorded with", () => {
    for (const rows of Object.values(trace)) {
      assert.deepStrictEqual(
        rows.map(({ step }) => step),
        recorded.map(({ step }) => step)
      )
    }
  })
})
