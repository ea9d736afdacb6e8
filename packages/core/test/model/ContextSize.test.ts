import { assert, it } from "@effect/vitest"
import { ContextBuilder, ContextSize, type Entry, Preview, SessionTree, Tokens } from "../../src/model/index.ts"
import { entry, forSeeds, mark, reply, user, wildLines } from "../support.ts"

/** As it is counted without remembering anything. */
const counted = (tree: SessionTree, leaf: string | null): ContextSize.ContextSize => {
  const { messages } = ContextBuilder.build(tree, leaf)
  return { messages: messages.length, tokens: Tokens.estimateAll(messages) }
}

const session: ReadonlyArray<Entry.Entry> = [
  user("u1", null, "a prompt of some length"),
  reply("a1", "u1", { content: [{ type: "text", text: "an answer that is longer than its prompt" }] }),
  entry("c1", "a1", {
    type: "compaction",
    summary: "what came before",
    firstKeptEntryId: "a1",
    systemMessage: { role: "system", content: "be brief" }
  }),
  user("u2", "c1", "and then?"),
  entry("e1", "u2", { type: "context_edit", targetId: "u2", replacement: { content: "reworded, and much longer" } }),
  entry("b1", "e1", { type: "branch_summary", fromId: "u1", summary: "" }),
  reply("a2", "b1", {}),
  mark("m1", "a2", "state", { targetIds: ["a1"], enabled: false })
]

it("the size of a context is that of its messages, at every place and however often it is asked for", () => {
  const tree = SessionTree.from(session)
  for (let again = 0; again < 2; again++) {
    for (const { id } of session) assert.deepStrictEqual(ContextSize.at(tree, id), counted(tree, id), id)
  }
  assert.deepStrictEqual(ContextSize.at(tree, null), { messages: 0, tokens: 0 })
})

it("any session whatever has the size of its messages", () => {
  forSeeds(40, (chance) => {
    const tree = SessionTree.from(wildLines(chance))
    for (const { id } of tree.entries) assert.deepStrictEqual(ContextSize.at(tree, id), counted(tree, id))
  })
})

it("what was noted is not read again", () => {
  const read: Array<string> = []
  const tree = SessionTree.from(session)
  const entriesAt = tree.entriesAt.bind(tree)
  tree.entriesAt = (rows) => {
    const found = entriesAt(rows)
    read.push(...found.filter(({ type }) => type === "message").map(Preview.textOfEntry))
    return found
  }
  for (const row of tree.rows()) ContextSize.note(tree, row, tree.entryAt(row))
  read.length = 0
  ContextSize.at(tree, "a2")
  assert.deepStrictEqual(read, ["and then?"])
})
