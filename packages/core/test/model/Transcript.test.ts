import { assert, describe, it } from "@effect/vitest"
import { FileLists, SummaryPrompt, Transcript } from "../../src/model/index.ts"
import type { Json } from "../support.ts"

describe("a transcript", () => {
  const messages: ReadonlyArray<readonly [Json, string]> = [
    [{ role: "user", content: "hello" }, "[User]: hello"],
    [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image", data: "" },
          { type: "text", text: "b" }
        ]
      },
      "[User]: ab"
    ],
    [
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "yes" },
          { type: "toolCall", id: "1", name: "read", arguments: { path: "a", lines: [1, 2] } },
          { type: "toolCall", id: "2", name: "ls", arguments: {} }
        ]
      },
      '[Assistant]: yes\n\n[Assistant tool calls]: read(path="a", lines=[1,2]); ls()'
    ],
    [{ role: "toolResult", content: [{ type: "text", text: "ok" }] }, "[Tool result]: ok"],
    [{ role: "bashExecution", command: "ls", output: "a", exitCode: 0 }, "[User ran]: ls\na"],
    [{ role: "bashExecution", command: "ls", output: "", exitCode: 2 }, "[User ran]: ls\n(no output)\n(exit code 2)"],
    [{ role: "bashExecution", command: "ls", output: "a", cancelled: true }, "[User ran]: ls\na\n(cancelled)"],
    [{ role: "bashExecution", command: "secret", output: "a", excludeFromContext: true }, ""],
    [{ role: "pythonExecution", code: "1+1", output: "2" }, "[User ran]: 1+1\n2"],
    [{ role: "fileMention", files: [{ path: "a" }, { path: "b" }] }, "[User attached]: a, b"],
    [{ role: "branchSummary", summary: "s" }, "[Summary of another branch]: s"],
    [{ role: "compactionSummary", summary: "s" }, "[Summary of what came before]: s"],
    [{ role: "custom", content: "note" }, "[User]: note"],
    [{ role: "system", content: "be kind" }, ""],
    [{ role: "assistant", content: [] }, ""],
    [{}, ""]
  ]
  it.each(messages)("of %j", (message, expected) => {
    assert.strictEqual(Transcript.of([message]), expected)
  })
  it("holds the first 2000 characters of a result, and says how many it leaves out", () => {
    const told = Transcript.of([{ role: "toolResult", content: "x".repeat(2500) }])
    assert.strictEqual(told, `[Tool result]: ${"x".repeat(2000)}\n\n[... 500 more characters truncated]`)
  })
  it("never cuts a character in two", () => {
    const told = Transcript.of([{ role: "toolResult", content: `${"x".repeat(1999)}🌳🌳` }])
    assert.strictEqual(told, `[Tool result]: ${"x".repeat(1999)}\n\n[... 4 more characters truncated]`)
  })
  it("holds prompts and answers whole", () => {
    assert.strictEqual(Transcript.of([{ role: "user", content: "x".repeat(9000) }]).length, 9008)
  })

  const many = Array.from({ length: 10 }, (_, i) => ({ role: "user", content: `${i}`.repeat(92) }))
  it("comes in pieces that each fit", () => {
    const pieces = Transcript.pieces(many, 350)
    assert.deepStrictEqual(
      pieces.map(({ length }) => length),
      [304, 304, 304, 100]
    )
    assert.strictEqual(pieces.join("\n\n"), Transcript.of(many))
  })
  it("is one piece where there is room, and none where nothing was said", () => {
    assert.strictEqual(Transcript.pieces(many, Number.POSITIVE_INFINITY).length, 1)
    assert.deepStrictEqual(Transcript.pieces([], 10), [])
  })
  it("cuts a part that no piece can hold", () => {
    const [piece] = Transcript.pieces([{ role: "user", content: "x".repeat(500) }], 100)
    assert.match(piece!, /^\[User\]: x{92}\n\n\[\.\.\. 408 more characters truncated\]$/)
  })
})

