import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Client from "../src/Client.ts"
import { placeOf } from "../src/Frame.ts"
import { isDone, type Served, served } from "./support.ts"

/** A test against a server of its own. */
const test = (name: string, check: (server: Served) => Promise<void>, options: Parameters<typeof served>[0] = {}) =>
  it.live(name, () => Effect.scoped(Effect.flatMap(served(options), (server) => Effect.promise(() => check(server)))))

/** Says something and waits until all replies are there; answers the prompt and the replies. */
const talked = async (
  chat: Awaited<ReturnType<Served["create"]>>,
  content: string,
  parentId: string | null,
  more = {}
) => {
  const { seq } = await chat.tree()
  const { body } = await chat.say(content, parentId, more)
  const socket = chat.socket(seq)
  await socket.until(isDone(body.nodes.length))
  await socket.close()
  return { prompt: body.prompt.id as string, replies: body.nodes.map(({ id }: { id: string }) => id) as Array<string> }
}

describe("sessions", () => {
  test("are made, listed, named and forked; nobody is told where they are kept", async (server) => {
    const chat = await server.create("a talk")
    const { prompt, replies } = await talked(chat, "hello", null)
    const renamed = await server.ask("PUT", `/api/sessions/${chat.id}/title`, { title: "  another\nname " })
    assert.strictEqual(renamed.status, 200)
    assert.strictEqual((await chat.tree()).title, "another name")
    const fork = await server.ask("POST", `/api/sessions/${chat.id}/fork`, { at: prompt })
    assert.strictEqual(fork.status, 201)
    const copy = await server.chat(fork.body.sessionId).tree()
    assert.deepStrictEqual([Object.keys(copy.nodes), copy.title], [[prompt], "another name"])
    const all = await server.ask("POST", `/api/sessions/${chat.id}/fork`, { all: true })
    assert.sameMembers(Object.keys((await server.chat(all.body.sessionId).tree()).nodes), [prompt, ...replies])
    const { body } = await server.ask("GET", "/api/sessions")
    assert.sameMembers(
      body.map(({ sessionId }: { sessionId: string }) => sessionId),
      [chat.id, fork.body.sessionId, all.body.sessionId]
    )
    assert.notInclude(JSON.stringify(body), ".jsonl")
    assert.strictEqual((await server.ask("POST", `/api/sessions/${chat.id}/fork`, { at: "nowhere" })).status, 404)
  })

  test("answer to unambiguous abbreviations, and are the same session then", async (server) => {
    const chat = await server.create()
    await talked(chat, "hello", null)
    const short = server.chat(chat.id.slice(-8))
    assert.deepStrictEqual((await short.tree()).nodes, (await chat.tree()).nodes)
    assert.strictEqual((await short.tree()).sessionId, chat.id)
  })

  test("that are not there have one answer, whatever is asked of them and however they are named", async (server) => {
    await server.create()
    const names = [
      "nowhere",
      "..",
      "../../etc/passwd",
      "%2e%2e%2f",
      "a\u0000b",
      "/etc/passwd",
      "x".repeat(4000),
      "sessions",
      "．．"
    ]
    const answers = new Set<string>()
    for (const name of names) {
      const at = `/api/chat/${encodeURIComponent(name)}`
      for (const answer of [
        await server.ask("GET", `${at}/tree`),
        await server.ask("POST", `${at}/message`, { parentId: null, content: "hello" }),
        await server.ask("PUT", `${at}/tree/edit`, { ops: [{ op: "undo" }] }),
        await server.ask("PUT", `${at}/node/x/state`, { isEnabled: true }),
        await server.ask("PUT", `${at}/nodes/state`, { states: [{ id: "x", isEnabled: true }] }),
        await server.ask("PUT", `${at}/active_leaf`, { leafId: null }),
        await server.ask("POST", `${at}/node/x/cancel`),
        await server.ask("GET", `${at}/context`),
        await server.ask("GET", `${at}/compare?a=x&b=y`)
      ]) {
        assert.strictEqual(answer.status, 404, name)
        answers.add(JSON.stringify(answer.body))
      }
    }
    assert.deepStrictEqual([...answers], ['{"code":"not-found","message":"there is no such thing here"}'])
  })
})

