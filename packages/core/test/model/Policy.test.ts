/** Whatever a session holds, what the policy makes of it every provider accepts, and no word of a person is lost. */
import { assert, describe, it } from "@effect/vitest"
import { buildSessionContext, Capabilities, type EntryId, Policy } from "../../src/model/index.ts"
import * as Sendability from "../../src/testing/Sendability.ts"
import { Chance, call, entry, forSeeds, type Json, mark, message, reply, result, roundTrip, user } from "../support.ts"

const anthropic = Capabilities.of({ provider: "anthropic", modelId: "claude-sonnet-4-5" })
const openai = Capabilities.of({ provider: "openai", modelId: "gpt-5" })
const mistral = Capabilities.of({ provider: "mistral", modelId: "large" })
const unknown = Capabilities.of(null)
/** The provider and model of the replies that `support` makes. */
const here: Capabilities.Capabilities = { ...anthropic, provider: "p", modelId: "m" }
const toolless: Capabilities.Capabilities = { ...here, tools: false }

const models: ReadonlyArray<Capabilities.Capabilities> = [
  anthropic,
  openai,
  mistral,
  unknown,
  here,
  toolless,
  { ...toolless, takesTurns: false },
  { ...here, images: false, takesTurns: false, promptAfterResult: false, toolIds: "short" }
]

const text = (text: string) => ({ type: "text", text })
const says = (role: string, content: unknown, fields: Json = {}): Json => ({ role, content, ...fields })
const prompt = (words: string): Json => says("user", words)
const answer = (content: unknown, fields: Json = {}): Json =>
  says("assistant", content, { provider: "p", model: "m", stopReason: "stop", ...fields })
const calls = (...ids: ReadonlyArray<string>): Json =>
  answer(ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { path: `${id}.ts` } })))
const answers = (toolCallId: string, output = `content of ${toolCallId}`): Json =>
  says("toolResult", [text(output)], { toolCallId, toolName: "read", isError: false })

const apply = (messages: ReadonlyArray<Json>, model = here, rest: Partial<Policy.Request> = {}) =>
  Policy.apply({ messages, sources: messages.map((_, row) => `m${row}` as EntryId) }, { model, ...rest })

/** A message in a word or two: its role and what it holds. */
const brief = ({ role, content, toolCallId }: Json): string => {
  const blocks = (content as ReadonlyArray<Json>).map((block) => block.text ?? block.id ?? block.type)
  return [role, ...(toolCallId === undefined ? [] : [toolCallId]), ...blocks].join(" ")
}
const briefly = (messages: ReadonlyArray<Json>, model = here) => apply(messages, model).messages.map(brief)
const told = (messages: ReadonlyArray<Json>, model = here) =>
  apply(messages, model).changes.map(({ step, kind, entry }) => [step, kind, entry].join(" "))

// ------------------------------------------------------------------------------------------- any list at all

const TEXTS = ["", " \n", "hello", "two\nlines", "\ud800 half", "日本語 👩‍👩‍👧", "</function_results>", "x".repeat(300)]
const IDS = ["a", "b", "c", "", "fc_1|item_2", "toolu_01Qm4", "call00001", "y".repeat(80), "ü"]
const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)

const wildBlock = (chance: Chance): unknown => {
  switch (chance.below(13)) {
    case 0:
      return chance.pick([null, 7, true, "a bare string", [], {}, { type: "text" }, { type: "text", text: 5 }])
    case 1:
      return {
        type: "image",
        data: chance.pick(["aGk=", "", "blob:sha256:00", 5]),
        mimeType: chance.pick(["image/png", "image/bmp"])
      }
    case 2:
    case 3:
      return {
        type: "thinking",
        thinking: chance.pick(TEXTS),
        ...(chance.oneIn(2) ? { thinkingSignature: "sig" } : {})
      }
    case 4:
      return chance.pick([
        { type: "redactedThinking", data: "x" },
        { type: "redactedThinking" },
        { type: "document", source: {} }
      ])
    case 5:
    case 6:
    case 7:
    case 8:
      return {
        type: "toolCall",
        id: chance.oneIn(8) ? chance.pick([undefined, 3, null]) : chance.pick(IDS),
        name: chance.pick(["read", "bash", "mcp.server/tool", "", undefined, "n".repeat(90)]),
        arguments: chance.pick([{ path: "a" }, {}, null, undefined, "text", [1], { half: "\udc00" }, deep]),
        ...(chance.oneIn(3) ? { thoughtSignature: "t" } : {})
      }
    default:
      return { type: "text", text: chance.pick(TEXTS), ...(chance.oneIn(4) ? { textSignature: "t" } : {}) }
  }
}
const wildContent = (chance: Chance): unknown =>
  chance.oneIn(6)
    ? chance.pick<unknown>([undefined, null, "", 12, {}, { text: "inside" }, chance.pick(TEXTS)])
    : Array.from({ length: chance.below(4) }, () => wildBlock(chance))

