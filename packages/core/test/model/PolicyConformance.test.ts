/** Messages are worded as Pi words them for a model; where Grove differs, it is said why. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Capabilities, ContextBuilder, Jsonl, Policy } from "../../src/model/index.ts"
import * as Sendability from "../../src/testing/Sendability.ts"
import { bytesOf, type Json, jsonOf, load, namesIn, roundTrip } from "../support.ts"

type Answers = {
  readonly [name: string]: {
    readonly "pi-0.73.1": ReadonlyArray<Json>
    readonly "pi-1.5.0": ReadonlyArray<Json> | "identical"
  }
}
const cases = Object.entries(jsonOf<Answers>("pi/expected-llm.json")).map(([name, answer]) => ({
  name,
  theirs: answer["pi-1.5.0"] === "identical" ? answer["pi-0.73.1"] : answer["pi-1.5.0"]
}))

/** What Pi would send to OpenAI, which joins nothing; from the model that is asked, so that its thinking is kept. */
const model = Capabilities.of({ provider: "openai", modelId: "gpt-5" })

const isFailed = ({ stopReason }: Json) => stopReason === "error" || stopReason === "aborted"

/** Every place where Grove differs from Pi's conversion: why, and what that makes of Pi's answer. */
const differences: ReadonlyArray<{
  readonly reason: string
  readonly change: (theirs: ReadonlyArray<Json>) => ReadonlyArray<Json>
}> = [
  {
    reason: "content is always a list of blocks, so that whoever sends it meets one form",
    change: (theirs) =>
      theirs.map((message) =>
        typeof message.content === "string"
          ? { ...message, content: [{ type: "text", text: message.content }] }
          : message
      )
  },
  {
    reason: "replies that failed or were stopped are left out here; Pi does so when it sends",
    change: (theirs) => theirs.filter((message) => !isFailed(message))
  },
  {
    reason: "thinking of earlier turns is left out; Pi keeps what its provider will ignore",
    change: (theirs) =>
      theirs.map((message) =>
        message.role === "assistant"
          ? { ...message, content: (message.content as ReadonlyArray<Json>).filter(({ type }) => type !== "thinking") }
          : message
      )
  }
]

const sendable = (file: string, to = model) => {
  const { tree } = load(bytesOf(file))
  return Policy.apply(ContextBuilder.build(tree), { model: to }).messages
}

describe.each(cases)("pi/$name.jsonl", ({ name, theirs }) => {
  it("is worded as Pi words it, but for the differences", () => {
    const expected = differences.reduce((messages, { change }) => change(messages), theirs)
    assert.deepStrictEqual(roundTrip(sendable(`pi/${name}.jsonl`)) as unknown, expected)
  })
})

describe.each(differences)("$reason", ({ change }) => {
  it("and there is a session that shows it", () => {
    assert.isTrue(cases.some(({ theirs }) => JSON.stringify(change(theirs)) !== JSON.stringify(theirs)))
  })
})

const sessions = [
  ...namesIn("pi", /\.jsonl$/).map((name) => `pi/${name}`),
  ...namesIn("omp/sessions", /\.jsonl$/).map((name) => `omp/sessions/${name}`)
].filter((file) => Result.isSuccess(Jsonl.read(bytesOf(file))))

it("the fixtures hold seventy-four sessions that open", () => {
  assert.strictEqual(sessions.length, 74)
})

it.each(["anthropic", "openai", "mistral", "nobody knows"])(
  "of every session %s accepts what it is sent",
  (provider) => {
    const known = Capabilities.of({ provider, modelId: "any" })
    for (const to of [known, { ...known, tools: false }]) {
      for (const file of sessions) assert.deepStrictEqual(Sendability.faults(sendable(file, to), to), [], file)
    }
  }
)
