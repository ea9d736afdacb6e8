/** The SDK as an agent uses it: on files, by promises. */
import { spawn } from "node:child_process"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Capabilities } from "@grove/core"
import { type GroveError, type GroveOptions, openGrove, type SessionEvent } from "../src/index.ts"

const opened: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

const grove = (options: GroveOptions = {}) => {
  const home = mkdtempSync(join(tmpdir(), "grove-sdk-"))
  const made = openGrove({ home, durability: "never", ...options })
  opened.push(async () => {
    await made.close()
    rmSync(home, { recursive: true, force: true })
  })
  return { home, grove: made }
}

const reply = (text: string) => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text }], provider: "elm", model: "1", stopReason: "stop" }
})

const textsOf = (context: { readonly messages: ReadonlyArray<unknown> }) =>
  (context.messages as ReadonlyArray<{ content: ReadonlyArray<{ text: string }> }>).map(
    ({ content }) => content[0]!.text
  )

const failure = (attempt: Promise<unknown>): Promise<GroveError> =>
  attempt.then(
    () => assert.fail("it succeeded"),
    (error) => error
  )

describe("a session", () => {
  it("is appended to, branched, and shows the model the path it stands on", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const first = await session.prompt("how tall is an elm?")
    await session.append(reply("tall"))
    await session.branch(first.id)
    await session.append(reply("taller"))
    assert.deepStrictEqual(textsOf(await session.context()), ["how tall is an elm?", "taller"])
    await session.branch(null)
    assert.deepStrictEqual((await session.context()).messages, [])
  })

  it("is where it was when it is opened again", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const first = await session.prompt("one")
    await session.append(reply("two"))
    await session.branch(first.id)
    await session.close()
    const again = await here.open(session.id)
    assert.strictEqual(await again.leaf(), first.id)
    assert.deepStrictEqual(
      (await here.list()).map(({ id }) => id),
      [session.id]
    )
  })

  it("has other positions, which never move the person", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const prompt = await session.prompt("say it twice")
    const [a, b] = await Promise.all([session.cursor(prompt.id), session.cursor(prompt.id)])
    await Promise.all([a!.append(reply("first")), b!.append(reply("second"))])
    assert.strictEqual(await session.leaf(), prompt.id)
    assert.deepStrictEqual(textsOf(await b!.context()), ["say it twice", "second"])
  })

  it("is edited all or nothing, and an edit is undone", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const prompt = await session.prompt("a secret")
    await session.append(reply("I see"))
    const { context } = await session.edit({ op: "disable", ids: [prompt.id] }, { op: "name", name: "trees" })
    assert.isBelow(context.after.messages, context.before.messages)
    const refused = await failure(session.edit({ op: "enable", ids: [prompt.id] }, { op: "prune", id: "nothing" }))
    assert.deepStrictEqual([refused.code, refused.refusal, refused.entry], ["refused", "unknown", "nothing"])
    assert.deepStrictEqual(textsOf(await session.context()), ["I see"])
    await session.edit({ op: "undo" })
    assert.deepStrictEqual(textsOf(await session.context()), ["a secret", "I see"])
  })

  it("is made sendable", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    await session.prompt("hello")
    const model = Capabilities.of({ provider: "elm", modelId: "1" })
    const { systemPrompt, messages } = await session.sendable({ model, systemPrompt: "Be brief." })
    assert.strictEqual(systemPrompt, "Be brief.")
    assert.strictEqual(messages.length, 1)
  })

  it("is compacted by whoever can summarize", async () => {
    const asked: Array<string> = []
    const { grove: here } = grove({
      summarize: async ({ prompt }) => {
        asked.push(prompt)
        return { text: "They spoke of trees." }
      }
    })
    const session = await here.create({ cwd: "/work" })
    for (let i = 0; i < 8; i++) {
      await session.prompt(`tree ${i} `.repeat(400))
      await session.append(reply(`a leaf of ${i} `.repeat(400)))
    }
    const outcome = await session.compact({ window: 8_000 })
    assert.isTrue(outcome.compacted)
    assert.isAbove(asked.length, 0)
    assert.include(JSON.stringify((await session.context()).messages[0]), "They spoke of trees.")
  })

  it("tells of everything that happens to it, also by other programs", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const seen: Array<SessionEvent["_tag"]> = []
    const foreign = new Promise<void>((done) => {
      session.subscribe(({ _tag }) => {
        seen.push(_tag)
        if (_tag === "ForeignEntries") done()
      })
    })
    const { id } = await session.prompt("mine")
    const line = { type: "message", id: "aaaa0001", parentId: id, timestamp: new Date().toISOString() }
    appendFileSync(session.path, `${JSON.stringify({ ...line, message: { role: "user", content: "theirs" } })}\n`)
    await foreign
    assert.deepStrictEqual(seen, ["Appended", "ForeignEntries"])
  })

  it("can be listened to with for await, until it is closed", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const seen: Array<string> = []
    const listening = (async () => {
      for await (const { _tag } of session.events()) {
        seen.push(_tag)
        if (seen.length === 1) await session.close()
      }
    })()
    await new Promise((next) => setImmediate(next))
    await session.prompt("one")
    await listening
    assert.deepStrictEqual(seen, ["Appended"])
  })
})

describe("a home", () => {
  it("forks a session", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const prompt = await session.prompt("one")
    await session.append(reply("two"))
    const fork = await here.open((await here.fork(session.id, { at: prompt.id })).path)
    assert.deepStrictEqual(textsOf(await fork.context()), ["one"])
  })

  it("finds what was said and what was typed", async () => {
    const { grove: here } = grove()
    const session = await here.create({ cwd: "/work" })
    const prompt = await session.prompt("修复会话树折叠的错误")
    await here.remember("修复会话树折叠的错误", { cwd: "/work", session: session.id, entry: prompt.id })
    assert.deepStrictEqual(
      (await here.search("折叠")).map(({ entry }) => entry),
      [prompt.id]
    )
    assert.deepStrictEqual(
      (await here.prompts("折叠")).map(({ entry }) => entry),
      [prompt.id]
    )
  })

  it("fails with a code and what it is about", async () => {
    const { grove: here } = grove()
    const unknown = await failure(here.open("nowhere"))
    assert.deepStrictEqual([unknown.name, unknown.code, unknown.session], ["GroveError", "not-found", "nowhere"])
    const session = await here.create({ cwd: "/work" })
    const elsewhere = await failure(session.branch("aaaa"))
    assert.deepStrictEqual([elsewhere.code, elsewhere.entry], ["unknown-entry", "aaaa"])
  })

  it("lets the process end once it is closed", async () => {
    const { home } = grove()
    const sdk = fileURLToPath(new URL("../dist/index.js", import.meta.url))
    const program = `import { openGrove } from ${JSON.stringify(sdk)}
const grove = openGrove({ home: ${JSON.stringify(home)} })
const session = await grove.create({ cwd: "/" })
await session.prompt("hello")
await grove.close()`
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit", timeout: 20_000 })
    assert.strictEqual(await new Promise((done) => child.on("exit", done)), 0)
  })
})