const ROLES = ["user", "user", "user", "assistant", "assistant", "assistant", "toolResult", "toolResult", "toolResult"]
const ODD = [
  "system",
  "developer",
  "custom",
  "hookMessage",
  "bashExecution",
  "pythonExecution",
  "fileMention",
  "branchSummary",
  "compactionSummary",
  "moderator",
  "",
  5,
  undefined
]

const wildMessage = (chance: Chance): Json => ({
  role: chance.oneIn(4) ? chance.pick<unknown>(ODD) : chance.pick(ROLES),
  content: wildContent(chance),
  toolCallId: chance.oneIn(9) ? chance.pick<unknown>([undefined, 4]) : chance.pick(IDS),
  toolName: chance.pick(["read", undefined]),
  isError: chance.pick<unknown>([true, false, "yes", undefined]),
  stopReason: chance.pick(["stop", "toolUse", "toolUse", "error", "aborted", undefined]),
  provider: chance.pick(["p", "p", "anthropic", undefined]),
  model: chance.pick(["m", "m", "claude-sonnet-4-5", undefined]),
  command: "ls",
  code: "1",
  output: chance.pick(TEXTS),
  exitCode: chance.pick<unknown>([0, 1, null, undefined]),
  excludeFromContext: chance.oneIn(9),
  summary: chance.pick<unknown>([...TEXTS, undefined, 4]),
  sections: chance.pick<unknown>([undefined, { a: "one" }, { a: null, b: "two" }]),
  files: chance.pick<unknown>([undefined, [{ path: "a", content: "b" }, 7], [{ path: "c", skippedReason: "tooLarge" }]])
})

const wildMessages = (chance: Chance): ReadonlyArray<Json> =>
  Array.from({ length: chance.below(14) }, () => (chance.oneIn(30) ? {} : wildMessage(chance)))

const wellFormed = (value: string) => value.replace(/\p{Cs}/gu, "\ufffd")

/** Every text in a prompt, in whatever shape it stands there. */
const typed = (messages: ReadonlyArray<Json>): ReadonlyArray<string> =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => (Array.isArray(content) ? content : [content]))
    .map((block) => (typeof block === "object" ? block?.text : block))
    .filter((words): words is string => typeof words === "string" && words.trim() !== "")
    .map(wellFormed)