describe("a message", () => {
  test("is answered at once with nodes that grow, under the node it names", async (server) => {
    const chat = await server.create()
    const { status, body } = await chat.say("!sprout slow 5\n!sprout say one two three", null, { samples: 3 })
    assert.strictEqual(status, 202)
    assert.deepStrictEqual([body.prompt.content.slice(0, 7), body.prompt.status], ["!sprout", "complete"])
    assert.lengthOf(new Set(body.nodes.map(({ id }: { id: string }) => id)), 3)
    for (const node of body.nodes) {
      assert.deepStrictEqual(
        [node.status, node.parentId, node.metadata.model],
        ["generating", body.prompt.id, "grove/sprout"]
      )
    }
    const socket = chat.socket(body.seq)
    await socket.until(isDone(3))
    await socket.close()
    const tree = await chat.tree()
    assert.deepStrictEqual(
      tree.nodes[body.prompt.id]!.childrenIds.map((id) => [tree.nodes[id]!.status, tree.nodes[id]!.content]),
      [
        ["complete", "one two three"],
        ["complete", "one two three"],
        ["complete", "one two three"]
      ]
    )
  })

  test("leaves the active leaf alone unless it is to follow", async (server) => {
    const chat = await server.create()
    const first = await talked(chat, "hello", null, { follow: true })
    assert.strictEqual((await chat.tree()).activeLeafId, first.replies[0])
    await talked(chat, "aside", first.prompt)
    assert.strictEqual((await chat.tree()).activeLeafId, first.replies[0])
    const third = await talked(chat, "go on", first.replies[0]!, { follow: true, samples: 2 })
    assert.strictEqual((await chat.tree()).activeLeafId, third.prompt, "of several replies none is chosen")
  })

  test("without words has what is there answered again", async (server) => {
    const chat = await server.create()
    const { prompt, replies } = await talked(chat, "hello", null)
    const { seq } = await chat.tree()
    const { status, body } = await chat.say(undefined, prompt)
    assert.deepStrictEqual([status, body.prompt], [202, null])
    const socket = chat.socket(seq)
    await socket.until(isDone(1))
    await socket.close()
    assert.deepStrictEqual((await chat.tree()).nodes[prompt]!.childrenIds, [replies[0], body.nodes[0].id])
    assert.strictEqual((await chat.say(undefined, null)).status, 400)
  })

  test("to a place that is not there, or with a model that is not there, begins nothing", async (server) => {
    const chat = await server.create()
    const { prompt } = await talked(chat, "hello", null)
    const before = await chat.tree()
    assert.strictEqual((await chat.say("hello", "nowhere")).status, 404)
    const { status, body } = await chat.say("hello", prompt, { model: "nobody/none" })
    assert.deepStrictEqual([status, body.code], [422, "model-refused"])
    assert.deepStrictEqual((await chat.tree()).nodes, before.nodes)
  })

  test(
    "is told when too many replies grow",
    async (server) => {
      const chat = await server.create()
      const { body } = await chat.say("!sprout slow 600000\n!sprout say x", null, { samples: 2 })
      const refused = await chat.say("hello", null)
      assert.deepStrictEqual([refused.status, refused.body.code], [429, "too-many"])
      for (const { id } of body.nodes)
        assert.strictEqual((await server.ask("POST", `${chat.at}/node/${id}/cancel`)).status, 200)
      assert.strictEqual((await chat.say("hello", null)).status, 202)
    },
    { mostReplies: 2 }
  )

  test("that fails is a node that says why", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    const { body } = await chat.say("!sprout say so f\n!sprout fail", null)
    const socket = chat.socket(seq)
    await socket.until(isDone(1))
    const failed = socket.frames.find(({ event }) => event === "node.failed")
    assert(failed?.event === "node.failed")
    assert.deepStrictEqual(
      [failed.data.id, failed.data.status, failed.data.content],
      [body.nodes[0].id, "error", "so f"]
    )
    assert.include(failed.data.metadata.error, "sprout")
    await socket.close()
  })

  test("runs tools that need no consent, and no others", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    await chat.say('!sprout tool bash {"command":"echo hello"}', null)
    const socket = chat.socket(seq)
    await socket.until(isDone(2))
    await socket.close()
    const [result] = Object.values((await chat.tree()).nodes).filter(({ metadata }) => metadata.type === "toolResult")
    assert.deepStrictEqual([result!.role, result!.content], ["user", "not approved"])
  })

  test("is in the history, and found there", async (server) => {
    const chat = await server.create()
    const { prompt } = await talked(chat, "how tall is an elm?", null)
    const { body } = await server.ask("GET", "/api/history?q=elm&limit=5")
    assert.deepStrictEqual(
      body.map(({ prompt, session, entry }: Record<string, string>) => [prompt, session, entry]),
      [["how tall is an elm?", chat.id, prompt]]
    )
    assert.deepStrictEqual((await server.ask("GET", "/api/history?q=oak")).body, [])
  })
})