describe("the lists of files", () => {
  const calling = (...calls: ReadonlyArray<readonly [string, Json]>): Json => ({
    role: "assistant",
    content: calls.map(([name, given], i) => ({ type: "toolCall", id: `${i}`, name, arguments: given }))
  })
  it("are sorted, and what was changed is not listed as read", () => {
    const messages = [
      calling(["read", { path: "b" }], ["read", { path: "a" }], ["write", { path: "z" }]),
      calling(["edit", { path: "b" }], ["bash", { path: "c" }], ["read", { path: 7 }], ["constructor", { path: "d" }])
    ]
    assert.deepStrictEqual(FileLists.gather(messages), { readFiles: ["a"], modifiedFiles: ["b", "z"] })
  })
  it("know the tools of other agents", () => {
    const messages = [
      calling(["Read", { file_path: "a" }], ["MultiEdit", { file_path: "b" }], ["write", { filePath: "c" }])
    ]
    assert.deepStrictEqual(FileLists.gather(messages), { readFiles: ["a"], modifiedFiles: ["b", "c"] })
  })
  it("hold what a tool did through others", () => {
    const nested = { role: "toolResult", nestedCalls: [{ name: "edit", arguments: { path: "a" } }, 7] }
    assert.deepStrictEqual(FileLists.gather([nested]).modifiedFiles, ["a"])
  })
  it("go on from earlier ones, whatever those hold", () => {
    const earlier = [{ readFiles: ["a", 7], modifiedFiles: "x" }, null, { modifiedFiles: ["b"] }]
    const messages = [calling(["edit", { path: "a" }])]
    assert.deepStrictEqual(FileLists.gather(messages, earlier), { readFiles: [], modifiedFiles: ["a", "b"] })
  })
  it("stand below the summary, one path a line", () => {
    const lists = { readFiles: ["a\nb"], modifiedFiles: ["c"] }
    const told = FileLists.append("S", lists)
    assert.strictEqual(told, "S\n\n<read-files>\na b\n</read-files>\n\n<modified-files>\nc\n</modified-files>")
    assert.strictEqual(FileLists.strip(told, lists), "S")
    assert.strictEqual(FileLists.strip("S", lists), "S")
    assert.strictEqual(FileLists.append("S", { readFiles: [], modifiedFiles: [] }), "S")
  })
  it("show 200 paths each and count the others", () => {
    const readFiles = Array.from({ length: 250 }, (_, i) => `f${i}`).sort()
    const told = FileLists.append("S", { readFiles, modifiedFiles: [] })
    assert.strictEqual(told.split("\n").length, 205)
    assert.include(told, "(and 50 more)\n</read-files>")
  })
})

describe("what a model is asked", () => {
  const SECTIONS = [
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context"
  ]
  const promptOf = (asked: Partial<SummaryPrompt.Asked>) =>
    SummaryPrompt.of({ subject: "history", transcript: "T", ...asked }).prompt

  it("names the sections in their order", () => {
    const places = SECTIONS.map((section) => promptOf({}).indexOf(`${section}\n`))
    assert.isTrue(places.every((at) => at > 0))
    assert.deepStrictEqual(
      [...places].sort((a, b) => a - b),
      places
    )
  })
  it("holds the conversation, and the summary that is to be brought up to date", () => {
    assert.include(promptOf({}), "<conversation>\nT\n</conversation>")
    assert.notInclude(promptOf({}), "previous-summary")
    assert.include(promptOf({ previous: "P" }), "<previous-summary>\nP\n</previous-summary>")
  })
  it("asks for the beginning of a turn in a form of its own", () => {
    const prompt = promptOf({ subject: "turn" })
    for (const section of ["## Original Request", "## Progress So Far", "## Context Needed to Continue"])
      assert.include(prompt, section)
    assert.notInclude(prompt, "## Goal")
  })
  it("asks for no critical context of a branch that was left", () => {
    assert.include(promptOf({ subject: "branch" }), "## Next Steps")
    assert.notInclude(promptOf({ subject: "branch" }), "## Critical Context")
  })
  it.each(["history", "turn", "branch"] as const)("ends with the wish of the person, for a %s too", (subject) => {
    assert.isTrue(promptOf({ subject, instructions: " the tests \n" }).endsWith("the tests"))
    assert.strictEqual(promptOf({ subject, instructions: "  " }), promptOf({ subject }))
  })
  it("is joined from whole turns and the turn under way", () => {
    assert.strictEqual(SummaryPrompt.join("H", null), "H")
    assert.include(SummaryPrompt.join("H", "T"), "H\n\n---\n\n")
    assert.isTrue(SummaryPrompt.join(null, "T").endsWith("T"))
    assert.strictEqual(SummaryPrompt.join(null, null), "")
  })
})