describe("any list of messages", () => {
  const SEEDS = 500

  it("becomes one that providers accept", () => {
    forSeeds(SEEDS, (chance) => {
      const messages = wildMessages(chance)
      for (const model of models) assert.deepStrictEqual(Sendability.faults(apply(messages, model).messages, model), [])
    })
  })

  it("that has been through the policy comes through it unchanged, and there is nothing to report", () => {
    forSeeds(SEEDS, (chance) => {
      const messages = wildMessages(chance)
      for (const model of models) {
        const once = apply(messages, model, { systemPrompt: "Be brief." })
        const twice = Policy.apply(once, { model, systemPrompt: once.systemPrompt })
        assert.deepStrictEqual(twice, { ...once, changes: [] })
      }
    })
  })

  it("keeps every word that a person typed, in order", () => {
    forSeeds(SEEDS, (chance) => {
      const messages = wildMessages(chance)
      for (const model of models) {
        const kept = typed(apply(messages, model).messages)
        let at = 0
        for (const words of typed(messages)) {
          at = kept.indexOf(words, at) + 1
          assert.notStrictEqual(at, 0, `${JSON.stringify(words)} is lost`)
        }
      }
    })
  })

  it("is itself not changed", () => {
    forSeeds(200, (chance, seed) => {
      const messages = wildMessages(chance)
      for (const model of models) apply(messages, model)
      assert.deepStrictEqual(messages, wildMessages(new Chance(seed)))
    })
  })

  it("that providers accept as it is stays as it is, but for what only its model can take back", () => {
    const fine = [says("user", [text("hi")]), calls("a", "b"), answers("a"), answers("b"), answer([text("done")])]
    for (const model of models.filter(({ tools, toolIds }) => tools && toolIds === "long")) {
      assert.deepStrictEqual(apply(fine, model).messages as ReadonlyArray<unknown>, fine)
      assert.deepStrictEqual(apply(fine, model).changes, [])
    }
  })

  it("may be empty, and stays so", () => {
    for (const model of models) assert.deepStrictEqual(apply([], model).messages, [])
  })
})

describe("the checker of the tests", () => {
  const fine = [says("user", [text("hi")]), calls("a", "b"), answers("b"), answers("a"), answer([text("done")])]
  const image = { type: "image", data: "aGk=", mimeType: "image/png" }
  it.each([
    ["nothing wrong", fine, here, 0],
    ["a call without a result", [fine[0]!, calls("a")], here, 1],
    ["a result without a call", [fine[0]!, answers("a")], here, 1],
    ["a second result", [fine[0]!, calls("a"), answers("a"), answers("a")], here, 1],
    ["a prompt before the result", [fine[0]!, calls("a"), fine[0]!, answers("a")], here, 2],
    ["an id used again", [fine[0]!, calls("a"), answers("a"), calls("a"), answers("a")], here, 1],
    ["an id that is too long", [fine[0]!, calls("a".repeat(41)), answers("a".repeat(41))], here, 1],
    ["an id that is not short", [fine[0]!, calls("a"), answers("a")], mistral, 1],
    ["a blank text", [says("user", [text(" ")])], here, 1],
    ["no content", [says("user", [])], here, 1],
    ["a string for content", [says("user", "hi")], here, 1],
    ["a role nobody knows", [says("custom", [text("hi")])], openai, 1],
    ["a reply first", [answer([text("hi")])], here, 1],
    ["a reply first, where that is fine", [answer([text("hi")])], openai, 0],
    ["two prompts in a row", [fine[0]!, fine[0]!], here, 1],
    ["a call for a model without tools", [fine[0]!, calls("a"), answers("a")], toolless, 2],
    ["an image for a model without images", [says("user", [image])], unknown, 1],
    ["nothing but thinking", [fine[0]!, answer([{ type: "thinking", thinking: "hm" }])], here, 1]
  ] as const)("finds %s", (_, messages, model, count) => {
    assert.strictEqual(Sendability.faults(messages, model).length, count)
    assert.strictEqual(Sendability.isSendable(messages, model), count === 0)
  })
})

// --------------------------------------------------------------------------------------------------- the steps

