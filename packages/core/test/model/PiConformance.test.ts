/** Grove answers like Pi on Pi's own files: 1.5.0 where the two versions differ. */
import { assert, describe, it } from "@effect/vitest"
import { ContextBuilder, type SessionTree } from "../../src/model/index.ts"
import { bytesOf, canonical, idsOf, type Json, jsonOf, load, namesIn, refusal, roundTrip, sha256 } from "../support.ts"

interface Context {
  readonly leaf: string | null
  readonly messages: ReadonlyArray<Json>
  readonly thinkingLevel: string
  readonly model: Json | null
  readonly branch?: ReadonlyArray<string>
}
interface Digest {
  readonly messageCount: number
  readonly messagesSha256: string
}
interface Node {
  readonly id: string
  readonly label?: string
  readonly children: ReadonlyArray<Node>
}
interface Answer {
  readonly header: Json
  readonly defaultLeafId: string | null
  readonly sessionName: string | null
  readonly entryCount: number
  readonly labels: Json
  readonly tree: ReadonlyArray<Node>
  readonly rootCount: number
  readonly managerContext: Digest
  readonly contexts: ReadonlyArray<Context>
}
type Expected<A> = { readonly file: string; readonly "pi-0.73.1": A; readonly "pi-1.5.0": A | "identical" }

const answerOf = <A>(expected: Expected<A>): A =>
  expected["pi-1.5.0"] === "identical" ? expected["pi-0.73.1"] : expected["pi-1.5.0"]

const OMITTED = "default (argument omitted)"
const contextAt = (tree: SessionTree, leaf: string | null) =>
  ContextBuilder.build(tree, leaf === OMITTED ? undefined : leaf)

const digestOf = (messages: ReadonlyArray<Json>): Digest => ({
  messageCount: messages.length,
  messagesSha256: sha256(canonical(messages))
})

const nodeOf =
  (tree: SessionTree) =>
  (id: string): Node => {
    const label = [...tree.facts.labels].find(([target]) => target === id)?.[1]
    return { id, ...(label === undefined ? {} : { label }), children: tree.children(id).map(nodeOf(tree)) }
  }

const cases = namesIn("pi", /^expected-.*\.json$/).flatMap((name) => {
  const expected = jsonOf<Expected<Answer>>(`pi/${name}`)
  const hasBodies = expected.file !== undefined && answerOf(expected).contexts?.[0]?.messages !== undefined
  return hasBodies ? [{ file: expected.file, answer: answerOf(expected) }] : []
})

it("the fixtures hold sixteen sessions with whole contexts", () => {
  assert.strictEqual(cases.length, 16)
})

describe.each(cases)("$file", ({ file, answer }) => {
  const { file: read, tree } = load(bytesOf(`pi/${file}`))

  it.each(answer.contexts)("at leaf $leaf has the context Pi builds", (expected) => {
    const { messages, thinkingLevel, model } = contextAt(tree, expected.leaf)
    assert.deepStrictEqual(roundTrip(messages), expected.messages)
    assert.strictEqual(thinkingLevel, expected.thinkingLevel)
    assert.deepStrictEqual(model, expected.model as typeof model)
    if (expected.branch !== undefined) assert.deepStrictEqual(idsOf(tree.path(expected.leaf!)), expected.branch)
  })

  it("opens where Pi opens it", () => {
    assert.strictEqual(tree.leaf, answer.defaultLeafId)
    assert.deepStrictEqual(digestOf(ContextBuilder.build(tree).messages), answer.managerContext)
  })

  it("has the labels, the name and the tree that Pi sees", () => {
    assert.deepStrictEqual(Object.fromEntries(tree.facts.labels), answer.labels)
    assert.strictEqual(tree.facts.name, answer.sessionName)
    assert.strictEqual(tree.size, answer.entryCount)
    assert.strictEqual(tree.roots().length, answer.rootCount)
    assert.deepStrictEqual(tree.roots().map(nodeOf(tree)), answer.tree)
  })

  // Pi makes one up for an empty file.
  if (read.header === null) return

  it("has the header that Pi sees", () => {
    assert.deepStrictEqual(read.header as unknown, answer.header)
  })
})

describe("v1.jsonl", () => {
  interface Migrated {
    readonly migratedEntries: ReadonlyArray<Json>
    readonly defaultContext: Context
    readonly managerContext: Digest
  }
  const answer = answerOf(jsonOf<Expected<Migrated>>("pi/expected-v1.json"))
  const { file, tree } = load(bytesOf("pi/v1.jsonl"))
  const names = new Map<unknown, string>(file.rows.map(({ entry }, n) => [entry.id, `#${n}`]))
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed)
    if (typeof value !== "object" || value === null) return names.get(value) ?? value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renamed(member)]))
  }

  it("migrates to the entries Pi migrates it to, apart from the ids Pi makes up", () => {
    const entries = file.rows.map(({ entry }) => renamed(entry))
    assert.deepStrictEqual(roundTrip([file.header, ...entries]) as unknown, answer.migratedEntries)
  })

  it("has the context Pi builds", () => {
    const { messages, thinkingLevel, model } = ContextBuilder.build(tree)
    const { leaf: _, ...expected } = answer.defaultContext
    assert.deepStrictEqual(roundTrip({ messages: renamed(messages), thinkingLevel, model }) as unknown, expected)
    assert.deepStrictEqual(digestOf(messages), answer.managerContext)
  })
})

describe("repo-large-session.jsonl", () => {
  interface Large {
    readonly entryCount: number
    readonly rootCount: number
    readonly contexts: ReadonlyArray<Context & Digest & { readonly roles: string }>
  }
  const answer = answerOf(jsonOf<Expected<Large>>("pi/expected-repo-large-session.json"))
  const { tree } = load(bytesOf("pi/repo-large-session.jsonl"))

  const runLengths = (roles: ReadonlyArray<unknown>): string => {
    const runs: Array<{ readonly role: unknown; times: number }> = []
    for (const role of roles) {
      const run = runs.at(-1)
      if (run !== undefined && run.role === role) run.times++
      else runs.push({ role, times: 1 })
    }
    return runs.map(({ role, times }) => (times === 1 ? role : `${role}*${times}`)).join(" ")
  }

  it.each(answer.contexts)("at leaf $leaf has the context Pi builds", (expected) => {
    const { messages, thinkingLevel, model } = contextAt(tree, expected.leaf)
    const { leaf: _, ...theirs } = expected
    const roles = runLengths(messages.map(({ role }) => role))
    assert.deepStrictEqual({ ...digestOf(messages), roles, thinkingLevel, model } as unknown, theirs)
  })

  it("is one chain of as many entries as Pi counts", () => {
    assert.strictEqual(tree.size, answer.entryCount)
    assert.strictEqual(tree.roots().length, answer.rootCount)
    assert.strictEqual(tree.forkPoints().length, 0)
  })
})

it("a file without a header is refused, as Pi 1.5 refuses it", () => {
  const answer = jsonOf<Expected<{ readonly error?: string }>>("pi/expected-malformed-no-header.json")
  assert.match(answerOf(answer).error ?? "", /not a valid pi session/)
  const refused = refusal(bytesOf("pi/malformed-no-header.jsonl"))
  assert.strictEqual(refused._tag, "NotASession")
  assert.strictEqual(refused.problems.at(-1)?.kind, "no-header")
})
