import { assert, describe, it } from "@effect/vitest"
import { type Json, Mark } from "@grove/core"
import { reader } from "../../src/read/Neovate.ts"
import * as Translation from "../../src/read/Translation.ts"
import { alone, bytesOf, namesIn, utf8 } from "../support.ts"
import { entry, exported, fixture, linesOf, reply, result, sessionFrom, sessionOf, user } from "./support.ts"

const imported = (bytes: Uint8Array) => {
  const { sessions } = reader.read(alone("/store/aaaa1000.jsonl", bytes))
  return sessions.map((session) => sessionFrom(utf8(Translation.encode(session))))
}

/** What the program would go on with: from the last message up, in the order of the file. */
const filterMessages = (lines: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const messages = lines.filter(({ type }) => type === "message")
  const byId = new Map(messages.map((line) => [line.uuid, line]))
  const path = new Set<unknown>()
  for (let at = messages.at(-1); at !== undefined && !path.has(at.uuid); at = byId.get(at.parentUuid)) path.add(at.uuid)
  return messages.filter(({ uuid }) => path.has(uuid))
}

const said = ({ type, message, content, summary }: Json): string =>
  JSON.stringify([type, (message as Json | undefined)?.content ?? content ?? summary])
const saidIn = ({ tree }: ReturnType<typeof sessionFrom>) => tree.entries.filter((one) => !Mark.isMark(one)).map(said)
const endOf = ({ tree }: ReturnType<typeof sessionFrom>) => (tree.leaf === null ? null : said(tree.get(tree.leaf)!))

/** Files as the program writes them when nothing goes wrong. */
const ordinary = [
  "linear",
  "tools",
  "fork-simple",
  "fork-nested",
  "images",
  "unicode",
  "slash-prompt-hidden",
  "config-first"
]

describe("for Neovate", () => {
  it.each(ordinary)("%s comes out as it went in", async (name) => {
    const bytes = bytesOf(`neovate/${name}.jsonl`)
    const [session] = imported(bytes)
    const written = linesOf(await exported(session!, "neovate"))
    const text = (line: Json): Json => {
      const { content, role, sessionId: _, ...rest } = line
      // One part of text and a bare text are the same to the program.
      const isText = role === "user" && Array.isArray(content) && content.length === 1 && content[0].type === "text"
      return { ...rest, role, content: isText ? content[0].text : content }
    }
    assert.deepStrictEqual(written.map(text), linesOf(Buffer.from(bytes).toString()).map(text))
  })

  it.each(namesIn("neovate", /^(?!cycle).*\.jsonl$/))(
    "%s, exported and imported again, says the same and stands at the same place",
    async (name) => {
      for (const session of imported(bytesOf(`neovate/${name}`))) {
        const [again] = imported(utf8(await exported(session, "neovate")))
        // A file of nothing but lines that no session has a place for.
        if (again === undefined) {
          assert.isEmpty(session.tree.leaves())
          continue
        }
        assert.deepStrictEqual(saidIn(again).sort(), saidIn(session).sort())
        assert.deepStrictEqual(endOf(again), endOf(session))
      }
    }
  )

  it("goes on where the session stands, also where other branches were written later", async () => {
    const session = sessionOf(
      user("a", null, "root"),
      user("b", "a", "left"),
      user("c", "a", "right"),
      entry("custom", "d", "b", { customType: "grove.leaf", data: { targetId: "b" } })
    )
    const path = filterMessages(linesOf(await exported(session, "neovate")))
    assert.deepStrictEqual(
      path.map(({ uuid }) => uuid),
      ["a", "b"]
    )
  })

  it.each(namesIn("pi", /^(?!malformed|v1|repo).*\.jsonl$/))(
    "of %s the path is the one of the session",
    async (name) => {
      const session = fixture(`pi/${name}`)
      const lines = linesOf(`${await exported(session, "neovate")}\n`).filter(({ type }) => type === "message")
      const path = filterMessages(lines)
      const said = session.tree.leaf === null ? [] : session.tree.path(session.tree.leaf)
      const from = said.findLastIndex(({ type }) => type === "compaction")
      const prompts = (entries: ReadonlyArray<Json>) =>
        entries.filter((one) => (one.message as Json | undefined)?.role === "user")
      assert.deepStrictEqual(
        prompts(said.slice(from + 1)).map(({ id }) => id as string),
        path.map(({ uuid }) => uuid).filter((uuid) => prompts(said).some(({ id }) => id === uuid))
      )
    }
  )

  it("results of one reply are in one line, with what was asked", async () => {
    const call = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: { command: id } })
    const session = sessionOf(
      user("a", null, "go"),
      reply("b", "a", [call("x"), call("y")]),
      result("c", "b", "x", "one"),
      result("d", "c", "y", [{ type: "text", text: "two" }]),
      reply("e", "d", "done")
    )
    const lines = linesOf(await exported(session, "neovate"))
    assert.deepStrictEqual(
      lines.map(({ role, uuid, parentUuid }) => [role, uuid, parentUuid]),
      [
        ["user", "a", null],
        ["assistant", "b", "a"],
        ["tool", "c", "b"],
        ["assistant", "e", "c"]
      ]
    )
    const parts = lines[2]!.content as ReadonlyArray<Json>
    assert.deepStrictEqual(
      parts.map(({ toolCallId, input }) => [toolCallId, input]),
      [
        ["x", { command: "x" }],
        ["y", { command: "y" }]
      ]
    )
  })

  it("a compaction begins anew, as the program's own do", async () => {
    const session = sessionOf(
      user("a", null, "old"),
      entry("compaction", "b", "a", { summary: "what was", tokensBefore: 10 }),
      user("c", "b", "new")
    )
    const path = filterMessages(linesOf(await exported(session, "neovate")))
    assert.deepStrictEqual(
      path.map(({ uuid, uiContent }) => [uuid, uiContent]),
      [
        ["b", "Chat history compacted successfully."],
        ["c", undefined]
      ]
    )
  })
})