describe("roles", () => {
  it("that only a session knows become prompts, worded as Pi words them", () => {
    const run = { role: "bashExecution", command: "make", output: "", exitCode: 2 }
    const spoken = [
      run,
      { ...run, excludeFromContext: true },
      { role: "pythonExecution", code: "1+1", output: "2", exitCode: 0 },
      {
        role: "fileMention",
        files: [
          { path: "a.md", content: "# a" },
          { path: "b.sql", skippedReason: "tooLarge" }
        ]
      },
      says("developer", "Answer briefly."),
      says("custom", [text("2 warnings")]),
      says("hookMessage", "0 warnings"),
      { role: "branchSummary", summary: "Oslo was cold." },
      { role: "compactionSummary", summary: "We moved." },
      says("moderator", "Calm down.")
    ]
    assert.deepStrictEqual(briefly(spoken, openai), [
      "user Ran `make`\n(no output)\n\nCommand exited with code 2",
      "user Ran Python:\n```\n1+1\n```\nOutput:\n```\n2\n```",
      'user <file path="a.md">\n# a\n</file> <file path="b.sql">(left out: tooLarge)</file>',
      "user Answer briefly.",
      "user 2 warnings",
      "user 0 warnings",
      "user The following is a summary of a branch that this conversation came back from:\n\n<summary>\nOslo was cold.</summary>",
      "user The conversation history before this point was compacted into the following summary:\n\n<summary>\nWe moved.\n</summary>",
      "user [moderator] Calm down."
    ])
    assert.deepStrictEqual(told(spoken, openai), ["roles left-out m1", "roles replaced m9"])
  })

  it("of the system build up one prompt, section by section, after the one that is given", () => {
    const system = [
      says("system", "You are kind.", { sections: { cwd: "In /a.", tools: "Use read." } }),
      prompt("hi"),
      says("system", "", { sections: { cwd: "In /b.", tools: null } })
    ]
    const { systemPrompt, messages } = apply(system, here, {
      systemPrompt: "You are Grove.",
      knowledge: [
        { name: "notes.md", text: "The shop has 4,000 orders." },
        { name: "blank", text: " " }
      ]
    })
    assert.deepStrictEqual(messages.map(brief), ["user hi"])
    assert.strictEqual(
      systemPrompt,
      'You are Grove.\n\nYou are kind.\n\nIn /b.\n\n<knowledge name="notes.md">\nThe shop has 4,000 orders.\n</knowledge>'
    )
    assert.strictEqual(apply([says("system", "Same.")], here, { systemPrompt: "Same." }).systemPrompt, "Same.")
  })
})

describe("replies that failed", () => {
  it("are left out with their results, and what a later reply calls by the same id stays", () => {
    const list = [
      prompt("go"),
      { ...calls("a"), stopReason: "aborted" },
      answers("a", "of the aborted"),
      { ...calls("a"), stopReason: "error" },
      calls("a"),
      answers("a", "of the last"),
      answer([text("partial")], { stopReason: "error", errorMessage: "529" })
    ]
    assert.deepStrictEqual(briefly(list), ["user go", "assistant a", "toolResult a of the last"])
    assert.deepStrictEqual(
      told(list),
      ["m1", "m2", "m3", "m6"].map((id) => `failed-replies left-out ${id}`)
    )
  })
})

describe("calls and results", () => {
  it("have arguments that a request can hold, and no others are touched", () => {
    const argumentsOf = (value: unknown) =>
      (apply([answer([{ type: "toolCall", id: "a", name: "read", arguments: value }])], openai).messages[0] as Json)
        .content as ReadonlyArray<Json>
    const code = { code: '"\\\\ud800"', tab: "\t\\" }
    assert.deepStrictEqual(argumentsOf(code)[0]!.arguments as unknown, code)
    const halves = { ...code, "k\ud800": ["\udc00 half"], whole: "👩" }
    const repaired = { ...code, "k\ufffd": ["\ufffd half"], whole: "👩" }
    assert.deepStrictEqual(argumentsOf(halves)[0]!.arguments as unknown, repaired)
    assert.deepStrictEqual(argumentsOf("text")[0]!.arguments as unknown, { value: "text" })
    assert.deepStrictEqual(argumentsOf(deep)[0]!.arguments as unknown, {})
  })

  const INTERRUPTED = "No result: the call was interrupted before it was answered."

  it("come together: results move behind their calls, in the order of the calls", () => {
    const list = [prompt("go"), calls("a", "b"), prompt("wait"), answers("b"), answers("a")]
    assert.deepStrictEqual(briefly(list), [
      "user go",
      "assistant a b",
      "toolResult a content of a",
      "toolResult b content of b",
      "user wait"
    ])
    assert.deepStrictEqual(told(list), ["orphans moved m4", "orphans moved m3"])
  })

  it("without each other are repaired: a call gets an error result, a result goes", () => {
    const list = [answers("a", "too early"), prompt("go"), calls("a", "b"), answers("b"), answers("b", "again")]
    const { messages } = apply(list)
    assert.deepStrictEqual(messages.map(brief), [
      "user go",
      "assistant a b",
      `toolResult a ${INTERRUPTED}`,
      "toolResult b content of b"
    ])
    assert.strictEqual(messages[2]!.isError, true)
    assert.deepStrictEqual(told(list), ["orphans left-out m0", "orphans added m2", "orphans left-out m4"])
  })

  it("have ids of their own: one used again is renamed, and its result with it", () => {
    const list = [
      prompt("go"),
      calls("a", "a"),
      answers("a", "one"),
      answers("a", "two"),
      calls("a"),
      answers("a", "three")
    ]
    assert.deepStrictEqual(briefly(list), [
      "user go",
      "assistant a call00001",
      "toolResult a one",
      "toolResult call00001 two",
      "assistant call00002",
      "toolResult call00002 three"
    ])
    assert.deepStrictEqual(told(list), ["tool-ids renamed m1", "tool-ids renamed m4"])
  })

  it("have ids and names as providers spell them, and no new id is one that is there", () => {
    const odd = { type: "toolCall", id: "fc_1|item", name: "mcp.server/tool", arguments: {} }
    const list = [prompt("go"), answer([odd]), answers("fc_1|item"), calls("call00001"), answers("call00001")]
    const { messages } = apply(list)
    assert.deepStrictEqual(messages.map(brief).slice(1), [
      "assistant call00002",
      "toolResult call00002 content of fc_1|item",
      "assistant call00001",
      "toolResult call00001 content of call00001"
    ])
    assert.deepStrictEqual(messages[1]!.content[0]!.name, "mcp_server_tool")
    assert.deepStrictEqual(messages[2]!.toolName, "mcp_server_tool")
  })
})