describe("a growing reply", () => {
  test("can be cancelled, keeps what it has said, and cannot be edited before it is done", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    const { body } = await chat.say("!sprout say gone\n!sprout slow 600000\n!sprout say never", null)
    const [{ id }] = body.nodes
    const socket = chat.socket(seq)
    await socket.until((frames) => frames.some(({ event }) => event === "node.content.updated"))
    const busy = await chat.state(id, false)
    assert.deepStrictEqual([busy.status, busy.body.refused[0].code], [409, "busy"])
    const cancelled = await server.ask("POST", `${chat.at}/node/${id}/cancel`)
    assert.deepStrictEqual(
      [cancelled.status, cancelled.body.node.status, cancelled.body.node.content, cancelled.body.node.metadata.error],
      [200, "error", "gone", "aborted"]
    )
    const again = await server.ask("POST", `${chat.at}/node/${id}/cancel`)
    assert.deepStrictEqual([again.status, again.body.code], [409, "refused"])
    assert.strictEqual((await server.ask("POST", `${chat.at}/node/nobody/cancel`)).status, 404)
    await socket.close()
  })
})

describe("edits", () => {
  test("are all made or none, and every refusal has a code", async (server) => {
    const chat = await server.create()
    const one = await talked(chat, "one", null)
    const two = await talked(chat, "two", one.replies[0]!)
    const before = await chat.tree()
    const refused = await chat.edit([
      { op: "disable", ids: [one.prompt] },
      { op: "leaf", target: "nowhere" },
      { op: "graft", source: one.prompt, target: two.prompt }
    ])
    assert.strictEqual(refused.status, 409)
    assert.deepStrictEqual(
      refused.body.refused.map(({ index, code }: { index: number; code: string }) => ({ index, code })),
      [
        { index: 1, code: "unknown" },
        { index: 2, code: "cycle" }
      ]
    )
    assert.strictEqual(refused.body.code, "refused")
    assert.deepStrictEqual((await chat.tree()).nodes, before.nodes)
    assert.strictEqual(placeOf(refused.body.seq), placeOf((await chat.tree()).seq))

    const applied = await chat.edit([
      { op: "prune", id: one.replies[0] },
      { op: "graft", source: two.prompt, target: one.prompt },
      { op: "rate", id: one.prompt, rating: 5, note: "good" },
      { op: "label", id: one.prompt, label: "start" }
    ])
    assert.strictEqual(applied.status, 200)
    assert.deepStrictEqual(
      applied.body.applied.map(({ index, op, nodes }: Record<string, unknown>) => [index, op, nodes]),
      [
        [0, "prune", [two.prompt]],
        [1, "graft", [two.prompt, two.replies[0]]],
        [2, "rate", [one.prompt]],
        [3, "label", [one.prompt]]
      ]
    )
    const tree = await chat.tree()
    assert.deepStrictEqual([tree.stash, tree.nodes[one.replies[0]!]!.childrenIds], [[two.prompt], []])
    assert.deepStrictEqual(tree.nodes[one.prompt]!.childrenIds, [one.replies[0], applied.body.applied[1].created[0]])
    assert.deepInclude(tree.nodes[one.prompt]!.metadata, { rating: 5, note: "good", label: "start" })
    const undone = await chat.edit([{ op: "undo", edit: applied.body.applied[0].edit }])
    assert.strictEqual(undone.status, 200)
    assert.deepStrictEqual((await chat.tree()).stash, [])
  })

  test("can merge and summarise, with a text or a model's", async (server) => {
    const chat = await server.create()
    const one = await talked(chat, "one", null)
    const two = await talked(chat, "two", one.prompt)
    const merged = await chat.edit([{ op: "merge", branch: two.replies[0], onto: one.replies[0], pick: [two.prompt] }])
    assert.strictEqual(merged.status, 200)
    const told = await chat.edit([{ op: "merge", branch: two.replies[0], onto: one.replies[0] }])
    assert.strictEqual(told.status, 200)
    const { nodes } = await chat.tree()
    const summary = nodes[told.body.applied[0].created[0]]!
    assert.deepStrictEqual(
      [summary.role, summary.metadata.type, summary.metadata.mergedFrom],
      ["system", "branch_summary", two.replies[0]]
    )
    assert.include(summary.content, "## Goal")
    await chat.leaf(one.replies[0]!)
    const short = await chat.edit([{ op: "summarize", first: one.prompt, last: one.replies[0], text: "they greeted" }])
    const after = await chat.tree()
    assert.deepStrictEqual(after.nodes[short.body.applied[0].created[0]]!.metadata.summarizedFrom, [
      one.prompt,
      one.replies[0]!
    ])
    assert.deepStrictEqual(
      [after.nodes[one.prompt]!.isEnabled, after.activeLeafId],
      [false, short.body.applied[0].created[0]]
    )
  })

  test("switch one node and many, whole units at a time, or none", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    await chat.say('!sprout tool read {"path":"nothing"}', null)
    const socket = chat.socket(seq)
    await socket.until(isDone(2))
    await socket.close()
    const tree = await chat.tree()
    const [call, result] = ["toolCalls", "result"].map(
      (what) =>
        Object.values(tree.nodes).find(({ metadata }) =>
          what === "result" ? metadata.type === "toolResult" : metadata.toolCalls !== undefined
        )!
    )
    const one = await chat.state(result!.id, false)
    assert.deepStrictEqual([one.status, one.body.applied[0].nodes], [200, [call!.id, result!.id]])
    const refused = await chat.states([
      { id: call!.id, isEnabled: true },
      { id: "nowhere", isEnabled: true },
      { id: "nor here", isEnabled: false }
    ])
    assert.deepStrictEqual(
      [refused.status, refused.body.refused.map(({ index, code }: Record<string, unknown>) => [index, code])],
      [
        409,
        [
          [1, "unknown"],
          [2, "unknown"]
        ]
      ]
    )
    assert.isFalse((await chat.tree()).nodes[call!.id]!.isEnabled)
    const { prompt } = { prompt: tree.rootNodeIds[0]! }
    const many = await chat.states([
      { id: call!.id, isEnabled: true },
      { id: prompt, isEnabled: false }
    ])
    assert.strictEqual(many.status, 200)
    const { nodes } = await chat.tree()
    assert.deepStrictEqual(
      [nodes[call!.id]!.isEnabled, nodes[result!.id]!.isEnabled, nodes[prompt]!.isEnabled],
      [true, true, false]
    )
  })

  test("on an older number than the session's are refused, and of two with the same number one wins", async (server) => {
    const chat = await server.create()
    const { prompt } = await talked(chat, "hello", null)
    const { seq } = await chat.tree()
    const both = await Promise.all([
      chat.edit([{ op: "label", id: prompt, label: "a" }], { "if-match": `"${seq}"` }),
      chat.edit([{ op: "label", id: prompt, label: "b" }], { "if-match": String(seq) })
    ])
    assert.deepStrictEqual(both.map(({ status }) => status).sort(), [200, 409])
    const lost = both.find(({ status }) => status === 409)!
    assert.deepStrictEqual([lost.body.code, placeOf(lost.body.seq)], ["conflict", placeOf(seq) + 1])
    const late = await server.ask(
      "POST",
      `${chat.at}/message`,
      { parentId: prompt, content: "x" },
      { "if-match": String(seq) }
    )
    assert.strictEqual(late.status, 409)
    assert.strictEqual((await chat.leaf(prompt, { "if-match": String(seq) })).status, 409)
    assert.strictEqual((await chat.leaf(prompt, { "if-match": "soon" })).status, 400)
    assert.strictEqual((await chat.leaf(prompt, { "if-match": String(lost.body.seq) })).status, 200)
  })

  test("with an operation id are made once, however often they are sent", async (server) => {
    const chat = await server.create()
    const { prompt } = await talked(chat, "hello", null)
    const once = { "idempotency-key": "first" }
    const ops = [{ op: "graft", source: prompt, target: prompt }]
    const own = [{ op: "merge", branch: prompt, onto: prompt, text: "x" }]
    assert.strictEqual((await chat.edit(ops, once)).status, 409, "what is refused may be tried again")
    assert.strictEqual((await chat.edit(own, once)).status, 409)
    const label = [{ op: "label", id: prompt, label: "a" }]
    const answers = await Promise.all([1, 2, 3].map(() => chat.edit(label, once)))
    const seq = answers[0]!.body.seq
    assert.strictEqual(placeOf((await chat.tree()).seq), placeOf(seq))
    assert.deepStrictEqual(
      answers.map(({ status, body }) => [status, body.seq]),
      [
        [200, seq],
        [200, seq],
        [200, seq]
      ]
    )
    const other = await chat.edit([{ op: "label", id: prompt, label: "b" }], once)
    assert.deepStrictEqual([other.status, other.body.code], [422, "operation-reused"])
    const say = () =>
      server.ask("POST", `${chat.at}/message`, { parentId: prompt, content: "again" }, { "idempotency-key": "second" })
    const [one, two] = [await say(), await say()]
    assert.deepStrictEqual(one, two)
    assert.strictEqual(one.status, 202)
  })
})

