import { assert, describe, it } from "@effect/vitest"
import { Entry } from "@grove/core"
import * as Exporter from "../../src/write/Exporter.ts"
import { samples } from "../redact/samples.ts"
import { entry, exported, redactor, reply, result, sessionFrom, sessionOf, user } from "./support.ts"

const secret = (text: string) => JSON.stringify(text).slice(1, -1)

/** A session that holds every secret wherever a text can stand. */
const leaky = () => {
  const all = samples.map(({ text }) => text).join("\n")
  return sessionOf(
    entry("session_init", "i", null, { systemPrompt: all, task: all, tools: [] }),
    user("a", "i", all),
    user("a2", "a", [{ type: "text", text: all }]),
    reply("b", "a2", [
      { type: "thinking", thinking: all, thinkingSignature: "sealed" },
      { type: "text", text: all },
      { type: "toolCall", id: "call", name: "bash", arguments: { command: all, env: { [samples[0]!.text]: all } } }
    ]),
    result("c", "b", "call", all),
    entry("message", "d", "c", { message: { role: "bashExecution", command: all, output: all, exitCode: 0 } }),
    entry("compaction", "e", "d", { summary: all, tokensBefore: 1, details: { readFiles: [all] } }),
    entry("branch_summary", "f", "e", { summary: all, fromId: "a" }),
    entry("custom_message", "g", "f", { customType: "x", content: all, display: true }),
    entry("label", "h", "g", { targetId: "b", label: samples[4]!.text }),
    entry("session_info", "j", "h", { name: samples[0]!.text }),
    entry("custom", "k", "j", { customType: "grove.config", data: { summary: all, pastedTextMap: { "#1": all } } }),
    entry("unheard-of", "l", "j", { deep: [[{ text: all }]] })
  )
}

describe.each(Exporter.formats)("an export to %s", (to) => {
  it("holds none of the secrets that were planted, and counts them", async () => {
    const counting = redactor()
    const text = await exported(leaky(), to, { redactor: counting })
    for (const sample of samples) {
      assert.notInclude(text, sample.secret, sample.kind)
      assert.notInclude(text, secret(sample.secret), sample.kind)
      assert.isAtLeast(counting.counts().get(sample.kind) ?? 0, 1, sample.kind)
    }
    assert.notInclude(text, "/home/ada")
    assert.notInclude(text, "sealed")
  })

  it("holds them where that was asked for", async () => {
    const text = await exported(leaky(), to)
    for (const sample of samples.slice(0, 12)) assert.include(text, secret(sample.secret), sample.kind)
  })
})

describe("what was redacted", () => {
  it.each(["pi", "omp"] as const)(
    "is still a session for %s: valid, with the same tree, leaf and pairs",
    async (to) => {
      const before = leaky()
      const after = sessionFrom(new TextEncoder().encode(await exported(before, to, { redactor: redactor() })))
      assert.deepStrictEqual([...after.tree.ids()], [...before.tree.ids()])
      assert.strictEqual(after.tree.leaf, before.tree.leaf)
      for (const id of before.tree.ids()) {
        assert.strictEqual(after.tree.get(id)!.parentId, before.tree.get(id)!.parentId)
        assert.deepStrictEqual(after.tree.children(id), before.tree.children(id))
      }
      const problems = (session: typeof after) =>
        session.tree.entries.filter((one) => !Entry.hasValidBody(one)).map(({ id }) => id)
      assert.deepStrictEqual(problems(after), problems(before))
    }
  )

  it("redacted again stays as it is", async () => {
    const once = await exported(leaky(), "omp", { redactor: redactor() })
    const session = sessionFrom(new TextEncoder().encode(once))
    const again = redactor()
    assert.strictEqual(await exported(session, "omp", { redactor: again }), once)
    assert.strictEqual(again.counts().size, 0)
  })
})