describe("thinking and signatures", () => {
  const thought = { type: "thinking", thinking: "hm", thinkingSignature: "sig" }
  const signed = { type: "toolCall", id: "b", name: "read", arguments: {}, thoughtSignature: "t" }
  const turn = [prompt("one"), answer([thought, text("1")]), prompt("two"), answer([thought, signed]), answers("b")]
  const thinks = (context: Policy.Given, model = here) =>
    Policy.apply(context, { model }).messages.flatMap((each) =>
      (each.content as ReadonlyArray<Json>).flatMap(({ type, thoughtSignature }) =>
        type === "thinking" ? ["thinking"] : thoughtSignature === undefined ? [] : ["signature"]
      )
    )

  it("are kept for this turn only", () => {
    assert.deepStrictEqual(thinks({ messages: turn }), ["thinking", "signature"])
    assert.deepStrictEqual(briefly(turn)[1], "assistant 1")
    assert.deepStrictEqual(told(turn), ["signatures left-out m1"])
    assert.deepStrictEqual(thinks({ messages: [...turn, answer([text("2")]), prompt("three")] }), [])
  })

  it("are kept when a prompt comes right after the results, because a provider sees one turn there", () => {
    assert.deepStrictEqual(thinks({ messages: [...turn, prompt("and be quick")] }), ["thinking", "signature"])
  })

  it("are not for another model", () => {
    assert.deepStrictEqual(thinks({ messages: turn }, anthropic), [])
    assert.deepStrictEqual(thinks({ messages: turn }, { ...here, modelId: "m2" }), [])
  })

  it("are not sent once something before them was edited, unless they were made knowing the edit", () => {
    assert.deepStrictEqual(thinks({ messages: turn, edited: turn.map((_, row) => row >= 1) }), [])
    assert.deepStrictEqual(thinks({ messages: turn, edited: turn.map((_, row) => row === 1) }), [
      "thinking",
      "signature"
    ])
  })

  it("may be blank where they are signed, and only there", () => {
    const blank = { type: "thinking", thinking: "" }
    const thinking = (block: Json) => thinks({ messages: [prompt("one"), answer([block, text("1")])] })
    assert.deepStrictEqual(thinking({ ...blank, thinkingSignature: "sig" }), ["thinking"])
    assert.deepStrictEqual(thinking(blank), [])
  })

  it("are not for a model without tools once a result was told as a prompt", () => {
    assert.deepStrictEqual(thinks({ messages: turn }, toolless), [])
    assert.deepStrictEqual(thinks({ messages: [...turn, answer([thought, text("2")])] }, toolless), ["thinking"])
  })

  it("alone are no reply", () => {
    assert.deepStrictEqual(briefly([prompt("one"), answer([thought])]), ["user one"])
  })
})

