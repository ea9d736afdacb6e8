import { createConnection } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Frame } from "../src/Frame.ts"
import { isDone, Picture, type Served, served, socket, TOKEN } from "./support.ts"

const test = (name: string, check: (server: Served) => Promise<void>, options: Parameters<typeof served>[0] = {}) =>
  it.live(name, () => Effect.scoped(Effect.flatMap(served(options), (server) => Effect.promise(() => check(server)))))

const kinds = (frames: ReadonlyArray<Frame>) => frames.map(({ event }) => event)

/** Strictly upwards: nothing came twice or out of order. */
const isOrdered = (frames: ReadonlyArray<Frame>) => frames.every(({ seq }, at) => at === 0 || seq > frames[at - 1]!.seq)

describe("a socket", () => {
  test("tells every kind of event, and what it tells adds up to the tree", async (server) => {
    const chat = await server.create()
    const picture = new Picture(await chat.tree())
    const listening = chat.socket(picture.tree.seq)
    const { body } = await chat.say("!sprout think hm\n!sprout say one two", null, { follow: true })
    await listening.until(isDone(1))
    await chat.say("!sprout fail", body.prompt.id)
    await listening.until(isDone(2))
    await chat.state(body.prompt.id, false)
    await chat.edit([{ op: "prune", id: body.prompt.id }])
    await chat.edit([{ op: "graft", source: body.nodes[0].id, target: body.prompt.id }])
    await chat.leaf(null)
    await listening.until((frames) => {
      const last = frames.at(-1)
      return last?.event === "leaf.changed" && last.data.activeLeafId === null
    })
    assert.deepStrictEqual([...new Set(kinds(listening.frames))].sort(), [
      "leaf.changed",
      "node.completed",
      "node.content.updated",
      "node.created",
      "node.failed",
      "node.state.updated",
      "tree.edited"
    ])
    assert.isTrue(isOrdered(listening.frames))
    for (const frame of listening.frames) picture.take(frame)
    assert.deepStrictEqual(picture.shape, new Picture(await chat.tree()).shape)
    const chunks = listening.frames.flatMap((frame) => (frame.event === "node.content.updated" ? [frame.data] : []))
    assert.strictEqual(chunks.map(({ contentChunk }) => contentChunk).join(""), "one two")
    assert.strictEqual(chunks.map(({ thinkingChunk = "" }) => thinkingChunk).join(""), "hm")
    await listening.close()
  })

  test("replays what was missed, and only that", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    const whole = chat.socket(seq)
    await chat.say("one two three", null, { samples: 3 })
    await whole.until(isDone(3))
    for (const at of [0, 1, Math.floor(whole.frames.length / 2), whole.frames.length - 1]) {
      const since = whole.frames[at]!.seq
      const late = chat.socket(since)
      const missed = whole.frames.slice(at + 1)
      await late.until((frames) => frames.length >= missed.length)
      assert.deepStrictEqual(late.frames, missed)
      await late.close()
    }
    await whole.close()
  })

  test("without a number begins now; a number that is none is refused, and one from the future is gone", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    const listening = chat.socket()
    await listening.opened
    await chat.edit([{ op: "name", name: "now" }])
    await listening.until((frames) => frames.length > 0)
    assert.deepStrictEqual(kinds(listening.frames), ["tree.edited"])
    await listening.close()
    const ahead = chat.socket(seq + 5e9)
    assert.strictEqual((await ahead.closed).code, 4410)
    for (const since of ["soon", "-1", "1.5", "1e400", ""]) {
      const refused = socket(server.url, TOKEN, chat.id, since as never)
      const problem = await refused.opened.catch((error: Error) => error.message)
      assert.strictEqual(problem, "400", since)
    }
    const nowhere = server.chat("nowhere").socket()
    assert.strictEqual(await nowhere.opened.catch((error: Error) => error.message), "404")
  })

  test("is told apart for each session", async (server) => {
    const [one, two] = [await server.create(), await server.create()]
    const [a, b] = [one.socket(), two.socket()]
    await Promise.all([a.opened, b.opened])
    await one.edit([{ op: "name", name: "one" }])
    await two.edit([{ op: "name", name: "two" }])
    await Promise.all([a.until((frames) => frames.length > 0), b.until((frames) => frames.length > 0)])
    assert.deepStrictEqual([a.frames.length, b.frames.length], [1, 1])
    await Promise.all([a.close(), b.close()])
  })

  test(
    "says goodbye with a code when its client does not read, and the others hear everything",
    async (server) => {
      const chat = await server.create()
      const quick = chat.socket()
      const { hostname, port } = new URL(server.url)
      const slow = createConnection({ host: hostname, port: Number(port) })
      await quick.opened
      const upgraded = new Promise<void>((resolve) => {
        slow.once("data", () => {
          slow.pause()
          resolve()
        })
      })
      slow.write(
        [
          `GET ${chat.at}/events HTTP/1.1`,
          `Host: ${hostname}:${port}`,
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          `Sec-WebSocket-Protocol: grove, bearer.${TOKEN}`,
          "",
          ""
        ].join("\r\n")
      )
      await upgraded
      const gone = new Promise<void>((resolve) => slow.once("close", () => resolve()))
      const words = "tree ".repeat(60_000)
      for (let at = 1; at <= 30; at++) {
        const { body } = await chat.edit([{ op: "name", name: `${at} ${words}` }])
        await quick.until((frames) => frames.at(-1)?.seq === body.seq)
      }
      assert.lengthOf(quick.frames, 30)
      const heard: Array<Buffer> = []
      slow.on("data", (chunk) => heard.push(chunk))
      slow.on("error", () => {})
      await chat.edit([{ op: "name", name: "enough" }])
      // Its patience is over: whatever it reads now ends with a close, and its connection with it.
      await new Promise((resolve) => setTimeout(resolve, 400))
      slow.resume()
      await gone
      const ending = Buffer.concat(heard).subarray(-16)
      assert.include([...ending].map((byte) => byte.toString(16).padStart(2, "0")).join(""), "1138", "4408, too slow")
      await quick.close()
    },
    { limits: { waiting: 1 << 16, patience: 100 } }
  )
})