describe("looking", () => {
  test("at what the model is shown, before and after it is made sendable", async (server) => {
    const chat = await server.create()
    const { prompt, replies } = await talked(chat, "hello", null, { follow: true })
    const shown = await server.ask("GET", `${chat.at}/context`)
    assert.deepStrictEqual([shown.status, shown.body.leaf, shown.body.sources], [200, replies[0], [prompt, replies[0]]])
    assert.isAbove(shown.body.tokens, 0)
    await chat.state(replies[0]!, false)
    const less = await server.ask("GET", `${chat.at}/context?sendable=true`)
    assert.lengthOf(less.body.messages, 1)
    assert.lengthOf((await server.ask("GET", `${chat.at}/context?leaf=none`)).body.messages, 0)
    assert.strictEqual((await server.ask("GET", `${chat.at}/context?leaf=nowhere`)).status, 404)
  })

  test("at two branches side by side", async (server) => {
    const chat = await server.create()
    const { prompt, replies } = await talked(chat, "hello", null, { samples: 2 })
    const { status, body } = await server.ask("GET", `${chat.at}/compare?a=${replies[0]}&b=${replies[1]}`)
    assert.deepStrictEqual(
      [status, body.common, body.a.entries, body.b.entries],
      [200, [prompt], [replies[0]], [replies[1]]]
    )
    assert.strictEqual((await server.ask("GET", `${chat.at}/compare?a=${prompt}&b=nowhere`)).status, 404)
    assert.strictEqual((await server.ask("GET", `${chat.at}/compare?a=${prompt}`)).status, 400)
  })

  test("into all sessions", async (server) => {
    assert.deepStrictEqual((await server.ask("GET", "/api/search?q=elm&limit=1")).body, [
      { session: "s", entry: "e", role: "user", timestamp: "2026-01-01T00:00:00.000Z", snippet: "elm", marks: [[0, 3]] }
    ])
    const broken = await server.ask("GET", "/api/search?q=broken")
    assert.deepStrictEqual([broken.status, broken.body.code], [503, "unavailable"])
    assert.strictEqual((await server.ask("GET", "/api/search?limit=0")).status, 400)
  })
})