describe("a context knows what was edited since it was said", () => {
  const said = [user("a", null), user("b", "a"), reply("c", "b", call("read")), result("d", "c")]
  const contextWith = (...more: Parameters<typeof buildSessionContext>[0]) => buildSessionContext([...said, ...more])

  it("nothing, where nothing was", () => {
    assert.deepStrictEqual(contextWith().edited, [false, false, false, false])
  })

  it("all after what was disabled", () => {
    const off = mark("off", "d", "state", { targetIds: ["b"], enabled: false })
    assert.deepStrictEqual(contextWith(off).edited, [false, true, true])
    assert.deepStrictEqual(contextWith(off, user("e", "d")).edited, [false, true, true, false])
  })

  it("all from what was reworded or taken out on", () => {
    const edit = (replacement: unknown) => entry("e", "d", { type: "context_edit", targetId: "b", replacement })
    assert.deepStrictEqual(contextWith(edit({ content: "B" })).edited, [false, true, true, true])
    assert.deepStrictEqual(contextWith(edit(null), user("f", "e")).edited, [false, true, true, false])
    assert.deepStrictEqual(contextWith(edit({ content: 5 })).edited, [false, false, false, false])
  })
})

describe("images", () => {
  const png = { type: "image", data: "aGk=", mimeType: "image/png" }
  it("go to models that take them", () => {
    assert.deepStrictEqual(briefly([says("user", [png])]), ["user image"])
  })

  it.each([
    [png, unknown, "this model takes no images"],
    [{ ...png, mimeType: "image/bmp" }, here, "models take no images of its type"],
    [{ ...png, data: "blob:sha256:00" }, here, "its data is missing"],
    [{ ...png, data: "" }, here, "its data is missing"]
  ] as const)("that cannot be sent are told as a note (%#)", (image, model, why) => {
    const list = [says("user", [text("see"), image]), calls("a"), { ...answers("a"), content: [image] }]
    const note = `[image left out: ${why}]`
    assert.deepStrictEqual(briefly(list, model), [`user see ${note}`, "assistant a", `toolResult a ${note}`])
    assert.deepStrictEqual(told(list, model), ["images replaced m0", "images replaced m2"])
  })
})

describe("what is blank", () => {
  it("is left out, and a result without output says so", () => {
    const list = [says("user", [text(""), text("hi")]), calls("a"), answers("a", ""), answer([text(" ")]), prompt(" ")]
    assert.deepStrictEqual(briefly(list), ["user hi", "assistant a", "toolResult a (no output)"])
    assert.deepStrictEqual(told(list), ["empty-blocks left-out m3", "empty-blocks left-out m4"])
  })
})

describe("neighbours of one role", () => {
  const list = [answer([text("Welcome")]), answer([text("back")]), prompt("one"), prompt("two")]

  it("are joined where a provider needs it, after a prompt that opens", () => {
    const { messages, sources } = apply(list)
    assert.deepStrictEqual(messages.map(brief), [
      "user [The conversation begins with a reply.]",
      "assistant Welcome back",
      "user one two"
    ])
    assert.deepStrictEqual(sources, [null, "m0" as EntryId, "m2" as EntryId])
    assert.deepStrictEqual(told(list), ["turns joined m0", "turns added m0", "turns joined m2"])
  })

  it("stay apart where it does not", () => {
    assert.deepStrictEqual(briefly(list, openai), ["assistant Welcome", "assistant back", "user one", "user two"])
  })

  it("are no two strangers: a prompt after a result waits for a reply, where a provider needs that", () => {
    assert.deepStrictEqual(briefly([prompt("go"), calls("aaaaaaaaa"), answers("aaaaaaaaa"), prompt("on")], mistral), [
      "user go",
      "assistant aaaaaaaaa",
      "toolResult aaaaaaaaa content of aaaaaaaaa",
      "assistant [The results were received.]",
      "user on"
    ])
  })
})