describe("two clients", () => {
  test("grow three branches at once, see the same tree, and keep the leaf that each of them did not move", async (server) => {
    const chat = await server.create()
    const { seq } = await chat.tree()
    const [a, b] = [chat.socket(seq), chat.socket(seq)]
    const root = await chat.say("a root", null, { follow: true })
    await a.until(isDone(1))
    const leaf = root.body.nodes[0].id
    const prompts = await Promise.all(
      ["left", "middle", "right"].map((word) => chat.say(`!sprout slow 2\n!sprout say ${`${word} `.repeat(20)}`, leaf))
    )
    await Promise.all([a.until(isDone(4)), b.until(isDone(4))])
    assert.deepStrictEqual(a.frames, b.frames)
    assert.isTrue(isOrdered(a.frames))
    const growing = a.frames.flatMap((frame) => (frame.event === "node.content.updated" ? [frame.data.id] : []))
    const turns = growing.filter((id, at) => id !== growing[at - 1]).length
    assert.isAbove(turns, 6, "the three grow side by side, not one after the other")
    for (const { body } of prompts) {
      const [{ id }] = body.nodes
      const said = a.frames.flatMap((frame) =>
        frame.event === "node.content.updated" && frame.data.id === id ? [frame.data.contentChunk] : []
      )
      const tree = await chat.tree()
      assert.strictEqual(said.join("").trim(), tree.nodes[id]!.content.trim())
      assert.strictEqual(tree.nodes[id]!.parentId, body.prompt.id)
    }
    const tree = await chat.tree()
    assert.deepStrictEqual([tree.activeLeafId, tree.nodes[leaf]!.childrenIds.length], [leaf, 3])
    await Promise.all([a.close(), b.close()])
  })
})

describe("a server that ends", () => {
  it.live("lets replies finish that are nearly done, cuts the others short, and says goodbye", () =>
    Effect.gen(function* () {
      const told = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* served({ patience: 300 })
          return yield* Effect.promise(async () => {
            const chat = await server.create()
            const { seq } = await chat.tree()
            const listening = chat.socket(seq)
            const quick = await chat.say("!sprout slow 20\n!sprout say a b c", null)
            const slow = await chat.say("!sprout say gone\n!sprout slow 600000\n!sprout say never", null)
            await listening.until((frames) =>
              frames.some((frame) => frame.event === "node.content.updated" && frame.data.id === slow.body.nodes[0].id)
            )
            return { listening, quick: quick.body.nodes[0].id, slow: slow.body.nodes[0].id }
          })
        })
      )
      const { code, reason } = yield* Effect.promise(() => told.listening.closed)
      assert.deepStrictEqual([code, reason], [1001, "the server ends"])
      const ends = told.listening.frames.flatMap((frame) =>
        frame.event === "node.completed" || frame.event === "node.failed"
          ? [[frame.event, frame.data.id, frame.data.content]]
          : []
      )
      assert.deepStrictEqual(ends, [
        ["node.completed", told.quick, "a b c"],
        ["node.failed", told.slow, "gone"]
      ])
    })
  )
})
