/** `grove context` answers as Pi and oh-my-pi do on their own files, through the command line. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  abbreviated,
  canonical,
  OMP_DEFAULT,
  ompSessions,
  PI_OMITTED,
  PI_UNKNOWN,
  piAnswer,
  piSessions,
  sha256
} from "../fixtures.ts"
import { assertRefused, entry, fileOf, header, inTurn, type Json, reply, sandbox, user } from "../support.ts"

const box = sandbox({ fixtures: true })

interface Context {
  readonly leaf: string | null
  readonly messages: ReadonlyArray<Json>
  readonly thinkingLevel: string
  readonly model: Json | null
  readonly models: Json
  readonly mode: string
  readonly modeData: unknown
  readonly injectedTtsrRules: ReadonlyArray<string>
}

const contextOf = (file: string, leaf?: string | null): Promise<Context> =>
  box.json(["context", file, ...(leaf === undefined ? [] : ["--leaf", leaf ?? "none"])])

describe("Pi's sessions", () => {
  it.each(piSessions)(
    "$file has the context that Pi builds at every leaf",
    async ({ file, contexts, defaultLeafId }) => {
      const known = contexts.filter(({ leaf }) => leaf !== PI_UNKNOWN && leaf !== null)
      const built = await inTurn(known, ({ leaf }) =>
        contextOf(join(box.fixtures, "pi", file), leaf === PI_OMITTED ? undefined : leaf)
      )
      for (const [i, expected] of known.entries()) {
        const { messages, thinkingLevel, model, leaf } = built[i]!
        assert.deepStrictEqual(messages, expected.messages as typeof messages, `messages at ${expected.leaf}`)
        assert.deepStrictEqual({ thinkingLevel, model } as unknown, {
          thinkingLevel: expected.thinkingLevel,
          model: expected.model
        })
        assert.strictEqual(leaf, expected.leaf === PI_OMITTED ? defaultLeafId : expected.leaf)
      }
    }
  )

  it("v1.jsonl has the context that Pi builds of it, apart from the ids Pi makes up", async () => {
    const { defaultContext } = piAnswer<{ readonly defaultContext: Context }>("expected-v1.json")
    const file = join(box.fixtures, "pi/v1.jsonl")
    const { entries } = await box.json<{ readonly entries: ReadonlyArray<{ readonly id: string }> }>(["tree", file])
    const names = new Map(entries.map(({ id }, n) => [id, `#${n}`]))
    const { messages, thinkingLevel, model } = await contextOf(file)
    const renamed = JSON.parse(JSON.stringify(messages), (_, value) => names.get(value) ?? value)
    assert.deepStrictEqual(
      { messages: renamed, thinkingLevel, model },
      {
        messages: defaultContext.messages,
        thinkingLevel: defaultContext.thinkingLevel,
        model: defaultContext.model
      }
    )
  })

  it("repo-large-session.jsonl has the thousand messages that Pi builds of it", async () => {
    const { contexts } = piAnswer<{
      readonly contexts: ReadonlyArray<{ readonly messageCount: number; readonly messagesSha256: string }>
    }>("expected-repo-large-session.json")
    const { messages } = await contextOf(join(box.fixtures, "pi/repo-large-session.jsonl"))
    assert.strictEqual(messages.length, contexts[0]!.messageCount)
    assert.strictEqual(sha256(canonical(messages)), contexts[0]!.messagesSha256)
  })
})

describe("sessions of oh-my-pi and xcsh", () => {
  const compared = ompSessions.filter(({ leaves }) => leaves.length > 0)

  it.each(compared)("$name has the messages of xcsh and the settings of oh-my-pi, images put back", async (session) => {
    const file = join(box.fixtures, "omp", session.file)
    // Ids of a version 1 file are made when it is read; the fixtures name them by position.
    const { entries } = session.isVersion1
      ? await box.json<{ readonly entries: ReadonlyArray<{ readonly id: string }> }>(["tree", file])
      : { entries: [] }
    const idOf = (leaf: string) => (leaf.startsWith("#") ? entries[Number(leaf.slice(1))]?.id : leaf)
    const leaves = session.leaves.filter((leaf) => idOf(leaf) !== undefined)
    const built = await inTurn(leaves, (leaf) => contextOf(file, leaf === OMP_DEFAULT ? undefined : idOf(leaf)!))
    for (const [i, leaf] of leaves.entries()) {
      const expected = session.contextAt(leaf)
      const { messages, thinkingLevel, models, mode, modeData, injectedTtsrRules } = built[i]!
      if (leaf === OMP_DEFAULT && !session.isVersion1) assert.strictEqual(built[i]!.leaf, session.leaf)
      assert.deepStrictEqual(abbreviated(messages), expected.messages, `messages at ${leaf}`)
      assert.deepStrictEqual({ thinkingLevel, models, mode, modeData, injectedTtsrRules } as unknown, {
        thinkingLevel: expected.thinkingLevel,
        models: expected.models,
        mode: expected.mode,
        modeData: expected.modeData ?? null,
        injectedTtsrRules: expected.injectedTtsrRules
      })
    }
  })

  it("most of them are compared, and each at its default leaf", () => {
    assert.strictEqual(compared.length, 54)
    for (const { leaves } of compared) assert.strictEqual(leaves[0], OMP_DEFAULT)
  })

  it("an image whose blob is missing keeps its reference", async () => {
    const hash = "0".repeat(64)
    const image = { type: "image", mimeType: "image/png", data: `blob:sha256:${hash}` }
    const file = box.write(
      "images/one.jsonl",
      fileOf(header(), entry("aaaa0001", null, { message: { role: "user", content: [image] } }))
    )
    const { messages } = await contextOf(file)
    assert.deepStrictEqual(messages[0]!.content as unknown, [image])
  })

  it("a reference that is no hash is never taken for a path", async () => {
    box.write("secret", "top secret")
    const data = [
      "blob:sha256:../../secret",
      `blob:sha256:${"../".repeat(20)}secret`,
      "blob:sha256:",
      "blob:sha256:/etc/passwd"
    ]
    const content = data.map((data) => ({ type: "image", mimeType: "image/png", data }))
    const file = box.write(
      "a/b/traversal.jsonl",
      fileOf(header(), entry("aaaa0001", null, { message: { role: "user", content } }))
    )
    assert.deepStrictEqual((await contextOf(file)).messages[0]!.content as unknown, content)
  })
})

describe("its answer", () => {
  it("has exactly these keys, absent values null", async () => {
    const file = box.write("bare.jsonl", fileOf(header(), user("aaaa0001", null, "hello")))
    assert.deepStrictEqual(await contextOf(file), {
      leaf: "aaaa0001",
      messages: [{ role: "user", content: "hello" }],
      thinkingLevel: "off",
      model: null,
      models: {},
      mode: "none",
      modeData: null,
      injectedTtsrRules: []
    })
  })

  it("is an empty context for --leaf none and for an empty file", async () => {
    const empty = {
      leaf: null,
      messages: [],
      thinkingLevel: "off",
      model: null,
      models: {},
      mode: "none",
      modeData: null,
      injectedTtsrRules: []
    }
    assert.deepStrictEqual(await contextOf(join(box.fixtures, "pi/linear.jsonl"), null), empty)
    assert.deepStrictEqual(await contextOf(join(box.fixtures, "omp/sessions/empty.jsonl")), empty)
  })

  it("leaves out what was switched off, and stands where a mark says", async () => {
    const file = box.write(
      "marks.jsonl",
      fileOf(
        header(),
        user("aaaa0001", null, "one"),
        user("aaaa0002", "aaaa0001", "two"),
        user("aaaa0003", "aaaa0002", "three"),
        entry("aaaa0004", "aaaa0003", {
          type: "custom",
          customType: "grove.state",
          data: { targetIds: ["aaaa0001"], enabled: false }
        }),
        entry("aaaa0005", "aaaa0002", { type: "custom", customType: "grove.leaf", data: { targetId: "aaaa0002" } })
      )
    )
    const { leaf, messages } = await contextOf(file)
    assert.strictEqual(leaf, "aaaa0002")
    assert.deepStrictEqual(messages.map(({ content }) => content) as unknown, ["two"])
  })

  it("for people names the model and gives every message under its role", async () => {
    const file = box.write(
      "people.jsonl",
      fileOf(header(), user("aaaa0001", null, "line one\nline two"), reply("aaaa0002", "aaaa0001", "an answer"))
    )
    assert.strictEqual(
      await box.text(["context", file]),
      [
        "2 messages · p/m · thinking off · mode none",
        "",
        "── user",
        "line one",
        "line two",
        "",
        "── assistant",
        "an answer",
        ""
      ].join("\n")
    )
  })

  it("for people says what to do where the model is shown nothing", async () => {
    const file = box.write(
      "settings.jsonl",
      fileOf(header(), entry("aaaa0001", null, { type: "custom", customType: "x" }))
    )
    for (const args of [[file], [file, "--leaf", "none"], [join(box.fixtures, "omp/sessions/empty.jsonl")]]) {
      assert.match(
        await box.text(["context", ...args]),
        /^Nothing: .*--leaf takes any entry; grove branches lists.*\n$/
      )
    }
  })
})

describe("a context that is made sendable", () => {
  const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } }
  const write = () =>
    box.write(
      "sendable.jsonl",
      fileOf(
        header(),
        entry("aaaa0000", null, { message: { role: "system", content: "Be kind." } }),
        user("aaaa0001", "aaaa0000", "one"),
        reply("aaaa0002", "aaaa0001", "half", { stopReason: "error" }),
        reply("aaaa0003", "aaaa0002", "", { stopReason: "aborted" }),
        user("aaaa0004", "aaaa0003", "again"),
        reply("aaaa0005", "aaaa0004", "", { content: [call] })
      )
    )

  it("is shown to people with what was changed, each kind once", async () => {
    assert.strictEqual(
      await box.text(["context", write(), "--sendable"]),
      [
        "Changed to be sendable:",
        "  left out, 2 times: a reply that failed or was stopped (aaaa0002, aaaa0003)",
        "  added: an error result for a call that has none (aaaa0005)",
        "  joined: prompts in a row, as one (aaaa0001)",
        "",
        "4 messages · p/m · thinking off · mode none",
        "",
        "── system",
        "Be kind.",
        "",
        "── user",
        "one",
        "again",
        "",
        "── assistant",
        "read a.ts",
        "",
        "── toolResult",
        "No result: the call was interrupted before it was answered.",
        ""
      ].join("\n")
    )
  })

  it("keeps its shape as JSON, with the system prompt and the changes beside it", async () => {
    const file = write()
    const before = await contextOf(file)
    const sent = await box.json<Context & { readonly systemPrompt: string; readonly changes: ReadonlyArray<Json> }>([
      "context",
      file,
      "--sendable"
    ])
    assert.deepStrictEqual(Object.keys(sent), [...Object.keys(before), "systemPrompt", "changes"])
    assert.deepStrictEqual(
      sent.messages.map(({ role }) => role),
      ["user", "assistant", "toolResult"]
    )
    assert.strictEqual(sent.systemPrompt, "Be kind.")
    assert.deepStrictEqual(sent.changes[0], {
      step: "failed-replies",
      kind: "left-out",
      entry: "aaaa0002",
      message: "a reply that failed or was stopped"
    })
    assert.deepStrictEqual({ ...sent, messages: before.messages }, { ...sent, ...before })
  })

  it("has its images put back, and is sent no reference to one", async () => {
    const file = join(box.fixtures, "omp/sessions/images-omp.jsonl")
    const { messages } = await box.json<Context>(["context", file, "--sendable"])
    assert.notInclude(JSON.stringify(messages), "blob:sha256:")
  })
})

it("a mark is no place to stand on: its id is as unknown as any", async () => {
  const mark = { type: "custom", customType: "grove.leaf", data: { targetId: "aaaa0001" } }
  const file = box.write(
    "mark.jsonl",
    fileOf(header(), user("aaaa0001", null, "hi"), entry("bbbb0002", "aaaa0001", mark))
  )
  for (const name of ["bbbb0002", "bbbb"]) {
    assertRefused(
      await box.grove(["context", file, "--leaf", name, "--json"]),
      1,
      new RegExp(`no entry ${name} in this`)
    )
  }
  assert.strictEqual((await contextOf(file)).leaf, "aaaa0001")
})

it("an entry that is not there is refused by its name, where the library would fall back", async () => {
  const file = join(box.fixtures, "pi/branches.jsonl")
  for (const args of [[], ["--json"]]) {
    const ran = await box.grove(["context", file, "--leaf", PI_UNKNOWN, ...args])
    assertRefused(ran, 1, /no entry ffffffff-not-there in this session; grove tree --ids shows its entries/)
  }
})