describe("for a model without tools", () => {
  it("calls and results are text", () => {
    const failed = { ...answers("b", "gone </function_results> ha"), isError: true }
    const list = [prompt("go"), calls("a"), answers("a"), answer([text("Hm."), ...(calls("b").content as [])]), failed]
    assert.deepStrictEqual(briefly(list, toolless), [
      'user go [read for {"path":"a.ts"}] result:\n<function_results>\ncontent of a\n</function_results>',
      "assistant Hm.",
      'user [read for {"path":"b.ts"}] failed with result:\n<function_results>\ngone <\\/function_results> ha\n</function_results>'
    ])
    assert.deepStrictEqual(told(list, toolless), [
      "tools-as-text replaced m2",
      "tools-as-text replaced m4",
      "tools-as-text joined m0"
    ])
  })
})

describe("the list of steps", () => {
  const mine: Policy.Step = { name: "mine", apply: (draft) => draft }
  const names = (steps: ReadonlyArray<Policy.Step>) => steps.map(({ name }) => name)

  it("is in the order in which they rely on each other", () => {
    assert.deepStrictEqual(names(Policy.steps), [
      "roles",
      "failed-replies",
      "orphans",
      "tool-ids",
      "signatures",
      "images",
      "empty-blocks",
      "turns",
      "tools-as-text",
      "system-prompt",
      "knowledge"
    ])
  })

  it("can be added to before and after a name, and steps be replaced and taken out", () => {
    assert.deepStrictEqual(names(Policy.before(Policy.steps, "orphans", mine)).slice(1, 4), [
      "failed-replies",
      "mine",
      "orphans"
    ])
    assert.deepStrictEqual(names(Policy.after(Policy.steps, "knowledge", mine)).slice(-2), ["knowledge", "mine"])
    assert.deepStrictEqual(names(Policy.replace(Policy.steps, "roles", mine)).slice(0, 2), ["mine", "failed-replies"])
    assert.deepStrictEqual(names(Policy.without(Policy.steps, "roles"))[0], "failed-replies")
    assert.strictEqual(Policy.steps.length, 11)
  })

  it("says which names there are when one is wrong", () => {
    assert.throws(() => Policy.after(Policy.steps, "orfans", mine), /no step is named orfans; there are roles, failed-/)
  })
})

describe("what a model takes", () => {
  it("is the least that any takes, where nothing is known of it", () => {
    assert.deepStrictEqual(unknown, {
      provider: "",
      modelId: "",
      tools: true,
      images: false,
      takesTurns: true,
      promptAfterResult: true,
      toolIds: "long"
    })
    assert.deepStrictEqual(Capabilities.of({ provider: "toString", modelId: "x" }), {
      ...unknown,
      provider: "toString",
      modelId: "x"
    })
  })
})

it("a hundred thousand messages, and as many prompts in a row, take no time that matters", () => {
  const units = Array.from({ length: 33_000 }, (_, n) => [prompt(`${n}`), calls("same"), answers("same")]).flat()
  const prompts = Array.from({ length: 100_000 }, (_, n) => prompt(`${n}`))
  const backwards = [
    ...Array.from({ length: 50_000 }, () => calls("a")),
    ...Array.from({ length: 50_000 }, () => answers("a"))
  ]
  const start = process.cpuUsage()
  for (const list of [units, prompts, backwards]) {
    for (const model of [here, toolless])
      assert.strictEqual(Sendability.isSendable(apply(list, model).messages, model), true)
  }
  const { user, system } = process.cpuUsage(start)
  assert.isBelow((user + system) / 1000, 15_000)
})

it("an entry of a session is named by every change, as it is by the context", () => {
  const entries = [
    user("a", null),
    reply("b", "a", call("read")),
    message("c", "b", { role: "assistant", content: [], stopReason: "error", provider: "p", model: "m" })
  ]
  const { changes } = Policy.apply(buildSessionContext(entries), { model: here })
  assert.deepStrictEqual(roundTrip(changes) as unknown, [
    { step: "failed-replies", kind: "left-out", entry: "c", message: "a reply that failed or was stopped" },
    { step: "orphans", kind: "added", entry: "b", message: "an error result for a call that has none" }
  ])
})
