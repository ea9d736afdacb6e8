/** Sessions of opencode: exports, the database and the older folders say the same. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { ContextBuilder, isObject, type Json } from "@grove/core"
import { Effect } from "effect"
import * as Readers from "../../src/read/Readers.ts"
import * as Sources from "../../src/Sources.ts"
import { alone, assertFlawless, assertUnshaken, bytesOf, jsonOf, sourceOf, tables, utf8 } from "../support.ts"

const names = ["tools", "fork", "reverted", "compacted", "subtask"]
const database = fileURLToPath(new URL("../../../../fixtures/opencode/opencode.db", import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), "grove-opencode-"))
afterAll(() => rmSync(scratch, { recursive: true }))

interface Exported {
  readonly info: Json
  readonly messages: ReadonlyArray<{ readonly info: Json; readonly parts: ReadonlyArray<Json> }>
}
const exported = (name: string): Exported => jsonOf(`opencode/export-${name}.json`)
const read = (name: string) => Readers.read("opencode", sourceOf(`opencode/export-${name}.json`)).sessions[0]!

/** Everything but where it came from, and what is known only of a whole database. */
const bare = (entries: ReadonlyArray<Json>): ReadonlyArray<Json> => entries.map(({ origin: _, ...entry }) => entry)

describe("opencode", () => {
  it.each(names)("%s holds every text, call and result of its export in their order", (name) => {
    const session = read(name)
    const { tree } = assertFlawless(session)
    const path = tree.path(tree.leaf!)
    const { messages, info } = exported(name)
    const wanted = messages.flatMap(({ parts, info: { summary } }) =>
      summary === true
        ? []
        : parts.flatMap((part) => (part.type === "text" ? [part.text] : part.type === "tool" ? [part.callID] : []))
    )
    const found = path.flatMap(({ message }) => {
      if (!isObject(message) || message.role === "toolResult") return []
      const blocks =
        typeof message.content === "string"
          ? [{ type: "text", text: message.content }]
          : (message.content as Array<Json>)
      return blocks.flatMap((block: Json) =>
        block.type === "text" ? [block.text] : block.type === "toolCall" ? [block.id] : []
      )
    })
    assert.deepStrictEqual(found, wanted)
    assert.strictEqual(tree.facts.config.summary, info.title)
    assert.strictEqual(session.header.cwd, info.directory)
    assert.strictEqual(Readers.detect("x.json", bytesOf(`opencode/export-${name}.json`)), "opencode")
  })

  it.each(names)("%s used what its export says", (name) => {
    const { tokens, cost } = exported(name).info as { readonly tokens: Json; readonly cost: number }
    const usages = read(name).entries.flatMap(({ message, usage }) =>
      [usage, isObject(message) ? message.usage : undefined].filter(isObject)
    )
    const sum = (of: (usage: Json) => number) => usages.reduce((total, usage) => total + of(usage), 0)
    const all = exported(name).messages.map(({ info }) => objectIn(info.tokens))
    // A fork does not count for itself what it copied, but its messages do.
    const wanted = name === "fork" ? all.reduce((total, { input }) => total + Number(input ?? 0), 0) : tokens.input
    assert.strictEqual(
      sum(({ input }) => Number(input)),
      wanted
    )
    if (name !== "fork")
      assert.closeTo(
        sum((usage) => Number(objectIn(usage.cost).total)),
        cost,
        1e-9
      )
  })
  const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

  it("a call that failed is an error, and thoughts are thoughts", () => {
    const text = JSON.stringify(read("tools").entries)
    assert.include(text, '{"type":"thinking","thinking":"Look."}')
    const results = read("tools").entries.flatMap(({ message }) =>
      isObject(message) && message.role === "toolResult" ? [message] : []
    )
    const states = exported("tools").messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool"))
    assert.deepStrictEqual(
      results.map(({ isError }) => isError),
      states.map(({ state }) => (state as Json).status === "error")
    )
  })

  it("after a compaction the model sees the summary and what came after", () => {
    const { tree } = assertFlawless(read("compacted"))
    const [summary, ...rest] = ContextBuilder.build(tree).messages as ReadonlyArray<Json>
    assert.include(String(summary!.summary), "Keep the files tidy")
    assert.strictEqual(rest.length, 2)
  })

  describe("a summary", () => {
    const { info, messages } = exported("compacted")
    const request = messages.findIndex(({ parts }) => parts.some(({ type }) => type === "compaction"))
    const translated = (change: (info: Json) => Json, without: ReadonlyArray<number> = []) => {
      const changed = messages.map((one, i) => (i === request + 1 ? { ...one, info: change(one.info) } : one))
      const kept = changed.filter((_, i) => !without.includes(i))
      const text = JSON.stringify({ info, messages: kept })
      return assertFlawless(Readers.read("opencode", alone("/x.json", utf8(text))).sessions[0]!).tree
    }
    const typesOf = (tree: ReturnType<typeof translated>) => tree.path(tree.leaf!).map(({ type }) => type)

    it("that failed changes nothing, and what it cost is counted", () => {
      const tree = translated((one) => ({ ...one, error: { name: "APIError", data: {} } }))
      assert.strictEqual(ContextBuilder.build(tree).messages.length, 6)
      assert.deepStrictEqual(typesOf(tree), [...Array(4).fill("message"), "usage", "message", "message"])
    })

    it("is found by the request that it names, and one without a request stands for what came before", () => {
      const alone = translated((one) => one, [request])
      assert.deepStrictEqual(typesOf(alone), [...Array(4).fill("message"), "compaction", "message", "message"])
      const later = translated((one) => ({ ...one, time: { created: Number.MAX_SAFE_INTEGER / 1e4 } }))
      assert.strictEqual(later.entries.filter(({ type }) => type === "compaction").length, 1)
      assert.include(JSON.stringify(ContextBuilder.build(later).messages[0]), "Keep the files tidy")
    })

    it("that has not come yet is no prompt", () => {
      const tree = translated((one) => one, [request + 1])
      assert.deepStrictEqual(typesOf(tree), Array(6).fill("message"))
      assert.notInclude(JSON.stringify(tree.entries), '"content":""')
    })
  })

  it("what a command hands to another agent is a prompt", () => {
    const { info, messages } = exported("subtask")
    const part = { ...messages[0]!.parts[0], type: "subtask", prompt: "Review the change", description: "review" }
    const text = JSON.stringify({ info, messages: [{ ...messages[0]!, parts: [part] }] })
    const { sessions, unmapped } = Readers.read("opencode", alone("/x.json", utf8(text)))
    assert.strictEqual((sessions[0]!.entries[0]!.message as Json).content, "Review the change")
    assert.deepStrictEqual(unmapped, [])
  })

  it.effect("the oldest folders have no directory, and lie another way", () =>
    Effect.gen(function* () {
      const { info, messages } = exported("tools")
      const { directory: _, ...old } = info
      const root = join(scratch, "project", "acme", "storage", "session")
      const put = (path: string, value: unknown) => {
        mkdirSync(join(root, path, ".."), { recursive: true })
        writeFileSync(join(root, path), JSON.stringify(value))
      }
      put(`info/${info.id}.json`, old)
      for (const message of messages) {
        put(`message/${info.id}/${message.info.id}.json`, message.info)
        for (const part of message.parts) put(`part/${info.id}/${message.info.id}/${part.id}.json`, part)
      }
      const [found, ...others] = Sources.discover(join(scratch, "project"))
      assert.deepStrictEqual(others, [])
      const { sessions } = yield* Sources.translate({ file: found!.file, format: found!.format! })
      assert.deepStrictEqual(bare(sessions[0]!.entries), bare(read("tools").entries))
      assert.strictEqual(sessions[0]!.header.cwd, info.directory)
    }).pipe(Effect.provide(tables))
  )

  it.effect("the database says the same as the exports, and is not written to", () =>
    Effect.gen(function* () {
      const before = readFileSync(database)
      const { sessions } = yield* Sources.translate({ file: database, format: "opencode" })
      assert.strictEqual(sessions.length, 6)
      const ids = jsonOf<{ readonly [name: string]: string }>("opencode/session-ids.json")
      for (const name of ["tools", "compacted", "subtask"]) {
        const session = sessions.find(({ header }) => header.id === ids[name])!
        assert.deepStrictEqual(bare(session.entries), bare(read(name).entries))
      }
      for (const session of sessions) assertFlawless(session)
      assert.isTrue(before.equals(readFileSync(database)))
    }).pipe(Effect.provide(tables))
  )

  it.effect("what was taken back is a branch, a fork names its origin, and a sub-agent its parent", () =>
    Effect.gen(function* () {
      const { sessions } = yield* Sources.translate({ file: database, format: "opencode" })
      const ids = jsonOf<{ readonly [name: string]: string }>("opencode/session-ids.json")
      const of = (name: string) => sessions.find(({ header }) => header.id === ids[name])!
      const { tree } = assertFlawless(of("reverted"))
      assert.strictEqual(tree.leaves().length, 2)
      assert.deepStrictEqual(
        tree.path(tree.leaf!).map(({ id }) => String(id)),
        read("reverted")
          .entries.filter(({ type }) => type === "message")
          .map(({ id }) => String(id))
      )
      const [fork, origin] = [of("fork"), of("tools")]
      assert.strictEqual(fork.header.parentSession, origin.header.id)
      const own = new Set(origin.entries.map(({ id, timestamp }) => `${id} ${timestamp}`))
      const shared = fork.entries.filter(({ id, timestamp }) => own.has(`${id} ${timestamp}`))
      assert.strictEqual(shared.length, 9)
      const agent = sessions.find(({ header }) => header.parentSession === ids.subtask)!
      assert.strictEqual(agent.entries[0]!.type, "session_init")
    }).pipe(Effect.provide(tables))
  )

  it.effect("folders of JSON say the same as the export", () =>
    Effect.gen(function* () {
      const { info, messages } = exported("tools")
      const put = (path: string, value: unknown) => {
        mkdirSync(join(scratch, "storage", path, ".."), { recursive: true })
        writeFileSync(join(scratch, "storage", path), JSON.stringify(value))
      }
      put(`session/global/${info.id}.json`, info)
      for (const message of messages) {
        put(`message/${info.id}/${message.info.id}.json`, message.info)
        for (const part of message.parts) put(`part/${message.info.id}/${part.id}.json`, part)
      }
      const [found, ...others] = Sources.discover(join(scratch, "storage"))
      assert.deepStrictEqual(others, [])
      const { sessions } = yield* Sources.translate({ file: found!.file, format: found!.format! })
      assert.deepStrictEqual(bare(sessions[0]!.entries), bare(read("tools").entries))
    }).pipe(Effect.provide(tables))
  )

  it("a revert that nothing has replaced yet stands before what was taken back", () => {
    const { info, messages } = exported("tools")
    const reverted = { info: { ...info, revert: { messageID: messages[3]!.info.id } }, messages }
    const { sessions } = Readers.read("opencode", alone("/x.json", utf8(JSON.stringify(reverted))))
    const { tree } = assertFlawless(sessions[0]!)
    assert.strictEqual((tree.get(tree.leaf!)!.origin as Json).entry, messages[2]!.info.id)
    assert.include(JSON.stringify(sessions), "Write b.txt")
  })

  it("100 mutilated files are read without harm", () => {
    assertUnshaken(
      "opencode",
      names.map((name) => `opencode/export-${name}.json`)
    )
  })
})