describe("the interface", () => {
  test("is described by a document that has every route and every event", async (server) => {
    const { body } = await server.ask("GET", "/openapi.json")
    assert.deepStrictEqual(Object.keys(body.paths).sort(), [
      "/api/chat/{sessionId}/active_leaf",
      "/api/chat/{sessionId}/compare",
      "/api/chat/{sessionId}/context",
      "/api/chat/{sessionId}/events",
      "/api/chat/{sessionId}/message",
      "/api/chat/{sessionId}/node/{nodeId}/cancel",
      "/api/chat/{sessionId}/node/{nodeId}/state",
      "/api/chat/{sessionId}/nodes/state",
      "/api/chat/{sessionId}/tree",
      "/api/chat/{sessionId}/tree/edit",
      "/api/history",
      "/api/search",
      "/api/sessions",
      "/api/sessions/{sessionId}/fork",
      "/api/sessions/{sessionId}/title"
    ])
    const text = JSON.stringify(body)
    for (const event of [
      "node.created",
      "node.content.updated",
      "node.completed",
      "node.failed",
      "node.state.updated",
      "tree.edited",
      "leaf.changed"
    ]) {
      assert.include(JSON.stringify(body.components.schemas.Frame), event)
    }
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      assert.property(body.components.schemas, name!)
    }
    assert.deepStrictEqual(body.components.securitySchemes, { bearer: { type: "http", scheme: "Bearer" } })
  })

  it.live("has a typed client from the same definitions, whose errors are typed too", () =>
    Effect.gen(function* () {
      const { url, token } = yield* served()
      const client = yield* Client.make({ url, token })
      const { sessionId } = yield* client.sessions.create({ payload: { title: "typed" } })
      const begun = yield* client.chat.message({
        params: { sessionId },
        headers: {},
        payload: { parentId: null, content: "hi" }
      })
      assert.strictEqual(begun.nodes[0]!.status, "generating")
      const tree = yield* client.chat.tree({ params: { sessionId } })
      assert.strictEqual(tree.title, "typed")
      const missing = yield* Effect.flip(client.chat.tree({ params: { sessionId: "nowhere" } }))
      assert.instanceOf(missing, Client.NotFound)
      const refused = yield* Effect.flip(
        client.chat.edit({ params: { sessionId }, headers: {}, payload: { ops: [{ op: "redo" }] } })
      )
      assert(refused instanceof Client.Refused)
      assert.strictEqual(refused.refused[0]!.code, "not-an-edit")
      const { url: address, protocols } = Client.events({ url, token }, sessionId, tree.seq)
      assert.match(address, /^ws:\/\/127\.0\.0\.1:\d+\/api\/chat\/[^/]+\/events\?since=\d+$/)
      assert.deepStrictEqual(protocols, ["grove", `bearer.${token}`])
    }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer))
  )
})
